//! Arguments of `afteryou demo`.

use crate::values;
use afteryou_aqm::Backlog;
use afteryou_scenario::{Algorithm, Buffer, Duration, Link, Probability, Rate};
use afteryou_terminal::Failure;
use afteryou_transfer_cli::args::controller;
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::Args;
use std::path::PathBuf;

/// The largest packet that the demo sends, headers included. A buffer that does not hold one passes nothing.
const FULL_PACKET: u32 = 1500;

/// Arguments of `afteryou demo`.
#[derive(Args, Clone, Debug, PartialEq)]
#[command(after_help = AFTER_HELP)]
pub struct DemoArgs {
    /// The transfer's congestion controller, with optional parameters: NAME[,parameter=value...]
    ///
    /// Any of `afteryou list controllers`. The demo has ledbat++ restart quickly after yielding (restart=true) unless you
    /// write restart=false, which is the plain draft.
    #[arg(long, value_name = "CONTROLLER", default_value = "ledbat++", value_parser = controller)]
    pub controller: Algorithm,

    /// Duration in seconds; at least 24
    #[arg(long, value_name = "N", default_value = "30", value_parser = values::seconds)]
    pub seconds: u64,

    /// Rate of the bottleneck
    #[arg(long, default_value = "20Mbit/s", value_parser = values::rate)]
    pub rate: Rate,

    /// Base round-trip time: 40ms, 0.25s
    #[arg(long, value_name = "TIME", default_value = "40ms", value_parser = values::rtt)]
    pub rtt: Duration,

    /// Size of the bottleneck's queue, in time, packets or bytes: 500ms, 100packets, 64KiB
    #[arg(long, default_value = "500ms")]
    pub buffer: Buffer,

    /// The bottleneck's queue discipline, with optional parameters: NAME[,parameter=value...]
    ///
    /// Any of `afteryou list queues`. The backup's packets are marked as lower effort, which the le_ queues honour.
    #[arg(long, value_name = "QUEUE", default_value = "droptail", value_parser = values::queue)]
    pub queue: Algorithm,

    /// Packets lost at random, in each direction: 0.1%
    #[arg(long, value_name = "PERCENT", default_value = "0%")]
    pub loss: Probability,

    /// Send this file instead of generated data
    ///
    /// For a verdict it must take 24 seconds, which is 37 MB at the default rate. A smaller file is sent and verified,
    /// and reported as too short to judge.
    #[arg(long, value_name = "PATH", value_parser = PathBufValueParser::new().try_map(values::file))]
    pub file: Option<PathBuf>,

    /// Let the upload be the kernel's own TCP, in network namespaces; on Linux, as root
    #[arg(long)]
    pub real: bool,

    /// Folder for the report
    #[arg(long, value_name = "DIR", default_value = "afteryou-demo")]
    pub out: PathBuf,

    /// Write the result to stdout as JSON; progress goes to stderr either way
    #[arg(long)]
    pub json: bool,

    /// Print every table, not only the verdict
    #[arg(long, short)]
    pub verbose: bool,

    /// Exit with 1 if the verdict is bad
    #[arg(long)]
    pub check: bool,

    /// Seed of every random choice
    #[arg(long, value_name = "N", default_value = "1", value_parser = values::seed)]
    pub seed: u64,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou demo
  afteryou demo --rate 5Mbit/s --rtt 120ms --buffer 100packets --loss 0.1%
  afteryou demo --controller ledbat++,target=25ms
  afteryou demo --controller cubic --check
  afteryou demo --queue fq_codel
  afteryou demo --queue pie,target=20ms
  afteryou demo --file backup.tar --out report --json > result.json

Exit codes:
  0  success; with --check: and the verdict is good
  1  failure, or a bad verdict with --check
  2  the command line is invalid: unknown controller, rate without unit, missing file";

impl DemoArgs {
    /// Checks that the values make sense together. Each alone was checked as it was read.
    ///
    /// # Errors
    /// A buffer that holds no full packet at this rate, and a queue discipline that the buffer or the rate does not suit.
    pub fn check(&self) -> Result<(), Failure> {
        self.check_buffer()?;
        let refused = |error: afteryou_scenario::Error| Failure::usage(format!("--queue: {error}"));
        self.link().build_queue::<()>(self.seed, "").map(drop).map_err(refused)
    }

    /// Returns the bottleneck.
    pub fn link(&self) -> Link {
        Link { loss: self.loss, queue: self.queue.clone(), ..Link::new(self.rate, self.buffer) }
    }

    fn check_buffer(&self) -> Result<(), Failure> {
        if self.buffer.limit(self.rate).admits(Backlog::default(), FULL_PACKET) {
            return Ok(());
        }
        let (buffer, rate) = (self.buffer, self.rate);
        Err(Failure::usage(format!(
            "--buffer: {buffer} at {rate} is less than one full packet: use at least {FULL_PACKET}B"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, Command};
    use clap::Parser;

    fn demo(words: &[&str]) -> Result<DemoArgs, clap::Error> {
        let words = ["afteryou", "demo"].iter().chain(words);
        match Cli::try_parse_from(words)?.command {
            Command::Demo(args) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn saying_nothing_is_a_home_uplink() {
        let args = demo(&[]).unwrap();
        assert!(args.check().is_ok());
        assert_eq!(args.controller, Algorithm::named("ledbat++"));
        assert_eq!((args.rate, args.rtt, args.seconds), (Rate::from_mbit(20), Duration::from_millis(40), 30));
        assert_eq!(args.buffer, Buffer::Time(Duration::from_millis(500)));
        assert_eq!((args.loss.ratio(), args.file, args.seed), (0.0, None, 1));
        assert_eq!(args.out, PathBuf::from("afteryou-demo"));
        assert!(!args.json && !args.check);
    }

    #[test]
    fn a_controller_that_was_written_is_taken_as_written() {
        let args = demo(&["--controller", "ledbat++"]).unwrap();
        assert_eq!(args.controller, Algorithm::named("ledbat++"));
        let args = demo(&["--controller=ledbat++, target=25ms,restart=on"]).unwrap();
        assert_eq!(args.controller.to_string(), "ledbat++,restart=on,target=25ms");
    }

    #[test]
    fn a_queue_is_any_of_the_list_with_its_parameters() {
        assert_eq!(demo(&[]).unwrap().queue, Algorithm::named("droptail"));
        let args = demo(&["--queue", "codel,target=20ms"]).unwrap();
        assert_eq!(args.link().queue.to_string(), "codel,target=20ms");
        assert!(args.check().is_ok());
        let error = demo(&["--queue", "codle"]).unwrap_err().to_string();
        assert!(error.contains("did you mean \"codel\"?"), "{error}");
    }

    #[test]
    fn a_buffer_holds_at_least_a_packet() {
        for (buffer, fine) in [
            ("1packet", true),
            ("0packets", false),
            ("1500B", true),
            ("1KiB", false),
            ("1ms", true),
            ("100us", false),
        ] {
            let args = demo(&["--buffer", buffer]).unwrap();
            assert_eq!(args.check().is_ok(), fine, "{buffer}");
        }
    }
}
