//! Jobs whose sockets are steered from outside.

use super::common::{judged, spoiled};
use super::testbed::started;
use afteryou_scenario::outcome::Outcome;
use afteryou_scenario_file::Experiment;

/// Runs four connections of a job at one end alone over 10 Mbit/s with 500 ms of buffer, measured from 4 s to 8 s.
fn alone(end: &str) -> (Option<Outcome>, Option<String>) {
    let text = format!(
        "duration = \"8 s\"\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"500 ms\"\n\
         [[flow]]\nname = \"job\"\nrole = \"background\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\ncount = 4\n{end} = \"outside\"\n\
         [[measure]]\nname = \"all\"\nfrom = \"4 s\"\nto = \"8 s\"\n"
    );
    let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    let outcome = started(&experiment.runs(None, None).unwrap().remove(0).scenario);
    let trouble = outcome.as_ref().and_then(|outcome| spoiled(outcome.run.lateness));
    (outcome, trouble)
}

#[test]
fn a_job_alone_uses_the_link_and_keeps_the_queue_short_at_either_end() {
    for end in ["receiver", "sender"] {
        judged(
            || alone(end),
            |outcome| {
                let Some(outcome) = outcome else { return Ok(()) };
                let link = &outcome.run.windows[0].links[0];
                let p95_ms = link.queuing_delay.map_or(f64::INFINITY, |delay| delay.p95_ms);
                println!("{end}: {:.3} of the link, {p95_ms:.0} ms", link.utilisation);
                // Four of CUBIC keep 500 ms full; the rule's target is 25 ms.
                match link.utilisation >= 0.9 && p95_ms <= 50.0 {
                    true => Ok(()),
                    false => Err(format!("{end}: {} of the link, {p95_ms} ms", link.utilisation)),
                }
            },
        );
    }
}
