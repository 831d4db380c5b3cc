//! A path in steps of a millisecond: one FIFO queue, connections whose senders obey a window or a rate, and a Reno beside them.
//!
//! Packets wait in the queue, then take half of the base to the receiver, and what the receiver says takes the other half.

use afteryou_base::{Span, Time};
use afteryou_outside::rule::rate::rate;
use afteryou_outside::rule::{law, Direction, Group, Id, Params, Reading};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

pub const MSS: u64 = 1448;
const WIRE: f64 = 1500.0;

/// A sender of the group.
#[derive(Clone, Default)]
struct Sender {
    /// Bytes that it may have under way, from half a base later on.
    windows: VecDeque<(u64, f64)>,
    window: f64,
    rate: f64,
    tokens: f64,
    in_flight: u64,
    moved: u64,
    rtt_ms: Option<f64>,
    lost: u64,
    /// It sends no more than this a second, bytes.
    limit: Option<f64>,
    limit_tokens: f64,
    /// It has this much to move, bytes, and closes then.
    size: Option<u64>,
}

impl Sender {
    fn is_closed(&self) -> bool {
        self.size.is_some_and(|size| self.moved >= size)
    }

    fn has_more(&self) -> bool {
        self.size.is_none_or(|size| self.moved + self.in_flight < size)
    }
}

/// A Reno.
struct Reno {
    is_on: bool,
    cwnd: f64,
    threshold: f64,
    in_flight: u64,
    moved: u64,
    recovers_at: u64,
}

/// Who has sent a packet.
#[derive(Clone, Copy)]
enum Of {
    Group(usize),
    Reno,
}

/// The path.
pub struct Path {
    direction: Direction,
    pub group: Group,
    now_ms: u64,
    base_ms: u64,
    per_ms: f64,
    buffer: f64,
    credit: f64,
    queue: VecDeque<(Of, u64)>,
    returning: VecDeque<(u64, Of, u64)>,
    losses: VecDeque<(u64, Of)>,
    senders: Vec<Sender>,
    reno: Reno,
    /// Largest queue since the last question, ms.
    pub highest_ms: f64,
    /// One packet of so many is lost at random, by this counter.
    pub lose_every: u64,
    counter: u64,
    /// An upload of the own host fills its uplink: it began at this time.
    upload_began_ms: Option<u64>,
}

/// The uplink's queue swings between these, ms, as an upload of CUBIC fills 300 ms of buffer at 5 Mbit/s.
const UPLINK_MS: (f64, f64) = (200.0, 300.0);
/// … once in so long.
const UPLINK_SWING_MS: u64 = 5000;
/// It is full so long after it began.
const UPLINK_FILLS_MS: u64 = 1500;
/// Bytes a second.
const UPLINK_PER_S: f64 = 625_000.0;

impl Path {
    pub fn new(direction: Direction, mbit: f64, base_ms: u64, buffer_ms: f64, connections: usize) -> Path {
        let per_ms = mbit * 125.0;
        Path {
            direction,
            group: Group::new(direction, Params::default()),
            now_ms: 0,
            base_ms,
            per_ms,
            buffer: buffer_ms * per_ms,
            credit: 0.0,
            queue: VecDeque::new(),
            returning: VecDeque::new(),
            losses: VecDeque::new(),
            senders: vec![Sender { window: 14_480.0, rate: 1e6, ..Sender::default() }; connections],
            reno: Reno {
                is_on: false,
                cwnd: 10.0,
                threshold: f64::INFINITY,
                in_flight: 0,
                moved: 0,
                recovers_at: 0,
            },
            highest_ms: 0.0,
            lose_every: 0,
            counter: 0,
            upload_began_ms: None,
        }
    }

    /// Gives each connection so many bytes to move, after which it is closed.
    pub fn set_size(&mut self, size: u64) {
        self.senders.iter_mut().for_each(|sender| sender.size = Some(size));
    }

    /// Runs until all connections are closed, and returns how long that took, ms.
    pub fn run_to_the_end(&mut self) -> u64 {
        let began = self.now_ms;
        while self.senders.iter().any(|sender| !sender.is_closed()) && self.now_ms < began + 300_000 {
            self.step();
        }
        self.now_ms - began
    }

    /// Bounds what a connection's server sends, bytes a second.
    pub fn limit(&mut self, connection: usize, per_s: f64) {
        self.senders[connection].limit = Some(per_s);
    }

    pub fn start_reno(&mut self) {
        self.reno =
            Reno { is_on: true, cwnd: 10.0, threshold: f64::INFINITY, moved: 0, recovers_at: 0, ..self.reno };
    }

    pub fn stop_reno(&mut self) {
        self.reno.is_on = false;
    }

    /// Begins an upload of the own host, or ends it.
    pub fn upload(&mut self, is_on: bool) {
        self.upload_began_ms = is_on.then_some(self.now_ms);
    }

    /// Returns how long acknowledgements wait in the uplink, ms.
    fn uplink_ms(&self) -> u64 {
        let Some(began) = self.upload_began_ms else { return 0 };
        let (least, most) = UPLINK_MS;
        let passed = self.now_ms - began;
        if passed < UPLINK_FILLS_MS {
            return (most * passed as f64 / UPLINK_FILLS_MS as f64) as u64;
        }
        // CUBIC's curve: steep at first, flat where it was full before.
        let part = ((passed - UPLINK_FILLS_MS) % UPLINK_SWING_MS) as f64 / UPLINK_SWING_MS as f64;
        (most - (most - least) * (1.0 - part).powi(3)) as u64
    }

    pub fn now(&self) -> Time {
        Time::from_millis(self.now_ms)
    }

    /// Runs for so long and returns the payload of the group and of Reno, each as a share of what the link can carry.
    pub fn run(&mut self, ms: u64) -> (f64, f64) {
        let before = (self.group_moved(), self.reno.moved);
        self.highest_ms = 0.0;
        for _ in 0..ms {
            self.step();
        }
        let capacity = self.per_ms * ms as f64 * MSS as f64 / WIRE;
        ((self.group_moved() - before.0) as f64 / capacity, (self.reno.moved - before.1) as f64 / capacity)
    }

    /// Returns what each connection has moved, bytes.
    pub fn moved(&self) -> Vec<u64> {
        self.senders.iter().map(|sender| sender.moved).collect()
    }

    fn group_moved(&self) -> u64 {
        self.senders.iter().map(|sender| sender.moved).sum()
    }

    fn step(&mut self) {
        self.now_ms += 1;
        self.arrive();
        self.send();
        self.serve();
        if self.now_ms.is_multiple_of(10) {
            self.tick();
        }
    }

    fn arrive(&mut self) {
        while self.returning.front().is_some_and(|(at, ..)| *at <= self.now_ms) {
            let Some((_, of, sent_ms)) = self.returning.pop_front() else { return };
            match of {
                Of::Group(index) => {
                    let sender = &mut self.senders[index];
                    sender.in_flight -= MSS;
                    sender.moved += MSS;
                    sender.rtt_ms = Some((self.now_ms - sent_ms) as f64);
                }
                Of::Reno => {
                    self.reno.in_flight -= 1;
                    self.reno.moved += MSS;
                    let growth =
                        if self.reno.cwnd < self.reno.threshold { 1.0 } else { 1.0 / self.reno.cwnd };
                    self.reno.cwnd += growth;
                }
            }
        }
        while self.losses.front().is_some_and(|(at, _)| *at <= self.now_ms) {
            let Some((_, of)) = self.losses.pop_front() else { return };
            match of {
                Of::Group(index) => {
                    self.senders[index].in_flight -= MSS;
                    self.senders[index].lost += 1;
                }
                Of::Reno => {
                    self.reno.in_flight -= 1;
                    if self.now_ms >= self.reno.recovers_at {
                        self.reno.cwnd = (self.reno.cwnd / 2.0).max(2.0);
                        self.reno.threshold = self.reno.cwnd;
                        self.reno.recovers_at =
                            self.now_ms + self.base_ms + (self.buffer / self.per_ms) as u64;
                    }
                }
            }
        }
    }

    fn send(&mut self) {
        // In turn, so that none is always first in a full queue.
        let first = self.now_ms as usize % self.senders.len().max(1);
        for step in 0..self.senders.len() {
            let index = (first + step) % self.senders.len();
            let now_ms = self.now_ms;
            let sender = &mut self.senders[index];
            while sender.windows.front().is_some_and(|(at, _)| *at <= now_ms) {
                sender.window = sender.windows.pop_front().map_or(sender.window, |(_, window)| window);
            }
            sender.tokens =
                (sender.tokens + sender.rate / 1000.0).min((sender.rate / 50.0).max(2.0 * MSS as f64));
            sender.limit_tokens = (sender.limit_tokens + sender.limit.unwrap_or(1e12) / 1000.0).min(3e4);
            let mut count = 0;
            loop {
                let sender = &self.senders[index];
                let may = match self.direction {
                    Direction::Down => {
                        (sender.in_flight + MSS) as f64 <= sender.window || self.is_persisting(index)
                    }
                    Direction::Up => sender.tokens >= MSS as f64 && sender.in_flight < 4_000_000,
                };
                if !may || !sender.has_more() || sender.limit_tokens < MSS as f64 || count >= 200 {
                    break;
                }
                count += 1;
                let sender = &mut self.senders[index];
                sender.in_flight += MSS;
                sender.tokens -= MSS as f64;
                sender.limit_tokens -= MSS as f64;
                self.enqueue(Of::Group(index));
            }
        }
        while self.reno.is_on && (self.reno.in_flight as f64) < self.reno.cwnd.floor() {
            self.reno.in_flight += 1;
            self.enqueue(Of::Reno);
        }
    }

    /// Returns whether the sender's persist timer sends a packet, one every 300 ms, though the window is smaller.
    fn is_persisting(&self, index: usize) -> bool {
        self.senders[index].in_flight == 0 && (self.now_ms + 37 * index as u64).is_multiple_of(300)
    }

    fn enqueue(&mut self, of: Of) {
        self.counter += 1;
        let is_unlucky = self.lose_every > 0 && self.counter.is_multiple_of(self.lose_every);
        if is_unlucky || (self.queue.len() as f64 + 1.0) * WIRE > self.buffer.max(3.0 * WIRE) {
            let waits_ms = self.queue_ms() as u64;
            self.losses.push_back((self.now_ms + self.base_ms + waits_ms, of));
            return;
        }
        self.queue.push_back((of, self.now_ms));
    }

    pub fn queue_ms(&self) -> f64 {
        self.queue.len() as f64 * WIRE / self.per_ms
    }

    fn serve(&mut self) {
        self.highest_ms = self.highest_ms.max(self.queue_ms());
        self.credit = (self.credit + self.per_ms).min(self.per_ms + WIRE);
        while self.credit >= WIRE {
            let Some((of, sent_ms)) = self.queue.pop_front() else { return };
            self.credit -= WIRE;
            self.returning.push_back((self.now_ms + self.base_ms + self.uplink_ms(), of, sent_ms));
        }
    }

    fn tick(&mut self) {
        let peer = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
        let readings: Vec<Reading> = self
            .senders
            .iter()
            .enumerate()
            .filter(|(_, sender)| !sender.is_closed())
            .map(|(index, sender)| Reading {
                id: Id(index as u64),
                peer,
                least_rtt: Some(Span::from_millis(self.base_ms)),
                rtt: sender.rtt_ms.map(|ms| Span::from_secs_f64(ms / 1e3)),
                bytes: sender.moved,
                lost: sender.lost,
                mss: MSS as u32,
                in_flight: sender.in_flight,
            })
            .collect();
        let opposite = if self.upload_began_ms.is_some() { UPLINK_PER_S } else { 0.0 };
        self.group.note_opposite_rate(self.now(), opposite);
        let granted = self.group.tick(self.now(), &readings);
        let is_starting = self.group.law().phase() == law::Phase::SlowStart;
        for granted in granted {
            let index = granted.id.0 as usize;
            match self.direction {
                Direction::Down => {
                    self.senders[index].windows.push_back((self.now_ms + self.base_ms / 2, granted.window))
                }
                Direction::Up => {
                    let Some(member) = self.group.member(granted.id) else { continue };
                    let base = Span::from_millis(self.base_ms);
                    self.senders[index].rate = rate(member, &granted, base, is_starting);
                }
            }
        }
    }
}
