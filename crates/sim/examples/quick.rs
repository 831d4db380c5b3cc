use afteryou_scenario::*;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (n, rate, buffer, cc, seconds, preset): (usize, &str, &str, &str, f64, &str) =
        (args[1].parse().unwrap(), &args[2], &args[3], &args[4], args[5].parse().unwrap(), &args[6]);
    let rtt = Duration::from_millis(50);
    let transport = if preset == "utp" { Transport::utp() } else { Transport::tcp().with("preset", preset) };
    let flow = (0..n).map(|i| Flow {
        transport: transport.clone(),
        start: Duration::from_millis(37 * i as u64 % 1000),
        ..Flow::new(
            format!("f{i}"),
            if cc.starts_with("led") { Role::Background } else { Role::Foreground },
            cc,
            rtt,
        )
    });
    let link = Link::new(rate.parse().unwrap(), buffer.parse().unwrap());
    let dur = Duration::from_secs_f64(seconds);
    let scenario = Scenario {
        flow: flow.collect(),
        measure: vec![Window { name: "w".into(), from: Duration::from_secs_f64(seconds / 5.0), to: dur }],
        ..Scenario::new("q", dur, link)
    };
    let t = Instant::now();
    let outcome = afteryou_sim::run(&scenario, &mut |_| true).unwrap();
    let s = t.elapsed().as_secs_f64();
    let packets: u64 = outcome.run.totals.iter().map(|t| t.packets).sum();
    let w = &outcome.run.windows[0];
    println!(
        "{packets} packets in {s:.3} s: {:.2} M/s; util {} queue {:?} q {:?}",
        packets as f64 / s / 1e6,
        w.utilisation,
        w.queue_packets,
        w.queuing_delay
    );
    for t in outcome.run.totals.iter().take(3) {
        println!("{t:?}");
    }
    println!("jain {:.4}", outcome::jain(&w.flows.iter().map(|f| f.goodput_bit_s).collect::<Vec<_>>()));
    println!("{:?}", outcome.run.ledger);
}
