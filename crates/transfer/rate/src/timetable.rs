//! Which rate applies when in the week, in the words of rclone's `--bwlimit`.
//!
//! # Words
//! ```text
//!   10M                                       always; the same up and down
//!   10M:100k                                  10 MiB/s up, 100 KiB/s down
//!   off                                       no limit; 0 says the same
//!   08:00,512k 19:00,10M 23:00,off            every day
//!   Mon-00:00,512 Fri-23:59,10M Sun-20:00,off each week
//!   08:00,5 Mbit/s; 19:00,off                 units of ours; a semicolon does as well as a space
//! ```
//! An entry holds until the next one. Before the first one of a day the last one of the day before holds, and the week
//! goes round. Of two entries for the same minute the later in the text counts, so `08:00,1M Sat-08:00,off` makes an
//! exception. Days are written in full or by three letters, times from 00:00 to 23:59 with two digits each.
//!
//! # Source
//! rclone's documentation of `--bwlimit`, and `fs/bwtimetable.go` where that is silent. One difference: before the first
//! entry of the week, which begins on Sunday there, rclone's code takes whatever is last in the text. Here it is the latest
//! entry of the week before. With the last example 10M holds on a Sunday morning and not `off`, as its documentation says it
//! should.
//!
//! # Not implemented
//! Limits per file (`--bwlimit-file`), and the signal that switches limits off and on.
//!
//! # Known bad cases
//! When clocks change for summer, an hour is missing or there twice: ask anew with the local time at each change.

use crate::error::ParseError;
use crate::rate::Rate;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

const DAY: u32 = 24 * 3600;
const WEEK: u32 = 7 * DAY;

const LIMIT: &str = "a limit, or times and limits such as 08:00,512k 19:00,10M Sat-00:00,off";
const ENTRY: &str = "a time, a comma and a limit, such as 08:00,512k or Mon-08:00,10M";
const CLOCK: &str = "a time of day from 00:00 to 23:59";
const DAY_NAME: &str = "a day of the week such as Mon or Monday";

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // the names are enough
pub enum Weekday {
    Monday,
    Tuesday,
    Wednesday,
    Thursday,
    Friday,
    Saturday,
    Sunday,
}

impl Weekday {
    /// All of them, in order.
    pub const ALL: [Weekday; 7] = [
        Weekday::Monday,
        Weekday::Tuesday,
        Weekday::Wednesday,
        Weekday::Thursday,
        Weekday::Friday,
        Weekday::Saturday,
        Weekday::Sunday,
    ];

    fn name(self) -> &'static str {
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"][self as usize]
    }

    fn short_name(self) -> &'static str {
        &self.name()[..3]
    }

    fn find(text: &str) -> Option<Weekday> {
        let is = |day: &Weekday| {
            day.name().eq_ignore_ascii_case(text) || day.short_name().eq_ignore_ascii_case(text)
        };
        Weekday::ALL.into_iter().find(is)
    }
}

/// A moment of the local week, in seconds since Monday 00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeekTime(u32);

impl WeekTime {
    /// Returns the time `seconds_of_day` after midnight of `day`. Past the day's end it belongs to a following day.
    pub fn new(day: Weekday, seconds_of_day: u32) -> WeekTime {
        WeekTime((day as u32 * DAY + seconds_of_day % WEEK) % WEEK)
    }

    /// Returns the local time where clocks are `utc_offset_seconds` ahead of UTC.
    pub fn of_unix(unix_seconds: i64, utc_offset_seconds: i32) -> WeekTime {
        // The first of January 1970 was a Thursday.
        let since_monday = i128::from(unix_seconds) + i128::from(utc_offset_seconds) + i128::from(3 * DAY);
        WeekTime(since_monday.rem_euclid(i128::from(WEEK)) as u32)
    }

    /// Returns the seconds since Monday 00:00.
    pub fn seconds(self) -> u32 {
        self.0
    }
}

/// The limits of both directions; none: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The limit of sending.
    pub up: Option<Rate>,
    /// The limit of receiving.
    pub down: Option<Rate>,
}

impl FromStr for Limits {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Limits, ParseError> {
        let Some((up, down)) = text.split_once(':') else {
            let both = limit(text)?;
            return Ok(Limits { up: both, down: both });
        };
        Ok(Limits { up: limit(up)?, down: limit(down)? })
    }
}

fn limit(text: &str) -> Result<Option<Rate>, ParseError> {
    match text.trim().eq_ignore_ascii_case("off") {
        true => Ok(None),
        false => Rate::read(text),
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let write = |f: &mut fmt::Formatter<'_>, limit: Option<Rate>| match limit {
            Some(rate) => write!(f, "{rate}"),
            None => f.write_str("off"),
        };
        write(f, self.up)?;
        if self.down == self.up {
            return Ok(());
        }
        f.write_str(":")?;
        write(f, self.down)
    }
}

/// From when a limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct From {
    /// None: every day.
    day: Option<Weekday>,
    minute_of_day: u16,
}

impl FromStr for From {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<From, ParseError> {
        let Some((day, clock)) = text.split_once('-') else {
            return Ok(From { day: None, minute_of_day: minute_of_day(text)? });
        };
        let day = Weekday::find(day).ok_or_else(|| ParseError::new(day, DAY_NAME))?;
        Ok(From { day: Some(day), minute_of_day: minute_of_day(clock)? })
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(day) = self.day {
            write!(f, "{}-", day.short_name())?;
        }
        write!(f, "{:02}:{:02}", self.minute_of_day / 60, self.minute_of_day % 60)
    }
}

fn minute_of_day(text: &str) -> Result<u16, ParseError> {
    let two_digits = |text: &str, most: u16| {
        let is_valid = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let value: u16 = text.parse().ok().filter(|_| is_valid)?;
        (value <= most).then_some(value)
    };
    let clock = text.split_once(':').and_then(|(hours, minutes)| {
        let (hours, minutes) = (two_digits(hours, 23)?, two_digits(minutes, 59)?);
        Some(60 * hours + minutes)
    });
    clock.ok_or_else(|| ParseError::new(text, CLOCK))
}

/// Which limits hold when in the week.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timetable {
    /// As written; empty: `always` holds.
    entries: Vec<(From, Limits)>,
    /// Where in the week limits begin to hold, in seconds since Monday 00:00; never empty.
    begins: BTreeMap<u32, Limits>,
}

impl Timetable {
    /// Returns a timetable with the same limits at all times.
    pub fn always(limits: Limits) -> Timetable {
        Timetable { entries: Vec::new(), begins: BTreeMap::from([(0, limits)]) }
    }

    fn of_entries(entries: Vec<(From, Limits)>) -> Timetable {
        let mut begins = BTreeMap::new();
        for (from, limits) in &entries {
            for day in Weekday::ALL.into_iter().filter(|day| from.day.is_none_or(|only| only == *day)) {
                begins.insert(day as u32 * DAY + u32::from(from.minute_of_day) * 60, *limits);
            }
        }
        Timetable { entries, begins }
    }

    /// Returns the limits that hold at `at`.
    pub fn limits_at(&self, at: WeekTime) -> Limits {
        let of_this_week = self.begins.range(..=at.0).next_back();
        let latest = of_this_week.or_else(|| self.begins.last_key_value());
        latest.map(|(_, limits)| *limits).unwrap_or_default()
    }

    /// Returns how long after `at` other limits begin to hold; `None` if they never change.
    pub fn next_change_after(&self, at: WeekTime) -> Option<Duration> {
        let now = self.limits_at(at);
        let this_week = self.begins.range(at.0 + 1..).map(|(begin, limits)| (begin - at.0, limits));
        let next_week = self.begins.range(..=at.0).map(|(begin, limits)| (begin + WEEK - at.0, limits));
        let mut changes = this_week.chain(next_week).filter(|(_, limits)| **limits != now);
        changes.next().map(|(seconds, _)| Duration::from_secs(seconds.into()))
    }
}

impl FromStr for Timetable {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Timetable, ParseError> {
        let parts = split(text);
        match &parts[..] {
            [] => return Err(ParseError::new("", LIMIT)),
            [only] if !only.contains(',') => return Ok(Timetable::always(only.parse()?)),
            _ => {}
        }
        let entries: Result<Vec<_>, ParseError> = parts.iter().map(|part| entry(part)).collect();
        Ok(Timetable::of_entries(entries?))
    }
}

fn entry(text: &str) -> Result<(From, Limits), ParseError> {
    let (from, limits) = text.split_once(',').ok_or_else(|| ParseError::new(text, ENTRY))?;
    Ok((from.parse()?, limits.parse()?))
}

/// Splits at spaces and semicolons. A word without a comma belongs to the word before it: it is the unit of a rate.
fn split(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for section in text.split(';') {
        let mut is_first = true;
        for word in section.split_whitespace() {
            match parts.last_mut().filter(|_| !is_first && !word.contains(',')) {
                Some(part) => {
                    part.push(' ');
                    part.push_str(word);
                }
                None => parts.push(word.to_owned()),
            }
            is_first = false;
        }
    }
    parts
}

impl fmt::Display for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entries.is_empty() {
            return self.limits_at(WeekTime(0)).fmt(f);
        }
        for (i, (from, limits)) in self.entries.iter().enumerate() {
            let space = if i == 0 { "" } else { " " };
            write!(f, "{space}{from},{limits}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
