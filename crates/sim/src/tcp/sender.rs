//! The sending end: handshake, window, pacing, what is sent next.
//!
//! # States
//! ```text
//!   closed ──open──▶ SYN sent ──SYN-ACK──▶ established:  open ──loss──▶ recovery ──all of it acked──▶ open
//!                                                          ▲             │ timeout
//!                                                          └──all acked── loss ◀──timeout── open
//! ```
//! In recovery PRR (RFC 9937) says what may be sent; with `recovery = "sack"` the pipe does (RFC 6675), and in `loss` the
//! controller's window, which has collapsed.
//!
//! # Not implemented
//! Closing (a flow just ends), a receiver that reads slowly, F-RTO, AccECN, path-MTU search.

use super::board::{Board, LostSegment, Outgoing};
use super::prr::Prr;
use super::timers::Timers;
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{Controller, Idle, Sent, Span, Time};
use afteryou_scenario::transport::{Recovery, TcpOptions};
use afteryou_utp::connection::pacer::{Pacer, SLOW_START_GAIN, STEADY_GAIN};

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
}

/// A recovery: until everything up to `point` has been acknowledged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub(super) point: u64,
    /// After a timeout there is none.
    pub(super) prr: Option<Prr>,
    /// Packets taken for lost in this recovery, while it can be undone. A timeout is not undone.
    pub(super) doubts: Option<Doubts>,
    /// RFC 6675's rescue retransmission was sent.
    rescued: bool,
    /// The first retransmission was sent, whatever the window said.
    began: bool,
}

/// Packets that a recovery has taken for lost, and those that have arrived. It is undone once **every** loss was none: real
/// congestion behind one of them was congestion (RFC 3522 and RFC 3708 for one loss; Linux' `undo_retrans` for several).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubts {
    /// Transmissions taken for lost.
    lost: u64,
    /// Of these, so many have arrived.
    arrived: u64,
    /// Retransmissions.
    resent: u64,
    /// Retransmissions that the receiver had no need of (D-SACK).
    needless: u64,
}

impl Doubts {
    /// Was there no loss at all? `waiting`: something is lost and not sent again.
    fn are_justified(&self, waiting: bool) -> bool {
        let all_came_late = self.arrived >= self.lost;
        let all_came_twice = !waiting && self.resent > 0 && self.needless >= self.resent;
        self.lost > 0 && (all_came_late || all_came_twice)
    }
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data packets sent.
    pub packets: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Segments taken for lost.
    pub losses: u64,
    /// Segments taken for lost that had arrived.
    pub spurious: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
}

/// What to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// A SYN.
    Syn,
    /// Data; with CWR if the flag is set.
    Data(Outgoing, bool),
}

/// What the controller says; asked once after it was told something, since it is asked for more often than told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    pub(super) cwnd: u64,
    rate: Option<u64>,
    slow_start: bool,
    wake: Time,
}

impl Says {
    fn of(controller: &dyn Controller) -> Says {
        Says {
            cwnd: controller.cwnd(),
            rate: controller.pacing_rate(),
            slow_start: controller.in_slow_start(),
            wake: controller.wake_at().unwrap_or(Time::NEVER),
        }
    }
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    pub(super) options: TcpOptions,
    pub(super) controller: Box<dyn Controller>,
    pub(super) says: Says,
    pub(super) mss: u16,
    pub(super) board: Board,
    pub(super) rtt: RttEstimator,
    pub(super) timers: Timers,
    pub(super) state: State,
    pub(super) episode: Option<Episode>,
    pub(super) counters: Counters,
    /// Bytes that the application has given and that were not sent yet; `u64::MAX`: no end.
    available: u64,
    pacer: Pacer,
    pub(super) syn_at: Time,
    pub(super) syns: u32,
    pub(super) round_end: u64,
    pub(super) app_limited_until: u64,
    pub(super) lost_now: Vec<LostSegment>,
    pub(super) reordering: super::rack::Reordering,
    pub(super) tail: super::rack::Tail,
    /// ECN: data beyond this starts a new answer to marks; CWR goes with the next new segment.
    pub(super) cwr_point: u64,
    pub(super) cwr_due: bool,
    last_sent: Time,
}

impl Sender {
    /// A closed sender of segments of `mss` bytes.
    pub fn new(options: TcpOptions, controller: Box<dyn Controller>, mss: u16) -> Sender {
        Sender {
            options,
            says: Says::of(&*controller),
            board: Board::new(controller.pacing_rate().is_some()),
            controller,
            mss,
            rtt: RttEstimator::default(),
            timers: Timers::default(),
            state: State::Closed,
            episode: None,
            counters: Counters::default(),
            available: 0,
            pacer: Pacer::default(),
            syn_at: Time::ZERO,
            syns: 0,
            round_end: 0,
            app_limited_until: 0,
            lost_now: Vec::new(),
            reordering: super::rack::Reordering::default(),
            tail: super::rack::Tail::default(),
            cwr_point: 0,
            cwr_due: false,
            last_sent: Time::ZERO,
        }
    }

    /// Begins the handshake.
    pub fn open(&mut self, now: Time) {
        self.state = State::SynSent;
        self.timers.syn_due = true;
        self.syn_at = now;
    }

    /// The application gives `bytes` to send; `u64::MAX` for as much as can be sent.
    pub fn give(&mut self, bytes: u64) {
        self.available = self.available.saturating_add(bytes);
    }

    /// The application takes back what was not sent yet, and hears how much that is.
    pub fn take_back(&mut self) -> u64 {
        std::mem::take(&mut self.available)
    }

    /// Everything given has been sent and acknowledged.
    pub fn is_flushed(&self) -> bool {
        self.available == 0 && self.board.is_empty()
    }

    /// Counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The controller.
    pub fn controller(&self) -> &dyn Controller {
        &*self.controller
    }

    /// The next packet to send now, if any. To be called until it returns none.
    pub fn poll(&mut self, now: Time) -> Option<Transmit> {
        match self.state {
            State::Closed => None,
            State::SynSent => self.poll_syn(now),
            State::Established => self.poll_data(now),
        }
    }

    fn poll_syn(&mut self, now: Time) -> Option<Transmit> {
        if !std::mem::take(&mut self.timers.syn_due) {
            return None;
        }
        self.syns += 1;
        let rto = self.timers.rto(&self.rtt, &self.options);
        self.timers.retransmit = now + rto;
        Some(Transmit::Syn)
    }

    fn poll_data(&mut self, now: Time) -> Option<Transmit> {
        self.timers.pacing = Time::NEVER;
        if std::mem::take(&mut self.timers.probe_due) {
            return self.send_probe(now);
        }
        if self.board.has_lost() {
            let (seq, len) = self.board.next_lost()?;
            // RFC 6675 §5, step 4.3, and RFC 9937 §6.2: the first retransmission goes whatever the window says.
            let forced = self.episode.is_some_and(|episode| !episode.began);
            if !(forced || self.window_has_room(len)) || !self.pacing_allows(now) {
                return None;
            }
            return Some(self.send_again(now, seq));
        }
        let len = self.available.min(u64::from(self.mss)) as u16;
        if len == 0 {
            self.note_unused_window();
            return self.send_unjudged(now);
        }
        // A receive window below one packet still takes one at a time.
        let fits = self.board.outstanding() + u64::from(len) <= self.options.rwnd || self.board.is_empty();
        if !fits {
            self.note_unused_window();
            return None;
        }
        if !self.window_has_room(len) || !self.pacing_allows(now) {
            return None;
        }
        Some(self.send_new(now, len))
    }

    fn send_new(&mut self, now: Time, len: u16) -> Transmit {
        self.note_idle(now);
        if self.available != u64::MAX {
            self.available -= u64::from(len);
        }
        let app_limited = self.app_limited_until > self.board.delivered();
        let outgoing = self.board.send_new(now, len, app_limited);
        self.after_sending(now, len);
        Transmit::Data(outgoing, std::mem::take(&mut self.cwr_due))
    }

    fn send_again(&mut self, now: Time, seq: u64) -> Transmit {
        let outgoing = self.board.send_again(now, seq);
        self.counters.retransmissions += 1;
        if let Some(episode) = &mut self.episode {
            episode.began = true;
            if let Some(doubts) = &mut episode.doubts {
                doubts.resent += 1;
            }
        }
        if seq == self.board.una() {
            // What everything waits for gets the whole timeout (as Linux does; RFC 6298 leaves it open).
            self.timers.retransmit = Time::NEVER;
        }
        self.after_sending(now, outgoing.len);
        Transmit::Data(outgoing, false)
    }

    /// RFC 6675 §4, NextSeg rules 3 and 4: with nothing new to send, segments that are not known to be lost, then one
    /// rescue retransmission in each recovery.
    fn send_unjudged(&mut self, now: Time) -> Option<Transmit> {
        let episode = self.episode.filter(|_| self.options.recovery == Recovery::Sack)?;
        let seq = match self.board.next_unjudged() {
            Some(seq) => seq,
            None if episode.rescued => return None,
            None => self.board.newest_missing()?,
        };
        if !self.window_has_room(self.mss) || !self.pacing_allows(now) {
            return None;
        }
        if let Some(episode) = &mut self.episode {
            episode.rescued = true;
        }
        Some(self.send_again(now, seq))
    }

    /// RFC 8985 §7.3: new data if there is some, else the newest segment again.
    fn send_probe(&mut self, now: Time) -> Option<Transmit> {
        let len = self.available.min(u64::from(self.mss)) as u16;
        let fits = self.board.outstanding() + u64::from(len) <= self.options.rwnd;
        self.counters.probes += 1;
        let transmit = if len > 0 && fits {
            self.tail.sent(self.board.next_seq() + 1, false);
            self.send_new(now, len)
        } else {
            let seq = self.board.newest_missing()?;
            self.tail.sent(self.board.next_seq(), true);
            self.send_again(now, seq)
        };
        // RFC 8985 §7.3: the answer to the probe is waited for before a timeout.
        self.timers.retransmit = now + self.timers.rto(&self.rtt, &self.options);
        Some(transmit)
    }

    /// The window in force, bytes.
    pub(super) fn window(&self) -> u64 {
        match self.episode.and_then(|episode| episode.prr) {
            Some(prr) => prr.window(),
            None => self.says.cwnd,
        }
    }

    fn window_has_room(&self, len: u16) -> bool {
        let in_flight = self.board.in_flight();
        // A window below one packet: one at a time, and the pacer spaces them.
        in_flight + u64::from(len) <= self.window() || in_flight == 0
    }

    fn pacing_allows(&mut self, now: Time) -> bool {
        if !self.is_paced() || self.pacer.next() <= now {
            return true;
        }
        self.timers.pacing = self.pacer.next();
        false
    }

    /// Without pacing, only windows below one packet are spaced.
    fn is_paced(&self) -> bool {
        let paced = self.options.pacing || self.says.rate.is_some() || self.says.cwnd < u64::from(self.mss);
        paced && self.rtt.smoothed().is_some()
    }

    fn after_sending(&mut self, now: Time, len: u16) {
        let bytes = u64::from(len);
        self.counters.packets += 1;
        self.last_sent = now;
        if let Some(prr) = self.episode.as_mut().and_then(|episode| episode.prr.as_mut()) {
            prr.sent(bytes);
        }
        self.controller.on_sent(&Sent {
            now,
            bytes,
            packet_number: self.board.next_number() - 1,
            in_flight: self.board.in_flight(),
            app_limited: self.app_limited_until > self.board.delivered(),
        });
        if self.says.rate.is_some() {
            self.hear();
        }
        if self.is_paced() {
            self.pace(now, bytes);
        }
        if self.timers.retransmit == Time::NEVER {
            self.timers.retransmit = now + self.timers.rto(&self.rtt, &self.options);
        }
        self.arm_probe(now);
    }

    fn pace(&mut self, now: Time, bytes: u64) {
        let Some(rate) = self.pacing_rate() else { return };
        let burst_packet = if self.says.cwnd < u64::from(self.mss) { 0 } else { u64::from(self.mss) };
        self.pacer.sent(now, bytes, rate, burst_packet);
    }

    /// Bytes per second, once there is a round-trip time.
    fn pacing_rate(&self) -> Option<u64> {
        // The latest sample counts if it is the smaller: when a long queue has just gone, the smoothed one would hold the
        // rate down for many round trips, and the window is there to stop what is too fast.
        let rtt = self.rtt.smoothed()?.min(self.rtt.latest());
        let cwnd = self.says.cwnd;
        let gain = match self.says.slow_start {
            _ if cwnd < u64::from(self.mss) => 1.0,
            true => SLOW_START_GAIN,
            false => STEADY_GAIN,
        };
        let rate = match self.says.rate {
            Some(rate) => rate,
            None => (gain * cwnd as f64 / rtt.as_secs_f64().max(1e-6)) as u64,
        };
        Some(rate.max(1))
    }

    /// A packet that waits for more than a round trip was spaced by a window below one packet. The window may have grown
    /// since: it waits by what the window is now.
    pub(super) fn hasten(&mut self, now: Time) {
        if self.rtt.smoothed().is_none_or(|rtt| self.pacer.next() <= now + rtt) {
            return;
        }
        let rate = self.pacing_rate().unwrap_or(1);
        self.pacer.no_later_than(now + Span::of_bytes(u64::from(self.mss), rate));
    }

    /// The window has room that is not used: acks of what is in flight now must not widen it.
    fn note_unused_window(&mut self) {
        let in_flight = self.board.in_flight();
        if in_flight + u64::from(self.mss) <= self.window() {
            self.app_limited_until = (self.board.delivered() + in_flight).max(1);
        }
    }

    /// Sending starts again after silence: RFC 5681 §4.1.
    fn note_idle(&mut self, now: Time) {
        if !self.board.is_empty() || self.board.next_number() == 0 {
            return;
        }
        // What the pacer held back was not idle.
        let quiet_since = self.last_sent.max(self.pacer.next());
        let (idle_for, rto) = (now.since(quiet_since), self.timers.rto(&self.rtt, &self.options));
        if idle_for > rto {
            self.controller.on_idle(&Idle { now, idle_for, rto });
            self.hear();
            self.pacer.reset(now);
        }
    }

    /// When [`on_timer`](super::Sender::on_timer) is to be called at the latest.
    pub fn deadline(&self) -> Time {
        let wants_to_send = !self.board.is_empty() || self.timers.pacing != Time::NEVER;
        let counts = self.rtt.smoothed().is_some() && wants_to_send;
        self.timers.next().min(if counts { self.says.wake } else { Time::NEVER })
    }

    /// When the pacer lets the next packet go, if one waits for it.
    pub fn pacing_deadline(&self) -> Time {
        self.timers.pacing
    }

    /// Asks the controller what it says now.
    pub(super) fn hear(&mut self) {
        self.says = Says::of(&*self.controller);
    }

    pub(super) fn reset_pacer(&mut self, now: Time) {
        self.pacer.reset(now);
    }

    pub(super) fn begin_episode(&mut self, prr: Option<Prr>, doubts: Option<Doubts>) {
        self.tail.cancel(); // one answer to what the probe repairs and what it shows (as in Linux)
        let point = self.board.next_seq();
        self.episode = Some(Episode { point, prr, doubts, rescued: false, began: false });
    }

    /// Transmissions were taken for lost.
    pub(super) fn note_lost(&mut self, lost: u64) {
        if let Some(doubts) = self.episode.as_mut().and_then(|episode| episode.doubts.as_mut()) {
            doubts.lost += lost;
        }
    }

    /// Transmissions taken for lost have arrived, or a retransmission came twice. Undoes the recovery if that was the last
    /// doubt.
    pub(super) fn note_spurious(&mut self, now: Time, arrived: u64, needless: u64) {
        self.counters.spurious += arrived;
        let waiting = self.board.has_lost();
        let Some(doubts) = self.episode.as_mut().and_then(|episode| episode.doubts.as_mut()) else { return };
        doubts.arrived += arrived;
        doubts.needless += needless;
        if doubts.are_justified(waiting) {
            self.counters.spurious += doubts.lost.saturating_sub(doubts.arrived);
            self.episode = None;
            self.controller.on_spurious_loss(now);
            self.hear();
        }
    }

    /// Round-trip time that timers may count with before there is a sample.
    pub(super) fn smoothed(&self) -> Option<Span> {
        self.rtt.smoothed()
    }
}
