//! Values that need more than their type to be right. A refusal is one sentence with what to write.

use afteryou_scenario::{discipline, Algorithm, Duration, Rate};
use std::path::PathBuf;

/// An upload that arrives needs half a second to take over from any background flow. It must stay for eight seconds, a third
/// of the demo. In a shorter stay the half second would cost more than the twelfth of its speed that the verdict
/// allows.
pub const LEAST_SECONDS: u64 = 24;
/// An hour: every number is kept in memory until the end.
pub const MOST_SECONDS: u64 = 3_600;

/// 100 kbit/s: below it the last bytes of the backup take longer than anybody would watch.
const LEAST_BYTES_PER_SECOND: u64 = 12_500;
/// Paths over a satellite are at 600 ms.
const MOST_RTT: Duration = Duration::from_millis(2_000);

/// Parses a queue that exists, with parameters that it takes.
pub fn queue(text: &str) -> Result<Algorithm, afteryou_scenario::Error> {
    let algorithm: Algorithm = text.parse()?;
    discipline(&algorithm)?;
    Ok(algorithm)
}

/// Parses the seed of random choices.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0, u64::MAX)
}

/// Parses the repetitions of a run.
pub fn repeat(text: &str) -> Result<u32, String> {
    whole(text, 1, 100_000).map(|number| number as u32)
}

/// Parses the number of runs at the same time.
pub fn jobs(text: &str) -> Result<u16, String> {
    whole(text, 1, 1024).map(|number| number as u16)
}

/// Parses a whole number within bounds.
fn whole(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    let range = if most == u64::MAX { "such as 7".to_owned() } else { format!("from {least} to {most}") };
    number.ok_or_else(|| format!("{text:?} is not a whole number {range}"))
}

/// Parses the seconds that a demo may take.
pub fn seconds(text: &str) -> Result<u64, String> {
    let bounds = format!("use {LEAST_SECONDS} to {MOST_SECONDS} seconds");
    let seconds: u64 =
        text.parse().map_err(|_| format!("{text:?} is not a whole number of seconds: {bounds}"))?;
    match seconds {
        0..LEAST_SECONDS => Err(format!("{seconds} is too short to show anything: {bounds}")),
        LEAST_SECONDS..=MOST_SECONDS => Ok(seconds),
        _ => Err(format!("{seconds} is longer than an hour: {bounds}")),
    }
}

/// Parses a rate at which half a minute shows something.
pub fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: afteryou_scenario::Error| error.to_string())?;
    match rate.bytes_per_second() {
        0..LEAST_BYTES_PER_SECOND => {
            Err(format!("{rate} is too slow to show anything: use at least 100kbit/s"))
        }
        _ => Ok(rate),
    }
}

/// Parses a round-trip time that leaves room for several in the demo's time table.
pub fn rtt(text: &str) -> Result<Duration, String> {
    let rtt: Duration = text.parse().map_err(|error: afteryou_scenario::Error| error.to_string())?;
    match rtt > MOST_RTT {
        true => Err(format!("{rtt} is too long to show anything: use at most {MOST_RTT}")),
        false => Ok(rtt),
    }
}

/// Checks that a file is there.
pub fn file(path: PathBuf) -> Result<PathBuf, String> {
    match std::fs::metadata(&path) {
        Err(error) => Err(format!("cannot read {path:?}: {}", afteryou_terminal::failure::reason(&error))),
        Ok(found) if found.is_dir() => Err(format!("{path:?} is a directory: name a file")),
        Ok(found) if !found.is_file() => Err(format!("{path:?} is not a regular file: copy it to one first")),
        Ok(_) => Ok(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_refused_with_their_range() {
        assert_eq!(
            (seed("18446744073709551615"), repeat("100000"), jobs("1024")),
            (Ok(u64::MAX), Ok(100_000), Ok(1024))
        );
        assert_eq!(seed("abc").unwrap_err(), "\"abc\" is not a whole number such as 7");
        assert_eq!(repeat("0").unwrap_err(), "\"0\" is not a whole number from 1 to 100000");
        assert_eq!(jobs("-1").unwrap_err(), "\"-1\" is not a whole number from 1 to 1024");
    }

    #[test]
    fn seconds_have_bounds_and_no_unit() {
        assert_eq!(seconds("24"), Ok(24));
        assert!(seconds("14").unwrap_err().starts_with("14 is too short"));
        assert!(seconds("99999999").unwrap_err().ends_with("use 24 to 3600 seconds"));
        assert!(seconds("30s").unwrap_err().starts_with("\"30s\" is not a whole number of seconds"));
    }

    #[test]
    fn a_path_that_shows_nothing_is_refused() {
        assert!(rate("100kbit/s").is_ok());
        assert!(rate("99kbit/s").unwrap_err().contains("too slow"));
        assert!(rtt("2s").is_ok());
        assert_eq!(rtt("10s").unwrap_err(), "10 s is too long to show anything: use at most 2 s");
    }
}
