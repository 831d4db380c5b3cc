//! A transfer of 2.3 or 2.9 MB on a path of 135 or 160 ms with losses: its time beside CUBIC's.

use crate::support::{file, head, line, median, outcomes, with_rule, Result};
use afteryou_notation::Algorithm;
use afteryou_scenario_file::Experiment;

const FILE: &str = "long-transfer.toml";
/// Round-trip times and sizes.
const PATHS: [(&str, &str); 2] = [("135 ms", "2.3 MB"), ("160 ms", "2.9 MB")];
/// Mean losses.
const LOSSES_PERCENT: [f64; 3] = [0.1, 0.5, 1.0];
/// Mean length of a burst, packets, and the loss within it.
const BURST_PACKETS: f64 = 6.0;
const BURST_LOSS: f64 = 0.5;

/// Prints the median time of each rule on each path, and its ratio to CUBIC's.
pub fn print(rules: &[Algorithm], seeds: u64) -> Result<()> {
    let cubic = Algorithm::named("cubic");
    let mut names = vec!["path and losses".to_owned(), "cubic, s".to_owned()];
    names.extend(rules.iter().map(|rule| format!("{rule}, s")));
    head(&names);
    for (rtt, size) in PATHS {
        for (words, loss) in losses() {
            let path = [
                format!("flow.transfer.rtt=\"{rtt}\""),
                format!("flow.transfer.traffic={{ size = \"{size}\" }}"),
                format!("link.loss={loss}"),
            ];
            let alone_s = time_s(&path, &cubic, seeds)?;
            let mut cells = vec![format!("{rtt}, {size}, {words}"), format!("{alone_s:.1}")];
            for rule in rules {
                let time_s = time_s(&path, rule, seeds)?;
                cells.push(format!("{time_s:.1} ({:.1}×)", time_s / alone_s));
            }
            line(cells);
        }
    }
    Ok(())
}

/// Returns the losses in words and as files have them.
fn losses() -> Vec<(String, String)> {
    let random = |percent: f64| (format!("{percent} % at random"), format!("\"{percent} %\""));
    let bursty = |percent: f64| {
        // The part of packets within bursts, and the chance that one begins.
        let (share, end) = (percent / 100.0 / BURST_LOSS, 1.0 / BURST_PACKETS);
        let begin = end * share / (1.0 - share);
        let law = format!(
            "{{ gilbert_elliott = {{ p = \"{:.5} %\", r = \"{:.3} %\", good = \"0 %\", bad = \"{} %\" }} }}",
            begin * 100.0,
            end * 100.0,
            BURST_LOSS * 100.0
        );
        (format!("{percent} % in bursts"), law)
    };
    let mut losses = vec![("no loss".to_owned(), "\"0 %\"".to_owned())];
    losses.extend(LOSSES_PERCENT.map(random));
    losses.extend(LOSSES_PERCENT.map(bursty));
    losses
}

/// Returns the median time until the last byte has arrived; infinite if half of the transfers do not end in ten minutes.
fn time_s(path: &[String], rule: &Algorithm, seeds: u64) -> Result<f64> {
    let mut sets = path.to_vec();
    sets.push(with_rule("transfer", rule));
    let experiment = Experiment::read(&file(FILE), &sets)?;
    let outcomes = outcomes(&experiment, 1, seeds)?;
    let time = |outcome: &afteryou_scenario::Outcome| {
        let transfer = outcome.run.totals.iter().find(|totals| totals.flow == "transfer");
        transfer.and_then(|transfer| transfer.completed_in_s).unwrap_or(f64::INFINITY)
    };
    Ok(median(outcomes.iter().map(time).collect()))
}
