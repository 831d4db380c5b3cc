//! Events of a controller as Python sees them: read-only views, times in seconds.

use afteryou_cc::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use pyo3::prelude::*;

/// An acknowledgement that reports something new. Sizes are bytes of payload.
#[pyclass(frozen, name = "Ack", module = "afteryou")]
pub struct AckView(pub Ack);

#[pymethods]
impl AckView {
    /// When it arrived, s of simulated time.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Bytes that it reports as delivered for the first time, by SACK or in order.
    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    /// The part of `delivered` that was acknowledged in order.
    #[getter]
    fn newly_acked(&self) -> u64 {
        self.0.newly_acked
    }

    /// Bytes sent and not yet acknowledged in order, before this ack (RFC 5681 §2).
    #[getter]
    fn flightsize(&self) -> u64 {
        self.0.flightsize
    }

    /// Bytes believed to be in the network before this ack (the pipe of RFC 6675).
    #[getter]
    fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// When the newest acknowledged packet was sent, s.
    #[getter]
    fn sent_at_s(&self) -> f64 {
        self.0.sent_at.as_secs_f64()
    }

    /// Number of the newest acknowledged packet; retransmissions have numbers of their own.
    #[getter]
    fn packet_number(&self) -> u64 {
        self.0.packet_number
    }

    /// Round-trip time of the newest acknowledged packet, s; None if it is ambiguous.
    #[getter]
    fn rtt_s(&self) -> Option<f64> {
        self.0.rtt.map(|rtt| rtt.as_secs_f64())
    }

    /// The transport's smoothed round-trip time, s; 0 before the first sample.
    #[getter]
    fn smoothed_rtt_s(&self) -> f64 {
        self.0.smoothed_rtt.unwrap_or_default().as_secs_f64()
    }

    /// One-way delay in µs as the peer measured it, modulo 2³² and with an unknown constant offset; None without a sample.
    #[getter]
    fn one_way_delay_us(&self) -> Option<u32> {
        self.0.one_way_delay
    }

    /// The delays may contain a delayed ack's waiting.
    #[getter]
    fn may_have_waited(&self) -> bool {
        self.0.may_have_waited
    }

    /// Delivery rate while the newest acknowledged packet was in flight, bit/s; None without a sample.
    #[getter]
    fn delivery_rate_bit_s(&self) -> Option<f64> {
        let rate = self.0.delivery?;
        let seconds = rate.interval.as_secs_f64();
        (seconds > 0.0).then(|| 8.0 * rate.delivered as f64 / seconds)
    }

    /// Packets marked Congestion Experienced that it reports; an echo counts as one.
    #[getter]
    fn marks(&self) -> u32 {
        self.0.marks.packets()
    }

    /// A round trip has passed since the last ack with this flag.
    #[getter]
    fn round_start(&self) -> bool {
        self.0.round_start
    }

    /// The application limits the sender, not the window.
    #[getter]
    fn app_limited(&self) -> bool {
        self.0.app_limited
    }

    fn __repr__(&self) -> String {
        format!("Ack(now_s={}, delivered={}, rtt_s={:?})", self.now_s(), self.delivered(), self.rtt_s())
    }
}

/// A packet was found lost. A rule that responds once per round trip compares `sent_at_s` with its last response.
#[pyclass(frozen, name = "Loss", module = "afteryou")]
pub struct LossView(pub Loss);

#[pymethods]
impl LossView {
    /// When it was found, s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// When the lost packet was sent, s.
    #[getter]
    fn sent_at_s(&self) -> f64 {
        self.0.sent.now.as_secs_f64()
    }

    /// Number of the lost packet.
    #[getter]
    fn packet_number(&self) -> u64 {
        self.0.sent.packet_number
    }

    /// Payload of the lost packet, bytes.
    #[getter]
    fn lost(&self) -> u64 {
        self.0.sent.bytes
    }

    /// Bytes sent and not yet acknowledged in order.
    #[getter]
    fn flightsize(&self) -> u64 {
        self.0.flightsize
    }

    fn __repr__(&self) -> String {
        format!("Loss(now_s={}, lost={})", self.now_s(), self.lost())
    }
}

/// A packet that was reported lost has arrived after all.
#[pyclass(frozen, name = "SpuriousLoss", module = "afteryou")]
pub struct SpuriousLossView(pub SpuriousLoss);

#[pymethods]
impl SpuriousLossView {
    /// When that was found, s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Every loss since `since_s` was spurious: the reductions since then may be undone.
    #[getter]
    fn undo(&self) -> bool {
        self.0.undo
    }

    /// With `undo`: when the first reduction happened that was needless, s.
    #[getter]
    fn since_s(&self) -> f64 {
        self.0.since.as_secs_f64()
    }
}

/// The retransmission timer expired.
#[pyclass(frozen, name = "Timeout", module = "afteryou")]
pub struct TimeoutView(pub Timeout);

#[pymethods]
impl TimeoutView {
    /// When, s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// Bytes sent and not yet acknowledged in order.
    #[getter]
    fn flightsize(&self) -> u64 {
        self.0.flightsize
    }

    /// 1 for the first expiry since an ack made progress, 2 for the next, and so on.
    #[getter]
    fn consecutive(&self) -> u32 {
        self.0.consecutive
    }
}

/// Sending starts again after a time with nothing in flight.
#[pyclass(frozen, name = "Idle", module = "afteryou")]
pub struct IdleView(pub Idle);

#[pymethods]
impl IdleView {
    /// When it starts again, s.
    #[getter]
    fn now_s(&self) -> f64 {
        self.0.now.as_secs_f64()
    }

    /// How long nothing was in flight, s.
    #[getter]
    fn idle_for_s(&self) -> f64 {
        self.0.idle_for.as_secs_f64()
    }

    /// The retransmission timeout, s.
    #[getter]
    fn rto_s(&self) -> f64 {
        self.0.rto.as_secs_f64()
    }
}
