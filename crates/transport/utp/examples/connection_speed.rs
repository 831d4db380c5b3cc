//! How long a connection takes for a packet: two of them over an ideal path in virtual time, both ends counted, with
//! acknowledgements, timers and the little that the path itself costs.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example connection_speed
//! cargo run --release -p afteryou-utp --example connection_speed 200 10 100000   # one case: window, loss in per mille, packets
//! ```

use afteryou_base::{Span, Time};
use afteryou_cc::{Ack, Controller, Directive, Loss, Snapshot, Timeout};
use afteryou_utp::packet::{Packet, HEADER_LEN};
use afteryou_utp::{Config, Connection, ConnectionId, Host, SeqNr};
use std::collections::VecDeque;
use std::time::Instant;

/// Each way.
const DELAY: Span = Span::from_millis(10);
/// Data packets to measure, and before that.
const PACKETS: u64 = 1_000_000;
const WARM_UP: u64 = 100_000;
/// The source of payloads.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];

fn main() {
    let case: Vec<u64> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    if let [window, loss_per_mille, packets] = case[..] {
        let mut pair = Pair::new(window, loss_per_mille as u32, false);
        pair.run_to(packets);
        return;
    }
    println!("{:>8} {:>6} {:>18} {:>18}", "window", "loss", "with payload", "without");
    for window in [10, 50, 200, 1000, 2000] {
        for loss_per_mille in [0, 10] {
            let [with, without] =
                [true, false].map(|content| Pair::new(window, loss_per_mille, content).measure());
            println!(
                "{window:>8} {:>4} % {with:>8.0} ns/packet {without:>8.0} ns/packet",
                loss_per_mille as f64 / 10.0
            );
        }
    }
}

/// A window that nothing changes.
#[derive(Debug)]
struct Fixed(u64);

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive::window(self.0)
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// A datagram in flight: head and length of the payload, or all of it.
struct Flying {
    at: Time,
    bytes: Vec<u8>,
    payload: usize,
}

/// A sender and a receiver.
struct Pair {
    now: Time,
    sender: Connection,
    receiver: Option<Connection>,
    host: Host,
    config: Config,
    to_receiver: VecDeque<Flying>,
    to_sender: VecDeque<Flying>,
    spare: Vec<Vec<u8>>,
    /// Payloads have content, which is copied in and out.
    content: bool,
    loss_per_mille: u32,
    random: u32,
}

impl Pair {
    fn new(window: u64, loss_per_mille: u32, content: bool) -> Pair {
        let (host, config) = (Host { keeps_received: content, ..Host::REAL }, Config::default());
        let cwnd = window * u64::from(config.payload);
        let sender =
            host.connect(config.clone(), Box::new(Fixed(cwnd)), Time::ZERO, ConnectionId(1), SeqNr(1));
        Pair {
            now: Time::ZERO,
            sender,
            receiver: None,
            host,
            config,
            to_receiver: VecDeque::new(),
            to_sender: VecDeque::new(),
            spare: Vec::new(),
            content,
            loss_per_mille,
            random: 1,
        }
    }

    /// Returns the time per data packet, ns.
    fn measure(mut self) -> f64 {
        self.run_to(WARM_UP);
        let (began, before) = (Instant::now(), self.sender.statistics().data_packets_sent);
        self.run_to(WARM_UP + PACKETS);
        let packets = self.sender.statistics().data_packets_sent - before;
        assert_eq!(self.sender.error(), None);
        began.elapsed().as_nanos() as f64 / packets as f64
    }

    fn run_to(&mut self, packets: u64) {
        while self.sender.statistics().data_packets_sent < packets {
            for _ in 0..1000 {
                self.step();
            }
        }
    }

    /// Handles the next event.
    fn step(&mut self) {
        self.pump_sender();
        self.pump_receiver();
        let times = [
            self.to_receiver.front().map(|flying| flying.at),
            self.to_sender.front().map(|flying| flying.at),
            self.sender.deadline(),
            self.receiver.as_ref().and_then(Connection::deadline),
        ];
        let Some(next) = times.into_iter().flatten().min() else { return };
        assert!(next > self.now || times[0] == Some(self.now), "a timer of no length");
        self.now = next;
        if times[2] == Some(next) {
            self.sender.handle_deadline(next);
        }
        if let (Some(receiver), true) = (&mut self.receiver, times[3] == Some(next)) {
            receiver.handle_deadline(next);
        }
        self.deliver_to_receiver();
        self.deliver_to_sender();
    }

    fn pump_sender(&mut self) {
        if self.content {
            while matches!(self.sender.write(&NOTHING), Ok(1..)) {}
        } else {
            let _ = self.sender.write_zeros(u64::MAX);
        }
        while let Some(flying) = transmit(&mut self.sender, self.now, self.content, &mut self.spare) {
            self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let is_lost = flying.payload > 0 && (self.random >> 8) % 1000 < self.loss_per_mille;
            match is_lost {
                true => self.spare.push(flying.bytes),
                false => self.to_receiver.push_back(flying),
            }
        }
    }

    fn pump_receiver(&mut self) {
        let Some(receiver) = &mut self.receiver else { return };
        while let Some(flying) = transmit(receiver, self.now, self.content, &mut self.spare) {
            self.to_sender.push_back(flying);
        }
    }

    fn deliver_to_receiver(&mut self) {
        while let Some(flying) = arrived(&mut self.to_receiver, self.now) {
            let packet = read(&flying, self.content);
            match &mut self.receiver {
                Some(receiver) => receiver.handle(self.now, &packet),
                None => {
                    let (config, controller) = (self.config.clone(), Box::new(Fixed(10_000)));
                    self.receiver = Some(self.host.accept(config, controller, self.now, &packet, SeqNr(1)));
                }
            }
            if let (Some(receiver), true) = (&mut self.receiver, self.content) {
                receiver.discard_received(self.now);
            }
            self.spare.push(flying.bytes);
        }
    }

    fn deliver_to_sender(&mut self) {
        while let Some(flying) = arrived(&mut self.to_sender, self.now) {
            self.sender.handle(self.now, &read(&flying, self.content));
            self.spare.push(flying.bytes);
        }
    }
}

/// Takes the oldest datagram, if its time has come.
fn arrived(way: &mut VecDeque<Flying>, now: Time) -> Option<Flying> {
    if way.front()?.at > now {
        return None;
    }
    way.pop_front()
}

fn transmit(
    connection: &mut Connection,
    now: Time,
    content: bool,
    spare: &mut Vec<Vec<u8>>,
) -> Option<Flying> {
    let mut bytes = spare.pop().unwrap_or_default();
    bytes.clear();
    let payload = match content {
        true => connection.poll_transmit(now, &mut bytes).then(|| bytes.len() - HEADER_LEN),
        false => connection.poll_transmit_head(now, &mut bytes).map(|outgoing| outgoing.payload as usize),
    };
    let Some(payload) = payload else {
        spare.push(bytes);
        return None;
    };
    Some(Flying { at: now + DELAY, bytes, payload })
}

fn read(flying: &Flying, content: bool) -> Packet<'_> {
    let packet = Packet::decode(&flying.bytes).expect("our own packets are well-formed");
    match content {
        true => packet,
        false => Packet { payload: &NOTHING[..flying.payload], ..packet },
    }
}
