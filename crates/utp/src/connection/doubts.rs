//! Whether a recovery was needed: it was not if **every** packet that was taken for lost in it has arrived after all. One real
//! loss among them was congestion. A recovery ends when everything that was sent before it has been acknowledged.

/// The recovery that is going on, if any.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubts {
    recovery: Option<Recovery>,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    /// The first sequence number that was not sent when it began.
    point: u16,
    lost: u64,
    /// Of these, so many have arrived.
    arrived: u64,
}

impl Doubts {
    /// `lost` packets are taken for lost; `next_seq` is the next new packet's number.
    pub(super) fn lose(&mut self, lost: u64, next_seq: u16) {
        if lost > 0 {
            let recovery = self.recovery.get_or_insert(Recovery { point: next_seq, lost: 0, arrived: 0 });
            recovery.lost += lost;
        }
    }

    /// An ack shows that so many of them have arrived: true if that were the last ones.
    pub(super) fn arrive(&mut self, arrived: u64) -> bool {
        let Some(recovery) = &mut self.recovery else { return false };
        recovery.arrived += arrived;
        let none_was_lost = recovery.arrived >= recovery.lost;
        if none_was_lost {
            self.recovery = None;
        }
        none_was_lost
    }

    /// Everything before `una` has been acknowledged.
    pub(super) fn advance(&mut self, una: u16) {
        self.recovery = self.recovery.filter(|recovery| (una.wrapping_sub(recovery.point) as i16) < 0);
    }

    /// A timeout is not taken back.
    pub(super) fn forget(&mut self) {
        self.recovery = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recovery_is_undone_once_all_its_losses_have_arrived_and_before_it_ends() {
        let mut doubts = Doubts::default();
        assert!(!doubts.arrive(1), "nothing was lost");
        doubts.lose(2, 65_530);
        doubts.lose(1, 3);
        doubts.advance(65_529);
        assert_eq!([2, 1].map(|arrived| doubts.arrive(arrived)), [false, true]);
        doubts.lose(1, 65_530);
        doubts.advance(2);
        assert!(!doubts.arrive(1), "everything sent before it has been acknowledged");
        doubts.lose(1, 10);
        doubts.forget();
        assert!(!doubts.arrive(1), "a timeout came");
    }
}
