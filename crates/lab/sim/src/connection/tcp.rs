//! A TCP connection: a sender, a receiver, and packets between them.

use super::controllers::Controllers;
use super::{Format, Timers};
use crate::calendar::Kind;
use crate::net::{Net, Way};
use crate::packet::{Body, Packet, CWR, NO_SACK, NO_WINDOW};
use crate::tcp::{After, Arrival, Incoming, ReceiveWindow, Receiver, Rule, Sender, Socket, Transmit};
use afteryou_aqm::Ecn;
use afteryou_base::Time;
use afteryou_cc::{Setup, Snapshot};
use afteryou_outside::rule::{group, Id, Reading};
use afteryou_scenario::end_rule::{self, AtReceiver};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::TcpOptions;
use afteryou_sender::expand;
use std::net::IpAddr;

/// The common properties of an application's connections.
pub(super) struct Options {
    pub(super) options: TcpOptions,
    pub(super) controllers: Controllers,
    pub(super) mss: u16,
    /// The rule of its receivers, if they have one.
    pub(super) receiver: Option<AtReceiver>,
}

/// The two ends of a connection.
// In this order: what every segment needs at the receiving end is together.
#[repr(C, align(64))]
pub(super) struct Ends {
    receiver: Receiver,
    /// The segment after the highest one that has arrived, to expand the numbers in packets.
    next_expected: u64,
    /// How much faster the receiver's clock runs, parts in a million.
    skew_ppm: i16,
    /// Which connection of this number it is: packets of earlier ones are nobody's.
    epoch: u16,
    /// The newest clock of the receiver that has reached the sender, which echoes it (TS.Recent). It feeds captures alone.
    ts_recent: u32,
    format: Format,
    /// The window by the receiver's rule, if it has one.
    window: Option<Box<ReceiveWindow>>,
    sender: Sender,
}

impl Ends {
    /// Creates the ends of a new connection; `seed` is its controller's.
    pub(super) fn new(options: &Options, format: Format, epoch: u16, seed: u64) -> Ends {
        let Options { options, controllers, mss, receiver } = options;
        let setup = Setup { mss: u32::from(*mss), seed, paced: options.pacing };
        let controller = controllers.build(setup, format.flow);
        let rule = receiver.as_ref().map(|rule| match rule {
            AtReceiver::Rledbat(settings) => {
                Rule::Rledbat(Box::new(end_rule::rledbat(settings, u32::from(*mss))))
            }
            AtReceiver::Outside(_) => Rule::Outside(Socket::new(group::FIRST_WINDOW as u64, *mss)),
        });
        let window = rule.map(|rule| Box::new(ReceiveWindow::new(rule, *mss, options.rwnd)));
        Ends {
            format,
            skew_ppm: options.skew_ppm,
            window,
            sender: Sender::new(*options, controller, *mss),
            receiver: Receiver::new(options.ack),
            epoch,
            ts_recent: 0,
            next_expected: 0,
        }
    }

    pub(super) fn connect(&mut self, now: Time) {
        self.sender.open(now);
    }

    pub(super) fn give(&mut self, bytes: u64) {
        self.sender.give(bytes);
    }

    pub(super) fn take_back(&mut self) -> u64 {
        self.sender.take_back()
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.sender.is_flushed()
    }

    pub(super) fn on_timer(&mut self, now: Time, kind: Kind) {
        // The pacing timer and the receiver's only let the pump run.
        if kind == Kind::Sender {
            self.sender.on_timer(now);
        }
    }

    /// Returns when a timer comes that has been moved since its entry was made; none if anything may be due now. Most entries
    /// of timers are such: an ack has come, or was sent.
    pub(super) fn postponed(&self, now: Time, kind: Kind) -> Option<Time> {
        let deadline = match kind {
            Kind::Receiver => self.receiver.ack_at(),
            Kind::Sender if !self.sender.is_due(now) => self.sender.deadline(),
            _ => return None,
        };
        (deadline > now).then_some(deadline)
    }

    /// Takes in a packet that reaches the receiver, which answers unless the connection is shut.
    #[inline(never)]
    pub(super) fn receive_data(
        &mut self,
        net: &mut Net,
        now: Time,
        packet: &Packet,
        timers: &mut Timers,
        is_shut: bool,
    ) {
        match packet.body {
            Body::Data { seq, tsval, len, epoch, transmission, tsecr } if epoch == self.epoch => {
                let seq = expand(self.next_expected, seq);
                self.next_expected = self.next_expected.max(seq + 1);
                let marked = packet.ecn == Ecn::Ce;
                let arrival = Arrival { seq, len, tsval, transmission, marked };
                match self.window {
                    None => self.receiver.on_data(now, arrival),
                    Some(_) => self.receive_and_measure(now, arrival, tsecr),
                }
            }
            Body::Syn { tsval, epoch } if epoch == self.epoch && !is_shut => {
                self.receiver.on_syn(tsval);
                let (tsecr, tsval) = (tsval, self.receivers_clock(now));
                let window = self.window.as_mut().map_or(NO_WINDOW, |window| window.announce(tsval));
                let answer = Body::SynAck { tsval, tsecr, window, epoch };
                net.send(now, Way::Reverse, self.format.packet(0, answer));
            }
            _ => net.discard(*packet),
        }
        if !is_shut {
            self.pump_receiver(net, now, timers);
        }
    }

    /// Takes in a segment where the receiver has a rule.
    fn receive_and_measure(&mut self, now: Time, arrival: Arrival, tsecr: u32) {
        let before = self.receiver.received;
        self.receiver.on_data(now, arrival);
        let (clock, is_new) = (self.receivers_clock(now), self.receiver.received > before);
        if let Some(window) = &mut self.window {
            window.on_data(now, &arrival, After { clock, tsecr, is_new, next: self.receiver.next() });
        }
    }

    /// Takes in a packet that reaches the sender, which sends what it may unless the connection is shut. Returns how much of `refill`
    /// it was given, as [`pump`](Self::pump).
    #[inline(never)]
    pub(super) fn receive_ack(
        &mut self,
        net: &mut Net,
        now: Time,
        packet: &Packet,
        timers: &mut Timers,
        (refill, is_shut): (u64, bool),
    ) -> u64 {
        match packet.body {
            Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags } => {
                let sack = (sack != NO_SACK).then(|| net.sacks.remove(sack as usize));
                if epoch == self.epoch && !is_shut {
                    let sack = sack.as_ref();
                    self.note_clock(tsecr.wrapping_add(one_way_delay));
                    let incoming = Incoming { cumulative, tsecr, one_way_delay, sack, flags };
                    self.sender.on_ack(now, &incoming);
                }
            }
            Body::SynAck { tsval, epoch, window, .. } if epoch == self.epoch && !is_shut => {
                self.note_clock(tsval);
                self.sender.on_syn_ack(now, window);
            }
            _ => net.discard(*packet),
        }
        match is_shut {
            true => 0,
            false => self.pump(net, now, timers, refill),
        }
    }

    /// Notes that the sender has got a packet with this clock of the receiver (RFC 7323 §4.3: every ack is in order).
    fn note_clock(&mut self, tsval: u32) {
        let is_newer = tsval.wrapping_sub(self.ts_recent) as i32 >= 0;
        if is_newer || self.ts_recent == 0 {
            self.ts_recent = tsval;
        }
    }

    fn receivers_clock(&self, now: Time) -> u32 {
        now.as_micros_on_clock(self.skew_ppm.into()) as u32
    }

    /// Lets the sender send what it may, after it was given `refill` bytes if everything before is acknowledged. Returns how many it
    /// was given.
    pub(super) fn pump(&mut self, net: &mut Net, now: Time, timers: &mut Timers, refill: u64) -> u64 {
        let given = if self.sender.is_flushed() { refill } else { 0 };
        if given != 0 {
            self.sender.give(given);
        }
        while let Some(transmit) = self.sender.poll(now) {
            self.transmit(net, now, transmit);
        }
        timers.arm(net, Kind::Sender, self.sender.deadline());
        timers.arm(net, Kind::Pacing, self.sender.pacing_deadline());
        given
    }

    fn transmit(&mut self, net: &mut Net, now: Time, transmit: Transmit) {
        let Transmit::Data(outgoing, cwr) = transmit else {
            let body = Body::Syn { tsval: now.as_micros() as u32, epoch: self.epoch };
            let syn = self.format.packet(0, body);
            return net.send(now, Way::Forward, syn);
        };
        let body = Body::Data {
            seq: outgoing.seq as u32,
            tsval: now.as_micros() as u32,
            tsecr: self.ts_recent,
            len: outgoing.len,
            epoch: self.epoch,
            transmission: outgoing.transmission | if cwr { CWR } else { 0 },
        };
        // RFC 3168 §6.1.5: retransmissions are not ECN-capable.
        let packet = match outgoing.transmission {
            1 => self.format.capable(u32::from(outgoing.len), body),
            _ => self.format.packet(u32::from(outgoing.len), body),
        };
        net.send_data(now, packet, outgoing.seq + 1);
    }

    /// Lets the receiver acknowledge what is due.
    #[inline]
    pub(super) fn pump_receiver(&mut self, net: &mut Net, now: Time, timers: &mut Timers) {
        if self.receiver.ack_at() > now {
            timers.arm(net, Kind::Receiver, self.receiver.ack_at());
            return;
        }
        let mut acknowledgement = self.receiver.acknowledge();
        if let Some(window) = &mut self.window {
            let clock = now.as_micros_on_clock(self.skew_ppm.into()) as u32;
            acknowledgement.sack.get_or_insert_default().window = window.announce(clock);
        }
        let sack = match acknowledgement.sack {
            None => NO_SACK,
            Some(sack) => net.sacks.insert(sack) as u32,
        };
        let body = Body::Ack {
            cumulative: acknowledgement.cumulative as u32,
            tsecr: acknowledgement.tsecr,
            one_way_delay: self.receivers_clock(now).wrapping_sub(acknowledgement.tsecr),
            sack,
            epoch: self.epoch,
            flags: acknowledgement.flags,
        };
        net.send(now, Way::Reverse, self.format.packet(0, body));
    }

    /// Returns what TCP_INFO of the receiver's socket reports, if its window is set from outside.
    pub(super) fn download(&mut self, id: Id, peer: IpAddr) -> Option<Reading> {
        let window = self.window.as_mut()?;
        let bytes = window.in_order();
        let socket = window.socket()?;
        let (rtt, least_rtt) = socket.round_trips();
        let (lost, mss) = (socket.out_of_order, self.sender.mss().into());
        Some(Reading { id, peer, least_rtt, rtt, bytes, lost, mss, in_flight: 0 })
    }

    /// Returns what TCP_INFO of the sender's socket reports.
    pub(super) fn upload(&self, id: Id, peer: IpAddr) -> Reading {
        self.sender.reading(id, peer)
    }

    /// Bounds the window that the receiver announces, bytes.
    pub(super) fn set_window(&mut self, bytes: u64) {
        let Some(window) = self.window.as_mut() else { return };
        let in_order = window.in_order();
        if let Some(socket) = window.socket() {
            socket.set_limit(bytes, in_order);
        }
    }

    /// Bounds the sender's rate, bytes per second.
    pub(super) fn set_max_rate(&mut self, bytes_per_second: u64) {
        self.sender.set_max_rate(bytes_per_second);
    }

    pub(super) fn received(&self) -> u64 {
        self.receiver.received
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.sender.controller().snapshot()
    }

    pub(super) fn totals(&self) -> Totals {
        let now = self.sender.counters();
        Totals {
            packets: now.packets,
            retransmissions: now.retransmissions,
            losses: now.losses,
            spurious: now.spurious,
            timeouts: now.timeouts,
            handshake_timeouts: now.handshake_timeouts,
            ..Totals::default()
        }
    }
}
