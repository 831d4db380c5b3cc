//! Attempts: which mirror is next, after which pause, and when to give up.
//!
//! # Model
//! An attempt that brings new bytes is progress, and the count of failures begins again. Without progress the pauses double. A mirror whose
//! failure another attempt would not change is not asked again. Attempts end when no mirror is left, after [`TRIES`] failures in a row,
//! or [`FIRST_TRIES`] if no server has answered yet: then the name is more likely wrong than the network.

use crate::error::Error;
use std::time::{Duration, Instant};

/// Failures in a row without new bytes: with pauses of a second to a minute, about five minutes.
const TRIES: u32 = 10;
/// The same before any server has answered.
const FIRST_TRIES: u32 = 3;
/// Longest pause that a server may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(600);

/// Pauses between attempts.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The first pause.
    pub first: Duration,
    /// The longest; each is twice the one before.
    pub longest: Duration,
    /// Gives up after this time without new bytes, instead of after a number of attempts.
    pub give_up_after: Option<Duration>,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(60), give_up_after: None }
    }
}

/// The attempts of one download.
pub(crate) struct Tries {
    backoff: Backoff,
    /// By mirror.
    is_dead: Vec<bool>,
    mirror: usize,
    failures: u32,
    has_answer: bool,
    progress_at: Instant,
}

impl Tries {
    pub fn new(mirrors: usize, backoff: Backoff, now: Instant) -> Tries {
        let is_dead = vec![false; mirrors];
        Tries { backoff, is_dead, mirror: 0, failures: 0, has_answer: false, progress_at: now }
    }

    /// Returns the mirror of the next attempt.
    pub fn mirror(&self) -> usize {
        self.mirror
    }

    /// Notes that a server has answered.
    pub fn answered(&mut self) {
        self.has_answer = true;
    }

    /// Notes a failure after `progress`; returns the pause before the next attempt.
    ///
    /// # Errors
    /// The failure itself, if there is no further attempt.
    pub fn failed(&mut self, error: &Error, progress: bool, now: Instant) -> Option<Duration> {
        if progress {
            (self.failures, self.progress_at) = (0, now);
        }
        self.failures += 1;
        self.is_dead[self.mirror] |= !error.is_transient();
        let alive = self.is_dead.iter().filter(|is_dead| !**is_dead).count() as u32;
        if alive == 0 || self.is_too_late(alive, now) {
            return None;
        }
        if !progress {
            self.turn();
        }
        // Each mirror is asked once before anybody waits.
        let round = (self.failures - 1) / alive;
        let has_others = !progress && round == 0 && alive > 1;
        let doubled = self.backoff.first.saturating_mul(1 << round.min(16)).min(self.backoff.longest);
        let asked = match error {
            Error::Status { retry_after_s: Some(seconds), .. } => {
                Duration::from_secs(*seconds).min(LONGEST_RETRY_AFTER)
            }
            _ => Duration::ZERO,
        };
        Some(if has_others || !error.is_transient() { Duration::ZERO } else { doubled.max(asked) })
    }

    fn is_too_late(&self, alive: u32, now: Instant) -> bool {
        if let Some(longest) = self.backoff.give_up_after {
            return now.saturating_duration_since(self.progress_at) >= longest;
        }
        let tries = if self.has_answer { TRIES } else { FIRST_TRIES };
        self.failures >= tries * alive
    }

    /// Turns to the next mirror that is alive.
    fn turn(&mut self) {
        let count = self.is_dead.len();
        let next = (1..=count).map(|step| (self.mirror + step) % count).find(|at| !self.is_dead[*at]);
        self.mirror = next.unwrap_or(self.mirror);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Error {
        Error::Silent { host: "h".to_owned(), seconds: 60 }
    }

    fn gone() -> Error {
        Error::Sha256
    }

    #[test]
    fn pauses_double_and_progress_begins_anew() {
        let now = Instant::now();
        let mut tries = Tries::new(1, Backoff::default(), now);
        tries.answered();
        let mut pauses = |count: usize| -> Vec<u64> {
            (0..count).map(|at| tries.failed(&silent(), at == 0, now).unwrap().as_secs()).collect()
        };
        assert_eq!(pauses(8), [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pauses(9), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(tries.failed(&silent(), false, now), None);
    }

    #[test]
    fn a_name_that_nobody_answers_is_given_up_soon_or_after_the_time_that_the_user_names() {
        let now = Instant::now();
        let mut tries = Tries::new(1, Backoff::default(), now);
        let pauses: Vec<_> = (0..3).map(|_| tries.failed(&silent(), false, now)).collect();
        assert!(pauses[1].is_some() && pauses[2].is_none());
        let hour = Duration::from_secs(3600);
        let mut tries = Tries::new(1, Backoff { give_up_after: Some(hour), ..Backoff::default() }, now);
        assert!((0..100).all(|_| tries.failed(&silent(), false, now + hour / 2).is_some()));
        assert_eq!(tries.failed(&silent(), false, now + hour), None);
    }

    #[test]
    fn each_mirror_is_asked_before_anybody_waits_and_one_that_has_no_file_is_not_asked_again() {
        let now = Instant::now();
        let mut tries = Tries::new(3, Backoff::default(), now);
        tries.answered();
        let mut asked = Vec::new();
        for error in [silent(), gone(), silent(), silent()] {
            asked.push(tries.mirror());
            assert!(tries.failed(&error, false, now).is_some());
        }
        assert_eq!((asked, tries.mirror()), (vec![0, 1, 2, 0], 2));
        assert!(tries.failed(&gone(), false, now).is_some());
        assert_eq!((tries.mirror(), tries.failed(&gone(), false, now)), (0, None));
    }

    #[test]
    fn a_server_may_ask_for_a_longer_pause_within_reason() {
        let busy = |seconds| Error::Status {
            url: String::new(),
            status: String::new(),
            advice: "",
            is_transient: true,
            retry_after_s: Some(seconds),
        };
        let mut tries = Tries::new(1, Backoff::default(), Instant::now());
        let mut pause = |seconds| tries.failed(&busy(seconds), true, Instant::now()).unwrap().as_secs();
        assert_eq!((pause(30), pause(1_000_000)), (30, 600));
    }
}
