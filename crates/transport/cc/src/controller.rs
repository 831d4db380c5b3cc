//! The interface of a controller: events in, a directive out.

use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use afteryou_base::units::{Span, Time};
use core::fmt::Debug;

/// A congestion controller: what just happened on the path → how much may be in flight.
///
/// It has no clock, no socket, no thread, no random source, and does not allocate. The transport asks once what it
/// [needs](Controller::needs), calls the `on_…` methods in the order of events, and afterwards asks for the
/// [directive](Controller::directive).
///
/// # What the transport promises
/// - It has at most `cwnd` bytes in flight. A window below one packet means: with nothing in flight, one
///   packet every `smoothed_rtt × packet / cwnd`.
/// - It paces by the directive.
/// - It asks for the directive after each ack with the losses that it shows, after a timeout, an idle time and a wake-up. After
///   [`on_sent`](Controller::on_sent) it asks only while the directive has a [rate](Pacing::Rate): what a sender merely
///   counts changes no window.
/// - It reports every loss; that several losses of one round trip count once is the controller's business.
/// - For one ack the order is: spurious losses, deliveries, the ack, losses.
/// - It calls [`on_wake`](Controller::on_wake) once `wake_at` has passed; late is allowed, never is not.
pub trait Controller: Debug + Send {
    /// Returns the needs of this controller beyond acks and losses. It never changes.
    fn needs(&self) -> Needs {
        Needs::NONE
    }

    /// Takes note of a packet that was sent.
    fn on_sent(&mut self, _sent: &Sent) {}

    /// Takes note of a packet that was delivered. Only for a controller that needs [packets one by one](Needs::per_packet).
    fn on_delivered(&mut self, _delivered: &Delivered) {}

    /// Reacts to an acknowledgement that reports new data.
    fn on_ack(&mut self, ack: &Ack);

    /// Reacts to a packet that was found lost.
    fn on_loss(&mut self, loss: &Loss);

    /// Reacts to the arrival of a packet that was reported lost; perhaps it was the last one of its recovery.
    fn on_spurious_loss(&mut self, _spurious: &SpuriousLoss) {}

    /// Reacts to the expiry of the retransmission timer.
    fn on_timeout(&mut self, timeout: &Timeout);

    /// Takes note of an expired handshake timer: no answer has come, and the request is sent again. Nothing is known of the
    /// path yet, so a rule has no reason to act; observers count it.
    fn on_handshake_timeout(&mut self, _now: Time) {}

    /// Reacts to the start of sending after a time with nothing in flight.
    fn on_idle(&mut self, _idle: &Idle) {}

    /// Sets the largest payload of a packet to `mss` bytes.
    fn on_mtu(&mut self, mss: u32);

    /// Reacts to the passing of [`Directive::wake_at`].
    fn on_wake(&mut self, _now: Time) {}

    /// Returns the instructions for the transport until the next event.
    fn directive(&self) -> Directive;

    /// Returns the state in named quantities, for figures, logs and the live view.
    fn snapshot(&self) -> Snapshot;
}

/// Inputs of a new controller beside its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Largest payload of a packet, bytes.
    pub mss: u32,
    /// Where a rule that draws random numbers begins. In the simulator it follows from the run's seed and the flow.
    pub seed: u64,
    /// The transport spreads packets over the round trip.
    pub paced: bool,
}

impl Setup {
    /// Returns a setup for packets of `mss` bytes of payload, a seed of zero, and pacing.
    pub const fn of(mss: u32) -> Setup {
        Setup { mss, seed: 0, paced: true }
    }
}

/// Needs of a controller beyond acks, losses and timers. A transport that cannot provide it states that in its
/// documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Delivery rates: [`Ack::delivery`].
    pub delivery_rates: bool,
    /// [`Controller::on_delivered`], and [`Sent::totals`] in all events that name a packet.
    pub per_packet: bool,
}

impl Needs {
    /// Acks and losses are enough.
    pub const NONE: Needs = Needs { delivery_rates: false, per_packet: false };
    /// Whatever there is.
    pub const ALL: Needs = Needs { delivery_rates: true, per_packet: true };

    /// Returns whether the sender has to remember its state for each packet.
    pub const fn stamps(self) -> bool {
        self.delivery_rates || self.per_packet
    }
}

/// Instructions for the transport until the next event.
#[must_use = "a controller acts by its directive alone"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The window: how many bytes may be in flight.
    pub cwnd: u64,
    /// How packets are spread over time.
    pub pacing: Pacing,
    /// Bytes that may leave back to back; 0 leaves it to the transport.
    pub send_quantum: u64,
    /// When the controller is to be called although nothing happens.
    pub wake_at: Option<Time>,
    /// Whose window holds while losses are repaired.
    pub recovery: RecoveryWindow,
    /// Bytes of the window for packets that follow each other at the rate: a train that measures the path. It is a transport's business
    /// only where several senders share the window: one of them sends it.
    pub train: u32,
}

impl Directive {
    /// Returns a directive with a window of `cwnd` bytes that the transport paces by itself.
    #[inline]
    pub const fn window(cwnd: u64) -> Directive {
        Directive {
            cwnd,
            pacing: Pacing::Window,
            send_quantum: 0,
            wake_at: None,
            recovery: RecoveryWindow::Transport,
            train: 0,
        }
    }

    /// Returns the same as [`Self::window`], with the headroom of an exponential phase if `growing`.
    #[inline]
    pub const fn growing_window(cwnd: u64, growing: bool) -> Directive {
        let pacing = if growing { Pacing::GrowingWindow } else { Pacing::Window };
        Directive { pacing, ..Directive::window(cwnd) }
    }

    /// Returns whether the window is paced as one in its exponential phase.
    pub fn is_growing(&self) -> bool {
        self.pacing == Pacing::GrowingWindow
    }
}

/// How packets are spread over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// A little faster than a window in a round trip.
    Window,
    /// Twice a window in a round trip: the window is in its exponential phase and doubles meanwhile.
    GrowingWindow,
    /// Bytes per second.
    Rate(u64),
    /// A group of packets, and the pause between the last of them and the next group: below two packets in a round trip. A timeout or an
    /// idle time begins a new group.
    Together {
        /// Packets of a group.
        packets: u32,
        /// Time between two packets of a group, µs; zero: back to back.
        apart_us: u16,
        /// Time between two groups.
        every: Span,
    },
}

/// Whose window holds in a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryWindow {
    /// The transport's: it spreads a reduction over the recovery (PRR, RFC 9937).
    Transport,
    /// The controller's, as always.
    Controller,
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
    /// The controller's estimate of the base delay. For one-way delays the unknown clock offset is in it, so only a
    /// controller fed with round-trip times reports it.
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
