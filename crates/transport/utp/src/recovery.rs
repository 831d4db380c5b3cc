//! How a sender finds and repairs losses: our own way, or libutp's, for studies of libutp.
//!
//! | | `Modern` | `Libutp`, `Libutp200ms` | `LibutpMod` |
//! |---|---|---|---|
//! | lost is | what was overtaken in the order of transmissions, or is late; with reordering what is late for RACK's window | what three packets in the bitmap have overtaken | the same |
//! | a lost retransmission | is found like any other loss | waits for the timer | is found once a packet sent later has arrived |
//! | the window meanwhile | comes down evenly (PRR, RFC 9937), if the peer shows all that arrives | is the controller's | is the controller's |
//! | a timeout loses | the first packet, and what was sent more than a round trip ago (RFC 8985 §6.3) | everything | everything |
//! | a needless timeout | is recognised by the first answer's time stamps (RFC 3522), and the window comes back (RFC 4015) | stays answered | stays answered |
//! | sent again | as window and pacing allow | at once, at most 4 per bitmap | at once, at most 4 per bitmap |
//! | a lost tail | is probed | waits for the timer | waits for the timer |
//! | shortest timeout | 500 ms | 1000 ms, 200 ms | 1000 ms |
//! | bitmaps | up to 252 bytes, if the peer reads them | 4 bytes | 4 bytes |
//!
//! `connection/scoreboard/losses.rs` has the first way, `connection/scoreboard/libutp_scan.rs` the other. The short bitmaps
//! belong to it: packets more than 31 beyond a gap count as being in flight until it is closed, so behind a lost
//! retransmission the window fills up, and nothing happens until the timer expires. With long ones a sender would
//! continue for thousands of packets, and restart its timer for each that arrives.
//!
//! In all of them a backed-off timeout stays until a round trip has been measured (`rto.rs`), and a timeout whose packet arrived all the same
//! takes back what it took for lost.
//!
//! Not imitated: libutp forgets the backoff at each acknowledgement, acknowledges later than we do, does not pace, lets a window below one packet stall until the timer
//! expires, and gives up at the fifth expiry in a row.

use crate::rto;
use afteryou_base::Span;

/// A way of recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// Packet and time thresholds on transmissions, tail probes.
    #[default]
    Modern,
    /// As libutp does.
    Libutp,
    /// As libutp does, with a shortest timeout of 200 ms.
    Libutp200ms,
    /// As libutp-mod does: it finds lost retransmissions.
    LibutpMod,
}

impl Recovery {
    /// Returns the lower bound of the retransmission timeout that belongs to it.
    pub const fn min_rto(self) -> Span {
        match self {
            Recovery::Modern => rto::BEP_MIN,
            Recovery::Libutp | Recovery::LibutpMod => rto::LIBUTP_MIN,
            Recovery::Libutp200ms => Span::from_millis(200),
        }
    }

    /// Returns whether the window comes down evenly over a recovery, by PRR.
    pub(crate) const fn reduces_in_proportion(self) -> bool {
        matches!(self, Recovery::Modern)
    }

    /// Returns whether the first retransmission of a recovery goes whatever the window is (RFC 6675 §5, step 4.3).
    pub(crate) const fn forces_first_retransmission(self) -> bool {
        matches!(self, Recovery::Modern)
    }

    /// Returns whether a tail without acknowledgements is probed before the timer expires.
    pub(crate) const fn probes_tails(self) -> bool {
        matches!(self, Recovery::Modern)
    }

    /// Returns whether a timeout is undone if the first ack after it answers only what left before it (RFC 3522, RFC 4015).
    pub(crate) const fn judges_timeouts(self) -> bool {
        matches!(self, Recovery::Modern)
    }

    /// Returns whether an ack that reports packets by its bitmap alone restarts the retransmission timer.
    pub(crate) const fn restarts_for_sacks(self) -> bool {
        !matches!(self, Recovery::Modern)
    }

    /// Returns whether bitmaps longer than libutp's are read and written, where the peer reads and writes them, too.
    pub(crate) const fn uses_long_bitmaps(self) -> bool {
        matches!(self, Recovery::Modern)
    }

    /// Returns whether an acknowledgement without any news can show losses. A bitmap that asks for more than four packets does.
    pub(crate) const fn judges_repetitions(self) -> bool {
        !matches!(self, Recovery::Modern)
    }
}
