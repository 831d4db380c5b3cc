//! Keeps a job to --max-rate: one limit for all times, or a timetable of this machine's clock.
//!
//! The clock is asked again at least every half minute, since machines sleep and clocks are set. The pace is touched only
//! when the timetable's limit changes, so that a limit of `afteryou ctl` in between holds until then.

use super::figures::RateUnit;
use super::tally::JobTally;
use afteryou_base::lock::EvenPoisoned;
use afteryou_rate::{Limits, Timetable, WeekTime};
use afteryou_transfer::pace::{Limit, Owner, Pace};
use jiff::{SignedDuration, Zoned};
use std::future::Future;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A machine that wakes up keeps to the old limit for so long at most.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The direction of the job's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Away from here.
    Up,
    /// To here.
    Down,
}

/// A source of the local time, and of its passing.
pub trait Clock {
    /// Returns the time now.
    fn now(&self) -> Zoned;

    /// Returns when `time` has passed on the clock.
    fn pass(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// This machine's clock.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Zoned {
        Zoned::now()
    }

    fn pass(&self, time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }
}

/// A limit as the user writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxRate {
    /// The limit at each time of the week.
    pub timetable: Timetable,
    /// The unit in which rates are shown.
    pub unit: RateUnit,
}

impl FromStr for MaxRate {
    type Err = afteryou_rate::ParseError;

    fn from_str(text: &str) -> Result<MaxRate, Self::Err> {
        Ok(MaxRate { timetable: text.parse()?, unit: RateUnit::of(text) })
    }
}

/// Sets the pace now, and at each change for as long as the task runs.
pub async fn follow(
    timetable: Timetable,
    direction: Direction,
    clock: impl Clock,
    pace: Pace,
    tally: Arc<Mutex<JobTally>>,
) {
    let mut said = None;
    loop {
        let now = clock.now();
        let (limits, wait) = at(&timetable, &now);
        let until = wait.map(|wait| time_of_day(&now, wait));
        tally.lock().even_poisoned().set_until(until);
        let rate = rate(limits, direction);
        if said != Some(rate) {
            set(&pace, rate, wait.is_some());
            said = Some(rate);
        }
        let Some(wait) = wait else { return };
        clock.pass(wait.min(LOOK_AGAIN)).await;
    }
}

/// Returns the limit at this time, and how long it holds.
fn at(timetable: &Timetable, now: &Zoned) -> (Limits, Option<Duration>) {
    let week = WeekTime::of_unix(now.timestamp().as_second(), now.offset().seconds());
    (timetable.limits_at(week), timetable.next_change_after(week))
}

fn rate(limits: Limits, direction: Direction) -> Option<u64> {
    let rate = match direction {
        Direction::Up => limits.up,
        Direction::Down => limits.down,
    };
    rate.map(afteryou_rate::Rate::bytes_per_second)
}

/// Sets the timetable's limit, which replaces that of `ctl rate`; a pause continues.
fn set(pace: &Pace, max_rate: Option<u64>, changes: bool) {
    let owner = if changes { Owner::Timetable } else { Owner::User };
    pace.set(owner, Limit { max_rate, paused: false });
    pace.set(Owner::Control, Limit { max_rate: None, ..pace.of(Owner::Control) });
}

/// Returns the time of day after `wait`, with the day if that is not today's or tonight's.
fn time_of_day(now: &Zoned, wait: Duration) -> String {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    let format = if wait.as_hours() < 24 { "%H:%M" } else { "%a %H:%M" };
    // The seconds of now are in it, and a minute begins at 0.
    now.saturating_add(wait).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use jiff::tz::{offset, TimeZone};

    const EVENINGS: &str = "08:00,512k 18:00,off Sat-00:00,10M:1M";

    fn wednesday(hour: i8, minute: i8) -> Zoned {
        let zone = TimeZone::fixed(offset(2));
        date(2026, 11, 18).at(hour, minute, 30, 0).to_zoned(zone).unwrap()
    }

    #[test]
    fn the_clock_on_the_wall_decides() {
        let timetable: Timetable = EVENINGS.parse().unwrap();
        let (limits, wait) = at(&timetable, &wednesday(8, 0));
        assert_eq!(rate(limits, Direction::Up), Some(512 * 1024));
        assert_eq!(wait, Some(Duration::from_secs(10 * 3600 - 30)));
        assert_eq!(time_of_day(&wednesday(8, 0), wait.unwrap()), "18:00");
        let (limits, wait) = at(&timetable, &wednesday(18, 0));
        assert_eq!(
            (rate(limits, Direction::Up), time_of_day(&wednesday(18, 0), wait.unwrap()).as_str()),
            (None, "08:00")
        );
    }

    #[test]
    fn a_change_on_another_day_is_named_with_it() {
        let timetable: Timetable = "Wed-00:00,512k Sat-06:30,off".parse().unwrap();
        let (_, wait) = at(&timetable, &wednesday(12, 0));
        assert_eq!(time_of_day(&wednesday(12, 0), wait.unwrap()), "Sat 06:30");
    }

    #[test]
    fn directions_have_limits_of_their_own() {
        let timetable: Timetable = "10M:1M".parse().unwrap();
        let (limits, wait) = at(&timetable, &wednesday(12, 0));
        assert_eq!(
            [Direction::Up, Direction::Down].map(|way| rate(limits, way)),
            [Some(10 << 20), Some(1 << 20)]
        );
        assert_eq!(wait, None);
    }

    #[test]
    fn a_new_word_takes_the_place_of_what_ctl_said_and_a_pause_stays() {
        let pace = Pace::new();
        pace.set(Owner::Control, Limit { max_rate: Some(7), paused: true });
        set(&pace, Some(9), true);
        assert_eq!(pace.of(Owner::Control), Limit { max_rate: None, paused: true });
        assert_eq!(pace.current(), Limit { max_rate: Some(9), paused: true });
    }

    #[tokio::test]
    async fn one_limit_for_all_times_is_the_command_lines() {
        let pace = Pace::new();
        let tally = Arc::new(Mutex::new(JobTally::new(pace.clone(), None, std::time::Instant::now())));
        follow("5Mbit/s".parse().unwrap(), Direction::Up, SystemClock, pace.clone(), tally).await;
        assert_eq!(pace.of(Owner::User).max_rate, Some(625_000));
    }
}
