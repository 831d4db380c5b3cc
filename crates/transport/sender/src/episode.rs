//! A recovery: from the loss or timeout that began it until everything sent before has been acknowledged.

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
    /// When it began.
    pub(crate) since: Time,
    /// The retransmission timer began it.
    pub(crate) is_after_timeout: bool,
}

impl Episode {
    /// Begins an episode for losses found at `now`; `point` is the next new packet.
    pub fn after_loss(now: Time, point: u64, prr: Option<Prr>) -> Episode {
        Episode { point, prr, rescued: false, began: false, since: now, is_after_timeout: false }
    }

    /// Begins an episode for an expiry of the retransmission timer at `now`.
    pub(crate) fn after_timeout(now: Time, point: u64) -> Episode {
        Episode { is_after_timeout: true, ..Episode::after_loss(now, point, None) }
    }

    /// Notes that a packet is sent again.
    pub fn resend(&mut self) {
        self.began = true;
    }
}
