//! The live view with made-up data: `cargo run --example live [seconds]`.

use afteryou::live::{self, Curve, Frame};
use afteryou_scenario::Role;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const STEP_S: f64 = 0.1;

fn main() {
    let total_s = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(20.0);
    let mut view = live::view(std::io::stderr().is_terminal(), afteryou_terminal::no_color());
    let mut frame = Frame {
        total_s,
        capacity_mbit: 20.0,
        rates: vec![curve("backup", Some(Role::Background)), curve("video upload", Some(Role::Foreground))],
        queue: curve("queue", None),
        ..Frame::default()
    };
    let start = Instant::now();
    let mut step = 0;
    while frame.elapsed_s < total_s {
        std::thread::sleep(Duration::from_secs_f64(STEP_S));
        frame.elapsed_s = start.elapsed().as_secs_f64();
        let now_s = f64::from(step) * STEP_S;
        step += 1;
        advance(&mut frame, now_s);
        view.draw(&frame);
    }
    view.finish();
    println!("that was all");
}

fn curve(name: &str, role: Option<Role>) -> Curve {
    Curve { name: name.to_owned(), role, ..Curve::default() }
}

/// Advances the frame; a foreground flow is there in the middle third.
fn advance(frame: &mut Frame, now_s: f64) {
    let third = frame.total_s / 3.0;
    let competing = (third..2.0 * third).contains(&now_s);
    let ramp = |since_s: f64| (since_s / 2.0).clamp(0.0, 1.0);
    let wave = (now_s * 3.0).sin();
    let (backup, video, queue) = match competing {
        true => {
            let share = ramp(now_s - third);
            (18.5 * (1.0 - share), 17.5 * share + wave, 150.0 + 90.0 * wave * share)
        }
        false if now_s < third => (18.5 * ramp(now_s) + 0.3 * wave, 0.0, 45.0 + 12.0 * wave),
        false => (18.5 * ramp(now_s - 2.0 * third) + 0.3 * wave, 0.0, 45.0 + 12.0 * wave),
    };
    frame.stage = match competing {
        true => format!("yielding: queue is {queue:.0} ms over base 41 ms"),
        false => "the file is alone".to_owned(),
    };
    for (curve, value) in frame.rates.iter_mut().chain([&mut frame.queue]).zip([backup, video, queue]) {
        curve.points.push((now_s, value));
        curve.latest = Some(value);
    }
}
