//! The delay that a rule which compares single delays takes for nobody's queue.
//!
//! # Model
//! ```text
//!   noise = max(5 ms, own)      own = 4 packets' time
//!                               after a loss: at most a third of the range, but 1.5 packets' time at least
//! ```
//! The range of delays that a flow has seen represents the buffer, and a part of it for a queue of others. A flow that is
//! alone and never fills the buffer has seen nothing but its own packets, so any part of that range is its own. On a link of
//! 1 Mbit/s two packets that leave together are 12 ms apart. A rule whose floor is in milliseconds yields to itself there.
//!
//! A loss shows that the largest delay was that of a full buffer. Where that is short, less of it can be one's own.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | packets | 4 | a Vegas of β = 3 leaves three in the queue, and adds one |
//! | third | of the range, after a loss | half of it lets a NewReno's queue pass for one's own after each of its losses |
//! | at least | 1.5 packets | of two packets that leave together the second is late by one |
//!
//! # Source
//! None; ours. [`crate::packet_time`] measures the time of a packet.

use crate::event::Ack;
use crate::packet_time::PacketTime;
use afteryou_base::param::{Key, Settings};
use afteryou_base::Span;

const MOST_OF_RANGE: f64 = 1.0 / 3.0;
const LEAST_PACKETS: f64 = 1.5;

/// The parameter `noise`.
pub const NOISE: Key<Span> = Key::millis("noise", 5, (0, 100))
    .explained("less delay over the smallest is no congestion, however small the range", "afteryou");
/// The parameter `noise_packets`.
pub const NOISE_PACKETS: Key<f64> = Key::number("noise_packets", "packets", 4.0, (0.0, 100.0))
    .explained("nor is less delay than this number of packets takes on the narrowest link", "afteryou");

/// Knows the noise of a path.
#[derive(Clone, Debug)]
pub struct Noise {
    least_us: f64,
    packets: f64,
    packet_time: PacketTime,
    /// A packet was lost: the largest delay is that of a full buffer.
    knows_buffer: bool,
}

impl Noise {
    /// Creates the estimate from the rows [`NOISE`] and [`NOISE_PACKETS`].
    pub fn new(settings: &Settings<'_>) -> Noise {
        Noise {
            least_us: settings.get(&NOISE).as_micros() as f64,
            packets: settings.get(&NOISE_PACKETS),
            packet_time: PacketTime::default(),
            knows_buffer: false,
        }
    }

    /// Takes in an ack; `mss`: payload of a full packet, bytes.
    pub fn on_ack(&mut self, ack: &Ack, mss: u32) {
        self.packet_time.on_ack(ack, mss);
    }

    /// Takes note of a lost packet.
    pub fn on_loss(&mut self) {
        self.knows_buffer = true;
    }

    /// Takes note of a time with nothing in flight.
    pub fn on_idle(&mut self) {
        self.packet_time.on_idle();
    }

    /// Returns the excess over the smallest delay, µs, that is no congestion; `range_us`: from the smallest delay to the largest.
    pub fn us(&self, range_us: f64) -> f64 {
        let packet_us = f64::from(self.packet_time.us().unwrap_or(0));
        let most_us = if self.knows_buffer { MOST_OF_RANGE * range_us } else { f64::INFINITY };
        let own_us = (self.packets * packet_us).min(most_us.max(LEAST_PACKETS * packet_us));
        self.least_us.max(own_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nice::PARAMS;
    use afteryou_base::param::Value;
    use afteryou_base::units::Time;

    /// Returns the noise after a train of packets of which each takes `packet_ms` on the link.
    fn after_train(packet_ms: u64, overrides: &[(&'static str, Value)]) -> Noise {
        let mut noise = Noise::new(&Settings::new(PARAMS, overrides).unwrap());
        for packet in 0..9 {
            let now = Time::from_millis(100 + packet_ms * packet);
            noise.on_ack(&Ack { now, newly_acked: 1000, ..Ack::for_tests() }, 1000);
        }
        noise
    }

    #[test]
    fn four_packets_on_a_slow_link_are_noise_and_five_milliseconds_on_a_fast_one() {
        for (packet_ms, noise_us) in [(24, 96_000.0), (12, 48_000.0), (1, 5000.0)] {
            assert_eq!(after_train(packet_ms, &[]).us(1e6), noise_us, "{packet_ms} ms");
        }
        assert_eq!(after_train(12, &[("noise_packets", Value::Number(0.0))]).us(1e6), 5000.0);
        assert_eq!(Noise::new(&Settings::defaults(PARAMS)).us(1e6), 5000.0, "no train yet");
    }

    #[test]
    fn in_a_buffer_that_has_overflowed_a_third_of_it_is_noise_but_never_a_pair_of_ones_own() {
        let mut noise = after_train(12, &[]);
        assert_eq!(noise.us(90_000.0), 48_000.0, "nothing shows where the buffer ends");
        noise.on_loss();
        for (range_ms, noise_us) in [(1000.0, 48_000.0), (90.0, 30_000.0), (24.0, 18_000.0)] {
            assert_eq!(noise.us(1000.0 * range_ms), noise_us, "{range_ms} ms");
        }
    }
}
