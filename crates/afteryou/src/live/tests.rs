//! Pictures as text, and the painter against a terminal in memory.

use super::look::Look;
use super::painter::Painter;
use super::picture::picture;
use super::plain::Plain;
use super::{figure, Curve, Frame, Mark, View};
use afteryou_scenario::Role;
use ratatui::buffer::Buffer;
use std::path::Path;

fn curve(name: &str, role: Option<Role>, value: impl Fn(f64) -> f64) -> Curve {
    let points: Vec<_> = (0..180).map(|step| f64::from(step) * 0.1).map(|s| (s, value(s))).collect();
    let latest = points.last().map(|point| point.1);
    Curve { name: name.to_owned(), role, points, latest }
}

/// Returns the frame after 18 s of a demo of 30 s: an upload comes after 10 s.
fn frame() -> Frame {
    let away = |s: f64| ((s - 10.0) / 2.0).clamp(0.0, 1.0);
    Frame {
        elapsed_s: 18.0,
        total_s: 30.0,
        stage: "yielding: queue is 48 ms over base 41 ms".to_owned(),
        so_far: "so far the backup alone used 93 % of the link, and the upload has 78 % of it".to_owned(),
        rates: vec![
            curve("backup", Some(Role::Background), |s| 18.9 * (s / 3.0).min(1.0) * (1.0 - away(s))),
            curve("video upload", Some(Role::Foreground), |s| 17.0 * away(s)),
        ],
        queue: curve("queue", None, |s| 40.0 + 8.0 * s.sin() + 150.0 * away(s)),
        capacity_mbit: 20.0,
        target_ms: Some(60.0),
        marks: vec![Mark { at_s: 10.0, text: "upload arrives" }],
    }
}

fn text(picture: &Buffer) -> String {
    let width = usize::from(picture.area.width);
    let line = |cells: &[ratatui::buffer::Cell]| {
        cells.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned() + "\n"
    };
    picture.content.chunks(width).map(line).collect()
}

/// Compares with `snapshots/name`; with AFTERYOU_BLESS set, writes it instead.
fn matches_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/live/snapshots").join(name);
    if std::env::var_os("AFTERYOU_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs; if it should, run with AFTERYOU_BLESS=1\n{text}");
}

#[test]
fn pictures_of_the_usual_sizes() {
    for (width, height) in [(40, 14), (80, 23), (120, 39)] {
        let picture = picture(&frame(), Look { colour: true }, width, height);
        matches_snapshot(&format!("{width}x{height}.txt"), &text(&picture));
    }
    let picture = picture(&frame(), Look { colour: false }, 80, 23);
    matches_snapshot("80x23-no-colour.txt", &text(&picture));
}

#[test]
fn without_colour_there_is_none() {
    let colours = |colour| {
        let picture = picture(&frame(), Look { colour }, 80, 23);
        picture.content.iter().filter(|cell| cell.fg != ratatui::style::Color::Reset).count()
    };
    assert_eq!(colours(false), 0);
    assert!(colours(true) > 0);
}

#[test]
fn no_frame_and_no_size_panics() {
    let wild = |x: f64| Curve {
        name: "a name much longer than the terminal is wide, 很長的名字\u{1b}[31m\n".repeat(2),
        points: vec![(0.0, x), (x, 1.0), (1.0, -x), (f64::NAN, 1.0), (2.0, f64::NAN), (1e9, 1e300)],
        latest: Some(x),
        ..Curve::default()
    };
    let mut frames = vec![Frame::default(), frame()];
    for x in [0.0, 1e300, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MIN_POSITIVE] {
        frames.push(Frame {
            elapsed_s: x,
            total_s: x,
            stage: "很長的名字".repeat(30),
            rates: vec![wild(x), wild(1.0), Curve::default()],
            queue: wild(x),
            capacity_mbit: x,
            so_far: "很長的名字".repeat(30),
            target_ms: Some(x),
            marks: vec![Mark { at_s: x, text: "first" }, Mark { at_s: 1.0, text: "second" }],
        });
    }
    for frame in &frames {
        for width in [0, 1, 5, 9, 20, 39, 40, 80, 500] {
            for height in [0, 1, 2, 3, 5, 8, 9, 12, 18, 100] {
                let picture = picture(frame, Look { colour: width % 2 == 0 }, width, height);
                let _ = Painter::new(Vec::new()).paint(&picture, (width, height));
            }
        }
        Plain::new(Vec::new()).draw(frame);
    }
}

/// Returns the screen of a terminal of the given size after `paint`, below a line that was there before.
fn shown(rows: u16, columns: u16, paint: impl FnOnce(&mut Painter<Vec<u8>>)) -> vt100::Parser {
    let mut out = b"before\r\n".to_vec();
    let mut painter = Painter::new(Vec::new());
    paint(&mut painter);
    out.append(&mut painter.out);
    let mut terminal = vt100::Parser::new(rows, columns, 100);
    terminal.process(&out);
    terminal
}

#[test]
fn frames_are_painted_over_one_another_and_the_cursor_waits_below() {
    let (mut first, second) = (frame(), frame());
    first.stage = "a stage with a much longer sentence than the one that follows it".to_owned();
    first.rates.truncate(1);
    let look = Look { colour: true };
    let (first, second) = (picture(&first, look, 80, 23), picture(&second, look, 80, 23));
    let terminal = shown(30, 80, |painter| {
        for picture in [&first, &second, &first, &second, &second] {
            painter.paint(picture, (80, 30)).unwrap();
        }
    });
    let screen = terminal.screen();
    assert_eq!(screen.contents().trim_end(), format!("before\n{}", text(&second)).trim_end());
    assert_eq!(screen.cursor_position(), (24, 0));
    assert!(!screen.hide_cursor());
}

#[test]
fn a_smaller_picture_leaves_nothing_of_a_larger_one() {
    let look = Look { colour: false };
    let (large, small) = (picture(&frame(), look, 80, 18), picture(&frame(), look, 80, 9));
    let terminal = shown(24, 80, |painter| {
        painter.paint(&large, (80, 24)).unwrap();
        painter.paint(&small, (80, 24)).unwrap();
    });
    let contents = terminal.screen().contents();
    assert_eq!(contents.trim_end(), format!("before\n{}", text(&small)).trim_end());
}

#[test]
fn wide_characters_stay_in_their_columns() {
    let mut frame = frame();
    frame.stage = "檔案 is alone".to_owned();
    let picture = picture(&frame, Look { colour: true }, 80, 3);
    let terminal = shown(24, 80, |painter| painter.paint(&picture, (80, 24)).unwrap());
    assert_eq!(terminal.screen().contents().lines().nth(2), Some("檔案 is alone"));
}

#[test]
fn without_a_terminal_there_is_a_line_per_second() {
    let mut out = Vec::new();
    let mut plain = Plain::new(&mut out);
    let mut frame = frame();
    frame.queue.latest = Some(57.6);
    frame.rates[1].latest = None;
    for elapsed_s in [12.0, 12.4, 12.99, 13.0] {
        frame.elapsed_s = elapsed_s;
        plain.draw(&frame);
        frame.stage = "the file\u{1b} is alone".to_owned();
    }
    plain.finish();
    let expected = " 12 s  backup 0.0 Mbit/s  video upload – Mbit/s  queue 58 ms  yielding: queue is 48 ms over base 41 ms
 13 s  backup 0.0 Mbit/s  video upload – Mbit/s  queue 58 ms  the file\\u{1b} is alone
";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[test]
fn figures_have_three_digits_or_so() {
    let figures =
        [Some(0.04), Some(-0.0), Some(18.94), Some(99.96), Some(1234.5), Some(1e12), None, Some(f64::NAN)];
    assert_eq!(figures.map(figure), ["0.0", "0.0", "18.9", "100", "1234", "1.0e12", "–", "–"]);
}
