//! Any controller of `afteryou-cc` as a controller of quinn.
//!
//! # The reports of quinn, and what is made of them
//! | quinn 0.11 | here |
//! |---|---|
//! | `on_sent` once for a batch of packets, acknowledgements alone included | one [`Sent`] for each packet |
//! | `on_ack` for each packet with its send time, before quinn's own round-trip estimate is updated | a [`Delivered`] for a controller that needs packets one by one; collected: bytes are added up, the *smallest* `now − sent` of the frame is its sample |
//! | `on_end_acks` with the bytes in flight | one [`Ack`]; the count of bytes in flight is set right |
//! | `on_congestion_event` with the send time of the newest lost packet and the sum of bytes | one [`Loss`] |
//! | the same with no bytes: an ACK frame reported new ECN marks | an [`Ack`] of nothing with one mark |
//! | the same with "persistent congestion" | a [`Loss`], then a [`Timeout`] that leaves ssthresh alone |
//! | `window` before each packet | the controller is asked each time; closed until the next departure of a rate |
//!
//! The sample includes the peer's ack delay, which quinn does not pass on. The newest packet of a frame waited least,
//! and the controllers' filters over several frames take the minimum again. See
//! [`background_transport`](crate::background_transport) for requests to the peer.
//!
//! # Sizes
//! quinn counts UDP payload bytes, QUIC headers and authentication tags included, and its MTU is the largest UDP
//! payload. That is the controller's packet, too: windows, losses and floors are in the same unit.
//!
//! # The window
//! quinn sends while `in flight + packet < window`: a window of exactly two packets would let one leave. One byte more
//! makes it what our controllers mean. Below one packet quinn would never send again, so one packet is the floor.
//!
//! # Pacing
//! quinn ignores a controller's rate. `gate` makes it keep rates and groups of packets: it opens the window at each departure,
//! by the pacer of our other transports, and takes quinn's pacer out of the way. A batch has as many packets as that pacer lets
//! go at once, the [send quantum](afteryou_cc::Directive::send_quantum) included, and at most ten. Acknowledgements do not wait,
//! nor do probes after a timeout or for the MTU. quinn paces windows without a rate: 1.25 windows in a round trip.
//!
//! The gate requires an endpoint by [`endpoint`](crate::endpoint) or a [`pacing_runtime`](crate::pacing_runtime). Elsewhere quinn
//! paces everything. See `driver` for how a connection, its controllers and the socket find each other.
//!
//! # Departures
//! quinn dates packets to the beginning of a turn of its task, even if they wait for the socket. Our socket reports when a batch
//! left. Round-trip times and delivery rates count from there; the names and the order of packets are by quinn's time. quinn's
//! own estimate and its timers know nothing of it.
//!
//! # Rounds, idle
//! A round ends with the first acknowledgement of a packet sent after the previous one ended. The path is idle from the
//! frame that leaves nothing in flight until more than an acknowledgement is sent. A time for which the rate held data back was
//! not idle.
//!
//! # Migration
//! quinn copies the controller when only the peer's port changes and makes a new one otherwise. Here both begin anew: a
//! new path has a new base delay. Packets sent before, on the old path, are no evidence and are ignored. A copy makes
//! its controller when it is first used, so that looking at a connection does not.
//!
//! # Delivery rates
//! As in draft-cheng-iccrg-delivery-rate-estimation, over the flight of the newest packet of each frame. Of packets that left at
//! the same instant the last one's state counts, also where the controller takes packets one by one. Their round-trip times
//! include the peer's ack delay and are marked as such.
//!
//! # Not implemented
//! Windows below one packet that have no rate. Undoing a reduction: quinn-proto 0.11.19 does not detect that a loss was spurious,
//! and shows an adapter nothing to detect it by (`src/connection/mod.rs`):
//! - `detect_lost_packets` takes a lost packet out of `sent_packets` (line 1777), the only record of it.
//! - `on_ack_received` looks acknowledged numbers up in `sent_packets` alone (line 1494), and returns before it calls the
//!   controller if none is there (line 1499).
//! - `on_ack` names packets by their send time, and `on_end_acks` passes on the largest number of the space so far, which a late
//!   packet does not change. No statistic counts the ranges of a frame, and a frame is encrypted when it passes the socket.
//!
//! # Known bad cases
//! A controller without a rate is called at events only: a slowdown that should end while nothing arrives ends with the next ACK
//! frame. Timers of tokio are no finer than 1 ms: at high rates several packets leave together each millisecond, and a group
//! leaves up to 2 ms late. quinn does not report its probe timeouts. During an outage a controller learns nothing until the
//! first acknowledgement after it. Acknowledgements alone of more than 100 bytes (many gaps) are taken for data and end an
//! idle time.

mod gate;
mod sent_log;
#[cfg(test)]
mod tests;

use crate::clock::{self, time_of};
use crate::driver;
use crate::factory::Factory;
use crate::monitor::{Monitor, Status};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::{Span, Time};
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{Ack, Controller, Delivered, Directive, Idle, Loss, Marks, Pacing, Sent, Timeout};
use afteryou_sender::delivery::{Delivery, Stamp};
use afteryou_sender::rounds::Rounds;
use gate::{is_paced_here, Gate};
use quinn::congestion::{self, ControllerMetrics};
use sent_log::{Found, SentLog};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A transmission of no more bytes is taken for acknowledgements alone: it is not what ends an idle time.
const ACKS_ALONE_BYTES: u64 = 100;
/// Lower bound of the time of silence after which a window is forgotten. RFC 6298 says 1 s, kernels use this.
const MIN_RTO: Span = Span::from_millis(200);
/// quinn's timers are no finer.
const GRANULARITY: Span = Span::from_millis(1);

/// A controller of `afteryou-cc` as one of quinn. [`Factory`] makes them.
pub struct Adapter {
    factory: Arc<Factory>,
    monitor: Monitor,
    mtu: u16,
    /// None until it is needed. quinn asks for the window through a shared reference, hence the lock.
    controller: Mutex<Option<Box<dyn Controller>>>,
    /// Locked after the controller, for the same reason.
    gate: Mutex<Gate>,
    path: Path,
}

/// Knowledge of the path itself.
#[derive(Debug, Default)]
struct Path {
    sent: SentLog,
    /// When the first packet left. Earlier packets were sent on another path.
    since: Option<Time>,
    rtt: RttEstimator,
    in_flight: u64,
    frame: Frame,
    rounds: Rounds,
    delivery: Delivery,
    /// Since when nothing has been in flight.
    quiet_since: Option<Time>,
    /// When data last left.
    last_sent: Time,
}

/// The packets that the current ACK frame has acknowledged so far.
#[derive(Debug, Default)]
struct Frame {
    bytes: u64,
    newest_sent: Option<Time>,
    min_rtt: Option<Span>,
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Adapter::new(self, current_mtu, Monitor::default()))
    }
}

impl Monitor {
    /// Returns the monitor of a connection, if its controller came from a [`Factory`](crate::Factory).
    pub fn of(connection: &quinn::Connection) -> Option<Monitor> {
        // quinn hands out a copy of the controller. An adapter's copy makes no controller until it is used.
        let adapter = connection.congestion_state().into_any().downcast::<Adapter>().ok()?;
        Some(adapter.monitor().clone())
    }
}

impl Adapter {
    fn new(factory: Arc<Factory>, mtu: u16, monitor: Monitor) -> Adapter {
        clock::begin();
        let (controller, gate) = (Mutex::default(), Mutex::default());
        Adapter { factory, monitor, mtu, controller, gate, path: Path::default() }
    }

    /// Returns the inputs of this connection's controller.
    pub fn monitor(&self) -> &Monitor {
        &self.monitor
    }

    /// Returns the window as quinn takes it: more than is in flight with the next packet, and one packet at least.
    fn quinns_window(&self, directive: &Directive) -> u64 {
        directive.cwnd.max(self.mtu.into()).saturating_add(1)
    }

    /// Returns the answer to quinn's question for the window in this `turn`, by a directive with a rate.
    fn paced_window(&self, controller: &mut dyn Controller, turn: u64, rtt: Span) -> u64 {
        let now = clock::now();
        if controller.directive().wake_at.is_some_and(|at| at <= now) {
            controller.on_wake(now);
        }
        let directive = controller.directive();
        if let Some(at) = directive.wake_at {
            driver::wake_at(at);
        }
        let terms = (&directive, self.mtu.into(), self.quinns_window(&directive));
        self.gate.lock().even_poisoned().answer(turn, now, terms, rtt)
    }

    /// Returns the directive if packets leave by its rate here.
    fn own_rate(&mut self) -> Option<Directive> {
        let directive = self.controller().directive();
        let is_paced = is_paced_here(&directive) && self.path.rtt.smoothed().is_some();
        (is_paced && driver::turn().is_some()).then_some(directive)
    }

    /// Returns whether the batch of `bytes` that ends here has data in it.
    fn ends_data(&mut self, bytes: u64) -> bool {
        self.gate.get_mut().even_poisoned().end_batch() || bytes > ACKS_ALONE_BYTES
    }

    /// Charges the pacer with a packet of data that leaves now.
    fn pace(&mut self, now: Time, bytes: u64) {
        let Some(directive) = self.own_rate() else { return };
        let packet = self.mtu.into();
        self.gate.get_mut().even_poisoned().sent(now, bytes, &directive, packet);
    }

    /// Shortens the wait for a departure by the directive after an ACK frame.
    fn hasten(&mut self, now: Time) {
        let (Some(directive), Some(rtt)) = (self.own_rate(), self.path.rtt.smoothed()) else { return };
        let packet = self.mtu.into();
        self.gate.get_mut().even_poisoned().hasten(now, &directive, packet, rtt);
    }

    /// Takes in when the newest packets left.
    fn note_departure(&mut self) {
        if let Some(at) = driver::take_departure() {
            self.path.sent.left(at);
        }
    }

    fn controller(&mut self) -> &mut dyn Controller {
        let controller = self.controller.get_mut().even_poisoned();
        controller.get_or_insert_with(|| self.factory.make(self.mtu.into(), &self.monitor)).as_mut()
    }

    /// Returns the controller, woken if its time has come.
    fn awake(&mut self, now: Time) -> &mut dyn Controller {
        let controller = self.controller();
        if controller.directive().wake_at.is_some_and(|at| at <= now) {
            controller.on_wake(now);
        }
        controller
    }

    fn begin_path(&mut self, now: Time) {
        self.path.since = Some(now);
        self.monitor.lock().paths += 1;
    }

    /// Ends an idle time: sending starts again.
    fn end_idle(&mut self, now: Time) {
        let Some(since) = self.path.quiet_since.take() else { return };
        let held_until = match self.own_rate() {
            Some(_) => self.gate.get_mut().even_poisoned().next(),
            None => Time::ZERO,
        };
        if now <= since.max(held_until) {
            return;
        }
        let idle_for = now.since(self.path.last_sent.max(held_until));
        let rto = self.path.rtt.rto(GRANULARITY, MIN_RTO);
        self.controller().on_idle(&Idle { now, idle_for, rto });
        if idle_for > rto {
            self.gate.get_mut().even_poisoned().restart(now);
        }
    }

    /// Notes one acknowledged packet of the frame being read.
    fn note_acked(&mut self, now: Time, sent_at: Time, bytes: u64) {
        if !self.path.sent_here(sent_at) {
            return;
        }
        self.path.delivery.deliver(bytes);
        let arrived = self.path.sent.arrived(sent_at);
        // Where the clock was read too early, quinn's earlier time is all there is.
        let rtt = now.since(if arrived.left <= now { arrived.left } else { sent_at });
        if self.controller().needs().per_packet {
            self.report_delivery(now, sent_at, (bytes, arrived.number, rtt));
        }
        let frame = &mut self.path.frame;
        frame.bytes = frame.bytes.saturating_add(bytes);
        frame.newest_sent = frame.newest_sent.max(Some(sent_at));
        frame.min_rtt = Some(frame.min_rtt.map_or(rtt, |min| min.min(rtt)));
    }

    fn report_delivery(&mut self, now: Time, sent_at: Time, (bytes, packet_number, rtt): (u64, u64, Span)) {
        let sent = Sent { packet_number, ..self.path.as_sent(sent_at, bytes) };
        let delivered = self.path.delivery.delivered();
        self.controller().on_delivered(&Delivered {
            now,
            sent,
            delivered,
            rtt: Some(rtt),
            one_way_delay: None,
            may_have_waited: true, // quinn does not pass the peer's ack delay on
        });
    }

    /// Reports the ACK frame to the controller. `in_flight` is what it left.
    fn take_frame(&mut self, now: Time, in_flight: u64, app_limited: bool) {
        let frame = std::mem::take(&mut self.path.frame);
        let (Some(sent_at), Some(rtt)) = (frame.newest_sent, frame.min_rtt) else { return };
        let path = &mut self.path;
        path.rtt.update(rtt);
        let newest = path.sent.newest_at(sent_at);
        let packet_number = newest.map_or(0, |found| found.number);
        let round_start = path.rounds.starts(packet_number, path.sent.last_number() + 1);
        path.delivery.finish_ack(now, Some(newest.map_or(sent_at, |found| found.left)));
        let delivery = newest.and_then(|found| path.delivery.rate(found.left, &found.stamp, path.rtt.min()));
        let (smoothed_rtt, min_rtt) = (path.rtt.smoothed(), path.rtt.min());
        path.sent.forget_before(sent_at, smoothed_rtt.unwrap_or(rtt) * 4 + MIN_RTO);
        let before = in_flight.saturating_add(frame.bytes);
        self.controller().on_ack(&Ack {
            now,
            newly_acked: frame.bytes,
            flightsize: before,
            in_flight: before,
            sent_at,
            packet_number,
            rtt: Some(rtt),
            smoothed_rtt,
            min_rtt,
            delivery,
            round_start,
            app_limited,
            ..Ack::default()
        });
        self.publish(|status| status.acked_bytes = status.acked_bytes.saturating_add(frame.bytes));
    }

    /// Takes in a mark (ECN): the newest packet of an ACK frame was sent at `sent_at`, and some of those before were marked.
    fn take_mark(&mut self, now: Time, sent_at: Time) {
        let path = &self.path;
        let mark = Ack {
            now,
            flightsize: path.in_flight,
            in_flight: path.in_flight,
            sent_at,
            packet_number: path.sent.number_at(sent_at),
            smoothed_rtt: path.rtt.smoothed(),
            min_rtt: path.rtt.min(),
            marks: Marks::Echo, // quinn does not pass the count on
            ..Ack::default()
        };
        self.controller().on_ack(&mark);
        self.publish(|status| status.marked_frames += 1);
    }

    fn take_loss(&mut self, now: Time, sent_at: Time, persistent: bool, bytes: u64) {
        let flightsize = self.path.in_flight;
        let sent = self.path.as_sent(sent_at, bytes);
        self.path.delivery.lose(bytes);
        let controller = self.controller();
        controller.on_loss(&Loss { now, sent, flightsize, persistent, ..Loss::default() });
        if persistent {
            // Not the first of a row: the loss has set ssthresh already.
            controller.on_timeout(&Timeout { now, flightsize, consecutive: 2 });
            self.gate.get_mut().even_poisoned().restart(now);
        }
        self.path.in_flight = flightsize.saturating_sub(bytes);
        self.publish(|status| status.lost_bytes = status.lost_bytes.saturating_add(bytes));
    }

    fn publish(&mut self, count: impl FnOnce(&mut Status)) {
        let snapshot = self.controller().snapshot();
        let mut status = self.monitor.lock();
        count(&mut status);
        status.snapshot = snapshot;
        status.smoothed_rtt = self.path.rtt.smoothed();
        status.latest_rtt = self.path.rtt.latest();
        status.min_rtt = self.path.rtt.min();
        status.in_flight = self.path.in_flight;
        status.mtu = self.mtu;
    }
}

impl Path {
    /// Returns the newest packet that left at `sent_at`, and the sender's state then; zeros if that was long ago.
    fn as_sent(&self, sent_at: Time, bytes: u64) -> Sent {
        let Found { number, stamp, .. } = self.sent.newest_at(sent_at).unwrap_or_default();
        as_sent(sent_at, bytes, number, &stamp)
    }

    fn sent_here(&self, sent_at: Time) -> bool {
        self.since.is_some_and(|since| sent_at >= since)
    }
}

/// Returns a packet as the controller sees it.
fn as_sent(sent_at: Time, bytes: u64, packet_number: u64, stamp: &Stamp) -> Sent {
    Sent {
        now: sent_at,
        bytes,
        packet_number,
        sequence: None, // quinn does not pass on what a packet carries
        in_flight: stamp.in_flight,
        app_limited: stamp.app_limited,
        totals: stamp.totals(),
    }
}

impl congestion::Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let now = time_of(now);
        self.note_departure();
        self.awake(now);
        if self.path.since.is_none() {
            self.begin_path(now);
        }
        if bytes > ACKS_ALONE_BYTES {
            self.end_idle(now);
            self.path.last_sent = now;
        }
        // Acknowledgements alone never count as in flight, but cannot be distinguished here. Nothing leaves beyond the
        // window.
        let directive = self.controller().directive();
        let most = directive.cwnd.max(self.path.in_flight);
        let is_paced = is_paced_here(&directive) && self.ends_data(bytes);
        let mut left = bytes;
        while left > 0 {
            let bytes = left.min(u64::from(self.mtu).max(1));
            left -= bytes;
            if self.path.in_flight == 0 {
                self.path.delivery.begin_flight(now);
            }
            self.path.in_flight = self.path.in_flight.saturating_add(bytes).min(most);
            let stamp = self.path.delivery.stamp(self.path.in_flight);
            let number = self.path.sent.push(now, stamp);
            self.controller().on_sent(&as_sent(now, bytes, number, &stamp));
            if is_paced {
                self.pace(now, bytes);
            }
        }
        driver::await_departure();
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &quinn_proto::RttEstimator,
    ) {
        self.note_departure();
        self.note_acked(time_of(now), time_of(sent), bytes);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _largest: Option<u64>) {
        let now = time_of(now);
        self.awake(now);
        self.path.in_flight = in_flight;
        match in_flight {
            0 => _ = self.path.quiet_since.get_or_insert(now),
            _ => self.path.quiet_since = None,
        }
        self.take_frame(now, in_flight, app_limited);
        self.hasten(now);
        if app_limited {
            self.path.delivery.note_unused_window(in_flight);
        }
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let (now, sent) = (time_of(now), time_of(sent));
        self.awake(now);
        if !self.path.sent_here(sent) {
            return;
        }
        match lost_bytes {
            0 => self.take_mark(now, sent),
            bytes => self.take_loss(now, sent, persistent, bytes),
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = new_mtu;
        self.controller().on_mtu(new_mtu.into());
    }

    fn window(&self) -> u64 {
        let mut controller = self.controller.lock().even_poisoned();
        let controller = controller.get_or_insert_with(|| self.factory.make(self.mtu.into(), &self.monitor));
        let directive = controller.directive();
        match (is_paced_here(&directive), self.path.rtt.smoothed(), driver::turn()) {
            (true, Some(rtt), Some(turn)) => self.paced_window(controller.as_mut(), turn, rtt),
            _ => self.quinns_window(&directive),
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut controller = self.controller.lock().even_poisoned();
        let controller = controller.get_or_insert_with(|| self.factory.make(self.mtu.into(), &self.monitor));
        let mut metrics = ControllerMetrics::default();
        let directive = controller.directive();
        metrics.congestion_window = directive.cwnd;
        metrics.ssthresh = controller.snapshot().ssthresh;
        metrics.pacing_rate = match directive.pacing {
            Pacing::Rate(rate) => Some(rate.saturating_mul(8)),
            _ => None,
        };
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(Adapter::new(Arc::clone(&self.factory), self.mtu, self.monitor.clone()))
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl fmt::Debug for Adapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapter").field("mtu", &self.mtu).field("path", &self.path).finish_non_exhaustive()
    }
}
