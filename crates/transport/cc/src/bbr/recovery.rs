//! Where a recovery begins and ends, from acks and losses alone.
//!
//! ```text
//!   loss:     lasts until a packet arrives that left after the last loss of a packet of before it
//!             first round: an ack releases what it delivers, no more
//!   timeout:  lasts until as much has been delivered as was in flight
//! ```

use crate::event::{Ack, Loss, SpuriousLoss};
use afteryou_base::units::Time;

/// A recovery, or none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Recovery {
    /// Everything has arrived.
    #[default]
    None,
    /// Losses are repaired.
    Losses {
        /// When the first was found.
        began: Time,
        /// Its end is the arrival of a packet that leaves then or later.
        repaired_from: Time,
        /// The first round is under way.
        conserving: bool,
    },
    /// A timeout took everything in flight for lost.
    Timeout {
        /// When it expired.
        at: Time,
        /// Bytes to deliver.
        left: u64,
    },
}

impl Recovery {
    /// Begins a recovery by a loss.
    pub(crate) fn after_loss(now: Time) -> Recovery {
        Recovery::Losses { began: now, repaired_from: now, conserving: true }
    }

    /// Begins a recovery by a timeout.
    pub(crate) fn after_timeout(now: Time, flightsize: u64) -> Recovery {
        Recovery::Timeout { at: now, left: flightsize }
    }

    pub(crate) fn is_on(&self) -> bool {
        *self != Recovery::None
    }

    /// Returns whether an ack releases just what it delivers.
    pub(crate) fn is_conserving(&self) -> bool {
        matches!(self, Recovery::Losses { conserving: true, .. })
    }

    /// Returns whether all of its losses were none.
    pub(crate) fn is_needless(&self, spurious: &SpuriousLoss) -> bool {
        let began = match self {
            Recovery::None => return false,
            Recovery::Losses { began, .. } => *began,
            Recovery::Timeout { at, .. } => *at,
        };
        spurious.undo && began >= spurious.since
    }

    /// Extends it by a loss of a packet that left before it began.
    pub(crate) fn extend(&mut self, loss: &Loss) {
        if let Recovery::Losses { began, repaired_from, .. } = self {
            if loss.sent.now < *began {
                *repaired_from = loss.now;
            }
        }
    }

    /// Takes in an ack. Returns whether it ends the recovery.
    pub(crate) fn on_ack(&mut self, ack: &Ack, round_begins: bool) -> bool {
        let ends = match self {
            Recovery::None => return false,
            Recovery::Losses { repaired_from, conserving, .. } => {
                *conserving &= !round_begins;
                ack.sent_at >= *repaired_from && !*conserving
            }
            Recovery::Timeout { at, left } => {
                *left = left.saturating_sub(ack.delivered());
                ack.sent_at >= *at && *left == 0
            }
        };
        if ends {
            *self = Recovery::None;
        }
        ends
    }
}
