//! The demo as a scenario: a home uplink, a backup, an upload that comes and goes, a call.
//!
//! The times below are parts of the whole, so that `--seconds` and `--file` scale them; of 30 s they are
//!
//! ```text
//!   0    3          10  12                    22     25          30 s
//!   |    |  alone   |   |  upload's stay      |      |   back    |
//!   backup ─────────────────────────────────────────────────────▶
//!                       upload (CUBIC) ──────▶
//!   call ───────────────────────────────────────────────────────▶
//! ```

use crate::demo_args::DemoArgs;
use afteryou_scenario::scenario::{Flow, Role, Scenario, Window};
use afteryou_scenario::{Algorithm, Duration, Gaps, Rate, Size, Traffic, Transport};

/// The transfer that must not be noticed.
pub const BACKUP: &str = "backup";
/// The foreground transfer.
pub const UPLOAD: &str = "upload";
/// The probe that feels the delay.
pub const CALL: &str = "call";

/// Window in which the backup is alone.
pub const ALONE: &str = "backup alone";
/// Window of the upload's whole stay.
pub const STAY: &str = "upload's stay";
/// The stay without its first two seconds.
pub const SETTLED: &str = "from 2 s after its arrival";
/// The last sixth.
pub const BACK: &str = "after it left";

/// When the upload comes and goes, as parts of the whole.
const UPLOAD_PART: (f64, f64) = (0.4, 22.0 / 30.0);
/// The backup alone, past its start.
const ALONE_PART: (f64, f64) = (0.1, 1.0 / 3.0);
/// The last sixth.
const BACK_PART: (f64, f64) = (5.0 / 6.0, 1.0);
/// "From 2 s after its arrival".
const SETTLING_S: f64 = 2.0;
/// Headers leave this much of the link to a backup that is alone and, at times, slows down.
const USEFUL_SHARE: f64 = 0.93;
/// A file's time table is at least this long, s: shorter ones leave no room for the upload.
const SHORTEST_S: f64 = 3.0;
/// How much longer than expected a file may take before it is given up: a bad path is slow, not broken.
const LIMIT_FACTOR: f64 = 100.0;
const LIMIT_LEAST_S: f64 = 3600.0;

/// Returns how long the demo is expected to take, s, without its baseline.
pub fn expected_s(args: &DemoArgs, file_bytes: Option<u64>) -> f64 {
    let Some(bytes) = file_bytes else {
        return args.seconds as f64;
    };
    let alone = bytes as f64 / (args.rate.bytes_per_second() as f64 * USEFUL_SHARE);
    (alone / (1.0 - (UPLOAD_PART.1 - UPLOAD_PART.0))).max(SHORTEST_S)
}

/// Returns the scenario; `file_bytes` is the size of the file to send, if there is one.
pub fn scenario(args: &DemoArgs, file_bytes: Option<u64>) -> Scenario {
    let whole = expected_s(args, file_bytes);
    let at = |part: f64| Duration::from_secs_f64(whole * part);
    let duration_s = if file_bytes.is_some() { (whole * LIMIT_FACTOR).max(LIMIT_LEAST_S) } else { whole };
    let window = |name: &str, from: Duration, to: Duration| Window { name: name.to_owned(), from, to };
    let settled = Duration::from_secs_f64(whole * UPLOAD_PART.0 + SETTLING_S);
    let mut measure = vec![
        window(ALONE, at(ALONE_PART.0), at(ALONE_PART.1)),
        window(STAY, at(UPLOAD_PART.0), at(UPLOAD_PART.1)),
        window(SETTLED, settled, at(UPLOAD_PART.1)),
        window(BACK, at(BACK_PART.0), at(BACK_PART.1)),
    ];
    measure.retain(|window| window.from < window.to);
    let name = format!("a backup with {} meets an upload on a home uplink", controller(args));
    Scenario {
        seed: args.seed,
        measure,
        baseline: true,
        flow: vec![
            Flow {
                traffic: file_bytes.map_or(Traffic::Bulk, |bytes| Traffic::Size(Size::from_bytes(bytes))),
                ..flow(args, BACKUP, Role::Background, Some(controller(args)))
            },
            Flow {
                start: at(UPLOAD_PART.0),
                stop: Some(at(UPLOAD_PART.1)),
                transport: if args.real { Transport::tcp() } else { Transport::utp() },
                ..flow(args, UPLOAD, Role::Foreground, Some(Algorithm::named("cubic")))
            },
            Flow {
                // 50 packets a second, as telephony sends them.
                traffic: Traffic::Cbr {
                    rate: Rate::from_bits(64_000),
                    payload: Size::from_bytes(160),
                    gaps: Gaps::Equal,
                },
                ..flow(args, CALL, Role::Foreground, None)
            },
        ],
        ..Scenario::new(name, Duration::from_secs_f64(duration_s), args.link())
    }
}

/// Returns the backup's controller: LEDBAT++ with a quick restart by default. The result names the setting.
pub fn controller(args: &DemoArgs) -> Algorithm {
    let algorithm = args.controller.clone();
    if algorithm.kind == "ledbat++" && !algorithm.params.contains_key("restart") {
        return algorithm.with("restart", "true");
    }
    algorithm
}

fn flow(args: &DemoArgs, name: &str, role: Role, controller: Option<Algorithm>) -> Flow {
    Flow {
        transport: if controller.is_some() { Transport::utp() } else { Transport::udp() },
        controller,
        ..Flow::new(name, role, "", args.rtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn args(words: &[&str]) -> DemoArgs {
        let words = ["afteryou", "demo"].iter().chain(words);
        match Cli::try_parse_from(words).unwrap().command {
            Command::Demo(args) => args,
            other => panic!("{other:?}"),
        }
    }

    fn times(scenario: &Scenario) -> Vec<(f64, f64)> {
        scenario.measure.iter().map(|window| (window.from.as_secs_f64(), window.to.as_secs_f64())).collect()
    }

    #[test]
    fn thirty_seconds_have_the_time_table_of_the_readme() {
        let scenario = scenario(&args(&[]), None);
        scenario.clone().checked().unwrap();
        assert_eq!(times(&scenario), [(3.0, 10.0), (12.0, 22.0), (14.0, 22.0), (25.0, 30.0)]);
        assert_eq!(scenario.flow[0].controller.as_ref().unwrap().to_string(), "ledbat++,restart=true");
    }

    #[test]
    fn every_length_and_every_file_makes_a_scenario_that_can_run() {
        for seconds in ["24", "25", "30", "600"] {
            scenario(&args(&["--seconds", seconds]), None).checked().unwrap();
        }
        for bytes in [1, 100_000, 1_000_000, 1 << 40] {
            let scenario = scenario(&args(&[]), Some(bytes));
            scenario.clone().checked().unwrap();
            assert_eq!(scenario.flow[0].traffic, Traffic::Size(Size::from_bytes(bytes)));
        }
    }

    #[test]
    fn restart_is_on_unless_the_user_says_otherwise() {
        let written = |controller| controller_of(&["--controller", controller]);
        assert_eq!(written("ledbat++"), "ledbat++,restart=true");
        assert_eq!(written("ledbat++,restart=false"), "ledbat++,restart=false");
        assert_eq!(written("cubic"), "cubic");
    }

    fn controller_of(words: &[&str]) -> String {
        controller(&args(words)).to_string()
    }
}
