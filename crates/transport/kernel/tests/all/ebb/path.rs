//! Random paths in closed loop: a link whose queue others fill now and then, losses, jitter, acks in batches, marks, a route that becomes
//! longer, a queue that becomes a fair one. The rule in Rust decides what is sent.

use super::event::{Event, Kind};
use super::rule::{Ebb, EVERY_US, RATE, WINDOW};
use afteryou_cc::ebb_core::{AckEvent, APP_LIMITED, HAS_REVERSE, HAS_RTT, MARKED, MAY_HAVE_WAITED};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;

const SECOND_US: u64 = 1_000_000;

/// Random numbers.
pub struct Random(Pcg64Mcg);

impl Random {
    /// Returns the numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Draws a number from `least` to `most`.
    pub fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.0.next_u64() % (most - least + 1)
    }

    /// Returns true once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.0.next_u64().is_multiple_of(times)
    }

    /// Draws a number of any size: each length in bits up to `bits` is as likely.
    fn any(&mut self, bits: u64) -> u64 {
        let shift = 64 - self.within(1, bits);
        self.0.next_u64() >> shift
    }
}

/// A packet in flight.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: u64,
    back_at: u64,
    is_lost: bool,
    is_marked: bool,
    delivered_before: u64,
}

/// What a path does.
struct Weather {
    packet_us: u64,
    base_us: u64,
    longer_at: u64,
    fair_at: u64,
    others_from: u64,
    others_to: u64,
    others_most_us: u64,
    loss_per_mille: u64,
    marks_per_mille: u64,
    jitter_us: u64,
    limited_per_mille: u64,
    batch: u64,
    has_reverse: bool,
    has_rates: bool,
}

impl Weather {
    fn draw(random: &mut Random) -> Weather {
        let others_from = random.within(1, 20) * SECOND_US;
        let rare =
            |random: &mut Random, times, most| if random.once_in(times) { random.within(0, most) } else { 0 };
        Weather {
            packet_us: random.within(20, 12_000),
            base_us: random.within(500, 300_000),
            longer_at: random.within(1, 60) * SECOND_US,
            fair_at: random.within(1, 60) * SECOND_US,
            others_from,
            others_to: others_from + random.within(0, 10) * SECOND_US,
            others_most_us: random.within(0, 200_000),
            loss_per_mille: rare(random, 3, 50),
            marks_per_mille: rare(random, 8, 20),
            jitter_us: rare(random, 4, 20_000),
            limited_per_mille: rare(random, 4, 500),
            batch: if random.once_in(3) { random.within(2, 16) } else { 1 },
            has_reverse: random.once_in(2),
            has_rates: !random.once_in(8),
        }
    }
}

/// A sender and its path.
pub struct Path {
    random: Random,
    weather: Weather,
    began: u64,
    now: u64,
    link_free_at: u64,
    next_send_at: u64,
    of_pair: u64,
    number: u64,
    delivered: u64,
    smoothed_us: u64,
    packets: VecDeque<Packet>,
    /// Some events have numbers of any size.
    is_wild: bool,
}

impl Path {
    /// Draws a path.
    pub fn new(mut random: Random, is_wild: bool) -> Path {
        let weather = Weather::draw(&mut random);
        let now = random.within(0, 100 * SECOND_US);
        Path {
            random,
            weather,
            began: now,
            now,
            link_free_at: 0,
            next_send_at: now,
            of_pair: 0,
            number: 0,
            delivered: 0,
            smoothed_us: 0,
            packets: VecDeque::new(),
            is_wild,
        }
    }

    /// Returns this many events, which `rule` has got.
    pub fn events(&mut self, count: usize, rule: &mut Ebb) -> Vec<Event> {
        let mut events = Vec::with_capacity(count);
        while events.len() < count {
            let event = self.next(&rule.columns(), rule.params.mss);
            rule.apply(&event);
            events.push(event);
        }
        events
    }

    fn elapsed(&self) -> u64 {
        self.now - self.began
    }

    fn base_us(&self) -> u64 {
        let longer = if self.elapsed() >= self.weather.longer_at { 60_000 } else { 0 };
        self.weather.base_us + longer
    }

    fn packet_us(&self) -> u64 {
        let flows = if self.elapsed() >= self.weather.fair_at { 2 } else { 1 };
        flows * self.weather.packet_us
    }

    fn others_us(&self) -> u64 {
        let Weather { others_from, others_to, others_most_us, .. } = self.weather;
        if !(others_from..others_to).contains(&self.elapsed()) {
            return 0;
        }
        ((self.elapsed() - others_from) / 10).min(others_most_us)
    }

    fn next(&mut self, answer: &[u64], mss: u64) -> Event {
        if self.random.once_in(2_000) {
            return self.rare();
        }
        if self.is_wild && self.random.once_in(50) {
            return self.wild();
        }
        let may_send = mss * (self.packets.len() as u64 + 1) <= answer[WINDOW] && self.packets.len() < 2_000;
        let back_at = self.packets.front().map_or(u64::MAX, |packet| packet.back_at.max(self.now));
        let send_at = if may_send { self.next_send_at.max(self.now) } else { u64::MAX };
        if send_at < back_at {
            self.now = send_at;
            return self.send(answer, mss);
        }
        let Some(packet) = self.packets.pop_front() else {
            self.now += SECOND_US;
            return Event { kind: Kind::Timeout, ack: AckEvent { now: self.now, ..AckEvent::default() } };
        };
        self.now = back_at;
        if packet.is_lost {
            let ack = AckEvent { now: self.now, sent_at: packet.sent_at, ..AckEvent::default() };
            return Event { kind: Kind::Loss, ack };
        }
        self.ack(packet, mss)
    }

    fn rare(&mut self) -> Event {
        let kind = [Kind::Timeout, Kind::Idle, Kind::Mtu][self.random.within(0, 2) as usize];
        self.now += if kind == Kind::Mtu { 0 } else { self.random.within(0, 2) * SECOND_US };
        let delivered = self.random.within(500, 9_000);
        Event { kind, ack: AckEvent { now: self.now, delivered, ..AckEvent::default() } }
    }

    /// Returns an event with numbers of any size. Its time is not before the path's.
    fn wild(&mut self) -> Event {
        let random = &mut self.random;
        let kind = [Kind::Sent, Kind::Ack, Kind::Ack, Kind::Ack, Kind::Loss][random.within(0, 4) as usize];
        let ack = AckEvent {
            now: self.now + random.any(40),
            sent_at: random.any(64),
            number: random.any(64),
            delivered: random.any(64),
            in_flight: random.any(64),
            rate: random.any(64),
            rtt_us: random.any(32) as u32,
            smoothed_us: random.any(32) as u32,
            reverse_us: random.any(32) as u32,
            flags: random.within(0, 31) as u32,
        };
        Event { kind, ack }
    }

    fn send(&mut self, answer: &[u64], mss: u64) -> Event {
        let at_link = self.now + self.base_us() / 4;
        let begins = (at_link + self.others_us()).max(self.link_free_at);
        self.link_free_at = begins + self.packet_us();
        let jitter_us = self.random.within(0, self.weather.jitter_us);
        let packet = Packet {
            number: self.number,
            sent_at: self.now,
            back_at: self.link_free_at + 3 * self.base_us() / 4 + jitter_us,
            is_lost: self.random.within(0, 999) < self.weather.loss_per_mille,
            is_marked: self.random.within(0, 999) < self.weather.marks_per_mille,
            delivered_before: self.delivered,
        };
        self.number += 1;
        self.packets.push_back(packet);
        self.of_pair = (self.of_pair + 1) % 2;
        let pause = match (answer[RATE], answer[EVERY_US]) {
            (0, every_us) => every_us * u64::from(self.of_pair == 0),
            (rate, _) => mss * SECOND_US / rate,
        };
        self.next_send_at = self.now + pause.min(SECOND_US);
        let ack = AckEvent { now: self.now, sent_at: self.now, number: packet.number, ..AckEvent::default() };
        Event { kind: Kind::Sent, ack }
    }

    /// Returns the ack of a packet, and of those behind it that belong to its batch.
    fn ack(&mut self, first: Packet, mss: u64) -> Event {
        let in_flight = mss * (self.packets.len() as u64 + 1);
        let (mut newest, mut count) = (first, 1);
        while count < self.weather.batch && self.packets.front().is_some_and(|packet| !packet.is_lost) {
            newest = self.packets.pop_front().expect("there is one");
            count += 1;
        }
        self.now = self.now.max(newest.back_at);
        let rtt_us = self.now - newest.sent_at;
        self.smoothed_us = if self.smoothed_us == 0 { rtt_us } else { (7 * self.smoothed_us + rtt_us) / 8 };
        self.delivered += count * mss;
        let rate = (self.delivered - newest.delivered_before) * SECOND_US / rtt_us;
        let flag = |flag, is_set| if is_set { flag } else { 0 };
        let is_limited = self.random.within(0, 999) < self.weather.limited_per_mille;
        let reverse_us = (u64::from(u32::MAX) - 50_000 + self.random.within(0, 100_000)) as u32;
        let ack = AckEvent {
            now: self.now,
            sent_at: newest.sent_at,
            number: newest.number,
            delivered: count * mss,
            in_flight,
            rate: if self.weather.has_rates { rate } else { 0 },
            rtt_us: rtt_us as u32,
            smoothed_us: self.smoothed_us as u32,
            reverse_us,
            flags: flag(HAS_RTT, !self.random.once_in(100))
                | flag(HAS_REVERSE, self.weather.has_reverse)
                | flag(APP_LIMITED, is_limited)
                | flag(MARKED, newest.is_marked)
                | flag(MAY_HAVE_WAITED, self.random.once_in(50)),
        };
        Event { kind: Kind::Ack, ack }
    }
}
