//! Senders that share a link: a DropTail buffer, random losses, jitter, a base delay that may change, and acks that come in batches.

use crate::receiver::{Passage, Receiver};
use afteryou_base::{Span, Time};
use afteryou_cc::event::Marks;
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{Ack, Controller, DeliveryRate, Loss, Pacing, Sent, Timeout, Totals};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Payload of a packet, bytes.
pub const MSS: u64 = 1448;
/// Acks of later packets that show a loss (RFC 5681 §3.2).
const DUP_THRESH: u64 = 3;

/// The link and the path around it.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub packets_per_second: u64,
    pub base: Span,
    /// Time that a full buffer takes.
    pub buffer: Span,
    /// Packets in a thousand that are lost at random.
    pub lost_permille: u64,
    /// Up to that much is added to a delay; packets keep their order.
    pub jitter: Span,
    /// Packets of the full link whose acks arrive at once.
    pub batch: u64,
    /// Longer queues mark packets instead of letting them pass as they are.
    pub marks_above: Option<Span>,
}

impl Line {
    /// Returns a link without losses and jitter whose buffer holds twice the base round-trip time, and twenty packets.
    pub fn plain(packets_per_second: u64, base_ms: u64) -> Line {
        let base = Span::from_millis(base_ms);
        let buffer = (base * 2).max(Span::from_millis(20_000 / packets_per_second));
        Line {
            packets_per_second,
            base,
            buffer,
            lost_permille: 0,
            jitter: Span::ZERO,
            batch: 1,
            marks_above: None,
        }
    }

    /// Returns the time of a packet.
    pub fn packet(&self) -> Span {
        Span::from_micros(1_000_000 / self.packets_per_second)
    }

    /// Returns the packets that fill the path and its buffer.
    pub fn holds(&self) -> u64 {
        ((self.base + self.buffer).as_secs_f64() * self.packets_per_second as f64) as u64
    }
}

#[derive(Clone, Copy, Debug)]
struct Packet {
    sent: Sent,
    /// Its forward delay; that of the queue in front of it if it was dropped.
    forward: Span,
    passage: Passage,
}

/// A greedy sender.
pub struct Sender {
    pub controller: Box<dyn Controller>,
    /// When it sends.
    pub from: Time,
    pub until: Time,
    /// Packets delivered, and when each was.
    pub delivered: Vec<Time>,
    /// The largest window so far, bytes.
    pub most: u64,
    pub receiver: Receiver,
    /// Packets that the link has dropped.
    pub dropped: u64,
    flight: VecDeque<Packet>,
    number: u64,
    round_end: u64,
    next_at: Time,
    woken_at: Time,
    in_group: u32,
    rtt: RttEstimator,
    totals: Totals,
    newest_ack: Time,
    last_arrival: Time,
}

impl Sender {
    /// Returns a sender between these seconds.
    pub fn new(controller: Box<dyn Controller>, from_s: u64, until_s: u64) -> Sender {
        Sender {
            controller,
            from: Time::from_millis(1000 + 1000 * from_s),
            until: Time::from_millis(1000 + 1000 * until_s),
            delivered: Vec::new(),
            most: 0,
            receiver: Receiver::default(),
            dropped: 0,
            flight: VecDeque::new(),
            number: 0,
            round_end: 0,
            next_at: Time::ZERO,
            woken_at: Time::ZERO,
            in_group: 0,
            rtt: RttEstimator::default(),
            totals: Totals::default(),
            newest_ack: Time::ZERO,
            last_arrival: Time::ZERO,
        }
    }

    /// Returns the packets that have left.
    pub fn sent(&self) -> u64 {
        self.number
    }

    /// Returns the smoothed round-trip time.
    pub fn round_trip(&self) -> Span {
        self.rtt.smoothed().unwrap_or_default()
    }

    fn in_flight(&self) -> u64 {
        self.flight.len() as u64 * MSS
    }

    fn may_send(&self, now: Time) -> bool {
        let has_room = self.in_flight() + MSS <= self.controller.directive().cwnd || self.flight.is_empty();
        (self.from..self.until).contains(&now) && has_room
    }

    /// Notes a packet that leaves now. The next one follows by the directive.
    fn leaves(&mut self, now: Time) -> Sent {
        if self.flight.is_empty() {
            (self.totals.delivered_at, self.totals.first_sent_at) = (now, now);
        }
        let in_flight = self.in_flight() + MSS;
        let sent = Sent {
            now,
            bytes: MSS,
            packet_number: self.number,
            in_flight,
            totals: self.totals,
            ..Sent::default()
        };
        self.number += 1;
        self.controller.on_sent(&sent);
        self.pace(now);
        sent
    }

    fn pace(&mut self, now: Time) {
        let (directive, rtt) = (self.controller.directive(), self.rtt.smoothed().unwrap_or(Span::ZERO));
        let by_window = |percent: u64| rtt * MSS * 100 / (percent * directive.cwnd.max(1));
        let spacing = match directive.pacing {
            _ if directive.cwnd < MSS => by_window(100),
            Pacing::Window => by_window(125),
            Pacing::GrowingWindow => by_window(200),
            Pacing::Rate(rate) => Span::of_bytes(MSS, rate),
            Pacing::Together { packets, apart_us, every } => {
                self.in_group += 1;
                if self.in_group < packets {
                    Span::from_micros(apart_us.into())
                } else {
                    self.in_group = 0;
                    every
                }
            }
        };
        self.next_at = now + spacing;
    }

    /// Takes the ack of a packet, or a piece of it: `to_come` others follow.
    fn take_ack(&mut self, now: Time, number: u64, to_come: u64) {
        let Some(index) = self.flight.iter().position(|packet| packet.sent.packet_number == number) else {
            return;
        };
        let (in_flight, packet) = (self.in_flight(), self.flight[index]);
        let bytes = self.receiver.pieces.bytes(MSS);
        if to_come > 0 {
            return self.on_ack(now, bytes, in_flight, &packet, None);
        }
        self.flight.remove(index);
        self.newest_ack = now;
        self.delivered.push(now);
        self.rtt.update(now.since(packet.sent.now));
        let delivery = self.delivery_rate(now, &packet.sent);
        let others = self.receiver.pieces.count() - 1;
        self.on_ack(now, MSS - others * bytes, in_flight, &packet, Some(delivery));
        self.find_losses(now, number);
        self.most = self.most.max(self.controller.directive().cwnd);
        if let Some(rtt) = self.rtt.smoothed().filter(|rtt| self.next_at > now + *rtt) {
            self.next_at = now + rtt;
        }
    }

    fn on_ack(&mut self, now: Time, bytes: u64, in_flight: u64, packet: &Packet, rate: Option<DeliveryRate>) {
        let Packet { sent, forward, ref passage } = *packet;
        let round_start = sent.packet_number >= self.round_end;
        if round_start {
            self.round_end = self.number;
        }
        let (rtt, forward_us) = (now.since(sent.now), forward.as_micros() as u32);
        let mut ack = Ack {
            now,
            newly_acked: bytes,
            flightsize: in_flight,
            in_flight,
            sent_at: sent.now,
            packet_number: sent.packet_number,
            rtt: Some(rtt),
            smoothed_rtt: self.rtt.smoothed(),
            min_rtt: self.rtt.min(),
            one_way_delay: Some(forward_us),
            // An ack may be here before the packet is there.
            reverse_delay: Some((rtt.as_micros() as u32).wrapping_sub(forward_us)),
            delivery: rate,
            marks: if passage.marked { Marks::Count(1) } else { Marks::None },
            round_start,
            ..Ack::default()
        };
        (self.receiver.says)(&mut ack, passage);
        self.controller.on_ack(&ack);
    }

    fn delivery_rate(&mut self, now: Time, sent: &Sent) -> DeliveryRate {
        let sent_for = sent.now.since(sent.totals.first_sent_at);
        let interval = sent_for.max(now.since(sent.totals.delivered_at));
        let delivered = self.totals.delivered + MSS;
        let lost = self.totals.lost;
        self.totals = Totals { delivered, delivered_at: now, first_sent_at: sent.now, lost };
        let delivered = delivered - sent.totals.delivered;
        DeliveryRate { delivered, interval, in_flight_at_send: sent.in_flight, app_limited: false }
    }

    fn find_losses(&mut self, now: Time, newest: u64) {
        while let Some(oldest) =
            self.flight.front().copied().filter(|oldest| oldest.sent.packet_number + DUP_THRESH < newest)
        {
            let flightsize = self.in_flight();
            self.flight.pop_front();
            self.controller.on_loss(&Loss { now, sent: oldest.sent, flightsize, ..Loss::default() });
        }
    }

    /// Returns for how long nothing comes back before the oldest packet is taken for lost.
    fn probe_after(&self) -> Span {
        self.rtt.smoothed().unwrap_or(Span::from_millis(500)) * 2 + Span::from_millis(20)
    }

    /// Takes the oldest packet for lost if nothing has come back for some time, and all of them after a longer time.
    fn time_out(&mut self, now: Time) {
        let Some(oldest) = self.flight.front().copied() else { return };
        let (silent_for, flightsize) = (now.since(oldest.sent.now.max(self.newest_ack)), self.in_flight());
        if silent_for >= self.probe_after() + Span::from_secs(1) {
            self.controller.on_timeout(&Timeout { now, flightsize, consecutive: 1 });
            self.flight.clear();
            (self.next_at, self.in_group) = (now, 0);
        } else if silent_for >= self.probe_after() {
            self.flight.pop_front();
            self.controller.on_loss(&Loss { now, sent: oldest.sent, flightsize, ..Loss::default() });
        }
    }
}

/// Time, sender, and the packet that is acknowledged, with the acks of it that are to come; none: the sender is woken.
type Event = (Time, usize, Option<(u64, u64)>);

/// Senders on a line. The first event of a tuple is the earliest.
pub struct Net {
    pub line: Line,
    pub senders: Vec<Sender>,
    pub now: Time,
    free_at: Time,
    lots: u64,
    events: BinaryHeap<Reverse<Event>>,
}

impl Net {
    pub fn new(line: Line, senders: Vec<Sender>) -> Net {
        let events = senders.iter().enumerate().map(|(i, sender)| Reverse((sender.from, i, None))).collect();
        Net {
            line,
            senders,
            now: Time::from_millis(1000),
            free_at: Time::ZERO,
            lots: 0x9E37_79B9_7F4A_7C15,
            events,
        }
    }

    /// Returns a number below `below`.
    fn lot(&mut self, below: u64) -> u64 {
        self.lots ^= self.lots << 13;
        self.lots ^= self.lots >> 7;
        self.lots ^= self.lots << 17;
        self.lots % below.max(1)
    }

    /// Runs until a second of the run; `look` sees the senders after each event.
    pub fn run(&mut self, until_ms: u64, mut look: impl FnMut(Time, &[Sender])) {
        let end = Time::from_millis(1000 + until_ms);
        while let Some(Reverse((at, who, ack))) = self.events.pop() {
            if at > end {
                self.events.push(Reverse((at, who, ack)));
                break;
            }
            self.now = at;
            match ack {
                Some((number, to_come)) => self.senders[who].take_ack(at, number, to_come),
                None => self.senders[who].time_out(at),
            }
            self.send(who);
            look(at, &self.senders);
        }
        self.now = end;
    }

    /// Sends what a sender may, and has it woken when the next packet is due.
    fn send(&mut self, who: usize) {
        while self.senders[who].may_send(self.now) && self.senders[who].next_at <= self.now {
            self.send_one(who);
        }
        let sender = &mut self.senders[who];
        let due = if sender.may_send(self.now) { sender.next_at } else { self.now + sender.probe_after() };
        // One wake-up for each sender is on the way; an earlier one replaces it.
        if due < sender.woken_at || sender.woken_at <= self.now {
            sender.woken_at = due;
            self.events.push(Reverse((due.max(self.now), who, None)));
        }
    }

    fn send_one(&mut self, who: usize) {
        let (now, line) = (self.now, self.line);
        let sent = self.senders[who].leaves(now);
        let starts = self.free_at.max(now);
        let is_dropped = starts.since(now) > line.buffer || self.lot(1000) < line.lost_permille;
        let queue = starts.since(now);
        let mut passage = Passage { sent: now, queue, acked: None, base: line.base, marked: false };
        let mut forward = queue + line.base / 2;
        if is_dropped {
            self.senders[who].dropped += 1;
        } else {
            self.free_at = starts + line.packet();
            let jitter = Span(self.lot(line.jitter.0 + 1));
            let sender = &mut self.senders[who];
            sender.last_arrival = sender.last_arrival.max(self.free_at + jitter + line.base / 2);
            let arrival = sender.last_arrival;
            forward = arrival.since(now);
            let look = line.packet().0 * line.batch;
            let acked = (arrival + line.base / 2).0.div_ceil(look) * look;
            passage.acked = Some(Time(acked));
            passage.marked = line.marks_above.is_some_and(|most| queue > most);
        }
        self.acknowledge(who, sent.packet_number, &passage);
        self.senders[who].flight.push_back(Packet { sent, forward, passage });
    }

    /// Puts the acks of a packet on their way, a part of a packet's time from one to the next.
    fn acknowledge(&mut self, who: usize, number: u64, passage: &Passage) {
        let receiver = &mut self.senders[who].receiver;
        let (Some(at), count) = ((receiver.when)(passage), receiver.pieces.count()) else { return };
        for to_come in 0..count {
            let before = self.line.packet() * to_come / count;
            self.events.push(Reverse((Time(at.0 - before.0).max(self.now), who, Some((number, to_come)))));
        }
    }

    /// Returns the part of the link that these senders got between two times of the run.
    pub fn share(&self, who: core::ops::Range<usize>, from_ms: u64, to_ms: u64) -> f64 {
        let (from, to) = (Time::from_millis(1000 + from_ms), Time::from_millis(1000 + to_ms));
        let all = self.senders[who].iter().flat_map(|sender| &sender.delivered);
        let packets = all.filter(|at| (from..to).contains(at)).count();
        packets as f64 * 1000.0 / (self.line.packets_per_second * (to_ms - from_ms)) as f64
    }
}
