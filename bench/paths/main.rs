//! Hard paths for background rules, in the simulator: a long transfer on a lossy path, a low satellite, a day on a home uplink.
//!
//! `cargo run --release -p afteryou-engines --example paths PATH [RULE ...] [--seeds N] [--hours N]`
//!
//! ```text
//! paths long-transfer                      times to complete beside CUBIC's, medians over 25 seeds
//! paths low-satellite vegas copa           share alone and a call's delay, medians over 5 draws
//! paths day ledbat++,target=25ms           errors of the base delay and idle times, in 24 hours
//! paths low-satellite --draw 1             the capacity of a draw as CSV, and its delays
//! ```
//!
//! A rule is a controller by its name, with parameters if it has any. The tables are Markdown: the book's pages have them.

mod day;
mod long_transfer;
mod low_satellite;
mod support;

use support::{rules, Result};

/// The words of the command line.
struct Options {
    path: String,
    rules: Vec<String>,
    seeds: Option<u64>,
    hours: u64,
    draw: Option<u64>,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Options> {
        let mut words = words.skip(1);
        let path = words.next().ok_or("write long-transfer, low-satellite or day")?;
        let mut options = Options { path, rules: Vec::new(), seeds: None, hours: 24, draw: None };
        while let Some(word) = words.next() {
            let mut number = || -> Result<u64> {
                Ok(words.next().ok_or_else(|| format!("{word} requires a number"))?.parse::<u64>()?.max(1))
            };
            match word.as_str() {
                "--seeds" => options.seeds = Some(number()?),
                "--hours" => options.hours = number()?,
                "--draw" => options.draw = Some(number()?),
                _ => options.rules.push(word),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<()> {
    let options = Options::read(std::env::args())?;
    let named = |default: &[&str]| rules(&options.rules, default);
    match (options.path.as_str(), options.draw) {
        ("long-transfer", _) => {
            long_transfer::print(&named(&["ebb", "ledbat++", "ledbat", "bbr"])?, options.seeds.unwrap_or(25))
        }
        ("low-satellite", Some(draw)) => {
            low_satellite::print_draw(draw);
            Ok(())
        }
        ("low-satellite", None) => {
            let rules = named(&["ebb", "ledbat++", "ledbat", "vegas", "copa", "cubic"])?;
            low_satellite::print(&rules, options.seeds.unwrap_or(5))
        }
        ("day", _) => {
            let rules = named(&["ebb", "ledbat++", "vegas", "copa"])?;
            day::print(&rules, options.hours, options.seeds.unwrap_or(1))
        }
        (other, _) => Err(format!("{other:?} is no path: write long-transfer, low-satellite or day").into()),
    }
}
