//! Messages that wait to be shown.
//!
//! A reader may stall: a terminal after Ctrl-S, a pipe that nobody empties. The job continues meanwhile, so the
//! queue is bounded. Above [`LONGEST`] messages, those that the next one repeats (progress, state) are left out, and so
//! is the log. Files are then counted without a message each. The rest is rare and waits up to twice as long a queue;
//! the end always finds room.

use afteryou_transfer::event::Event;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::Arc;
use std::time::Duration;

/// Messages that may wait; some ten megabytes with their paths.
const LONGEST: usize = 64 * 1024;

/// Something to show.
pub enum Message {
    /// Something happened.
    Event(Event),
    /// A sentence.
    Say(String),
    /// A line of the log.
    Log(String),
    /// Nothing more will come.
    End,
}

/// Where messages go in. Never blocks.
#[derive(Clone)]
pub struct Sender {
    messages: mpsc::Sender<Message>,
    counts: Arc<Counts>,
}

/// Where they come out, in order.
pub struct Receiver {
    messages: mpsc::Receiver<Message>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    waiting: AtomicUsize,
    missed: AtomicU64,
}

/// Creates an empty queue.
pub fn queue() -> (Sender, Receiver) {
    let (sender, receiver) = mpsc::channel();
    let counts = Arc::new(Counts::default());
    (Sender { messages: sender, counts: counts.clone() }, Receiver { messages: receiver, counts })
}

impl Sender {
    /// Adds a message if there is room for one of its kind.
    pub fn send(&self, message: Message) {
        if self.counts.waiting.load(Relaxed) >= room(&message) {
            if let Message::Event(Event::File { .. }) = message {
                self.counts.missed.fetch_add(1, Relaxed);
            }
            return;
        }
        self.counts.waiting.fetch_add(1, Relaxed);
        // Nobody shows anything any more after the end.
        let _ = self.messages.send(message);
    }
}

/// Returns the number of messages that may wait before one of this kind is left out.
fn room(message: &Message) -> usize {
    match message {
        Message::End => usize::MAX,
        Message::Event(
            Event::Progress { .. } | Event::State(_) | Event::File { .. } | Event::Group { .. },
        )
        | Message::Log(_) => LONGEST,
        Message::Event(_) | Message::Say(_) => 2 * LONGEST,
    }
}

impl Receiver {
    /// Waits for the next message.
    pub fn next(&self, wait: Duration) -> Result<Message, RecvTimeoutError> {
        let message = self.messages.recv_timeout(wait)?;
        self.counts.waiting.fetch_sub(1, Relaxed);
        Ok(message)
    }

    /// Returns the number of files that were left out, once nothing waits; each is reported once.
    pub fn missed(&self) -> Option<u64> {
        let is_idle = self.counts.waiting.load(Relaxed) == 0;
        let missed = if is_idle { self.counts.missed.swap(0, Relaxed) } else { 0 };
        (missed > 0).then_some(missed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_transfer::event::{Outcome, Summary};

    fn file() -> Message {
        Message::Event(Event::File { path: "a".to_owned(), outcome: Outcome::Stored })
    }

    fn progress() -> Message {
        Message::Event(Event::Progress {
            entries_done: 0,
            files_done: 0,
            bytes_done: 0,
            bytes_moved: 0,
            rate: 0,
        })
    }

    #[test]
    fn a_reader_that_stands_still_misses_files_and_not_the_end() {
        let (sender, receiver) = queue();
        (0..LONGEST + 5).for_each(|_| sender.send(file()));
        (0..5).for_each(|_| sender.send(progress()));
        sender.send(Message::Event(Event::Finished(Summary {
            stored: 1,
            stored_files: 1,
            bytes_moved: 1,
            ..Summary::default()
        })));
        sender.send(Message::End);
        assert_eq!(receiver.missed(), None, "it is told when there is nothing else to tell");
        let all: Vec<_> = std::iter::from_fn(|| receiver.next(Duration::ZERO).ok()).collect();
        assert_eq!(all.len(), LONGEST + 2);
        assert!(matches!(all[LONGEST], Message::Event(Event::Finished(_))));
        assert!(matches!(all[LONGEST + 1], Message::End));
        assert_eq!((receiver.missed(), receiver.missed()), (Some(5), None));
    }

    #[test]
    fn what_is_rare_is_bounded_too() {
        let (sender, receiver) = queue();
        (0..3 * LONGEST).for_each(|_| sender.send(Message::Say(String::new())));
        assert_eq!(std::iter::from_fn(|| receiver.next(Duration::ZERO).ok()).count(), 2 * LONGEST);
    }
}
