//! The sending end: handshake, receive window, and the next segment to send.
//!
//! # States
//! ```text
//!   closed ──open──▶ SYN sent ──SYN-ACK──▶ established:  open ──loss──▶ recovery ──all of it acked──▶ open
//!                                                          ▲             │ timeout
//!                                                          └──all acked── loss ◀──timeout── open
//! ```
//! In recovery PRR (RFC 9937) decides how much may be sent; with `recovery = "sack"` the pipe does (RFC 6675), and in `loss`
//! the controller's window, which has collapsed. A timeout that was needless is undone (RFC 3522, RFC 4015). With
//! `recovery = "sack"` it stays answered, and everything outstanding is sent again (RFC 5681): the TCP of ns-2 does that,
//! and the papers were made with it. Undo would move their figures: over Kuhn's satellite CUBIC resends 14 416 packets, with undo 8651.
//!
//! # Not implemented
//! Closing (a flow just ends), a receiver that reads slowly, AccECN, path-MTU search.

mod timers;

use afteryou_cc::{Controller, Time};
use afteryou_outside::rule::{Id, Reading};
use afteryou_scenario::transport::{Recovery, TcpOptions};
use afteryou_sender::board::Outgoing;
use afteryou_sender::ecn::EchoAnswer;
use afteryou_sender::reordering::Reordering;
use afteryou_sender::tail::Tail;
use afteryou_sender::{Board, Congestion, Flight};
use std::net::IpAddr;
use timers::Timers;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
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
    /// Timeouts of the handshake: SYNs sent again.
    pub handshake_timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
}

/// The segments to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// A SYN.
    Syn,
    /// Data; with CWR if the flag is set.
    Data(Outgoing, bool),
}

/// The sending end.
#[derive(Debug)]
pub struct Sender {
    pub(super) options: TcpOptions,
    pub(super) congestion: Congestion,
    pub(super) mss: u16,
    pub(super) board: Board,
    pub(super) timers: Timers,
    pub(super) state: State,
    pub(super) counters: Counters,
    /// Bytes that the application has given and that were not sent yet; `u64::MAX`: no end.
    available: u64,
    /// Receive window, bytes.
    pub(super) rwnd: u64,
    pub(super) syn_at: Time,
    pub(super) syns: u32,
    pub(super) lost_now: Vec<Flight>,
    pub(super) reordering: Reordering,
    pub(super) tail: Tail,
    pub(super) echo: EchoAnswer,
}

impl Sender {
    /// Creates a closed sender of segments of `mss` bytes.
    pub fn new(options: TcpOptions, controller: Box<dyn Controller>, mss: u16) -> Sender {
        let congestion = Congestion::new(controller, mss.into()).with_timer_slack(options.timer_slack);
        Sender {
            board: Board::new(congestion.needs()),
            congestion: match options.pacing {
                true => congestion,
                false => congestion.pacing_small_windows_only(),
            },
            rwnd: options.rwnd,
            options,
            mss,
            timers: Timers::default(),
            state: State::Closed,
            counters: Counters::default(),
            available: 0,
            syn_at: Time::ZERO,
            syns: 0,
            lost_now: Vec::new(),
            reordering: Reordering::default(),
            tail: Tail::default(),
            echo: EchoAnswer::default(),
        }
    }

    /// Begins the handshake.
    pub fn open(&mut self, now: Time) {
        self.state = State::SynSent;
        self.timers.syn_due = true;
        self.syn_at = now;
    }

    /// Gives `bytes` of the application to send; `u64::MAX` for as much as can be sent.
    pub fn give(&mut self, bytes: u64) {
        self.available = self.available.saturating_add(bytes);
    }

    /// Takes back what the application gave and was not sent yet. Returns how much that is.
    pub fn take_back(&mut self) -> u64 {
        std::mem::take(&mut self.available)
    }

    /// Returns whether everything given has been sent and acknowledged.
    pub fn is_flushed(&self) -> bool {
        self.available == 0 && self.board.is_empty()
    }

    /// Returns the counters.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the payload of a full segment, bytes.
    pub fn mss(&self) -> u16 {
        self.mss
    }

    /// Bounds the rate, bytes per second.
    pub fn set_max_rate(&mut self, bytes_per_second: u64) {
        self.congestion.set_max_rate(bytes_per_second);
    }

    /// Returns what the kernel reports of such a sender (TCP_INFO).
    pub fn reading(&self, id: Id, peer: IpAddr) -> Reading {
        let rtt = self.congestion.rtt();
        Reading {
            id,
            peer,
            least_rtt: rtt.min(),
            rtt: rtt.smoothed().map(|_| rtt.latest()),
            bytes: self.board.delivered(),
            lost: self.counters.retransmissions,
            mss: self.mss.into(),
            in_flight: self.board.in_flight() + self.board.sacked_bytes(),
        }
    }

    /// Returns the controller.
    pub fn controller(&self) -> &dyn Controller {
        self.congestion.controller()
    }

    /// Returns the next packet to send now, if any. To be called until it returns none.
    pub fn poll(&mut self, now: Time) -> Option<Transmit> {
        let transmit = match self.state {
            State::Closed => None,
            State::SynSent => self.poll_syn(now),
            State::Established => self.poll_data(now),
        };
        if transmit.is_none() && std::mem::take(&mut self.timers.has_news) {
            self.arm_probe(now);
        }
        transmit
    }

    fn poll_syn(&mut self, now: Time) -> Option<Transmit> {
        if !std::mem::take(&mut self.timers.syn_due) {
            return None;
        }
        self.syns += 1;
        self.timers.loss.retransmit = now + self.rto();
        Some(Transmit::Syn)
    }

    fn poll_data(&mut self, now: Time) -> Option<Transmit> {
        self.congestion.clear_pacing_deadline(now);
        if std::mem::take(&mut self.timers.loss.probe_due) {
            return self.send_probe(now);
        }
        if self.board.has_lost() {
            let (seq, len) = self.board.next_lost()?;
            // RFC 6675 §5, step 4.3, and RFC 9937 §6.2: the first retransmission goes whatever the window is.
            let forced = self.congestion.forces_retransmission();
            if !(forced || self.window_has_room(len)) || !self.congestion.pacing_allows(now) {
                return None;
            }
            return Some(self.send_again(now, seq));
        }
        let len = self.available.min(u64::from(self.mss)) as u16;
        if len == 0 {
            self.note_unused_window();
            return self.send_unjudged(now);
        }
        if self.board.outstanding() + u64::from(len) > self.rwnd {
            self.note_unused_window();
            return self.send_into_small_window(now, len);
        }
        self.timers.persist = Time::NEVER;
        if !self.window_has_room(len) {
            return None;
        }
        if !self.congestion.pacing_allows(now) {
            if self.congestion.is_held_by_max_rate() {
                self.note_unused_window();
            }
            return None;
        }
        Some(self.send_new(now, len))
    }

    fn window_has_room(&self, len: u16) -> bool {
        let in_flight = self.board.in_flight();
        self.congestion.has_room(u64::from(len), in_flight, in_flight > 0)
    }

    fn note_unused_window(&mut self) {
        self.congestion.note_unused_window(&mut self.board);
    }

    /// Sends what a receive window below one packet takes, each time that a timeout has passed (RFC 9293 §3.8.6.2.1 leaves its length open; as in
    /// Linux). Into a window of nothing it sends a packet, since nothing else would ask for a new window.
    fn send_into_small_window(&mut self, now: Time, len: u16) -> Option<Transmit> {
        if !self.board.is_empty() {
            return None;
        }
        if self.timers.persist == Time::NEVER {
            self.timers.persist = now + self.rto();
        }
        if now < self.timers.persist {
            return None;
        }
        self.timers.persist = Time::NEVER;
        Some(self.send_next(now, if self.rwnd > 0 { len.min(self.rwnd as u16) } else { len }))
    }

    fn send_new(&mut self, now: Time, len: u16) -> Transmit {
        if self.board.is_empty() {
            self.congestion.resume(now, self.board.delivered_at(), self.rto());
        }
        self.send_next(now, len)
    }

    fn send_next(&mut self, now: Time, len: u16) -> Transmit {
        if self.available != u64::MAX {
            self.available -= u64::from(len);
        }
        let outgoing = self.board.send_new(now, len);
        self.after_sending(now, len);
        Transmit::Data(outgoing, self.echo.take_cwr())
    }

    fn send_again(&mut self, now: Time, seq: u64) -> Transmit {
        let outgoing = self.board.send_again(now, seq);
        self.counters.retransmissions += 1;
        if let Some(episode) = self.congestion.episode_mut() {
            episode.resend();
        }
        if seq == self.board.una() {
            // What everything waits for gets the whole timeout (as Linux does; RFC 6298 leaves it open).
            self.timers.loss.retransmit = Time::NEVER;
        }
        self.after_sending(now, outgoing.len);
        Transmit::Data(outgoing, false)
    }

    /// Returns a segment that is not known to be lost, or one rescue retransmission in each recovery.
    ///
    /// These are rules 3 and 4 of NextSeg (RFC 6675 §4), for a sender that has nothing new to send.
    fn send_unjudged(&mut self, now: Time) -> Option<Transmit> {
        let by_pipe = self.options.recovery == Recovery::Sack;
        let rescued = self.congestion.episode().filter(|_| by_pipe)?.rescued;
        let seq = match self.board.next_unjudged() {
            Some(seq) => seq,
            None if rescued => return None,
            None => self.board.newest_missing()?,
        };
        if !self.window_has_room(self.mss) || !self.congestion.pacing_allows(now) {
            return None;
        }
        if let Some(episode) = self.congestion.episode_mut() {
            episode.rescued = true;
        }
        Some(self.send_again(now, seq))
    }

    /// Sends a probe (RFC 8985 §7.3): new data if there is some, else the newest segment again.
    fn send_probe(&mut self, now: Time) -> Option<Transmit> {
        let len = self.available.min(u64::from(self.mss)) as u16;
        let fits = self.board.outstanding() + u64::from(len) <= self.rwnd;
        self.counters.probes += 1;
        let transmit = if len > 0 && fits {
            self.tail.sent(self.board.next_seq() + 1, None);
            self.send_new(now, len)
        } else {
            let seq = self.board.newest_missing()?;
            self.tail.sent(self.board.next_seq(), self.board.flight(seq));
            self.send_again(now, seq)
        };
        // RFC 8985 §7.3: the answer to the probe is waited for before a timeout.
        self.timers.loss.retransmit = now + self.rto();
        Some(transmit)
    }

    fn after_sending(&mut self, now: Time, len: u16) {
        self.counters.packets += 1;
        self.congestion.sent(&self.board, now, u64::from(len));
        if self.timers.loss.retransmit == Time::NEVER {
            self.timers.loss.retransmit = now + self.rto();
        }
        self.timers.has_news = true;
    }
}
