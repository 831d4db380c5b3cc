//! Made outcomes: nothing here was measured.

use afteryou_scenario::outcome::*;
use afteryou_scenario::scenario::Reverse;
use afteryou_scenario::{
    Algorithm, Buffer, Direction, Duration, Flow, Link, Probability, Rate, Role, Scenario, Size,
};
use afteryou_scenario::{Gaps, Traffic, Transport, Window};

/// Runs last this long, s.
const RUN_S: f64 = 120.0;
/// Time between values of a curve, s.
const STEP_S: f64 = 0.2;

fn seconds(s: u64) -> Duration {
    Duration::from_millis(s * 1000)
}

fn flow(name: &str, role: Role, controller: Option<Algorithm>, traffic: Traffic) -> Flow {
    let transport = if controller.is_some() { Transport::utp() } else { Transport::udp() };
    Flow { controller, transport, traffic, ..Flow::new(name, role, "", Duration::from_millis(40)) }
}

fn scenario() -> Scenario {
    let call =
        Traffic::Cbr { rate: Rate::from_bits(1_500_000), payload: Size::from_bytes(1200), gaps: Gaps::Equal };
    let upload = Flow {
        start: seconds(40),
        stop: Some(seconds(80)),
        ..flow("photo upload", Role::Foreground, Some(Algorithm::named("cubic")), Traffic::Bulk)
    };
    let tuned = Algorithm::named("ledbat++").with("target", "60 ms");
    let window =
        |name: &str, from, to| Window { name: name.to_owned(), from: seconds(from), to: seconds(to) };
    let link = Link {
        loss: Probability::from_ratio(0.001).unwrap(),
        ..Link::new(Rate::from_mbit(20), Buffer::Time(Duration::from_millis(300)))
    };
    Scenario {
        seed: u64::MAX,
        measure: vec![window("alone", 10, 40), window("shared", 45, 80), window("whole run", 10, 120)],
        baseline: true,
        flow: vec![
            flow("video call", Role::Foreground, None, call),
            upload,
            flow("backup", Role::Background, Some(tuned), Traffic::Size(Size::from_bytes(250_000_000))),
        ],
        ..Scenario::new("LEDBAT++ gives way on a home uplink", seconds(120), link)
    }
}

fn quantiles(scale: f64) -> Option<Quantiles> {
    Quantiles::of(&(1..=1000).map(|i| scale * f64::from(i) / 500.0).collect::<Vec<_>>())
}

/// Returns the same noise for every run of the tests, within ±1.
fn noise(i: usize, salt: usize) -> f64 {
    let mixed = (i * 7919 + salt * 104_729 + 12_345) % 10_007;
    let mixed = (mixed * mixed + 17) % 10_007;
    mixed as f64 / 5003.5 - 1.0
}

fn series(of: &str, quantity: &str, unit: &str, value: impl Fn(f64, usize) -> Option<f64>) -> Series {
    let values = (0..(RUN_S / STEP_S) as usize).map(|i| value(i as f64 * STEP_S, i)).collect();
    let (of, quantity, unit) = (of.to_owned(), quantity.to_owned(), unit.to_owned());
    Series { of, quantity, unit, start_s: 0.0, step_s: STEP_S, values }
}

fn uploading(t: f64) -> bool {
    (40.0..80.0).contains(&t)
}

/// Returns whether the background flow is in a slowdown.
fn slow(t: f64) -> bool {
    !uploading(t) && t > 5.0 && t % 9.0 < 0.7
}

fn curves(background: bool) -> Vec<Series> {
    let upload = move |t: f64, i| {
        let full = if background { 16.3 } else { 16.6 };
        let ramp = ((t - 40.0) / 3.0).clamp(0.0, 1.0);
        uploading(t).then(|| full * ramp + noise(i, 3) * 0.5)
    };
    let mut curves = vec![
        series("video call", "goodput", "Mbit/s", |_, i| Some(1.5 + noise(i, 1) * 0.03)),
        series("photo upload", "goodput", "Mbit/s", upload),
        series("link", "queuing_delay", "ms", move |t, i| {
            let own = if background && !slow(t) { 48.0 + noise(i, 2) * 7.0 } else { 1.5 + noise(i, 2) };
            Some(if uploading(t) { 90.0 + 60.0 * ((t * 0.9) % 7.0) / 7.0 + noise(i, 4) * 6.0 } else { own })
        }),
        series("photo upload", "cwnd", "kB", move |t, i| {
            upload(t, i).map(|rate| rate * 14.0 + 60.0 * ((t * 0.9) % 7.0) / 7.0)
        }),
    ];
    if background {
        curves.insert(
            2,
            series("backup", "goodput", "Mbit/s", |t, i| {
                let most: f64 = if uploading(t) { 0.4 } else { 17.2 };
                Some(if slow(t) { 0.2 } else { (most + noise(i, 5) * most.min(4.0) * 0.12).max(0.0) })
            }),
        );
        curves.push(series("backup", "cwnd", "kB", |t, i| {
            Some(if slow(t) { 3.0 } else { 210.0 + noise(i, 6) * 9.0 })
        }));
        curves.push(series("backup", "base_delay", "ms", |t, _| (t > 1.0).then_some(20.0 + t * 0.01)));
        curves.push(series("backup", "gain_of_the_window", "", |_, i| Some(noise(i, 8))));
    }
    curves
}

fn windows(background: bool) -> Vec<WindowFigures> {
    let figures = |name: &str, from_s, to_s, upload: f64, backup: f64| {
        let flow = |flow: &str, role, mbit: f64, delay| FlowFigures {
            flow: flow.to_owned(),
            role,
            goodput_bit_s: mbit * 1e6,
            share_of_payload_capacity: mbit / 19.2,
            queuing_delay: delay,
            sender: None,
        };
        let mut flows = vec![
            flow("video call", Role::Foreground, 1.4987, quantiles(if background { 48.0 } else { 31.0 })),
            flow("photo upload", Role::Foreground, upload, None),
        ];
        if background {
            flows.push(flow("backup", Role::Background, backup, None));
        }
        let utilisation = if background { 0.964 } else { 0.62 };
        let queuing_delay = quantiles(if background { 47.0 } else { 30.0 });
        let link = LinkFigures {
            link: BOTTLENECK.to_owned(),
            capacity_bit_s: 20e6,
            utilisation,
            queuing_delay,
            ..LinkFigures::default()
        };
        WindowFigures {
            window: name.to_owned(),
            from_s,
            to_s,
            links: vec![link],
            flows,
            ..WindowFigures::default()
        }
    };
    vec![
        figures("alone", 10.0, 40.0, 0.0, 16.9),
        figures("shared", 45.0, 80.0, if background { 16.31 } else { 16.58 }, 0.41),
        figures("whole run", 10.0, 120.0, 5.2, 11.3),
    ]
}

fn run(background: bool) -> Run {
    let mark = |at_s, of: &str, what: &str| Mark { at_s, of: of.to_owned(), what: what.to_owned() };
    let mut marks = vec![mark(40.0, "photo upload", "start"), mark(80.0, "photo upload", "stop")];
    if background {
        let slowdowns = (1..13).map(|i| f64::from(i) * 9.0).filter(|at| !uploading(*at));
        marks.extend(slowdowns.map(|at| mark(at, "backup", "slowdown")));
        marks.push(mark(63.2, "backup", "timeout"));
    }
    Run {
        duration_s: RUN_S,
        windows: windows(background),
        series: curves(background),
        marks,
        links: vec![LinkTotals {
            link: BOTTLENECK.to_owned(),
            capacity_bit_s: 20e6,
            discipline: "droptail".to_owned(),
            packets: Some(Packets {
                arrived: 201_344,
                delivered: 200_907,
                dropped: 231,
                lost: 202,
                unfinished: 4,
                duplicated: 0,
            }),
            ..LinkTotals::default()
        }],
        lateness: quantiles(0.11).map(|departures| Lateness { departures, bound_ms: 1.0 }),
        ..Run::default()
    }
}

fn check(what: &str, value: Option<f64>, unit: &str, at_least: Option<f64>, at_most: Option<f64>) -> Check {
    Check { what: what.to_owned(), value, unit: unit.to_owned(), at_least, at_most, counts: true }
}

/// Returns two runs, and something in every field.
pub fn full() -> Outcome {
    let (with, without) = (run(true), run(false));
    let hash = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262".to_owned();
    Outcome {
        transfers: vec![Transfer {
            flow: "backup".to_owned(),
            sent_bytes: 169_508_864,
            received_bytes: 169_508_864,
            sent_blake3: hash.clone(),
            received_blake3: hash,
        }],
        checks: vec![
            check("the upload keeps its rate", Some(0.9837), "", Some(0.92), None),
            check("the call's added delay, p95", Some(32.3), "ms", None, Some(35.0)),
            check("the backup uses what is left over", Some(0.91996), "", Some(0.92), None),
            Check { counts: false, ..check("time to give way", None, "s", Some(0.0), Some(2.0)) },
        ],
        verdict: Some(Verdict {
            good: true,
            headline: "The upload and the call hardly noticed the backup.".to_owned(),
            details: vec![
                "While both ran, the upload kept 98.4 % of the rate that it has without the backup."
                    .to_owned(),
                "Alone, the backup used 88 % of the link.".to_owned(),
                "The 170 MB that arrived are the bytes that were sent.".to_owned(),
            ],
        }),
        ..Outcome::new("bed", "0.1.0", scenario(), with, Some(without))
    }
}

/// Returns [`full`] with a download instead of the upload: data cross both directions of the link.
pub fn both_directions() -> Outcome {
    let mut outcome = full();
    outcome.scenario.name = "A backup beside a download".to_owned();
    outcome.scenario.link.reverse = Some(Reverse { rate: Some(Rate::from_mbit(100)), ..Reverse::default() });
    outcome.scenario.flow[1].direction = Direction::Down;
    let scenario = outcome.scenario.clone();
    for (background, run) in [(true, &mut outcome.run), (false, outcome.baseline.as_mut().unwrap())] {
        for window in &mut run.windows {
            window.links.push(LinkFigures {
                link: REVERSE_PATH.to_owned(),
                capacity_bit_s: 100e6,
                utilisation: if background { 0.163 } else { 0.166 },
                queuing_delay: quantiles(if background { 9.0 } else { 8.0 }),
                ..LinkFigures::default()
            });
            window.derive(&scenario);
        }
        let packets = Packets { arrived: 59_000, delivered: 58_988, dropped: 12, ..Packets::default() };
        run.links.push(LinkTotals {
            link: REVERSE_PATH.to_owned(),
            capacity_bit_s: 100e6,
            discipline: "droptail".to_owned(),
            packets: Some(packets),
            ..LinkTotals::default()
        });
        run.series.push(series(REVERSE_PATH, "queuing_delay", "ms", |_, i| Some(9.0 + noise(i, 9))));
    }
    let Outcome { transfers, checks, verdict, .. } = outcome;
    let made = Outcome::new("sim", "0.1.0", outcome.scenario, outcome.run, outcome.baseline);
    Outcome { transfers, checks, verdict, ..made }
}

/// Returns nothing at all: no flow, no window, no curve, no verdict.
pub fn empty() -> Outcome {
    Outcome {
        scenario: Scenario {
            measure: vec![],
            flow: vec![],
            baseline: false,
            name: String::new(),
            ..scenario()
        },
        run: Run::default(),
        baseline: None,
        comparison: vec![],
        transfers: vec![],
        checks: vec![],
        verdict: None,
        ..full()
    }
}

/// Returns [`full`], with `name` wherever a string of an outcome may be chosen by somebody else.
pub fn named(name: &str) -> Outcome {
    let mut outcome = full();
    let name = || name.to_owned();
    outcome.afteryou_version = name();
    outcome.engine = name();
    outcome.scenario.name = name();
    outcome.scenario.link.queue = Algorithm::named(&name()).with(&name(), &name());
    outcome.scenario.measure[0].name = name();
    outcome.scenario.flow[0].name = name();
    for run in [Some(&mut outcome.run), outcome.baseline.as_mut()].into_iter().flatten() {
        run.windows[0].window = name();
        run.windows[0].flows[0].flow = name();
        (run.series[0].of, run.series[1].quantity, run.series[2].unit) = (name(), name(), name());
        (run.marks[0].of, run.marks[1].what) = (name(), name());
    }
    (outcome.comparison[0].window, outcome.comparison[0].flow) = (name(), name());
    let transfer = &mut outcome.transfers[0];
    (transfer.flow, transfer.sent_blake3, transfer.received_blake3) = (name(), name(), name());
    (outcome.checks[0].what, outcome.checks[1].unit) = (name(), name());
    outcome.verdict = Some(Verdict { good: false, headline: name(), details: vec![name()] });
    outcome
}
