//! How fast a job may go: shared by everybody who limits it (the command line, a timetable, `ctl`, the far end) and
//! everybody who sends for it.
//!
//! # Model
//! Several limits hold at once, each with an owner; the smallest rate counts, and one pause is enough. What may be sent
//! lies in a bucket that fills at that rate. A sender takes what it is about to write and waits while the bucket is
//! empty; it may overdraw the bucket by what it takes, so the bucket never needs to hold the largest piece. A change
//! of the limit wakes whoever waits, and what was earned before is counted at the rate before.
//!
//! Rates limit the content of files. Headers, hashes, retransmissions and control messages come on top (3 to 5 %).
//!
//! # Constants
//! The bucket holds 20 ms at the rate, and at least 4 KiB so that timers of a millisecond do not slow a job down.
//!
//! # Not implemented
//! Fair turns between several senders that share one pace: who asks first goes first.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How much may be saved up, as time at the rate.
const BURST: Duration = Duration::from_millis(20);
/// At least so many bytes may be saved up.
const BURST_MIN: u64 = 4 * 1024;
/// Nobody sleeps longer at a time: far beyond any useful wait, near enough for arithmetic without overflow.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// Who set a limit. Each owner has one; they do not replace each other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The command line.
    User,
    /// A timetable.
    Timetable,
    /// `afteryou ctl`.
    Control,
    /// The sink, for a source.
    FarEnd,
}

/// What an owner allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Bytes of content a second; None: no limit.
    pub max_rate: Option<u64>,
    /// Nothing at all for now.
    pub paused: bool,
}

impl Limit {
    /// No limit.
    pub const NONE: Limit = Limit { max_rate: None, paused: false };

    /// What both allow.
    fn and(self, other: Limit) -> Limit {
        let max_rate = match (self.max_rate, other.max_rate) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Limit { max_rate, paused: self.paused || other.paused }
    }
}

/// The pace of a job. Clones share it.
#[derive(Clone)]
pub struct Pace(Arc<Inner>);

struct Inner {
    limits: Mutex<[Limit; 4]>,
    current: watch::Sender<Limit>,
    bucket: Mutex<Bucket>,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::new()
    }
}

impl Pace {
    /// A pace without limits.
    pub fn new() -> Pace {
        Pace(Arc::new(Inner {
            limits: Mutex::new([Limit::NONE; 4]),
            current: watch::Sender::new(Limit::NONE),
            bucket: Mutex::new(Bucket { bytes: BURST_MIN as f64, filled: None }),
        }))
    }

    /// Replaces the limit of `owner`. Holds at once, also for whoever waits.
    pub fn set(&self, owner: Owner, limit: Limit) {
        let mut limits = locked(&self.0.limits);
        limits[owner as usize] = limit;
        let all = limits.iter().fold(Limit::NONE, |all, one| all.and(*one));
        let before = *self.0.current.borrow();
        if all == before {
            return;
        }
        locked(&self.0.bucket).fill(before, Instant::now());
        self.0.current.send_replace(all);
    }

    /// What all owners together allow.
    pub fn current(&self) -> Limit {
        *self.0.current.borrow()
    }

    /// What `owner` allows.
    pub fn of(&self, owner: Owner) -> Limit {
        locked(&self.0.limits)[owner as usize]
    }

    /// What all owners except `owner` allow.
    pub fn without(&self, owner: Owner) -> Limit {
        let limits = locked(&self.0.limits);
        let others = limits.iter().enumerate().filter(|(index, _)| *index != owner as usize);
        others.fold(Limit::NONE, |all, (_, one)| all.and(*one))
    }

    /// Tells of changes of what all owners together allow.
    pub fn changed(&self) -> watch::Receiver<Limit> {
        self.0.current.subscribe()
    }

    /// Returns when so many bytes may be sent.
    pub async fn take(&self, bytes: u64) {
        let mut changed = self.0.current.subscribe();
        loop {
            let limit = *changed.borrow_and_update();
            let wait = locked(&self.0.bucket).take(bytes, limit, Instant::now());
            let Some(wait) = wait else {
                return;
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                // The sender of the channel lives in `self`.
                _ = changed.changed() => {}
            }
        }
    }

    /// In what pieces to take and write, bytes: small enough to look smooth at a low rate.
    pub fn piece(&self) -> usize {
        let limit = self.current();
        limit.max_rate.map_or(usize::MAX, |rate| capacity(rate).min(1 << 20) as usize)
    }
}

/// The lock's content; what a panicking thread left in it is whole, since nobody panics between two writes to it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn capacity(rate: u64) -> u64 {
    ((rate as f64 * BURST.as_secs_f64()) as u64).max(BURST_MIN)
}

/// What may be sent, and when that was last counted.
struct Bucket {
    bytes: f64,
    filled: Option<Instant>,
}

impl Bucket {
    fn fill(&mut self, limit: Limit, now: Instant) {
        let since = self.filled.map_or(Duration::ZERO, |then| now.saturating_duration_since(then));
        self.filled = Some(now);
        let Some(rate) = limit.max_rate else {
            // No limit earns no right to a burst under the next one, and forgives debts.
            self.bytes = 0.0;
            return;
        };
        if !limit.paused {
            self.bytes = (self.bytes + rate as f64 * since.as_secs_f64()).min(capacity(rate) as f64);
        }
    }

    /// Takes `bytes`, or says how long to wait before asking again.
    fn take(&mut self, bytes: u64, limit: Limit, now: Instant) -> Option<Duration> {
        self.fill(limit, now);
        if limit.paused {
            return Some(LONGEST_SLEEP);
        }
        let rate = limit.max_rate?;
        if self.bytes > 0.0 {
            self.bytes -= bytes as f64;
            return None;
        }
        if rate == 0 {
            return Some(LONGEST_SLEEP);
        }
        // Just past empty, and at least a timer's grain.
        let wait = (1.0 - self.bytes) / rate as f64;
        Some(Duration::from_secs_f64(wait.clamp(0.001, LONGEST_SLEEP.as_secs_f64())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(bytes: u64) -> Limit {
        Limit { max_rate: Some(bytes), paused: false }
    }

    const PAUSE: Limit = Limit { max_rate: None, paused: true };

    /// Seconds of the paused clock that `pieces` of `bytes` take.
    async fn seconds(pace: &Pace, pieces: u64, bytes: u64) -> f64 {
        let start = Instant::now();
        for _ in 0..pieces {
            pace.take(bytes).await;
        }
        start.elapsed().as_secs_f64()
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_limit_nobody_waits() {
        assert_eq!(seconds(&Pace::new(), 1000, 1 << 20).await, 0.0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_smallest_rate_counts() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(1_000_000));
        pace.set(Owner::Timetable, rate(100_000));
        assert_eq!(pace.current(), rate(100_000));
        let took = seconds(&pace, 1000, 1000).await;
        assert!((9.9..10.1).contains(&took), "1 MB at 100 kB/s took {took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_larger_than_the_bucket_keep_the_rate() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(100_000));
        let took = seconds(&pace, 11, 100_000).await;
        assert!((9.9..10.1).contains(&took), "the eleventh waits for the ten before it: {took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn time_without_use_earns_twenty_milliseconds_and_no_more() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(10_000_000));
        tokio::time::sleep(Duration::from_secs(3600)).await;
        let took = seconds(&pace, 1000, 1000).await;
        assert!((0.07..0.09).contains(&took), "1 MB less 200 kB at 10 MB/s took {took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn one_pause_is_enough_and_its_end_is_felt_at_once() {
        let pace = Pace::new();
        pace.set(Owner::User, PAUSE);
        pace.set(Owner::FarEnd, PAUSE);
        let waiting = pace.clone();
        let waiter = tokio::spawn(async move { waiting.take(1).await });
        tokio::time::sleep(Duration::from_secs(1000)).await;
        pace.set(Owner::User, Limit::NONE);
        tokio::time::sleep(Duration::from_secs(1000)).await;
        assert!(!waiter.is_finished());
        let resumed = Instant::now();
        pace.set(Owner::FarEnd, Limit::NONE);
        waiter.await.unwrap();
        assert!(resumed.elapsed() < Duration::from_millis(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_rate_holds_for_whoever_waits() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(1000));
        pace.take(1_000_000).await;
        let waiting = pace.clone();
        let waiter = tokio::spawn(async move { waiting.take(1).await });
        tokio::time::sleep(Duration::from_secs(10)).await;
        let faster = Instant::now();
        pace.set(Owner::User, rate(1_000_000));
        waiter.await.unwrap();
        assert!(faster.elapsed() < Duration::from_secs(1), "the rest of a debt of 1 MB at 1 MB/s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_earns_nothing() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(1_000_000));
        pace.take(100_000).await;
        pace.set(Owner::Control, PAUSE);
        tokio::time::sleep(Duration::from_secs(100)).await;
        pace.set(Owner::Control, Limit::NONE);
        let took = seconds(&pace, 1, 1).await;
        assert!(took > 0.05, "the debt is still there: {took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_of_nothing_is_a_pause() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(0));
        let waiter = tokio::time::timeout(Duration::from_secs(1000), pace.take(1)).await;
        assert!(waiter.is_err());
    }

    #[test]
    fn the_far_end_is_told_what_the_others_allow() {
        let pace = Pace::new();
        pace.set(Owner::FarEnd, rate(5));
        pace.set(Owner::User, rate(7));
        assert_eq!(pace.without(Owner::FarEnd), rate(7));
    }
}
