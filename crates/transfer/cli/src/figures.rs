//! Numbers for people: three digits or so, and the unit that suits them.

use std::time::Duration;

/// Formats a size: 3.10 GB, 512 kB.
pub fn size(bytes: u64) -> String {
    scaled(bytes, &["B", "kB", "MB", "GB", "TB", "PB", "EB"])
}

/// The unit of rates: the one that the user writes them in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateUnit {
    /// Bits as links have them: 18.3 Mbit/s.
    #[default]
    Bits,
    /// 2.29 MB/s.
    Bytes,
    /// As rclone counts: 2.18 MiB/s.
    BinaryBytes,
}

impl RateUnit {
    /// Returns the unit of a rate or timetable that can be read.
    pub fn of(text: &str) -> RateUnit {
        let text = text.to_ascii_lowercase();
        match () {
            () if text.contains("bit/s") => RateUnit::Bits,
            () if text.contains("b/s") && !text.contains("ib/s") => RateUnit::Bytes,
            () => RateUnit::BinaryBytes,
        }
    }

    /// Shows a rate.
    pub fn rate(self, bytes_per_second: u64) -> String {
        match self {
            RateUnit::Bits => {
                let units = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s", "Pbit/s", "Ebit/s"];
                scaled(bytes_per_second.saturating_mul(8), &units)
            }
            RateUnit::Bytes => {
                scaled(bytes_per_second, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"])
            }
            RateUnit::BinaryBytes => {
                let units = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s", "EiB/s"];
                scaled_by(1024.0, bytes_per_second, &units)
            }
        }
    }
}

/// Formats a delay in milliseconds: 48 ms, 2.5 ms.
pub fn delay(us: u64) -> String {
    match us {
        0..10_000 => format!("{} ms", trimmed(us as f64 / 1e3, 1)),
        _ => format!("{} ms", us.saturating_add(500) / 1_000),
    }
}

/// Formats a time in its two largest units: 42 s, 13 min, 2 h 5 min, 3 d 4 h.
pub fn time(time: Duration) -> String {
    let s = time.as_secs();
    match s {
        0..60 => format!("{s} s"),
        60..600 => pair(s / 60, "min", s % 60, "s"),
        600..3_600 => format!("{} min", s / 60),
        3_600..86_400 => pair(s / 3_600, "h", s % 3_600 / 60, "min"),
        _ => pair(s / 86_400, "d", s % 86_400 / 3_600, "h"),
    }
}

/// Formats a time that may be short: 0.2 s.
pub fn short_time(short: Duration) -> String {
    match short.as_secs() {
        0..10 => format!("{} s", trimmed(short.as_secs_f64(), 1)),
        _ => time(short),
    }
}

/// Formats a number of things: "1 file", "12 files".
pub fn count(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        _ => format!("{n} {what}s"),
    }
}

/// Returns whole per cent of a whole, never 100 before it is all.
pub fn percent(part: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        _ => (u128::from(part.min(whole)) * 100 / u128::from(whole)) as u64,
    }
}

fn pair(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

fn scaled(value: u64, units: &[&str]) -> String {
    scaled_by(1e3, value, units)
}

fn scaled_by(step: f64, value: u64, units: &[&str]) -> String {
    let mut value = value as f64;
    let mut unit = 0;
    // What would be written as 1000 is 1 of the next unit.
    while value >= 999.5 && unit + 1 < units.len() {
        (value, unit) = (value / step, unit + 1);
    }
    let digits = match value {
        _ if unit == 0 => 0,
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{} {}", trimmed(value, digits), units[unit])
}

/// Formats a value without trailing zeros.
fn trimmed(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_rates_have_three_digits_and_a_unit() {
        let sizes = [0, 999, 1_000, 999_499, 999_500, 3_100_000_000, u64::MAX].map(size);
        assert_eq!(sizes, ["0 B", "999 B", "1 kB", "999 kB", "1 MB", "3.1 GB", "18.4 EB"]);
        let rates = [0, 625_000, 2_290_000, 65_536, u64::MAX].map(|rate| RateUnit::Bits.rate(rate));
        assert_eq!(rates, ["0 bit/s", "5 Mbit/s", "18.3 Mbit/s", "524 kbit/s", "18.4 Ebit/s"]);
    }

    #[test]
    fn rates_are_shown_in_the_unit_that_they_were_given_in() {
        let shown = |given: &str, bytes| RateUnit::of(given).rate(bytes);
        assert_eq!(shown("5Mbit/s", 625_000), "5 Mbit/s");
        assert_eq!(shown("2MB/s", 2_000_000), "2 MB/s");
        assert_eq!(shown("512k", 512 << 10), "512 KiB/s");
        assert_eq!(shown("10M:1M", 10 << 20), "10 MiB/s");
        assert_eq!(shown("1 MiB/s", 1 << 20), "1 MiB/s");
        assert_eq!(shown("Mon-08:00,1M Fri-18:00,off", 1000 << 10), "0.98 MiB/s");
        assert_eq!(shown("08:00,5 Mbit/s; 19:00,off", 1_250_000), "10 Mbit/s");
    }

    #[test]
    fn delays_are_whole_milliseconds_unless_they_are_short() {
        assert_eq!(
            [400, 2_500, 9_000, 48_400, 48_500].map(delay),
            ["0.4 ms", "2.5 ms", "9 ms", "48 ms", "49 ms"]
        );
    }

    #[test]
    fn times_have_two_units_at_most() {
        let times = [42, 60, 252, 3_599, 7_500, 3_600, 273_600].map(|s| time(Duration::from_secs(s)));
        assert_eq!(times, ["42 s", "1 min", "4 min 12 s", "59 min", "2 h 5 min", "1 h", "3 d 4 h"]);
        assert_eq!(short_time(Duration::from_millis(240)), "0.2 s");
    }

    #[test]
    fn all_is_a_hundred_per_cent_and_nothing_less_is() {
        assert_eq!(
            [percent(999, 1_000), percent(1_000, 1_000), percent(0, 0), percent(5, 4)],
            [99, 100, 0, 100]
        );
        assert_eq!(percent(u64::MAX - 1, u64::MAX), 99);
        assert_eq!((count(1, "file"), count(0, "file")), ("1 file".to_owned(), "0 files".to_owned()));
    }
}
