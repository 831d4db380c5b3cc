use crate::path::Path;
use afteryou_outside::rule::Direction::{Down, Up};
#[test]
fn probe() {
    let get = |k: &str, d: f64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let up = std::env::var("UP").is_ok();
    let mut path = Path::new(if up { Up } else { Down }, get("RATE", 20.0), get("RTT", 40.0) as u64, get("BUF", 500.0), get("N", 1.0) as usize);
    path.lose_every = get("LOSE", 0.0) as u64;
    if let Ok(l) = std::env::var("LIMIT") { for i in 0..get("N", 1.0) as usize { path.limit(i, l.parse().unwrap()); } }
    let (on, off) = (get("ON", 1e9), get("OFF", 1e9));
    let step = get("STEP", 250.0) as u64;
    let mut t = 0;
    while t < get("LEN", 20000.0) as u64 {
        if t as f64 >= on && (t as f64) < on + step as f64 { path.start_reno(); }
        if t as f64 >= off && (t as f64) < off + step as f64 { path.stop_reno(); }
        let (g, r) = path.run(step); t += step;
        let l = path.group.law();
        println!("{:6} g {:.2} r {:.2} W {:7.0} q {:5.1} seen {:?} T {:.1} {:?} {} places {:?}", t, g, r, l.window(), path.queue_ms(), l.queue().map(|q| (q*1e3) as i64), l.target()*1e3, l.phase(), l.is_crowded(), path.group.places());
    }
}
