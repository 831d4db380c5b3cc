//! Recorded events of ebb and its answers, replayed: `crates/transport/cc/vectors/README.md` has the format.
//!
//! The events are those of a path in closed loop: a link of 2 Mbit/s and 40 ms, on which others fill the queue for a while, packets get lost,
//! and the forward path grows longer, which a train finds out.

use afteryou_base::param::Value;
use afteryou_cc::list::find;
use afteryou_cc::{
    Ack, Controller, DeliveryRate, Idle, Loss, Marks, Pacing, Sent, Setup, Span, Time, Timeout,
};
use std::collections::VecDeque;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const MSS: u64 = 1448;
/// Time of a packet on the link, µs.
const PACKET_US: u64 = 6_000;
/// Length of the recording, µs.
const END_US: u64 = 36_000_000;
const EVENT: &str = "event,now,sent_at,number,delivered,in_flight,rate,rtt_us,smoothed_us,reverse_us,flags";
const ANSWER: &str = "cwnd,rate_out,every_us,phase,base_us,queue_us,target_us,capacity,noise_us";
/// Bits of `flags`.
const HAS_RTT: u64 = 1;
const HAS_REVERSE: u64 = 2;
const APP_LIMITED: u64 = 4;
const MARKED: u64 = 8;
const MAY_HAVE_WAITED: u64 = 16;

/// A line's event: its name and ten integers, in the order of the columns.
#[derive(Clone, Debug, Default, PartialEq)]
struct Event {
    name: String,
    now: u64,
    sent_at: u64,
    number: u64,
    delivered: u64,
    in_flight: u64,
    rate: u64,
    rtt_us: u64,
    smoothed_us: u64,
    reverse_us: u64,
    flags: u64,
}

impl Event {
    fn parse(cells: &[&str]) -> Event {
        let number = |i: usize| cells[i].parse::<u64>().unwrap_or_else(|_| panic!("{:?}", cells[i]));
        Event {
            name: cells[0].to_owned(),
            now: number(1),
            sent_at: number(2),
            number: number(3),
            delivered: number(4),
            in_flight: number(5),
            rate: number(6),
            rtt_us: number(7),
            smoothed_us: number(8),
            reverse_us: number(9),
            flags: number(10),
        }
    }

    fn line(&self) -> String {
        let Event {
            name,
            now,
            sent_at,
            number,
            delivered,
            in_flight,
            rate,
            rtt_us,
            smoothed_us,
            reverse_us,
            flags,
        } = self;
        format!("{name},{now},{sent_at},{number},{delivered},{in_flight},{rate},{rtt_us},{smoothed_us},{reverse_us},{flags}")
    }

    fn has(&self, flag: u64) -> bool {
        self.flags & flag != 0
    }

    fn ack(&self) -> Ack {
        let rate =
            DeliveryRate { delivered: self.rate, interval: Span::from_secs(1), ..DeliveryRate::default() };
        Ack {
            now: at(self.now),
            newly_acked: self.delivered,
            flightsize: self.in_flight,
            in_flight: self.in_flight,
            sent_at: at(self.sent_at),
            packet_number: self.number,
            rtt: self.has(HAS_RTT).then_some(Span::from_micros(self.rtt_us)),
            smoothed_rtt: Span::from_micros(self.smoothed_us).nonzero(),
            reverse_delay: self.has(HAS_REVERSE).then_some(self.reverse_us as u32),
            delivery: (self.rate > 0).then_some(rate),
            marks: Marks::Count(self.has(MARKED).into()),
            app_limited: self.has(APP_LIMITED),
            may_have_waited: self.has(MAY_HAVE_WAITED),
            ..Ack::default()
        }
    }

    fn apply(&self, controller: &mut dyn Controller) {
        let now = at(self.now);
        let sent = Sent { now: at(self.sent_at), packet_number: self.number, bytes: MSS, ..Sent::default() };
        match self.name.as_str() {
            "sent" => controller.on_sent(&Sent { now, ..sent }),
            "ack" => controller.on_ack(&self.ack()),
            "loss" => controller.on_loss(&Loss { now, sent, ..Loss::default() }),
            "timeout" => controller.on_timeout(&Timeout { now, flightsize: self.in_flight, consecutive: 1 }),
            "idle" => {
                controller.on_idle(&Idle { now, idle_for: Span::from_secs(2), rto: Span::from_secs(1) })
            }
            "mtu" => controller.on_mtu(self.delivered as u32),
            other => panic!("no event {other:?}"),
        }
    }
}

fn at(us: u64) -> Time {
    Time(1000 * us)
}

fn ebb() -> Box<dyn Controller> {
    find("ebb").expect("in the list").build(&[], Setup::of(MSS as u32)).expect("defaults are valid")
}

/// Returns the parameters as `name=value`.
fn parameters() -> String {
    let params = find("ebb").expect("in the list").params;
    let value = |default: Value| default.to_string().replace(' ', "");
    let words: Vec<String> =
        params.iter().map(|param| format!("{}={}", param.name, value(param.default))).collect();
    format!("{} mss={MSS}", words.join(" "))
}

/// Returns what a transport sees of the rule: window, rate of sending or the pause between pairs, and the estimates.
fn answer(controller: &dyn Controller) -> Vec<u64> {
    let (directive, snapshot) = (controller.directive(), controller.snapshot());
    let (rate, every_us) = match directive.pacing {
        Pacing::Rate(rate) => (rate, 0),
        Pacing::Together { every, .. } => (0, every.as_micros()),
        Pacing::Window | Pacing::GrowingWindow => (0, 0),
    };
    let phase = ["ramp", "cruise", "yield"].iter().position(|phase| *phase == snapshot.phase);
    let us = |span: Option<Span>| span.map_or(0, |span| span.as_micros());
    let extra = |name: &str| {
        snapshot.extra.iter().flatten().find(|(of, _)| *of == name).map_or(0.0, |(_, value)| *value)
    };
    vec![
        directive.cwnd,
        rate,
        every_us,
        phase.expect("a phase of the rule") as u64,
        us(snapshot.base_delay),
        us(snapshot.queuing_delay),
        us(snapshot.target),
        (extra("capacity_bit_s") / 8.0).round() as u64,
        (extra("noise_ms") * 1e3).round() as u64,
    ]
}

/// A packet on the path.
#[derive(Clone, Copy)]
struct Packet {
    number: u64,
    sent_at: u64,
    /// When its ack arrives, or would have.
    back_at: u64,
    is_lost: bool,
    /// Bytes delivered when it left, and when the last of them arrived.
    delivered: u64,
    delivered_at: u64,
}

/// The path and its sender. Times are µs.
struct Net {
    random: u32,
    now: u64,
    link_free_at: u64,
    next_send_at: u64,
    /// Packets of a pair that have left.
    of_pair: u64,
    number: u64,
    delivered: u64,
    delivered_at: u64,
    smoothed_us: u64,
    packets: VecDeque<Packet>,
}

impl Net {
    fn new() -> Net {
        let began = 1_000_000;
        Net {
            random: 1,
            now: began,
            link_free_at: 0,
            next_send_at: began,
            of_pair: 0,
            number: 0,
            delivered: 0,
            delivered_at: began,
            smoothed_us: 0,
            packets: VecDeque::new(),
        }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(self.random >> 8) % below
    }

    /// Returns the base round-trip time: the route is 70 ms longer from 14 s on.
    fn base_us(&self) -> u64 {
        if self.now < 14_000_000 {
            40_000
        } else {
            110_000
        }
    }

    /// Returns the time of a packet: from 26 s on a fair queue gives the sender half of the link.
    fn packet_us(&self) -> u64 {
        if self.now < 26_000_000 {
            return PACKET_US;
        }
        2 * PACKET_US
    }

    /// Returns the queue of others, which come at 5 s, grow slowly and leave at 8 s.
    fn others_us(&self) -> u64 {
        if !(5_000_000..8_000_000).contains(&self.now) {
            return 0;
        }
        ((self.now - 5_000_000) / 20).min(90_000)
    }

    fn in_flight(&self) -> u64 {
        MSS * self.packets.len() as u64
    }

    /// Returns the next event of the sender, which has got this answer from its controller.
    fn next(&mut self, answer: &[u64]) -> Event {
        let may_send = self.in_flight() + MSS <= answer[0];
        let back_at = self.packets.front().map_or(u64::MAX, |packet| packet.back_at);
        let send_at = if may_send { self.next_send_at.max(self.now) } else { u64::MAX };
        if send_at < back_at {
            self.now = send_at;
            return self.send(answer);
        }
        self.now = back_at;
        let packet = self.packets.pop_front().expect("in flight");
        if packet.is_lost {
            let Packet { number, sent_at, .. } = packet;
            return Event { name: "loss".to_owned(), now: self.now, sent_at, number, ..Event::default() };
        }
        self.ack(packet)
    }

    fn send(&mut self, answer: &[u64]) -> Event {
        let at_link = self.now + self.base_us() / 4;
        let begins = (at_link + self.others_us()).max(self.link_free_at);
        self.link_free_at = begins + self.packet_us();
        let permille = if (10_000_000..12_000_000).contains(&self.now) { 10 } else { 0 };
        let packet = Packet {
            number: self.number,
            sent_at: self.now,
            back_at: self.link_free_at + 3 * self.base_us() / 4,
            is_lost: self.draw(1000) < permille,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
        };
        self.number += 1;
        self.packets.push_back(packet);
        self.pace(answer);
        let Packet { number, sent_at, .. } = packet;
        Event { name: "sent".to_owned(), now: sent_at, sent_at, number, ..Event::default() }
    }

    fn pace(&mut self, answer: &[u64]) {
        let (rate, every_us) = (answer[1], answer[2]);
        self.of_pair = (self.of_pair + 1) % 2;
        let pause = match (rate, every_us) {
            (0, 0) => 0,
            (0, every_us) if self.of_pair == 0 => every_us,
            (0, _) => 0,
            (rate, _) => MSS * 1_000_000 / rate.max(1),
        };
        self.next_send_at = self.now + pause;
    }

    fn ack(&mut self, packet: Packet) -> Event {
        let rtt_us = self.now - packet.sent_at;
        self.smoothed_us = if self.smoothed_us == 0 { rtt_us } else { (7 * self.smoothed_us + rtt_us) / 8 };
        let in_flight = self.in_flight() + MSS;
        self.delivered += MSS;
        self.delivered_at = self.now;
        let interval = (self.now - packet.delivered_at).max(rtt_us);
        // The unknown offset of two clocks brings the delays close to where they wrap.
        let reverse_us = (4_294_960_000 + 20_000) % (1 << 32);
        let rare = if self.number % 301 == 300 { MAY_HAVE_WAITED } else { 0 };
        Event {
            name: "ack".to_owned(),
            now: self.now,
            sent_at: packet.sent_at,
            number: packet.number,
            delivered: MSS,
            in_flight,
            rate: (self.delivered - packet.delivered) * 1_000_000 / interval,
            rtt_us,
            smoothed_us: self.smoothed_us,
            reverse_us,
            flags: HAS_RTT | HAS_REVERSE | rare,
        }
    }
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors/ebb.csv")
}

fn row(event: &Event, answer: &[u64]) -> String {
    let answer: Vec<String> = answer.iter().map(u64::to_string).collect();
    format!("{},{}\n", event.line(), answer.join(","))
}

/// Returns the recording. Timeout, idle time, mark and another packet size are at its end, where the path does not answer any more.
fn record() -> String {
    let (mut controller, mut net) = (ebb(), Net::new());
    let mut text = format!("# {}\n", parameters());
    writeln!(text, "{EVENT},{ANSWER}").unwrap();
    let mut last = Event::default();
    while net.now < END_US {
        let event = net.next(&answer(controller.as_ref()));
        event.apply(controller.as_mut());
        text += &row(&event, &answer(controller.as_ref()));
        if event.name == "ack" {
            last = event;
        }
    }
    let after = |s: u64| last.now + s * 1_000_000;
    let marked =
        Event { now: after(1), sent_at: after(1) - 50_000, flags: last.flags | MARKED, ..last.clone() };
    let idle = Event { name: "idle".to_owned(), now: after(4), ..Event::default() };
    let limited =
        Event { now: after(5), sent_at: after(5) - 50_000, flags: last.flags | APP_LIMITED, ..last.clone() };
    let timeout =
        Event { name: "timeout".to_owned(), now: after(6), in_flight: 10 * MSS, ..Event::default() };
    let mtu = Event { name: "mtu".to_owned(), delivered: 1200, ..Event::default() };
    for event in [marked, idle, limited, timeout, mtu] {
        event.apply(controller.as_mut());
        text += &row(&event, &answer(controller.as_ref()));
    }
    text
}

#[test]
fn ebb_replays_its_vectors_and_reaches_every_phase_and_both_ways_of_spreading() {
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(file(), record()).expect("writable");
    }
    let text = std::fs::read_to_string(file()).expect("vectors/ebb.csv is there");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("# {}", parameters()).as_str()));
    assert_eq!(lines.next(), Some(format!("{EVENT},{ANSWER}").as_str()));
    let mut controller = ebb();
    let (mut phases, mut pairs, mut yields_share) = ([0; 3], 0, false);
    for (i, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let (event, expected) = (Event::parse(&cells[..11]), &cells[11..]);
        event.apply(controller.as_mut());
        let answer = answer(controller.as_ref());
        for ((column, after), expected) in ANSWER.split(',').zip(&answer).zip(expected) {
            assert_eq!(after.to_string(), **expected, "event {i}: {column} after {event:?}");
        }
        phases[answer[3] as usize] += 1;
        pairs += u64::from(answer[2] > 0);
        yields_share |= event.now > 26_000_000 && answer[3] == 2;
    }
    println!("{phases:?}, {pairs} with pairs");
    assert!(phases.iter().all(|count| *count >= 20) && pairs >= 20, "{phases:?}, {pairs}");
    assert!(yields_share, "the fair queue is found");
}

/// The 104 bytes that Linux keeps for a rule in a socket are too few: a kernel allocates the state. The parameters are those of all sockets.
#[test]
fn the_state_of_a_connection_fits_512_bytes() {
    use afteryou_cc::ebb_core::{Params, State};
    let sizes = [size_of::<State>(), size_of::<Params>(), size_of::<afteryou_cc::ebb::Ebb>()];
    println!("bytes of state, of parameters and of a controller: {sizes:?}");
    assert!(size_of::<State>() <= 512);
}
