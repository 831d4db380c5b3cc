//! Constants of the rule, as integers: µs, bytes, packets and ratios with 16 fractional bits.

use super::units::{part, ratio, time_of, Ratio16};

/// Largest part of the base round-trip time that is a target, and the target up to which that does not matter, µs.
const BASES: u64 = 8;
const SHORT_US: u64 = 1_000;

/// Bits of [`Params::switches`].
pub mod switches {
    /// Steps back after losses and looks; without it the delay at a loss decides.
    pub const STEP_BACK: u32 = 1;
    /// Asks whether the queue is a fair one.
    pub const SHARE_TEST: u32 = 2;
    /// Asks whether a standing queue is a longer route.
    pub const TRAIN: u32 = 4;
    /// Ends a round as soon as the queue stands.
    pub const EARLY: u32 = 8;
    /// Keeps less in a buffer that has overflowed.
    pub const CAP: u32 = 16;
}

/// Parameters.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Payload of a packet, bytes; at least one.
    pub mss: u64,
    /// `T_lo`: queue that it keeps alone, µs, and in packets' times.
    pub target_us: u64,
    /// See [`Self::target_us`].
    pub target_packets: Ratio16,
    /// k: own packets in the queue on top.
    pub own: Ratio16,
    /// `T_hi`: queue that own packets never lift the target above, µs.
    pub ceiling_us: u64,
    /// The same, packets' times above `T_lo`.
    pub ceiling_packets: Ratio16,
    /// Above the target by this part of it, or by two packets, is still at it.
    pub slack: Ratio16,
    /// g: gain of a round.
    pub gain: Ratio16,
    /// Disobedient queue: more than this part of the one that caused the last reduction.
    pub obey: Ratio16,
    /// The strike that leads to the floor.
    pub patience: u32,
    /// See [`switches`].
    pub switches: u32,
    /// Part of C at the floor.
    pub floor: Ratio16,
    /// First and longest hold, µs.
    pub hold_us: u64,
    /// See [`Self::hold_us`].
    pub hold_most_us: u64,
    /// A return that ends within this time makes the hold longer, µs.
    pub again_us: u64,
    /// Step back to this part of the window.
    pub low: Ratio16,
    /// Losses beyond this part of a round are congestion, whatever the delay.
    pub lossy: Ratio16,
    /// Most growth of a round beyond what the path has carried.
    pub growth: Ratio16,
}

impl Params {
    /// Returns whether a part is on.
    pub fn has(&self, switch: u32) -> bool {
        self.switches & switch != 0
    }

    /// Returns `T_lo`, µs.
    pub fn least_target(&self, packet_us: u64) -> u64 {
        self.target_us.max(part(packet_us, self.target_packets))
    }

    /// Returns `T(x)` without the allowance for noise, µs. On a short path even this queue costs others much of their goodput: it is a part of
    /// the base there.
    pub fn target(&self, rate: u64, packet_us: u64, base_us: u64) -> u64 {
        let of_path = self.target_us.min((base_us / BASES).max(SHORT_US));
        let least = of_path.max(part(packet_us, self.target_packets));
        let ceiling = self.ceiling_us.min(2 * of_path).max(least + part(packet_us, self.ceiling_packets));
        (least + part(time_of(self.mss, rate), self.own)).min(ceiling)
    }

    /// Returns how far above a target the queue may be, µs.
    pub fn slack(&self, target: u64, packet_us: u64) -> u64 {
        part(target, self.slack).max(2 * packet_us)
    }

    /// Returns the longest queue that is not high while it yields, µs.
    pub fn high(&self, packet_us: u64, noise: u64) -> u64 {
        const OF_TARGET: Ratio16 = ratio(0.8);
        // The second packet of the own pair waits for the first one.
        const PACKETS: Ratio16 = ratio(1.6);
        let most = part(self.least_target(packet_us), OF_TARGET).max(part(packet_us, PACKETS));
        most + 5 * noise / 2
    }
}
