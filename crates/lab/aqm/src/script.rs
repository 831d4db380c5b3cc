//! A queue driven by a script: arrivals and departures in, the fate of each packet out.
//!
//! A check vector of a discipline is a list of times at which packets arrive and the link is free. The [`Driver`]
//! passes these on. It returns, in order, the packets that left with their sojourn times and those that were dropped
//! with the reason.
//!
//! ```
//! use afteryou_aqm::script::{Driver, Event, Fate};
//! use afteryou_aqm::{list, Limit, Packet, Site};
//! use afteryou_base::{Span, Time};
//! use rand_pcg::Pcg64;
//!
//! let site = Site { limit: Limit::Packets(1), bits_per_second: 10_000_000, random: Pcg64::new(1, 2) };
//! let mut queue = list::find("droptail").unwrap().build(&[], site).unwrap();
//! let mut driver = Driver::new(queue.as_mut());
//! let packet = |number| Packet::from_tos(1500, 0, 0, number);
//! let arrive = |number| Event::Arrive { now: Time::ZERO, packet: packet(number) };
//! assert!(driver.apply(arrive(1))?.is_empty());
//! assert!(matches!(driver.apply(arrive(2))?[..], [Fate::Dropped { .. }]));
//! let left = driver.apply(Event::Serve { now: Time::from_millis(3) })?;
//! assert_eq!(left, [Fate::Left { now: Time::from_millis(3), packet: packet(1), sojourn: Span::from_millis(3) }]);
//! # Ok::<(), afteryou_aqm::script::OutOfOrder>(())
//! ```
//!
//! **Not in here:** a link's rate. A script names the times when the link is free; the simulator computes them.

use crate::dropped::{DropReason, Dropped};
use crate::packet::Packet;
use crate::queue::Queue;
use afteryou_base::{Span, Time};

/// One line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<T> {
    /// A packet arrives.
    Arrive {
        /// When.
        now: Time,
        /// The packet.
        packet: Packet<T>,
    },
    /// The link is free for one packet.
    Serve {
        /// When.
        now: Time,
    },
}

/// The end of a packet in the queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate<T> {
    /// It left.
    Left {
        /// When.
        now: Time,
        /// The packet; its ECN bits show a mark.
        packet: Packet<T>,
        /// Time in the queue.
        sojourn: Span,
    },
    /// It was dropped.
    Dropped {
        /// When.
        now: Time,
        /// The packet.
        packet: Packet<T>,
        /// The reason.
        reason: DropReason,
    },
}

/// An event is earlier than the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event at {} s comes after one at {} s: sort the script by time", at.as_secs_f64(), after.as_secs_f64())]
pub struct OutOfOrder {
    /// Time of the event that was refused.
    pub at: Time,
    /// Time of the event before it.
    pub after: Time,
}

/// A queue and the time that its script has reached.
pub struct Driver<'a, T> {
    queue: &'a mut dyn Queue<T>,
    dropped: Vec<Dropped<T>>,
    now: Time,
}

impl<'a, T> Driver<'a, T> {
    /// Creates a driver at time zero.
    pub fn new(queue: &'a mut dyn Queue<T>) -> Driver<'a, T> {
        Driver { queue, dropped: Vec::new(), now: Time::ZERO }
    }

    /// Passes `event` on and returns the packets whose time in the queue it ended: first those dropped, then the one that left.
    ///
    /// # Errors
    /// An event that is earlier than the one before; the queue has not seen it.
    pub fn apply(&mut self, event: Event<T>) -> Result<Vec<Fate<T>>, OutOfOrder> {
        let (Event::Arrive { now, .. } | Event::Serve { now }) = event;
        if now < self.now {
            return Err(OutOfOrder { at: now, after: self.now });
        }
        self.now = now;
        let left = match event {
            Event::Arrive { packet, .. } => {
                self.queue.enqueue(now, packet, &mut self.dropped);
                None
            }
            Event::Serve { .. } => self.queue.dequeue(now, &mut self.dropped),
        };
        let dropped =
            self.dropped.drain(..).map(|Dropped { packet, reason }| Fate::Dropped { now, packet, reason });
        let left = left.map(|(packet, sojourn)| Fate::Left { now, packet, sojourn });
        Ok(dropped.chain(left).collect())
    }

    /// Returns the queue, to read its statistics.
    pub fn queue(&self) -> &dyn Queue<T> {
        self.queue
    }
}
