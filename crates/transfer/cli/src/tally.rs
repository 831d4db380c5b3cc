//! The state of a job: what its events add up to.

use super::figures::RateUnit;
use super::situation::{self, Hold, Link, Mood, Situation};
use afteryou_transfer::event::{Event, Outcome, Summary};
use afteryou_transfer::pace::{Owner, Pace};
use std::time::{Duration, Instant};

/// All who may limit a job.
const OWNERS: [Owner; 4] = [Owner::User, Owner::Timetable, Owner::Control, Owner::FarEnd];

/// A state that is older than this is out of date. They come five times a second.
const STATE_LASTS: Duration = Duration::from_secs(3);

/// The rate must have been above nothing for so long before the remaining time is shown. That is longer than the two
/// seconds it is measured over, in which the first packets of a slow start, or a small file before a large one, count
/// for little.
const STEADY_AFTER: Duration = Duration::from_secs(3);

/// The rate that the time left is computed from follows the present one with this time constant.
const SMOOTHED_OVER: Duration = Duration::from_secs(10);

/// The state of a job.
#[derive(Clone)]
pub struct JobTally {
    /// When it began.
    pub began: Instant,
    /// Entries, as far as they are known.
    pub entries: u64,
    /// The files among them.
    pub files: u64,
    /// Bytes of their content.
    pub bytes: u64,
    /// Nothing will be added to these two.
    pub is_plan_complete: bool,
    /// Entries that are settled.
    pub entries_done: u64,
    /// The files among them.
    pub files_done: u64,
    /// Bytes that need not move any more.
    pub bytes_done: u64,
    /// Bytes that moved in this run.
    pub bytes_moved: u64,
    /// Bytes a second, lately.
    pub rate: u64,
    /// The unit in which rates are shown.
    pub unit: RateUnit,
    steady: Option<Steady>,
    /// Entries that failed, in this run.
    pub failed: u64,
    /// The job's end, once it has ended.
    pub end: Option<Summary>,
    link: Link,
    down_since: Option<Instant>,
    state: Option<(afteryou_transfer::wire::ControllerState, Instant)>,
    never_yields: Option<String>,
    /// A file that another job is storing.
    busy: Option<String>,
    pace: Pace,
    until: Option<String>,
    spent: Spent,
    listens: bool,
}

/// The rate since something began to move.
#[derive(Clone, Copy, Debug)]
struct Steady {
    since: Instant,
    at: Instant,
    /// Bytes a second.
    rate: f64,
}

impl Steady {
    /// Returns `last` after movement at `rate`.
    fn after(last: Option<Steady>, rate: u64, now: Instant) -> Option<Steady> {
        let rate = (rate > 0).then_some(rate as f64)?;
        let Some(last) = last else { return Some(Steady { since: now, at: now, rate }) };
        let weight = match last.is_settled() {
            true => now.saturating_duration_since(last.at).as_secs_f64() / SMOOTHED_OVER.as_secs_f64(),
            false => 1.0,
        };
        Some(Steady { at: now, rate: last.rate + (rate - last.rate) * weight.min(1.0), ..last })
    }

    fn is_settled(&self) -> bool {
        self.at.saturating_duration_since(self.since) >= STEADY_AFTER
    }
}

/// How long the controller was seen doing what.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    seen: Duration,
    yielding: Duration,
    last: Option<(Instant, Mood)>,
}

impl JobTally {
    /// Returns an empty tally. `never_yields` names a foreground controller.
    pub fn new(pace: Pace, never_yields: Option<String>, now: Instant) -> JobTally {
        JobTally {
            began: now,
            entries: 0,
            files: 0,
            bytes: 0,
            is_plan_complete: false,
            entries_done: 0,
            files_done: 0,
            bytes_done: 0,
            bytes_moved: 0,
            rate: 0,
            unit: RateUnit::default(),
            steady: None,
            failed: 0,
            end: None,
            link: Link::Connecting,
            down_since: None,
            state: None,
            never_yields,
            busy: None,
            pace,
            until: None,
            spent: Spent::default(),
            listens: false,
        }
    }

    /// Returns the same tally for the side that listens: it waits rather than tries.
    pub fn listening(self) -> JobTally {
        JobTally { listens: true, link: Link::Waiting { reason: None }, ..self }
    }

    /// Returns the same tally with rates in this unit.
    pub fn in_unit(self, unit: RateUnit) -> JobTally {
        JobTally { unit, ..self }
    }

    /// Adds an event.
    pub fn add(&mut self, event: &Event, now: Instant) {
        match event {
            Event::Connected { .. } => {
                // Who listens is asked for one job after the other.
                if self.end.is_some() {
                    let next = JobTally::new(self.pace.clone(), self.never_yields.clone(), now);
                    let next = JobTally { unit: self.unit, ..next };
                    *self = if self.listens { next.listening() } else { next };
                }
                // Neither waiting for somebody nor ssh's question for a password is a part of a job.
                if self.entries_done == 0 && self.bytes_moved == 0 {
                    self.began = now;
                }
                (self.link, self.down_since) = (Link::Up, None);
            }
            Event::Disconnected { reason, retry_in_ms } => {
                let (reason, retry_in) = (reason.clone(), Duration::from_millis(*retry_in_ms));
                self.link = match self.listens {
                    true => Link::Waiting { reason: Some(reason) },
                    false => Link::Down { reason, retry_in },
                };
                (self.state, self.rate, self.down_since) = (None, 0, Some(now));
                self.steady = None;
            }
            Event::Plan { entries, files, bytes, complete } => {
                self.entries = *entries;
                (self.files, self.bytes, self.is_plan_complete) = (*files, *bytes, *complete);
            }
            Event::Progress { entries_done, files_done, bytes_done, bytes_moved, rate } => {
                // The last job broke off, and this is another one.
                if *bytes_moved < self.bytes_moved {
                    (self.began, self.spent) = (now, Spent::default());
                }
                self.entries_done = *entries_done;
                (self.files_done, self.bytes_done) = (*files_done, *bytes_done);
                (self.bytes_moved, self.rate) = (*bytes_moved, *rate);
                self.steady = Steady::after(self.steady, *rate, now);
            }
            Event::State(state) => {
                self.state = Some((state.clone(), now));
                self.spend(now);
            }
            Event::File { outcome: Outcome::Failed(_), .. } => self.failed += 1,
            Event::File { path, .. } => self.busy = self.busy.take().filter(|busy| busy != path),
            Event::Busy { path } => self.busy = Some(path.clone()),
            Event::Group { .. } | Event::Pace { .. } | Event::Unmatched { .. } | Event::Notice { .. } => {}
            Event::Finished(summary) => {
                self.bytes_moved = summary.bytes_moved;
                self.end = Some(summary.clone());
                if self.listens {
                    self.link = Link::Waiting { reason: None };
                }
            }
        }
    }

    /// Sets when the timetable's limits change, as a time of day.
    pub fn set_until(&mut self, until: Option<String>) {
        self.until = until;
    }

    /// Returns the inputs of the words.
    pub fn situation(&self, now: Instant) -> Situation {
        let fresh = |since: &Instant| now.saturating_duration_since(*since) < STATE_LASTS;
        Situation {
            link: self.link_at(now),
            hold: self.hold(),
            paused_by: OWNERS.into_iter().find(|owner| self.pace.of(*owner).paused),
            until: self.until.clone(),
            rate: self.rate,
            unit: self.unit,
            state: self.state.as_ref().filter(|(_, since)| fresh(since)).map(|(state, _)| state.clone()),
            never_yields: self.never_yields.clone(),
            busy: self.busy.clone(),
        }
    }

    /// Returns the job's state in plain words.
    pub fn words(&self, now: Instant) -> String {
        situation::words(&self.situation(now))
    }

    /// Returns the part of the time, as far as it was seen, that it yielded, in per cent.
    pub fn yielded_percent(&self) -> Option<u64> {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        (!self.spent.seen.is_zero())
            .then(|| super::figures::percent(ms(self.spent.yielding), ms(self.spent.seen)))
    }

    /// Returns the time left at the rate of the last seconds; `None` until there is one that means something.
    pub fn time_left(&self) -> Option<Duration> {
        let steady = self.steady.filter(|steady| self.is_plan_complete && steady.is_settled())?;
        let left = self.bytes.saturating_sub(self.bytes_done);
        Some(Duration::from_secs((left as f64 / steady.rate.max(1.0)).ceil() as u64))
    }

    /// Returns the words for a pause and its owner, if the job is paused.
    pub fn pause(&self, now: Instant) -> Option<String> {
        let situation = self.situation(now);
        situation.paused_by.is_some().then(|| situation::paused(&situation))
    }

    /// Returns the bytes that were there before this run.
    pub fn resumed(&self) -> u64 {
        self.bytes_done.saturating_sub(self.bytes_moved)
    }

    /// Returns the smallest limit, and whose it is.
    fn hold(&self) -> Option<Hold> {
        let limit = |owner| self.pace.of(owner).max_rate.map(|max_rate| Hold { max_rate, owner });
        OWNERS.into_iter().filter_map(limit).min_by_key(|hold| hold.max_rate)
    }

    /// Returns the link with the time until the next attempt counted down.
    fn link_at(&self, now: Instant) -> Link {
        let gone = self.down_since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        match self.link.clone() {
            Link::Down { reason, retry_in } => Link::Down { reason, retry_in: retry_in.saturating_sub(gone) },
            link => link,
        }
    }

    /// Counts the time since the last state for that state.
    fn spend(&mut self, now: Instant) {
        if let Some((since, mood)) = self.spent.last {
            let time = now.saturating_duration_since(since).min(STATE_LASTS);
            self.spent.seen += time;
            if mood == Mood::Yielding {
                self.spent.yielding += time;
            }
        }
        self.spent.last = Some((now, situation::mood(&self.situation(now))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_transfer::pace::Limit;
    use afteryou_transfer::wire::ControllerState;

    fn tally() -> (JobTally, Pace, Instant) {
        let (pace, now) = (Pace::new(), Instant::now());
        let mut tally = JobTally::new(pace.clone(), None, now);
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, now);
        tally.add(&Event::Plan { entries: 4, files: 4, bytes: 1_000, complete: true }, now);
        (tally, pace, now)
    }

    fn state(queue_ms: u64) -> Event {
        Event::State(ControllerState {
            queue_us: Some(queue_ms * 1_000),
            base_us: Some(20_000),
            target_us: Some(60_000),
            cwnd: 50_000,
            phase: "congestion avoidance".to_owned(),
        })
    }

    fn progress(bytes_done: u64, rate: u64) -> Event {
        Event::Progress { entries_done: 1, files_done: 1, bytes_done, bytes_moved: bytes_done / 2, rate }
    }

    #[test]
    fn what_is_left_takes_its_time_at_the_present_rate() {
        let (mut tally, _, now) = tally();
        assert_eq!(tally.time_left(), None);
        for s in 0..4 {
            tally.add(&progress(400, 100), now + Duration::from_secs(s));
        }
        assert_eq!((tally.time_left(), tally.resumed()), (Some(Duration::from_secs(6)), 200));
        tally.add(&Event::Plan { entries: 5, files: 5, bytes: 2_000, complete: false }, now);
        assert_eq!(tally.time_left(), None, "nobody knows yet");
    }

    #[test]
    fn the_first_packets_say_nothing_about_the_time_left() {
        let (mut tally, _, now) = tally();
        tally.add(&Event::Plan { entries: 4, files: 4, bytes: 3_100_000_000, complete: true }, now);
        let at = |tenths: u64| now + Duration::from_millis(100 * tenths);
        // A file of 36 bytes goes at once; the next one is hashed for a while.
        for tenths in (0..20).step_by(2) {
            tally.add(&progress(36, 18), at(tenths));
            assert_eq!(tally.time_left(), None, "not 1966 days");
        }
        tally.add(&progress(36, 0), at(20));
        // Slow start, as the mean over two seconds shows it, and then 2 MB/s.
        for tenths in (22..200).step_by(2) {
            tally.add(&progress(36, (100_000 * (tenths - 20)).min(2_000_000)), at(tenths));
            let left = tally.time_left().map_or(1_550, |left| left.as_secs());
            assert!((1_500..2_500).contains(&left), "{left} s at {tenths}");
        }
        // It yields for a moment: the time left does not jump to days.
        tally.add(&progress(36, 2_000), at(202));
        assert!(tally.time_left().unwrap() < Duration::from_secs(2_000));
    }

    #[test]
    fn a_pause_is_told_while_nobody_is_there() {
        let (tally, pace, now) = tally();
        let mut tally = tally.listening();
        pace.set(Owner::Control, Limit { max_rate: None, paused: true });
        let expected = "paused by ctl: `afteryou ctl resume` resumes it; waiting for files to move";
        assert_eq!(tally.words(now), expected);
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, now);
        assert_eq!(tally.words(now), "paused by ctl: `afteryou ctl resume` resumes it");
        assert_eq!(tally.pause(now), Some(tally.words(now)));
    }

    #[test]
    fn the_share_of_yielding_is_that_of_the_time_seen() {
        let (mut tally, _, now) = tally();
        assert_eq!(tally.yielded_percent(), None);
        tally.add(&progress(400, 100), now);
        for (at_ms, queue_ms) in [(0, 200), (1_000, 10), (4_000, 10)] {
            tally.add(&state(queue_ms), now + Duration::from_millis(at_ms));
        }
        assert_eq!(tally.yielded_percent(), Some(25));
        // An outage is neither.
        tally.add(&state(200), now + Duration::from_secs(1_000));
        assert_eq!(tally.yielded_percent(), Some(14));
    }

    #[test]
    fn the_smallest_limit_is_the_one_that_holds() {
        let (mut tally, pace, now) = tally();
        tally.add(&progress(400, 90), now);
        tally.add(&state(1), now);
        pace.set(Owner::User, Limit { max_rate: Some(200), paused: false });
        pace.set(Owner::Timetable, Limit { max_rate: Some(100), paused: false });
        tally.set_until(Some("18:00".to_owned()));
        assert_eq!(tally.words(now), "held to 800 bit/s by the timetable until 18:00");
        pace.set(Owner::Control, Limit { max_rate: None, paused: true });
        assert_eq!(tally.words(now), "paused by ctl: `afteryou ctl resume` resumes it");
    }

    #[test]
    fn the_wait_for_the_next_attempt_is_counted_down() {
        let (mut tally, _, now) = tally();
        tally.add(&state(1), now);
        tally.add(&Event::Disconnected { reason: "no answer".to_owned(), retry_in_ms: 5_000 }, now);
        let after = |s| tally.words(now + Duration::from_secs(s));
        assert_eq!(after(0), "no connection: no answer, trying again in 5 s");
        assert_eq!(after(3), "no connection: no answer, trying again in 2 s");
        assert_eq!(after(9), "no connection: no answer, trying again");
    }

    #[test]
    fn a_job_whose_files_were_counted_before_begins_with_its_connection() {
        let now = Instant::now();
        let mut tally = JobTally::new(Pace::new(), None, now);
        tally.add(&Event::Plan { entries: 3, files: 2, bytes: 900, complete: true }, now);
        let connected = now + Duration::from_secs(60);
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, connected);
        assert_eq!(tally.began, connected);
        tally.add(&progress(400, 100), connected + Duration::from_secs(1));
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, connected + Duration::from_secs(9));
        assert_eq!(tally.began, connected, "the same job");
    }

    #[test]
    fn the_next_job_begins_at_nothing() {
        let (mut tally, _, now) = tally();
        tally.add(&progress(400, 100), now);
        let end = Summary { stored: 3, had: 1, removed: 4, bytes_moved: 500, ..Summary::default() };
        tally.add(&Event::Finished(end.clone()), now);
        assert_eq!((tally.bytes_moved, &tally.end), (500, &Some(end)));
        tally.add(&Event::Connected { peer: "[::1]:4748".to_owned() }, now);
        assert_eq!((tally.bytes_moved, tally.bytes_done, tally.end), (0, 0, None));
    }

    #[test]
    fn a_job_after_one_that_broke_off_has_its_own_time() {
        let (tally, _, now) = tally();
        let mut tally = tally.listening();
        tally.add(&progress(400, 100), now);
        let later = now + Duration::from_secs(100);
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, later);
        tally.add(&progress(600, 100), later);
        assert_eq!(tally.began, now, "the same job went on");
        tally.add(&progress(0, 0), later);
        assert_eq!(tally.began, later);
    }

    #[test]
    fn who_listens_waits_rather_than_tries() {
        let (tally, _, now) = tally();
        let mut tally = tally.listening();
        assert_eq!(tally.words(now), "waiting for files to move");
        tally.add(&Event::Connected { peer: "[::1]:4747".to_owned() }, now);
        tally.add(&Event::Disconnected { reason: "timed out".to_owned(), retry_in_ms: 0 }, now);
        assert_eq!(tally.words(now), "waiting for the other machine to come back: timed out");
    }

    #[test]
    fn a_state_that_is_old_says_nothing_about_now() {
        let (mut tally, _, now) = tally();
        tally.add(&progress(400, 100), now);
        tally.add(&state(200), now);
        assert!(tally.words(now).starts_with("yielding"));
        assert_eq!(tally.words(now + Duration::from_secs(4)), "moving");
    }
}
