//! A recovery: from the loss or timeout that began it until everything sent before has been acknowledged.

use crate::board::Flight;
use crate::prr::Prr;
use afteryou_base::Time;

/// A recovery that is under way.
#[derive(Clone, Debug)]
pub struct Episode {
    /// The recovery ends when everything before this packet is acknowledged (RFC 6675 §2: RecoveryPoint).
    pub point: u64,
    /// The bytes that may be sent; without it the controller's window rules (RFC 6675, and after a timeout).
    pub prr: Option<Prr>,
    /// RFC 6675's rescue retransmission was sent.
    pub rescued: bool,
    /// The first retransmission was sent, whatever the window was.
    pub began: bool,
    /// The timeout that began it, until an ack shows whether it was needless.
    /// Apart from it: idle connections keep the room of an episode.
    pub(crate) timeout: Option<Box<Expiry>>,
}

impl Episode {
    /// Losses were found; `point` is the next new packet.
    pub fn after_loss(point: u64, prr: Option<Prr>) -> Episode {
        Episode { point, prr, rescued: false, began: false, timeout: None }
    }

    /// The retransmission timer expired.
    pub(crate) fn after_timeout(point: u64, timeout: Option<Box<Expiry>>) -> Episode {
        Episode { timeout, ..Episode::after_loss(point, None) }
    }

    /// A packet is sent again.
    pub fn resend(&mut self) {
        self.began = true;
    }
}

/// An expiry of the retransmission timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expiry {
    /// When the timer expired, for the first time since an ack made progress.
    pub at: Time,
    /// The transmission that it took for lost.
    pub first: Flight,
}
