//! Reading whole files to hash them: few at a time, and only as long as somebody needs it.
//!
//! # Model
//! A process that serves may have many jobs, each with a thread that hashes ahead. At most [`AT_ONCE`] of them read at
//! a time. Each reader queues up, has the turn for [`TURN_BYTES`], and goes to the end of the queue. A small file waits
//! for a few turns, however large the files are that others hash. A holder of a [`Stopper`] can end all of this: the
//! next read of the file fails.
//!
//! # Constants
//! Four readers keep a disk and two or four cores busy; more would only compete. A turn of 16 MiB takes about 10 ms from
//! memory and 0.1 s from a disk that turns, so moving its head between files costs little.

use afteryou_base::lock::EvenPoisoned;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// Files that are hashed at the same time.
const AT_ONCE: usize = 4;
/// The bytes read in one turn.
const TURN_BYTES: u64 = 16 * 1024 * 1024;
/// How often who waits looks whether it was stopped.
const STOP_POLL: Duration = Duration::from_millis(100);

/// Ends the looking and hashing of a source: see [`super::Source::stoppable`].
#[derive(Clone, Debug, Default)]
pub struct Stopper(Arc<AtomicBool>);

impl Stopper {
    /// Stops the looks: there is nothing more to find, and what is being hashed is given up.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The readers and the queue.
#[derive(Debug)]
pub(super) struct Turns {
    queue: Mutex<Queue>,
    moved: Condvar,
}

#[derive(Debug)]
struct Queue {
    reading: usize,
    waiting: VecDeque<u64>,
    next: u64,
}

/// Of this process.
pub(super) static TURNS: Turns = Turns::new();

impl Turns {
    const fn new() -> Self {
        let queue = Queue { reading: 0, waiting: VecDeque::new(), next: 0 };
        Self { queue: Mutex::new(queue), moved: Condvar::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().even_poisoned()
    }

    /// Waits for a turn; an error when stopped.
    fn take(&self, stopper: &Stopper) -> io::Result<Turn<'_>> {
        let mut queue = self.queue();
        let mine = queue.next;
        queue.next += 1;
        queue.waiting.push_back(mine);
        loop {
            if stopper.is_stopped() {
                queue.waiting.retain(|waiting| *waiting != mine);
                self.moved.notify_all();
                return Err(io::Error::other("nobody needs it any more"));
            }
            if queue.reading < AT_ONCE && queue.waiting.front() == Some(&mine) {
                queue.waiting.pop_front();
                queue.reading += 1;
                // The next may have a place, too.
                self.moved.notify_all();
                return Ok(Turn { turns: self, left: TURN_BYTES });
            }
            let waited = self.moved.wait_timeout(queue, STOP_POLL);
            queue = waited.even_poisoned().0;
        }
    }
}

/// One of the readers.
#[derive(Debug)]
struct Turn<'a> {
    turns: &'a Turns,
    left: u64,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.queue().reading -= 1;
        self.turns.moved.notify_all();
    }
}

/// Reads in turns, until stopped.
#[derive(Debug)]
pub(super) struct Patient<'a, R> {
    from: R,
    stopper: &'a Stopper,
    turns: &'a Turns,
    turn: Option<Turn<'a>>,
}

impl<'a, R> Patient<'a, R> {
    pub(super) fn new(from: R, stopper: &'a Stopper, turns: &'a Turns) -> Self {
        Self { from, stopper, turns, turn: None }
    }
}

impl<R: Read> Read for Patient<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.turn.as_ref().is_none_or(|turn| turn.left == 0 || self.stopper.is_stopped()) {
            // Given back first: waiting tasks come before.
            self.turn = None;
            self.turn = Some(self.turns.take(self.stopper)?);
        }
        let count = self.from.read(buffer)?;
        if let Some(turn) = &mut self.turn {
            turn.left = turn.left.saturating_sub(count as u64);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    /// Counts how many read at the same time.
    struct Counted<'a> {
        now: &'a AtomicUsize,
        most: &'a AtomicUsize,
        left: usize,
    }

    impl Read for Counted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            thread::sleep(Duration::from_millis(1));
            self.now.fetch_sub(1, Ordering::SeqCst);
            let count = buffer.len().min(self.left);
            self.left -= count;
            Ok(count)
        }
    }

    #[test]
    fn four_read_at_a_time_and_all_come_to_their_end() {
        let (turns, stopper) = (Turns::new(), Stopper::default());
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let from = Counted { now: &now, most: &most, left: 3 * TURN_BYTES as usize };
                    let mut reader = Patient::new(from, &stopper, &turns);
                    let mut buffer = vec![0; TURN_BYTES as usize / 4];
                    while reader.read(&mut buffer).expect("reads") > 0 {}
                });
            }
        });
        assert_eq!(most.into_inner(), AT_ONCE);
        let queue = turns.queue();
        assert_eq!((queue.reading, queue.waiting.len()), (0, 0));
    }

    #[test]
    fn who_waits_for_a_turn_and_who_has_one_can_be_stopped() {
        let (turns, stopper, other) = (Turns::new(), Stopper::default(), Stopper::default());
        let held: Vec<_> = (0..AT_ONCE).map(|_| turns.take(&other).expect("a turn")).collect();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| turns.take(&stopper).map(drop));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished(), "there is no fifth");
            stopper.stop();
            assert!(waiting.join().expect("no panic").is_err());
        });
        drop(held);
        let mut reader = Patient::new(io::repeat(1), &other, &turns);
        reader.read_exact(&mut [0; 100]).expect("reads");
        other.stop();
        assert!(reader.read_exact(&mut [0; 100]).is_err());
        drop(reader);
        assert_eq!(turns.queue().reading, 0);
    }
}
