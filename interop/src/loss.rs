//! Throwing datagrams away, the same ones on every run.

/// Which datagrams to drop at the libutp end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Of 1000 datagrams that libutp sends, how many to drop.
    pub sent_per_mille: u16,
    /// Of 1000 datagrams that arrive for libutp, how many to drop.
    pub received_per_mille: u16,
    /// Chooses which ones.
    pub seed: u64,
    /// This many first datagrams in each direction always go through. libutp
    /// never repeats its answer to a SYN, so a lost handshake is a lost
    /// connection; the default of 2 spares it.
    pub spare_first: u32,
    /// This many first datagrams that libutp sends are lost, whatever else is
    /// asked for.
    pub lose_first_sent: u32,
}

impl Default for Loss {
    fn default() -> Self {
        Loss { sent_per_mille: 0, received_per_mille: 0, seed: 1, spare_first: 2, lose_first_sent: 0 }
    }
}

/// Decides datagram by datagram, for one direction.
#[derive(Debug)]
pub(crate) struct Gate {
    per_mille: u16,
    lose: u32,
    spare: u32,
    state: u64,
}

impl Gate {
    pub(crate) fn new(per_mille: u16, spare: u32, seed: u64) -> Self {
        Gate { per_mille, lose: 0, spare, state: seed }
    }

    /// Loses this many at first.
    pub(crate) fn losing_first(self, lose: u32) -> Self {
        Gate { lose, ..self }
    }

    /// Returns whether the next datagram goes through.
    pub(crate) fn pass(&mut self) -> bool {
        // A 64-bit linear congruential generator (Knuth's constants); the high
        // bits are the good ones.
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let drawn = (self.state >> 33) % 1000;
        if self.lose > 0 {
            self.lose -= 1;
            return false;
        }
        if self.spare > 0 {
            self.spare -= 1;
            return true;
        }
        drawn >= u64::from(self.per_mille)
    }
}

#[cfg(test)]
mod tests {
    use super::Gate;

    #[test]
    fn the_gate_drops_about_the_asked_share_and_the_same_ones_each_time() {
        let run = || {
            let mut gate = Gate::new(100, 2, 7);
            (0..10_000).map(|_| gate.pass()).collect::<Vec<_>>()
        };
        let passed = run();
        let dropped = passed.iter().filter(|p| !**p).count();
        assert!((800..1200).contains(&dropped), "dropped {dropped}");
        assert!(passed[0] && passed[1]);
        assert_eq!(passed, run());
    }

    #[test]
    fn the_gate_loses_the_first_ones_if_asked_and_spares_those_after_them() {
        let mut gate = Gate::new(1000, 1, 7).losing_first(2);
        let passed: Vec<_> = (0..4).map(|_| gate.pass()).collect();
        assert_eq!(passed, [false, false, true, false]);
    }

    #[test]
    fn the_gate_drops_nothing_at_zero_and_all_at_a_thousand() {
        let mut open = Gate::new(0, 0, 3);
        let mut shut = Gate::new(1000, 0, 3);
        assert!((0..1000).all(|_| open.pass()));
        assert!((0..1000).all(|_| !shut.pass()));
    }
}
