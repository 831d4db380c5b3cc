//! What a controller is: events in, a window out.

use crate::event::{Ack, Idle, Loss, Sent, Timeout};
use crate::units::{Span, Time};
use core::fmt::Debug;

/// A congestion controller: what just happened on the path → how much may be in flight.
///
/// It has no clock, no socket, no thread, no random source, and does not allocate. The transport calls the
/// `on_…` methods in the order of events and afterwards asks [`cwnd`](Controller::cwnd),
/// [`pacing_rate`](Controller::pacing_rate) and [`wake_at`](Controller::wake_at).
///
/// # What the transport promises
/// - It has at most `cwnd` bytes in flight. A window below one packet means: with nothing in flight, one
///   packet every `smoothed_rtt × packet / cwnd`.
/// - It paces: at `pacing_rate` if there is one, else at a little more than `cwnd / smoothed_rtt`.
/// - It takes delivery-rate samples at least for a controller that has a pacing rate from the start.
/// - After [`on_sent`](Controller::on_sent) it asks only a controller with a pacing rate again: what a sender merely
///   counts changes no window.
/// - It reports every loss; that several losses of one round trip count once is the controller's business.
/// - It calls [`on_wake`](Controller::on_wake) once `wake_at` has passed; late is allowed, never is not.
pub trait Controller: Debug + Send {
    /// A packet left.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// An acknowledgement reported new data.
    fn on_ack(&mut self, ack: &Ack);

    /// A packet was found lost.
    fn on_loss(&mut self, loss: &Loss);

    /// The losses that caused the latest reduction were none: every packet that was reported lost in this recovery has arrived
    /// after all. Not called once the recovery is over.
    fn on_spurious_loss(&mut self, _now: Time) {}

    /// The retransmission timer expired.
    fn on_timeout(&mut self, timeout: &Timeout);

    /// Sending starts again after a time with nothing in flight.
    fn on_idle(&mut self, _idle: &Idle) {}

    /// The largest payload of a packet is now `mss` bytes.
    fn on_mtu(&mut self, mss: u32);

    /// [`wake_at`](Controller::wake_at) has passed.
    fn on_wake(&mut self, _now: Time) {}

    /// The window: how many bytes may be in flight.
    fn cwnd(&self) -> u64;

    /// Pacing rate in bytes per second, for controllers that set one.
    fn pacing_rate(&self) -> Option<u64> {
        None
    }

    /// The window is in its exponential phase; a transport that paces by itself needs headroom for it.
    fn in_slow_start(&self) -> bool;

    /// When the controller wants to be called although nothing happens.
    fn wake_at(&self) -> Option<Time> {
        None
    }

    /// The state in named quantities, for figures, logs and the live view.
    fn snapshot(&self) -> Snapshot;
}

/// A controller's state in named quantities. `None`: this controller has no such quantity, or not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Where in its state diagram the controller is.
    pub phase: &'static str,
    /// Window, bytes.
    pub cwnd: u64,
    /// Slow-start threshold, bytes.
    pub ssthresh: Option<u64>,
    /// Delay of the empty path as the controller believes it. For one-way delays the unknown clock offset is
    /// in it, so only a controller fed with round-trip times reports it.
    pub base_delay: Option<Span>,
    /// Delay that queues add now.
    pub queuing_delay: Option<Span>,
    /// Queuing delay that the controller steers to.
    pub target: Option<Span>,
    /// Packets that the window grows by in a round trip at zero queuing delay.
    pub gain: Option<f64>,
    /// Slowdowns begun so far (LEDBAT++).
    pub slowdowns: Option<u32>,
    /// Quantities of this controller alone, by name.
    pub extra: [Option<(&'static str, f64)>; 4],
}
