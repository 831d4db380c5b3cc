//! HyStart as in Linux' CUBIC: slow start ends at once, by the length of a train of acks or by a rise of the delay.
//!
//! # Model
//! The packets of a round leave as a burst, so their acks come back as a train. Once the train is as long as the path's
//! round-trip time, the window fills the path. Half of it is taken as the sign, since the window doubles meanwhile. A
//! sender that paces spreads its packets over half a round trip itself, so there the whole time counts. Besides, the
//! smallest round-trip time of a round shows a queue. Either sign ends slow start: ssthresh becomes the window. There
//! is no second look as in RFC 9406.
//!
//! ```text
//!   train:  acks at most 2 ms apart from the round's first one on, for longer than (min RTT + cushion) / 2; paced: not halved
//!   delay:  smallest of 9 and more samples of the round > min RTT + clamp(min RTT / 8, 4 ms, 16 ms)
//!   cushion = min(1 ms, 4 · 64 KiB / pacing rate), pacing rate = 2 · cwnd / SRTT
//! ```
//!
//! # States
//! ```text
//!   counting rounds ──cwnd ≥ 16──▶ watching ──train or delay──▶ found ──timeout──▶ counting rounds
//! ```
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | low window | 16 packets | hystart_low_window: a shorter train says nothing |
//! | ack delta | 2 ms | hystart_ack_delta_us: a longer gap ends the train for this round |
//! | minimum samples | 8 | HYSTART_MIN_SAMPLES; the ninth is the first that decides |
//! | delay threshold | min RTT / 8 in 4–16 ms | HYSTART_DELAY_MIN, HYSTART_DELAY_MAX |
//! | cushion | 1 ms at most | hystart_ack_delay: aggregation in the sender's host |
//!
//! # Source
//! Linux 6.14 `net/ipv4/tcp_cubic.c`, in which rounds are counted from the first ack on; before, they began late in a
//! train. Functions: `hystart_update`, `hystart_ack_delay`, `cubictcp_acked`. Ha and Rhee, "Taming the elephants: new
//! TCP slow start", Computer Networks 55(9), 2011, for the idea. The smallest round-trip time is that of slow start
//! alone. Linux also takes samples from one second after a recovery on, which matters after an idle time only.
//!
//! # Not implemented
//! Choice of one of the two signs (the module's parameter `hystart_detect`). A GSO size other than 64 KiB.
//!
//! # Known bad cases
//! Acks that come in bursts break the train, and their waiting looks like a queue. Jitter of more than 4 ms on a short path ends slow
//! start far below what the path carries. On paths of less than 2 ms the train is shorter than its own gaps.

use super::Advice;
use crate::event::Ack;
use afteryou_base::units::{Span, Time};

/// With a smaller window nothing is looked for, packets.
pub const LOW_WINDOW: f64 = 16.0;
/// A longer gap between two acks ends the train.
pub const ACK_DELTA: Span = Span::from_millis(2);
/// A round with fewer samples than this does not decide yet.
pub const MIN_SAMPLES: u32 = 8;
/// Bounds of the rise that counts.
pub const DELAY_THRESHOLD: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));
/// Most that aggregation in the sender's host may lengthen a train.
pub const MOST_CUSHION: Span = Span::from_millis(1);
/// Bytes of four aggregates of 64 KiB: one that leaves and one that waits, at twice the rate.
const CUSHION_BYTES: f64 = 4.0 * 65536.0;
/// Slow start is paced at twice the window in a round trip.
const PACING_GAIN: f64 = 2.0;

/// Watches the acks of a slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinuxHyStart {
    is_paced: bool,
    found: bool,
    min_rtt: Option<Span>,
    round: Option<Round>,
}

/// A round trip's worth of acks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Round {
    began: Time,
    /// The train's latest ack.
    latest: Time,
    min_rtt: Span,
    samples: u32,
}

impl LinuxHyStart {
    /// Creates a detector for a transport that spreads packets over the round trip, or not.
    pub const fn new(is_paced: bool) -> LinuxHyStart {
        LinuxHyStart { is_paced, found: false, min_rtt: None, round: None }
    }

    /// Returns the same detector with nothing measured yet: after a timeout the path may be another.
    pub const fn anew(&self) -> LinuxHyStart {
        LinuxHyStart::new(self.is_paced)
    }

    /// Takes in an ack of slow start, at a window of `cwnd` bytes in packets of `mss`.
    pub fn on_ack(&mut self, ack: &Ack, cwnd: f64, mss: u32) -> Advice {
        const GROW: Advice = Advice::Grow { divisor: 1.0 };
        let Some(rtt) = ack.rtt else { return GROW };
        let min_rtt = self.min_rtt.map_or(rtt, |min| min.min(rtt));
        self.min_rtt = Some(min_rtt);
        if self.found {
            return GROW;
        }
        // An ack for a packet sent since the round began ends it.
        let round = self.round.filter(|round| ack.sent_at < round.began);
        let round = self.round.insert(round.unwrap_or_else(|| Round::beginning(ack.now)));
        if cwnd < LOW_WINDOW * f64::from(mss) {
            return GROW;
        }
        let most_train = match self.is_paced {
            true => min_rtt + cushion(ack, cwnd),
            false => (min_rtt + cushion(ack, cwnd)) / 2,
        };
        self.found = round.has_long_train(ack.now, most_train) | round.has_queue(rtt, min_rtt);
        if self.found {
            Advice::Leave
        } else {
            GROW
        }
    }
}

impl Round {
    fn beginning(now: Time) -> Round {
        Round { began: now, latest: now, min_rtt: Span(u64::MAX), samples: 0 }
    }

    fn has_long_train(&mut self, now: Time, most: Span) -> bool {
        if now.since(self.latest) > ACK_DELTA {
            return false;
        }
        self.latest = now;
        now.since(self.began) > most
    }

    fn has_queue(&mut self, rtt: Span, min_rtt: Span) -> bool {
        self.min_rtt = self.min_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let (least, most) = DELAY_THRESHOLD;
        self.min_rtt > min_rtt + (min_rtt / 8).clamp(least, most)
    }
}

fn cushion(ack: &Ack, cwnd: f64) -> Span {
    // Before the first sample Linux has no rate, and no cushion.
    let Some(smoothed_rtt) = ack.smoothed_rtt else { return Span::ZERO };
    let seconds = CUSHION_BYTES * smoothed_rtt.as_secs_f64() / (PACING_GAIN * cwnd);
    Span((seconds * 1e9) as u64).min(MOST_CUSHION)
}

#[cfg(test)]
mod tests;
