//! The congestion controller of a connection. This is the only place that calls it, and all consequences of its
//! directives are decided here: window, pacing, idle times, application limits, rounds, and the undoing of a recovery.
//!
//! ```text
//!   may leave:  in flight + length ≤ window, or nothing is in flight (a window below one packet: one at a time)
//!               and the pacer lets it go: gain · cwnd / RTT, or the controller's rate
//!   window:     PRR's in a recovery that a loss began (RFC 9937), else the controller's
//! ```
//! A sender that runs late makes good what it could have sent, up to a quarter of the round trip.
//!
//! Gains: 1.25 in congestion avoidance (RFC 9002 §7.7), 2 in slow start, 1 below one packet per round trip, where the window is
//! the spacing.

use crate::board::{AckProgress, Before, Board, Delivered, Flight};
use crate::departures::Departures;
use crate::doubts::Doubts;
use crate::episode::Episode;
use crate::pacer::{WindowRate, SLOW_START_GAIN, STEADY_GAIN, TIMER_SLACK};
use crate::prr::{AckInRecovery, Prr};
use crate::rounds::Rounds;
use afteryou_base::{Span, Time};
use afteryou_cc::ack_habit::AckHabit;
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{
    event, Ack, Controller, Directive, Idle, Loss, Marks, Needs, Pacing, RecoveryWindow, Sent, Timeout,
    Totals,
};

/// The shortest round-trip time that is accepted. An ack that was sent ahead of the packet can arrive at the very
/// instant at which the packet left. Spans counted in round trips (a slowdown of LEDBAT++) must not be empty.
const MIN_RTT: Span = Span::from_micros(1);

/// A controller and the limits that follow from it.
#[must_use = "options return it changed"]
#[derive(Debug)]
pub struct Congestion {
    controller: Box<dyn Controller>,
    needs: Needs,
    /// Asked for once after each event, since it is needed more often than it changes.
    directive: Directive,
    /// Payload of a full packet, bytes.
    packet: u32,
    /// Pace windows of one packet and more, too.
    paces_windows: bool,
    /// Bound of the rate that somebody else has set, bytes per second; all bits set: none. Idle connections keep the room.
    max_rate: u32,
    rtt: RttEstimator,
    departures: Departures,
    window_rate: WindowRate,
    rounds: Rounds,
    habit: AckHabit,
    /// Round-trip time of the newest packet that arrived in order: the one ahead of the first gap.
    in_order_rtt: Option<Span>,
    episode: Option<Episode>,
    /// The losses of the latest recoveries, which may be over, while they can turn out to be none.
    /// Apart from it: idle connections keep the room.
    doubts: Option<Box<Doubts>>,
    /// When data last left; never: [`Time::NEVER`].
    last_sent: Time,
}

/// An acknowledgement that has news.
#[derive(Clone, Copy, Debug)]
pub struct News<'a> {
    /// When it arrived.
    pub now: Time,
    /// Its changes to the scoreboard.
    pub progress: &'a AckProgress,
    /// The packets that it delivers, for a controller that needs them one by one.
    pub delivered: &'a [Delivered],
    /// When the packet left whose timestamp it echoes; none: that of the newest one.
    pub echoed: Option<Time>,
    /// Bytes that it counts for as acknowledged in order.
    pub newly_acked: u64,
    /// FlightSize before it.
    pub flightsize: u64,
    /// Bytes in flight before it.
    pub in_flight: u64,
    /// Number of the next transmission.
    pub next_number: u64,
    /// As [`Ack::one_way_delay`].
    pub one_way_delay: Option<u32>,
    /// As [`Ack::reverse_delay`].
    pub reverse_delay: Option<u32>,
    /// Marks that it reports.
    pub marks: Marks,
}

/// Losses that were found at one time.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    /// When.
    pub now: Time,
    /// FlightSize then.
    pub flightsize: u64,
    /// The state before the ack that shows them.
    pub before: Before,
    /// The next new packet.
    pub point: u64,
    /// The transport counts what is delivered: PRR rules.
    pub in_proportion: bool,
}

impl Congestion {
    /// Paces everything; `packet` is the payload of a full packet, bytes.
    pub fn new(controller: Box<dyn Controller>, packet: u32) -> Congestion {
        Congestion {
            needs: controller.needs(),
            directive: controller.directive(),
            controller,
            packet,
            paces_windows: true,
            max_rate: u32::MAX,
            rtt: RttEstimator::default(),
            departures: Departures::new(TIMER_SLACK),
            window_rate: WindowRate::default(),
            rounds: Rounds::default(),
            habit: AckHabit::default(),
            in_order_rtt: None,
            episode: None,
            doubts: None,
            last_sent: Time::NEVER,
        }
    }

    /// Sets the time by which timers wake the sender late, `slack` at most, which the pacer makes good; [`TIMER_SLACK`]
    /// otherwise.
    pub fn with_timer_slack(self, slack: Span) -> Congestion {
        Congestion { departures: Departures::new(slack), ..self }
    }

    /// Paces only windows below one packet and controllers that set a rate.
    pub fn pacing_small_windows_only(self) -> Congestion {
        Congestion { paces_windows: false, ..self }
    }

    /// Bounds the rate beside the controller, bytes per second; from 2³² − 1 on not at all. Everything is paced then.
    pub fn set_max_rate(&mut self, bytes_per_second: u64) {
        self.max_rate = u32::try_from(bytes_per_second).unwrap_or(u32::MAX);
    }

    /// Returns whether somebody else has bounded the rate.
    fn has_max_rate(&self) -> bool {
        self.max_rate != u32::MAX
    }

    /// Returns whether the bound that somebody else has set, and not the window, limits what leaves in a round trip.
    pub fn is_held_by_max_rate(&self) -> bool {
        let in_round = |rtt: Span| f64::from(self.max_rate) * rtt.as_secs_f64();
        self.has_max_rate()
            && self.rtt.smoothed().is_some_and(|rtt| in_round(rtt) < self.directive.cwnd as f64)
    }

    fn packet(&self) -> u64 {
        self.packet.into()
    }

    /// Sets the payload of full packets from here on, bytes.
    pub fn set_packet(&mut self, packet: u32) {
        self.packet = packet;
        self.controller.on_mtu(packet);
        self.refresh();
    }

    /// Returns the controller.
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    /// Returns the needs of the controller beyond acks and losses.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    /// Asks the controller again: the window of a group also changes by events of its other members.
    #[inline]
    pub fn refresh(&mut self) {
        let directive = self.controller.directive();
        self.directive.cwnd = directive.cwnd;
        // With most acks nothing but the window changes. Copying what was written a moment ago in smaller parts would wait for
        // these to reach the cache.
        if directive != self.directive {
            self.directive = directive;
        }
    }

    /// Returns the round-trip times.
    pub fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Takes in a round-trip time.
    #[inline]
    pub fn take_rtt(&mut self, rtt: Span) {
        self.rtt.update(rtt.max(MIN_RTT));
    }

    /// Returns the controller's window, bytes.
    pub fn cwnd(&self) -> u64 {
        self.directive.cwnd
    }

    /// Returns the window in force, bytes.
    pub fn window(&self) -> u64 {
        match self.prr() {
            Some(prr) if self.directive.recovery == RecoveryWindow::Transport => prr.window(),
            _ => self.directive.cwnd,
        }
    }

    fn prr(&self) -> Option<&Prr> {
        self.episode.as_ref().and_then(|episode| episode.prr.as_ref())
    }

    /// Returns whether the window has room for a packet of `bytes`.
    #[inline]
    pub fn has_room(&self, bytes: u64, in_flight: u64, anything_in_flight: bool) -> bool {
        // A window below one packet: one at a time, and the pacer spaces them.
        in_flight + bytes <= self.window() || !anything_in_flight
    }

    /// Returns true if a packet may leave now; otherwise [`pacing_deadline`](Congestion::pacing_deadline) returns when.
    #[inline]
    pub fn pacing_allows(&mut self, now: Time) -> bool {
        !self.is_paced() || self.departures.allow(now)
    }

    /// Returns when the pacer lets the next packet go, if one waits for it.
    pub fn pacing_deadline(&self) -> Time {
        self.departures.deadline()
    }

    /// Clears the pacer's deadline: what can be sent is sent now, or is found to wait again.
    #[inline]
    pub fn clear_pacing_deadline(&mut self, now: Time) {
        self.departures.clear_deadline(now, self.rtt.smoothed());
    }

    fn is_paced(&self) -> bool {
        let is_own = matches!(self.directive.pacing, Pacing::Rate(_) | Pacing::Together { .. });
        let paced =
            self.paces_windows || is_own || self.has_max_rate() || self.directive.cwnd < self.packet();
        paced && self.rtt.smoothed().is_some()
    }

    #[inline]
    fn pace(&mut self, now: Time, bytes: u64) {
        let rate = match self.directive.pacing {
            Pacing::Together { .. } => None,
            _ => self.pacing_rate(),
        };
        self.departures.sent(now, bytes, &self.directive, self.packet(), rate);
    }

    /// Returns the rate of packets that wait for each other, bytes per second, once there is a round-trip time.
    #[inline]
    pub fn pacing_rate(&mut self) -> Option<u64> {
        // The latest sample counts if it is the smaller: when a long queue has just gone, the smoothed one would hold the
        // rate down for many round trips, and the window is there to stop what is too fast.
        let rtt = self.rtt.smoothed()?.min(self.rtt.latest());
        let cwnd = self.directive.cwnd;
        let packet = self.packet();
        let mut by_window = |gain| self.window_rate.of(gain, cwnd, rtt);
        let rate = match self.directive.pacing {
            Pacing::Rate(rate) => rate,
            Pacing::Together { packets, every, .. } => {
                (u64::from(packets) * packet * 1_000_000).checked_div(every.as_micros()).unwrap_or(u64::MAX)
            }
            _ if cwnd < packet => by_window(1.0), // a window below one packet is its spacing
            Pacing::GrowingWindow => by_window(SLOW_START_GAIN),
            Pacing::Window => by_window(STEADY_GAIN),
        };
        let most = if self.has_max_rate() { self.max_rate.into() } else { u64::MAX };
        Some(rate.min(most).max(1))
    }

    /// Shortens the wait of a packet that was spaced by a small window, if it is longer than a round trip. The window may
    /// have grown since: the packet waits by the window of now.
    #[inline]
    pub fn hasten(&mut self, now: Time) {
        if self.rtt.smoothed().is_none_or(|rtt| self.departures.next() <= now + rtt) {
            return;
        }
        let rate = self.pacing_rate().unwrap_or(1);
        self.departures.hasten(now, &self.directive, self.packet(), rate);
    }

    /// Starts the pacer: the connection is established.
    pub fn start(&mut self, now: Time) {
        self.departures.start(now);
    }

    /// Notes that nothing can be sent for reasons other than the window. If the window has room, acks of what is in flight
    /// now must not widen it.
    pub fn note_unused_window(&self, board: &mut Board) {
        if board.in_flight() + self.packet() <= self.window() {
            board.note_unused_window();
        }
    }

    /// Notes that new data is about to leave with nothing outstanding, `since` the latest ack. After a silence the
    /// controller is informed (RFC 5681 §4.1, RFC 9438 §4.2).
    pub fn resume(&mut self, now: Time, since: Time, rto: Span) {
        // A time for which the pacer held data back was not idle.
        let is_first = self.last_sent == Time::NEVER;
        if is_first || now <= since.max(self.departures.next()) {
            return;
        }
        let idle_for = now.since(self.last_sent.max(self.departures.next()));
        self.controller.on_idle(&Idle { now, idle_for, rto });
        self.refresh();
        if idle_for > rto {
            self.departures.restart(now);
        }
    }

    /// Notes that a packet of `bytes` has left: the newest transmission on the scoreboard.
    #[inline]
    pub fn sent(&mut self, board: &Board, now: Time, bytes: u64) {
        self.last_sent = now;
        if let Some(prr) = self.episode.as_mut().and_then(|episode| episode.prr.as_mut()) {
            prr.sent(bytes);
        }
        let (totals, sequence) = match self.needs.per_packet {
            true => (board.newest_stamp().totals(), board.newest_seq()),
            false => (Totals::default(), None),
        };
        self.controller.on_sent(&Sent {
            now,
            bytes,
            packet_number: board.next_number().saturating_sub(1),
            sequence,
            in_flight: board.in_flight(),
            app_limited: board.is_app_limited(),
            totals,
        });
        if matches!(self.directive.pacing, Pacing::Rate(_)) {
            self.refresh();
        }
        if self.is_paced() {
            self.pace(now, bytes);
        }
    }

    /// Reports an acknowledgement with news to the controller. The controller's directive is asked for by
    /// [`refresh`](Congestion::refresh), once the losses that the same ack shows have been reported, too.
    #[inline]
    pub fn acknowledged(&mut self, news: &News<'_>) {
        let progress = news.progress;
        let (packet_number, sent_at) = progress.newest;
        let mut ack = Ack {
            now: news.now,
            newly_acked: news.newly_acked,
            newly_sacked: progress.newly_sacked,
            flightsize: news.flightsize,
            in_flight: news.in_flight,
            sent_at,
            packet_number,
            rtt: progress.rtt,
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            one_way_delay: news.one_way_delay,
            may_have_waited: false,
            reverse_delay: news.reverse_delay,
            delivery: progress.delivery,
            marks: news.marks,
            round_start: self.rounds.starts(packet_number, news.next_number),
            app_limited: progress.app_limited,
        };
        ack.may_have_waited = self.habit.may_have_waited(&ack, self.packet);
        if progress.advanced && progress.newly_sacked == 0 {
            self.in_order_rtt = progress.rtt.or(self.in_order_rtt);
        }
        if self.needs.per_packet {
            self.report_deliveries(news, &ack);
        }
        self.controller.on_ack(&ack);
    }

    /// Reports the packets of an ack one by one. All but the newest have waited for it in the receiver, unless they came out of
    /// order, which the receiver reports at once.
    fn report_deliveries(&mut self, news: &News<'_>, ack: &Ack) {
        let newest = ack.packet_number;
        // Of packets that left within the same microsecond, the receiver echoes the first one's timestamp (RFC 7323 §4.3).
        let echoed = match news.echoed {
            None => Some(newest),
            Some(at) => {
                let left_then = |packet: &&Delivered| packet.flight.sent_at.as_micros() == at.as_micros();
                news.delivered.iter().find(left_then).map(|packet| packet.flight.number)
            }
        };
        for Delivered { flight, rtt, delivered } in news.delivered {
            let is_newest = flight.number == newest;
            self.controller.on_delivered(&event::Delivered {
                now: news.now,
                sent: sent(flight),
                delivered: *delivered,
                rtt: *rtt,
                one_way_delay: ack.one_way_delay.filter(|_| echoed == Some(flight.number)),
                may_have_waited: if is_newest { ack.may_have_waited } else { ack.newly_sacked == 0 },
            });
        }
    }

    /// Reports lost transmissions: begins a recovery if none is on, reports them, and doubts them for as long as the
    /// recovery can be undone. Those that are no signal of congestion (libutp-mod's retransmissions) are not reported.
    ///
    /// A retransmission that was lost is a second signal (RFC 5681 §4.3) within one recovery. That continues with a new account:
    /// in proportion to what is delivered from here on, and with the oldest loss sent again at once (RFC 9937 §6.2).
    pub fn lost<'a>(&mut self, found: &Found, lost: impl Iterator<Item = (&'a Flight, bool)>) {
        let is_first = self.episode.is_none();
        if is_first {
            let prr = found.in_proportion.then(|| Prr::start(found.before.recover_fs));
            self.episode = Some(Episode::after_loss(found.now, found.point, prr));
            self.doubts.get_or_insert_default().begin(found.now);
        }
        let cwnd = self.controller.directive().cwnd;
        let mut is_cut = false;
        for (flight, is_signal) in lost {
            if is_signal {
                self.report_loss(found.now, flight, found.flightsize);
            }
            let Some(doubts) = &mut self.doubts else { continue };
            if !is_cut && self.controller.directive().cwnd < cwnd {
                is_cut = true;
                doubts.cut(found.now);
            }
            doubts.lose(*flight);
        }
        let is_cut = self.controller.directive().cwnd < cwnd;
        if let Some(episode) = self.episode.as_mut().filter(|_| is_cut && !is_first && found.in_proportion) {
            episode.prr = Some(Prr::start(found.before.in_flight));
            episode.began = false;
        }
    }

    /// Reports a transmission that is lost and whose packet has been repaired already: there is nothing to recover.
    pub fn report_loss(&mut self, now: Time, flight: &Flight, flightsize: u64) {
        self.controller.on_loss(&Loss {
            now,
            sent: sent(flight),
            flightsize,
            queuing_delay: self.in_order_rtt.zip(self.rtt.min()).map(|(rtt, min)| rtt - min),
            persistent: false,
        });
    }

    /// Returns the recovery under way.
    pub fn episode(&self) -> Option<&Episode> {
        self.episode.as_ref()
    }

    /// Returns whether there is a recovery that a timeout began.
    pub fn is_after_timeout(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| episode.is_after_timeout)
    }

    /// Returns the recovery under way.
    pub fn episode_mut(&mut self) -> Option<&mut Episode> {
        self.episode.as_mut()
    }

    /// Returns whether a retransmission goes whatever the window is. The first one of a recovery does: RFC 6675 §5, step 4.3, and RFC 9937
    /// §6.2.
    pub fn forces_retransmission(&self) -> bool {
        self.episode.as_ref().is_some_and(|episode| !episode.began)
    }

    /// Takes in that everything below `una` is acknowledged. Returns whether that ends the recovery.
    pub fn advance(&mut self, una: u64) -> bool {
        let ends = self.episode.as_ref().is_some_and(|episode| una >= episode.point);
        if ends {
            self.episode = None;
            self.doubts = self.doubts.take().filter(|doubts| doubts.may_be_justified());
        }
        ends
    }

    /// Accounts for an ack of a recovery (RFC 9937 §6.2): `delivered` and `in_flight` in bytes; `safe`: it advanced and
    /// shows no further loss.
    pub fn reduce(&mut self, delivered: u64, in_flight: u64, safe: bool) {
        let (ssthresh, smss) = (self.directive.cwnd, self.packet());
        if let Some(prr) = self.episode.as_mut().and_then(|episode| episode.prr.as_mut()) {
            prr.on_ack(AckInRecovery { delivered, in_flight, ssthresh, safe, smss });
        }
    }

    /// Reports the expiry of the retransmission timer; everything before `point` was sent before. `first` is the
    /// transmission that is taken for lost, of a transport that [finds out](Congestion::judge_timeout) whether it was.
    pub fn timed_out(&mut self, timeout: &Timeout, point: u64, first: Option<Flight>) {
        self.controller.on_timeout(timeout);
        match first {
            None => self.doubts = None,
            Some(first) if timeout.consecutive == 1 => {
                self.doubts.get_or_insert_default().time_out(timeout.now, first);
            }
            Some(_) => {}
        }
        let since = match &self.episode {
            Some(episode) if timeout.consecutive > 1 => episode.since,
            _ => timeout.now,
        };
        self.episode = Some(Episode::after_timeout(since, point));
        self.departures.restart(timeout.now);
        self.refresh();
    }

    /// Reports the expiry of the handshake's timer, before anything was sent.
    pub fn handshake_timed_out(&mut self, now: Time) {
        self.controller.on_handshake_timeout(now);
    }

    /// Returns when the controller is to be called although nothing happens. It counts in round trips: before one has been
    /// measured they are empty, and it would be called again and again without any time passing.
    #[inline]
    pub fn wake_at(&self) -> Time {
        match self.rtt.smoothed() {
            Some(_) => self.directive.wake_at.unwrap_or(Time::NEVER),
            None => Time::NEVER,
        }
    }

    /// Calls the controller if it is due.
    pub fn wake(&mut self, now: Time) {
        if self.wake_at() <= now {
            self.controller.on_wake(now);
            self.refresh();
            // A time that has passed wakes once: a controller that leaves it there would be called again and again at the same instant.
            self.directive.wake_at = self.directive.wake_at.filter(|at| *at > now);
            self.hasten(now);
        }
    }
}

/// Returns a transmission as the controller sees it.
fn sent(flight: &Flight) -> Sent {
    Sent {
        now: flight.sent_at,
        bytes: flight.bytes,
        packet_number: flight.number,
        sequence: Some(flight.seq),
        in_flight: flight.stamp.in_flight,
        app_limited: flight.app_limited,
        totals: flight.stamp.totals(),
    }
}

mod undoing;

#[cfg(test)]
mod tests;
