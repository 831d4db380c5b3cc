//! A receiving socket of the kernel, as another program reads it and sets its window from outside.
//!
//! # Model
//! TCP_WINDOW_CLAMP bounds the window. Linux announces less than the bound at first: a window opens by two segments for each one that arrives,
//! and its right edge never moves back. `tcpi_rcv_rtt` is a round trip by timestamps, whose clock counts milliseconds: one sample for each
//! clock that full segments echo. A smaller sample counts at once, a larger one by an eighth. `tcpi_min_rtt` of a host that sends nothing is the
//! round trip of the handshake.
//!
//! # Source
//! Linux 6.18, `tcp_rcv_rtt_measure_ts`, `tcp_grow_window` and `tcp_set_window_clamp`.

use super::Arrival;
use afteryou_base::{Span, Time};
use afteryou_cc::rledbat::Announced;

/// Unit of windows, as with Linux's usual bound of a receive buffer: 2 to the power of this, bytes.
const WINDOW_SCALE: u64 = 7;
/// A window opens by this many segments for each one that arrives.
const OPENED: u64 = 2;
/// Smoothing of larger round trips: each sample counts by a part in this many.
const SMOOTHING: u64 = 8;

/// A receiving socket.
#[derive(Debug)]
pub struct Socket {
    announced: Announced,
    /// Bound of the window, bytes …
    limit: u64,
    /// … and how far it has opened, bytes (`rcv_ssthresh`).
    opened: u64,
    mss: u16,
    /// The echo of the newest sample, ms.
    echoed_ms: Option<u64>,
    /// Smoothed round-trip time.
    rtt: Option<Span>,
    least_rtt: Option<Span>,
    /// Segments that came out of order.
    pub out_of_order: u64,
}

impl Socket {
    /// Creates a socket with the window `limit`, bytes, whose full segments have `mss` bytes.
    pub fn new(limit: u64, mss: u16) -> Socket {
        Socket {
            announced: Announced::new(WINDOW_SCALE),
            limit,
            opened: limit,
            mss,
            echoed_ms: None,
            rtt: None,
            least_rtt: None,
            out_of_order: 0,
        }
    }

    /// Bounds the window, bytes; `in_order` bytes have arrived.
    pub fn set_limit(&mut self, limit: u64, in_order: u64) {
        let announced = self.announced.edge().saturating_sub(in_order);
        if limit > self.limit {
            self.opened = self.opened.max(announced.min(limit));
        }
        self.limit = limit;
        self.opened = self.opened.min(limit);
    }

    /// Takes in a new segment that left `age` after the acknowledgement that it echoes.
    pub fn on_segment(&mut self, now: Time, age: Span, arrival: &Arrival) {
        self.opened = (self.opened + OPENED * u64::from(self.mss)).min(self.limit);
        self.least_rtt.get_or_insert(age);
        let now_ms = now.as_micros() / 1000;
        let echoed_ms = now.as_micros().saturating_sub(age.as_micros()) / 1000;
        if self.echoed_ms == Some(echoed_ms) {
            return;
        }
        self.echoed_ms = Some(echoed_ms);
        let sample = Span::from_millis(now_ms - echoed_ms);
        if arrival.len < self.mss || sample == Span::ZERO {
            return;
        }
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample > rtt => rtt - rtt / SMOOTHING + sample / SMOOTHING,
            _ => sample,
        });
    }

    /// Returns the round-trip times by received data and of the handshake, once there are such.
    pub fn round_trips(&self) -> (Option<Span>, Option<Span>) {
        (self.rtt, self.least_rtt)
    }

    /// Returns the window of an acknowledgement of `in_order` bytes, of at most `flow_control` bytes.
    pub fn announce(&mut self, in_order: u64, flow_control: u64) -> u64 {
        self.announced.announce(in_order, self.opened, flow_control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(socket: &mut Socket, at_us: u64, age_us: u64) {
        let segment = Arrival { seq: 0, len: 1000, tsval: 0, transmission: 1, marked: false };
        socket.on_segment(Time::from_micros(at_us), Span::from_micros(age_us), &segment);
    }

    #[test]
    fn a_smaller_round_trip_counts_at_once_and_a_larger_one_by_an_eighth() {
        let mut socket = Socket::new(10_000, 1000);
        let mut rtt_us = |at_us, age_us| {
            arrive(&mut socket, at_us, age_us);
            socket.round_trips().0.map(|rtt| rtt.as_micros())
        };
        assert_eq!(rtt_us(50_000, 40_000), Some(40_000));
        assert_eq!(rtt_us(50_300, 40_300), Some(40_000), "the same echo, which has been counted");
        assert_eq!(rtt_us(98_000, 80_000), Some(40_000 - 5_000 + 10_000));
        assert_eq!(rtt_us(100_700, 20_100), Some(20_000), "by a clock of milliseconds");
        assert_eq!(socket.round_trips().1, Some(Span::from_millis(40)));
    }

    #[test]
    fn a_window_opens_with_what_arrives_and_is_closed_by_it() {
        let mut socket = Socket::new(20_000, 1000);
        assert_eq!(socket.announce(0, u64::MAX), 20_096);
        socket.set_limit(4_000, 1_000);
        assert_eq!(socket.announce(1_000, u64::MAX), 19_072);
        assert_eq!(socket.announce(20_000, u64::MAX), 4_096);
        socket.set_limit(100_000, 21_000);
        assert_eq!(socket.announce(21_000, u64::MAX), 4_096);
        for (number, expected) in [(22, 6_016), (23, 8_064)] {
            arrive(&mut socket, number * 1_000, 500);
            assert_eq!(socket.announce(number * 1_000, u64::MAX), expected);
        }
    }
}
