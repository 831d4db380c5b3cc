//! The limit of a job's speed: shared by everybody who limits it (the command line, a timetable, `ctl`, the peer) and
//! everybody who sends for it.
//!
//! # Model
//! Several limits hold at once, each with an owner; the smallest rate counts, and one pause is enough. A token bucket
//! ([`Limiter`]) grants what may be written; a change of the limit wakes waiting tasks and holds for them, too.
//!
//! Rates limit the content of files. Headers, hashes, retransmissions and control messages come on top (3 to 5 %).

use afteryou_base::lock::EvenPoisoned;
use afteryou_rate::{Grant, Limiter, Rate};
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::time::Instant;

/// The owner of a limit. Each owner has one; they do not replace each other's.
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

/// The limit of an owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// Bytes of content a second; None: no limit.
    pub max_rate: Option<u64>,
    /// Nothing moves until somebody sets another limit.
    pub paused: bool,
}

impl Limit {
    /// No limit.
    pub const NONE: Limit = Limit { max_rate: None, paused: false };

    /// Returns the stricter of both limits.
    fn and(self, other: Limit) -> Limit {
        let max_rate = match (self.max_rate, other.max_rate) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
        Limit { max_rate, paused: self.paused || other.paused }
    }

    /// Returns whether nothing may be sent.
    pub fn is_pause(&self) -> bool {
        self.paused || self.max_rate == Some(0)
    }

    /// Returns the limit in the words of the limiter; a rate of nothing is a pause.
    fn pace(self) -> afteryou_rate::WriterPace {
        match (self.paused, self.max_rate.map(Rate::from_bytes_per_second)) {
            (true, _) | (_, Some(None)) => afteryou_rate::WriterPace::Paused,
            (false, rate) => rate.flatten().into(),
        }
    }
}

/// The pace of a job. Clones share it.
#[derive(Clone)]
pub struct Pace(Arc<Inner>);

struct Inner {
    limits: Mutex<[Limit; 4]>,
    current: watch::Sender<Limit>,
    limiter: Mutex<Limiter>,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace::new()
    }
}

impl Pace {
    /// Creates a pace without limits.
    pub fn new() -> Pace {
        Pace(Arc::new(Inner {
            limits: Mutex::new([Limit::NONE; 4]),
            current: watch::Sender::new(Limit::NONE),
            limiter: Mutex::new(Limiter::new(Limit::NONE.pace(), now())),
        }))
    }

    /// Replaces the limit of `owner`. Holds at once, also for waiting tasks.
    pub fn set(&self, owner: Owner, limit: Limit) {
        let mut limits = self.0.limits.lock().even_poisoned();
        limits[owner as usize] = limit;
        let all = limits.iter().fold(Limit::NONE, |all, one| all.and(*one));
        if all == self.current() {
            return;
        }
        tracing::info!(by = ?owner, max_rate = all.max_rate, paused = all.paused, "another pace, bytes a second");
        self.0.limiter.lock().even_poisoned().set_pace(all.pace(), now());
        self.0.current.send_replace(all);
    }

    /// Returns the limit of all owners together.
    pub fn current(&self) -> Limit {
        *self.0.current.borrow()
    }

    /// Returns the limit of `owner`.
    pub fn of(&self, owner: Owner) -> Limit {
        self.0.limits.lock().even_poisoned()[owner as usize]
    }

    /// Returns the limit of all owners except `owner`.
    pub fn without(&self, owner: Owner) -> Limit {
        let limits = self.0.limits.lock().even_poisoned();
        let others = limits.iter().enumerate().filter(|(index, _)| *index != owner as usize);
        others.fold(Limit::NONE, |all, (_, one)| all.and(*one))
    }

    /// Reports changes of the limit of all owners together.
    pub fn changed(&self) -> watch::Receiver<Limit> {
        self.0.current.subscribe()
    }

    /// Returns when `bytes` may be sent.
    pub async fn take(&self, mut bytes: u64) {
        while bytes > 0 {
            bytes -= self.take_some(bytes).await.min(bytes);
        }
    }

    /// Waits until something may be sent, and returns how much of `bytes` (at least one).
    pub async fn take_some(&self, bytes: u64) -> u64 {
        let mut changed = self.0.current.subscribe();
        loop {
            // Before the limiter is asked, so that no change is missed.
            changed.borrow_and_update();
            let grant = self.0.limiter.lock().even_poisoned().take(bytes, now());
            match grant {
                Grant::Bytes(granted) => return granted,
                Grant::Wait(wait) => tokio::select! {
                    () = tokio::time::sleep(wait) => {}
                    // The sender of the channel lives in `self`.
                    _ = changed.changed() => {}
                },
                Grant::Paused => _ = changed.changed().await,
            }
        }
    }

    /// Gives back what was taken and not sent.
    pub fn give_back(&self, bytes: u64) {
        self.0.limiter.lock().even_poisoned().give_back(bytes);
    }
}

/// Returns the time of Tokio's clock, which tests can stop.
fn now() -> std::time::Instant {
    Instant::now().into_std()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn rate(bytes: u64) -> Limit {
        Limit { max_rate: Some(bytes), paused: false }
    }

    const PAUSE: Limit = Limit { max_rate: None, paused: true };

    /// Returns the seconds of the paused clock that `pieces` of `bytes` take.
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
        assert!((9.8..10.1).contains(&took), "1 MB at 100 kB/s took {took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn pieces_larger_than_the_bucket_keep_the_rate() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(100_000));
        let took = seconds(&pace, 10, 100_000).await;
        assert!((9.7..10.1).contains(&took), "{took} s");
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
        let waiting = pace.clone();
        let waiter = tokio::spawn(async move { waiting.take(1_000_000).await });
        tokio::time::sleep(Duration::from_secs(10)).await;
        let faster = Instant::now();
        pace.set(Owner::User, rate(1_000_000));
        waiter.await.unwrap();
        assert!(faster.elapsed() <= Duration::from_secs(1), "the rest of 1 MB at 1 MB/s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_earns_nothing() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(1_000_000));
        pace.take(100_000).await;
        pace.set(Owner::Control, PAUSE);
        tokio::time::sleep(Duration::from_secs(100)).await;
        pace.set(Owner::Control, Limit::NONE);
        let took = seconds(&pace, 1, 1_000_000).await;
        assert!(took > 0.95, "{took} s");
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_of_nothing_is_a_pause() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(0));
        let waiter = tokio::time::timeout(Duration::from_secs(1000), pace.take(1)).await;
        assert!(waiter.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_given_back_can_be_taken_again() {
        let pace = Pace::new();
        pace.set(Owner::User, rate(1_000_000));
        pace.take(500_000).await;
        pace.give_back(10_000);
        assert_eq!(seconds(&pace, 1, 10_000).await, 0.0);
    }

    #[test]
    fn the_far_end_is_told_what_the_others_allow() {
        let pace = Pace::new();
        pace.set(Owner::FarEnd, rate(5));
        pace.set(Owner::User, rate(7));
        assert_eq!(pace.without(Owner::FarEnd), rate(7));
    }
}
