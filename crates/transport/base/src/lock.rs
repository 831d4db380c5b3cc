//! Locks that a panic has poisoned.
//!
//! The standard library marks a lock if a thread panics while it holds it, and reports this to everyone who takes the lock later. All of this
//! workspace takes such a lock all the same, with [`EvenPoisoned`], for three reasons:
//! - The panic itself is the report: its message is printed, and its thread, task or run ends. A second panic in a thread that did nothing
//!   wrong would hide the first. In a destructor it would end the process.
//! - The data behind the locks are whole between two statements: counters, queues, maps, files. Make a new value first, then put it in
//!   its place with one assignment.
//! - Content that goes to a disk or to a peer is verified by its hash, not by the state of a lock.
//!
//! A congestion controller that somebody else wrote may panic in the middle of an event. It runs under the lock of an endpoint, a group or
//! a QUIC connection. Its numbers may then contradict each other. They are memory-safe and belong to this connection or group alone, whose
//! loss detection and time-outs hold whatever window the rule returns.

use std::sync::LockResult;

/// Takes a lock whether a panic has poisoned it or not; the [module](self) has the reasons.
///
/// ```
/// use afteryou_base::lock::EvenPoisoned;
/// use std::sync::Mutex;
///
/// let count = Mutex::new(1);
/// *count.lock().even_poisoned() += 1;
/// assert_eq!(count.into_inner().even_poisoned(), 2);
/// ```
pub trait EvenPoisoned {
    /// The guard, or what the lock held.
    type Held;

    /// Returns the guard of a [`Mutex`](std::sync::Mutex) or [`RwLock`](std::sync::RwLock), the guard after a wait for a
    /// [`Condvar`](std::sync::Condvar), or what the lock held.
    fn even_poisoned(self) -> Self::Held;
}

impl<T> EvenPoisoned for LockResult<T> {
    type Held = T;

    // The one place where this is decided.
    #[expect(clippy::disallowed_methods)]
    fn even_poisoned(self) -> T {
        self.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Condvar, Mutex, RwLock};
    use std::time::Duration;

    /// Makes a thread panic that has the result of `hold`.
    fn poison<G>(hold: impl FnOnce() -> G + Send) {
        let panicked = std::thread::scope(|scope| {
            let holder = scope.spawn(|| {
                let _held = hold();
                panic!("on purpose");
            });
            holder.join().is_err()
        });
        assert!(panicked);
    }

    #[test]
    fn a_poisoned_lock_is_taken() {
        let (mutex, both) = (Mutex::new(7), RwLock::new(7));
        poison(|| mutex.lock());
        poison(|| both.write());
        assert!(mutex.is_poisoned() && both.is_poisoned());
        assert_eq!((*mutex.lock().even_poisoned(), *both.read().even_poisoned()), (7, 7));
        let guard = mutex.lock().even_poisoned();
        let (guard, waited) = Condvar::new().wait_timeout(guard, Duration::ZERO).even_poisoned();
        assert_eq!((*guard, waited.timed_out()), (7, true));
        drop(guard);
        assert_eq!((mutex.into_inner().even_poisoned(), both.into_inner().even_poisoned()), (7, 7));
    }
}
