//! The step of curves.

use afteryou_engines::{find, Choices, Plan};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;

fn run(engine: &str, sample: &str) -> Outcome {
    let file = format!(
        "duration = '6 s'\n{sample}\nlink = {{ rate = '5 Mbit/s', buffer = '50 packets' }}\n
         flow = {{ name = 'a', controller = 'ledbat', rtt = '20 ms' }}"
    );
    let engine = find(engine).unwrap();
    let experiment = Experiment::parse(&file, "sample.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(engine, &experiment, Choices::default()).unwrap().points[0]
        .run(&mut |_| ControlFlow::Continue(()))
        .unwrap()
}

#[test]
fn the_key_sample_is_the_step_of_curves_and_moves_no_figure() {
    for engine in ["sim", "fluid"] {
        let (usual, fine) = (run(engine, ""), run(engine, "sample = '20 ms'"));
        let step = |outcome: &Outcome| {
            let cwnd = outcome.run.series.iter().find(|series| series.quantity == "cwnd").unwrap();
            (cwnd.step_s, cwnd.values.len())
        };
        assert_eq!((step(&usual), step(&fine)), ((0.1, 60), (0.02, 300)), "{engine}");
        assert_eq!(usual.run.windows, fine.run.windows, "{engine}");
        assert_ne!(usual.content_hash, fine.content_hash);
    }
}

#[test]
fn a_step_that_makes_no_curve_is_refused_with_the_range() {
    for (sample, range) in [("'7 s'", "use 1 ms to 6 s"), ("'0 s'", "use 1 ms to 6 s")] {
        let file = format!(
            "duration = '6 s'\nsample = {sample}\nlink = {{ rate = '5 Mbit/s', buffer = '50 packets' }}"
        );
        let error = Experiment::parse(&file, "sample.toml", &[]).unwrap_err().to_string();
        assert!(error.contains(range) && error.contains("sample.toml:2:10"), "{error}");
    }
    let long = "duration = '6000 s'\nsample = '1 ms'\nlink = { rate = '5 Mbit/s', buffer = '50 packets' }";
    assert!(Experiment::parse(long, "", &[]).unwrap_err().to_string().contains("use 60 ms to 6000 s"));
}
