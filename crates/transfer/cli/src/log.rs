//! The log: the history of connections, jobs and files, on stderr.
//!
//! # Levels
//! | level | what |
//! |---|---|
//! | error | a mistake in afteryou, or something that this machine refuses |
//! | warn | something that needs attention, and that no view shows: the default |
//! | info, `-v` | connections, authentication, jobs, what `afteryou ctl` asks |
//! | debug, `-vv` | attempts, retries, what becomes of each file and why |
//! | trace, `-vvv` | every single step |
//!
//! While a job runs, its view prints the lines, so that they neither tear the progress bar nor wait for a terminal that
//! stalls. `--json` has stdout for itself. A ticket never gets into a line: see [`redact`].

use crate::queue::{Message, Sender};
use afteryou_base::lock::EvenPoisoned;
use afteryou_terminal::output::{complain, printable};
use afteryou_terminal::redact;
use clap::{ArgAction, Args};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::SubscriberExt;

/// Common prefix of the names of our crates. Other names are those of libraries.
const OURS: &str = "afteryou";

/// How much is logged.
#[derive(Args, Clone, Debug, Default)]
pub struct LogArgs {
    /// Log more to stderr: -v connections and jobs, -vv every file and attempt, -vvv every step
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub verbose: u8,

    /// Log at this level, or these parts at these levels: debug, or afteryou_transfer=trace,quinn=info
    ///
    /// Levels are off, error, warn, info, debug and trace. Only warnings and errors are logged by default. -v raises the
    /// level of afteryou's own parts.
    #[arg(long, value_name = "FILTER", global = true, value_parser = filter, env = "AFTERYOU_LOG", hide_env_values = true)]
    pub log: Option<Targets>,
}

impl LogArgs {
    /// Returns the log's levels; a `quiet` command prints errors only.
    fn targets(&self, quiet: bool) -> Targets {
        let ours = match self.verbose {
            0 if quiet => LevelFilter::ERROR,
            0 => LevelFilter::WARN,
            1 => LevelFilter::INFO,
            2 => LevelFilter::DEBUG,
            _ => LevelFilter::TRACE,
        };
        let named = self.log.as_ref().filter(|targets| **targets != Targets::new());
        match named {
            // Levels that are named apply. -v counts where it asks for more.
            Some(targets) => {
                let asked = targets.iter().map(|(_, level)| level).chain(targets.default_level()).max();
                match self.verbose > 0 && asked < Some(ours) {
                    true => targets.clone().with_target(OURS, ours),
                    false => targets.clone(),
                }
            }
            None => Targets::new().with_target(OURS, ours),
        }
    }
}

/// Reads the variable's filter; an empty variable names nothing.
fn filter(text: &str) -> Result<Targets, String> {
    if text.trim().is_empty() {
        return Ok(Targets::new());
    }
    let parsed = text.parse::<Targets>();
    parsed
        .map_err(|error| format!("{error}: write a level, such as debug, or PART=LEVEL with commas between"))
}

/// Where a running job shows lines; None before there is one.
static VIEW: Mutex<Option<Sender>> = Mutex::new(None);

/// Begins to log. A log that another call in this process began continues.
pub fn start(args: &LogArgs, quiet: bool) {
    let lines = fmt::layer().with_writer(Lines).with_ansi(false);
    let subscriber = tracing_subscriber::registry().with(lines).with(args.targets(quiet));
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Lets the view behind `messages` print what is logged from now on.
pub fn show_in(messages: Sender) {
    *view() = Some(messages);
}

fn view() -> MutexGuard<'static, Option<Sender>> {
    VIEW.lock().even_poisoned()
}

struct Lines;

/// One event's line. Written as a whole, since an event is one call of `write`.
struct Line;

impl<'a> MakeWriter<'a> for Lines {
    type Writer = Line;

    fn make_writer(&'a self) -> Line {
        Line
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // It contains names of files and messages of the peer.
        let text = printable(String::from_utf8_lossy(bytes).trim_end());
        let line = redact(&text).into_owned();
        // A copy: stderr may block, and the next line of the log must not wait for it.
        let view = view().clone();
        match view {
            Some(messages) => messages.send(Message::Log(line)),
            None => complain(&format!("{line}\n")),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tracing::Level;

    fn logs(verbose: u8, log: Option<&str>, target: &str, level: Level) -> bool {
        let args = LogArgs { verbose, log: log.map(|text| filter(text).unwrap()) };
        args.targets(false).would_enable(target, &level)
    }

    #[test]
    fn each_v_raises_the_level_of_our_own_parts() {
        let levels = [Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];
        for (verbose, highest) in levels.iter().enumerate() {
            for level in &levels {
                let logged = logs(verbose as u8, None, "afteryou_transfer::job", *level);
                assert_eq!(logged, level <= highest, "-v {verbose} times, {level}");
            }
            assert!(!logs(verbose as u8, None, "quinn", Level::ERROR));
        }
    }

    #[test]
    fn a_filter_is_taken_at_its_word_and_v_asks_for_more() {
        let parts = Some("afteryou_transfer=debug,quinn=info");
        assert!(logs(0, parts, "afteryou_transfer::dial", Level::DEBUG));
        assert!(logs(0, parts, "quinn::connection", Level::INFO));
        assert!(!logs(0, parts, "afteryou::transfer", Level::WARN));
        assert!(logs(1, Some("error"), "afteryou::transfer", Level::INFO));
        assert!(logs(1, Some("debug"), "afteryou::transfer", Level::DEBUG), "-v lowers nothing");
        assert!(filter("afteryou=loud").is_err());
        assert!(logs(0, Some(""), "afteryou::transfer", Level::WARN), "an empty variable is none");
        assert!(
            !logs(0, Some(" "), "afteryou::transfer", Level::INFO)
                && !logs(0, Some(""), "quinn", Level::ERROR)
        );
    }
}
