//! What a backup does on the networks that people have: runs of `scenarios/your-network.toml`.

use super::{docs, root, text, THREADS};
use afteryou_engines::{each, find, Point};
use afteryou_scenario_file::Experiment;
use std::fmt::Write;
use std::ops::ControlFlow;

const FILE: &str = "scenarios/your-network.toml";
const REPEAT: u32 = 3;
/// The backup's controllers.
const CONTROLLERS: [&str; 2] = ["ledbat++,restart=true", "cubic"];

/// A network: what readers call it, and how it differs from the file.
const NETWORKS: [(&str, &[&str]); 11] = [
    ("cable or DSL router, 500 ms of buffer", &[]),
    ("the same with 30 ms of buffer", &["link.buffer=\"30 ms\""]),
    ("router with FQ-CoDel", &["link.queue=fq_codel"]),
    ("router with CAKE, such as OpenWrt's SQM", &["link.queue=cake"]),
    ("router with CoDel, one queue for all", &["link.queue=codel"]),
    ("cable modem with PIE", &["link.queue=pie"]),
    (
        "Wi-Fi: delays that vary by 10 ms, 0.1 % lost",
        &["link.jitter={ uniform = \"10 ms\" }", "link.loss=\"0.1 %\""],
    ),
    (
        "mobile: 20 Mbit/s, now and then 8",
        &[
            "link.rate={ steps = [[\"0 s\", \"20 Mbit/s\"], [\"13 s\", \"8 Mbit/s\"], [\"16 s\", \"20 Mbit/s\"], \
             [\"27 s\", \"8 Mbit/s\"], [\"33 s\", \"20 Mbit/s\"], [\"40 s\", \"8 Mbit/s\"], [\"44 s\", \"20 Mbit/s\"]] }",
            "flow.*.rtt=\"60 ms\"",
        ],
    ),
    ("geostationary satellite, 600 ms", &["flow.*.rtt=\"600 ms\"", "link.buffer=\"600 ms\""]),
    ("path that loses 1 % at random", &["link.loss=\"1 %\""]),
    (
        "fibre, 100 Mbit/s, 10 ms, 20 ms of buffer",
        &["link.rate=\"100 Mbit/s\"", "link.buffer=\"20 ms\"", "flow.*.rtt=\"10 ms\""],
    ),
];

/// Means over the repetitions.
#[derive(Clone, Copy, Default)]
struct Effect {
    /// The backup's share of the link while alone.
    alone: f64,
    /// What it adds to the call's mean delay, ms.
    added_ms: f64,
    /// The part of its goodput that the upload keeps.
    kept: f64,
}

fn effect(sets: &[&str], controller: &str) -> Effect {
    let controller = format!("flow.backup.controller={controller}");
    let sets: Vec<String> = sets.iter().copied().chain([controller.as_str()]).map(str::to_owned).collect();
    let experiment = Experiment::read(&root().join(FILE), &sets).unwrap_or_else(|error| panic!("{error}"));
    let runs = experiment.runs(None, Some(REPEAT)).expect("runs");
    let sim = find("sim").expect("the simulator");
    let mut sum = Effect::default();
    for planned in &runs {
        let outcome =
            Point::new(sim, planned.scenario.clone()).run(&mut |_| ControlFlow::Continue(())).expect("a run");
        let compared = |window: &str, flow: &str| {
            let mut all = outcome.comparison.iter();
            all.find(|row| row.window == window && row.flow == flow).expect("the window and the flow")
        };
        let alone = outcome.run.windows.iter().find(|window| window.window == "alone").expect("the window");
        let backup = alone.flows.iter().find(|flow| flow.flow == "backup").expect("the backup");
        sum.alone += backup.share_of_payload_capacity;
        sum.added_ms += compared("alone", "call").added_delay_mean_ms.unwrap_or(f64::NAN);
        sum.kept += compared("shared", "upload").kept.unwrap_or(f64::NAN);
    }
    let mean = |sum: f64| sum / runs.len() as f64;
    Effect { alone: mean(sum.alone), added_ms: mean(sum.added_ms), kept: mean(sum.kept) }
}

/// The line above the table in the page.
const MARK: &str =
    "<!-- Made from scenarios/your-network.toml: UPDATE_BOOK=1 cargo test -p afteryou --test all book -->\n";

/// Returns the page with today's table.
pub fn page() -> String {
    let page = text(&docs().join("src/your-network.md")).expect("docs/src/your-network.md is there");
    let (before, rest) = page.split_once(MARK).unwrap_or_else(|| {
        panic!("docs/src/your-network.md has no line {MARK:?} above its table: put it back")
    });
    let (_, after) = rest.split_once("\n\n").expect("text below the table");
    format!("{before}{MARK}{}\n{after}", table())
}

fn table() -> String {
    let jobs: Vec<(usize, &str)> =
        (0..NETWORKS.len()).flat_map(|network| CONTROLLERS.map(|controller| (network, controller))).collect();
    let effects = each(&jobs, THREADS, |(network, controller)| effect(NETWORKS[*network].1, controller));
    let mut text = "| network | LEDBAT++ alone, % of the link | call's delay, LEDBAT++ | call's delay, CUBIC | upload keeps beside \
                    LEDBAT++ | upload keeps beside CUBIC |\n|---|--:|--:|--:|--:|--:|\n"
        .to_owned();
    for ((name, _), of) in NETWORKS.iter().zip(effects.chunks_exact(CONTROLLERS.len())) {
        let [ours, cubic] = of else { unreachable!("two controllers") };
        let _ = writeln!(
            text,
            "| {name} | {:.0} | +{:.0} ms | +{:.0} ms | {:.0} % | {:.0} % |",
            100.0 * ours.alone,
            ours.added_ms,
            cubic.added_ms,
            100.0 * ours.kept,
            100.0 * cubic.kept,
        );
    }
    text
}
