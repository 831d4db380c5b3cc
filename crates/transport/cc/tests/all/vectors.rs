//! The recorded events and states of the LEDBAT family, replayed: `crates/transport/cc/vectors/README.md` has the format.

use afteryou_cc::fixed::Bytes16;
use afteryou_cc::ledbat_core::{fledbat, ledbat, ledbatpp, AckEvent, Delay, Kept};
use afteryou_cc::ledbat_core::{APP_LIMITED, HAS_DELAY, MARKED, ROUND_START};
use std::fmt::Write;
use std::path::{Path, PathBuf};

const KEPT: Kept = Kept { minutes: 10, samples: 4 };
const MSS: u64 = 1448;
/// Recorded events of each rule.
const EVENTS: usize = 1500;

/// A rule whose state can be recorded.
trait Rule {
    /// Name of the file.
    const NAME: &'static str;
    /// Returns the names of the state's columns.
    fn columns() -> Vec<&'static str>;
    fn new() -> Self;
    /// Returns the parameters as `name=value`.
    fn params(&self) -> String;
    fn apply(&mut self, event: &Event);
    fn state(&self) -> Vec<u64>;
    fn cwnd(&self) -> u64;
}

/// A line's event: its name and seven integers.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    name: String,
    ack: AckEvent,
}

impl Event {
    fn parse(cells: &[&str]) -> Event {
        let [name, numbers @ ..] = cells else { panic!("an empty line") };
        let number = |i: usize| numbers[i].parse::<u64>().unwrap_or_else(|_| panic!("{:?}", numbers[i]));
        let ack = AckEvent {
            now: number(0),
            sent_at: number(1),
            smoothed_rtt: number(2),
            delivered: number(3),
            flightsize: number(4),
            delay_us: number(5) as u32,
            flags: number(6) as u32,
        };
        Event { name: (*name).to_owned(), ack }
    }

    fn line(&self) -> String {
        let AckEvent { now, sent_at, smoothed_rtt, delivered, flightsize, delay_us, flags } = self.ack;
        format!("{},{now},{sent_at},{smoothed_rtt},{delivered},{flightsize},{delay_us},{flags}", self.name)
    }
}

/// Columns of a [`Delay`], without its gaps and flags.
const DELAYS: &[&str] = &[
    "sampled_at",
    "since0",
    "since1",
    "since2",
    "since3",
    "since4",
    "since5",
    "since6",
    "since7",
    "since8",
    "since9",
    "sample0",
    "sample1",
    "sample2",
    "sample3",
];

fn delay_state<const M: usize, const S: usize, const O: usize>(delay: &Delay<M, S, O>) -> Vec<u64> {
    let small = delay.since.iter().chain(&delay.samples).chain(&delay.gaps).map(|us| u64::from(*us));
    let counts = [delay.count, delay.is_known].map(u64::from);
    std::iter::once(delay.sampled_at).chain(small).chain(counts).collect()
}

struct Rfc6817(ledbat::Params, ledbat::Compact);

impl Rule for Rfc6817 {
    const NAME: &'static str = "ledbat";
    fn columns() -> Vec<&'static str> {
        [&Carofiglio::columns()[..], &["round", "previous"]].concat()
    }

    fn new() -> Rfc6817 {
        let params = ledbat::Params {
            target_us: 100_000,
            gain16: 1 << 16,
            decrease_gain16: 1 << 16,
            allowed_increase: 1,
            tether: 1,
            init_cwnd: 2,
            min_cwnd: 2,
            mss: MSS,
            kept: KEPT,
        };
        Rfc6817(params, ledbat::State::new(&params))
    }

    fn params(&self) -> String {
        let p = &self.0;
        format!(
            "target_us={} gain16={} decrease_gain16={} allowed_increase={} tether={} init_cwnd={} min_cwnd={} mss={} \
             minutes={} samples={}",
            p.target_us, p.gain16, p.decrease_gain16, p.allowed_increase, p.tether, p.init_cwnd, p.min_cwnd, p.mss,
            p.kept.minutes, p.kept.samples
        )
    }

    fn apply(&mut self, event: &Event) {
        let (Rfc6817(p, state), ack) = (self, &event.ack);
        match event.name.as_str() {
            "ack" => state.on_ack(p, ack),
            "loss" => _ = state.on_loss(p, ack.sent_at, ack.now),
            "timeout" => state.on_timeout(p, ack.now),
            "idle" => state.on_idle(p),
            "mtu" => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            "wake" => {}
            other => panic!("no event {other:?}"),
        }
    }

    fn state(&self) -> Vec<u64> {
        let state = &self.1;
        let used = [state.window_use.round, state.window_use.previous].map(u64::from);
        [vec![state.cwnd.0, state.gate.0], delay_state(&state.delay), used.to_vec()].concat()
    }

    fn cwnd(&self) -> u64 {
        self.1.cwnd.to_bytes()
    }
}

struct Carofiglio(fledbat::Params, fledbat::Compact);

impl Rule for Carofiglio {
    const NAME: &'static str = "fledbat";
    fn columns() -> Vec<&'static str> {
        [&["cwnd16", "gate"], DELAYS, &["gap0", "gap1", "gap2", "count", "is_known"]].concat()
    }

    fn new() -> Carofiglio {
        let params = fledbat::Params {
            target_us: 25_000,
            alpha16: 1 << 16,
            zeta16: 6554,
            init_cwnd: 2,
            min_cwnd: 2,
            mss: MSS,
            kept: KEPT,
        };
        Carofiglio(params, fledbat::State::new(&params))
    }

    fn params(&self) -> String {
        let p = &self.0;
        format!(
            "target_us={} alpha16={} zeta16={} init_cwnd={} min_cwnd={} mss={} minutes={} samples={}",
            p.target_us, p.alpha16, p.zeta16, p.init_cwnd, p.min_cwnd, p.mss, p.kept.minutes, p.kept.samples
        )
    }

    fn apply(&mut self, event: &Event) {
        let (Carofiglio(p, state), ack) = (self, &event.ack);
        match event.name.as_str() {
            "ack" => state.on_ack(p, ack),
            "loss" => _ = state.on_loss(p, ack.sent_at, ack.now),
            "timeout" => state.on_timeout(p, ack.now),
            "idle" => state.on_idle(),
            "mtu" => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            "wake" => {}
            other => panic!("no event {other:?}"),
        }
    }

    fn state(&self) -> Vec<u64> {
        let state = &self.1;
        [vec![state.cwnd.0, state.gate.0], delay_state(&state.delay)].concat()
    }

    fn cwnd(&self) -> u64 {
        self.1.cwnd.to_bytes()
    }
}

struct PlusPlus(ledbatpp::Params, ledbatpp::Compact);

impl Rule for PlusPlus {
    const NAME: &'static str = "ledbatpp";
    fn columns() -> Vec<&'static str> {
        let own = [
            "cwnd16",
            "ssthresh16",
            "round_cwnd16",
            "round_left16",
            "gate",
            "smoothed_rtt",
            "began",
            "due",
            "phase",
            "slowdowns",
        ];
        [&own, DELAYS, &["count", "is_known"]].concat()
    }

    fn new() -> PlusPlus {
        let params = ledbatpp::Params {
            target_us: 60_000,
            divisor_max: 16,
            constant16: 1 << 16,
            exit_us: 45_000,
            mss: MSS,
            kept: KEPT,
            slowdowns: 1,
        };
        PlusPlus(params, ledbatpp::State::new(&params))
    }

    fn params(&self) -> String {
        let p = &self.0;
        format!(
            "target_us={} divisor_max={} constant16={} exit_us={} slowdowns={} init_cwnd=2 mss={} minutes={} samples={}",
            p.target_us, p.divisor_max, p.constant16, p.exit_us, p.slowdowns, p.mss, p.kept.minutes, p.kept.samples
        )
    }

    fn apply(&mut self, event: &Event) {
        let (PlusPlus(p, state), ack, v) = (self, &event.ack, &mut ledbatpp::Draft);
        match event.name.as_str() {
            "ack" => state.on_ack(p, ack, v),
            "loss" => _ = state.on_loss(p, ack.sent_at, ack.now, v),
            "timeout" => state.on_timeout(p, ack.now, ack.flightsize, ack.flags, v),
            "idle" => state.on_idle(p, v),
            "mtu" => {
                p.mss = ack.delivered;
                state.on_mtu(p);
            }
            "wake" => state.run_slowdown(p, ack.now, v),
            other => panic!("no event {other:?}"),
        }
    }

    fn state(&self) -> Vec<u64> {
        let s = &self.1;
        let windows = [s.cwnd, s.ssthresh, s.round_cwnd, s.round_left].map(|window: Bytes16| window.0);
        let times = [s.gate.0, s.smoothed_rtt, s.began, s.due, s.phase as u64, s.slowdowns.into()];
        [windows.to_vec(), times.to_vec(), delay_state(&s.delay)].concat()
    }

    fn cwnd(&self) -> u64 {
        self.1.cwnd.to_bytes()
    }
}

/// Events of a path: rounds of a queue that swings, losses, marks, timeouts, idle minutes, another packet size.
struct Course {
    random: u32,
    now: u64,
    queue_us: u64,
    mss: u64,
    acks_in_round: u64,
}

impl Course {
    fn new() -> Course {
        Course { random: 1, now: 1_000_000_000, queue_us: 0, mss: MSS, acks_in_round: 0 }
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random = self.random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u64::from(self.random >> 8) % below
    }

    /// Returns the `i`-th event of a flow with a window of `cwnd` bytes.
    fn next(&mut self, i: usize, cwnd: u64) -> Event {
        let event = |name: &str, ack| Event { name: name.to_owned(), ack };
        let sent_ago = 20_000_000 + self.draw(120_000_000);
        let plain =
            AckEvent { now: self.now, sent_at: self.now.saturating_sub(sent_ago), ..AckEvent::default() };
        let consecutive = |flags| AckEvent { flightsize: cwnd, flags, ..plain };
        match i {
            400 | 1201 => return event("timeout", consecutive(1)),
            401 | 402 => {
                self.now += 900_000_000 << (i - 400);
                return event("timeout", consecutive(i as u32 - 399));
            }
            600 | 1000 => {
                self.now += [7, 700][i / 1000] * 1_000_000_000;
                return event("idle", plain);
            }
            800 => {
                self.mss = 1200;
                return event("mtu", AckEvent { delivered: self.mss, ..AckEvent::default() });
            }
            _ if i % 97 == 96 => return event("loss", plain),
            _ if i % 7 == 6 => return event("wake", AckEvent { now: self.now, ..AckEvent::default() }),
            _ => {}
        }
        self.ack(i, cwnd, plain)
    }

    fn ack(&mut self, i: usize, cwnd: u64, plain: AckEvent) -> Event {
        // A queue that swings between nothing and 180 ms, and 40 ms of round trip.
        let swing = (i as u64 % 300).abs_diff(150) * 1_200;
        self.queue_us = (self.queue_us * 3 + swing + self.draw(2_000)) / 4;
        let rtt = 40_000_000 + self.queue_us * 1_000;
        // The minutes pass quickly now and then.
        self.now += if i % 50 == 49 { 13_000_000_000 } else { 1_000_000 + self.draw(30_000_000) };
        let delivered = self.mss * (1 + self.draw(3));
        self.acks_in_round = self.acks_in_round.saturating_sub(1);
        let mut flags = 0;
        if self.acks_in_round == 0 {
            self.acks_in_round = (cwnd / self.mss / 2).clamp(2, 40);
            flags |= ROUND_START;
        }
        flags |= if i % 11 == 5 { 0 } else { HAS_DELAY };
        flags |= if i % 300 > 270 { APP_LIMITED } else { 0 };
        flags |= if i % 401 == 200 { MARKED } else { 0 };
        let is_limited = flags & APP_LIMITED != 0;
        let ack = AckEvent {
            now: self.now,
            smoothed_rtt: if i < 2 { 0 } else { rtt },
            delivered,
            flightsize: if is_limited { cwnd / 3 } else { cwnd },
            // The unknown offset of two clocks brings the samples close to where they wrap.
            delay_us: (4_294_900_000u64 + self.queue_us + self.draw(500)) as u32,
            flags,
            ..plain
        };
        Event { name: "ack".to_owned(), ack }
    }
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors").join(format!("{name}.csv"))
}

fn record<R: Rule>() -> String {
    let (mut rule, mut path) = (R::new(), Course::new());
    let mut text = format!("# {}\n", rule.params());
    let columns = R::columns().join(",");
    writeln!(text, "event,now,sent_at,smoothed_rtt,delivered,flightsize,delay_us,flags,{columns}").unwrap();
    for i in 0..EVENTS {
        let event = path.next(i, rule.cwnd());
        rule.apply(&event);
        let state: Vec<String> = rule.state().iter().map(u64::to_string).collect();
        writeln!(text, "{},{}", event.line(), state.join(",")).unwrap();
    }
    text
}

/// Replays a rule's file and returns its events with the windows after them, bytes.
fn replay<R: Rule>() -> Vec<(Event, u64)> {
    let path = file(R::NAME);
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        std::fs::write(&path, record::<R>()).expect("writable");
    }
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut rule = R::new();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("# {}", rule.params()).as_str()));
    let columns: Vec<&str> = lines.next().expect("names of columns").split(',').collect();
    assert_eq!(columns[8..], R::columns());
    let mut replayed = Vec::new();
    for (i, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let event = Event::parse(&cells[..8]);
        let expected: Vec<u64> = cells[8..].iter().map(|cell| cell.parse().expect("an integer")).collect();
        rule.apply(&event);
        for ((column, after), expected) in R::columns().iter().zip(rule.state()).zip(&expected) {
            assert_eq!(after, *expected, "{}, event {i}: {column} after {event:?}", R::NAME);
        }
        assert_eq!(expected.len(), R::columns().len(), "event {i}");
        replayed.push((event, rule.cwnd()));
    }
    assert_eq!(replayed.len(), EVENTS);
    replayed
}

mod controllers {
    //! Today's controllers are the same arithmetic.
    use super::Event;
    use afteryou_base::param::Value;
    use afteryou_cc::ledbat_core::{APP_LIMITED, HAS_DELAY, MARKED, ROUND_START};
    use afteryou_cc::{list, Ack, Idle, Loss, Marks, Sent, Setup, Span, Time, Timeout};

    /// Asserts that a controller of the list has the recorded windows after the recorded events.
    pub fn have_the_same_windows(name: &str, overrides: &[(&'static str, Value)], recorded: &[(Event, u64)]) {
        let mut controller = list::find(name).unwrap().build(overrides, Setup::of(1448)).unwrap();
        for (i, (event, cwnd)) in recorded.iter().enumerate() {
            let (ack, now) = (&event.ack, Time(event.ack.now));
            match event.name.as_str() {
                "ack" => {
                    let delay = ack.has(HAS_DELAY).then_some(ack.delay_us);
                    controller.on_ack(&Ack {
                        now,
                        newly_acked: ack.delivered,
                        flightsize: ack.flightsize,
                        in_flight: ack.flightsize,
                        sent_at: Time(ack.sent_at),
                        smoothed_rtt: Span(ack.smoothed_rtt).nonzero(),
                        one_way_delay: delay,
                        round_start: ack.has(ROUND_START),
                        app_limited: ack.has(APP_LIMITED),
                        marks: Marks::Count(ack.has(MARKED).into()),
                        ..Ack::default()
                    });
                }
                "loss" => controller.on_loss(&Loss {
                    now,
                    sent: Sent { now: Time(ack.sent_at), ..Sent::default() },
                    ..Loss::default()
                }),
                "timeout" => {
                    let (flightsize, consecutive) = (ack.flightsize, ack.flags);
                    controller.on_timeout(&Timeout { now, flightsize, consecutive });
                }
                "idle" => {
                    controller.on_idle(&Idle { now, idle_for: Span::from_secs(2), rto: Span::from_secs(1) })
                }
                "mtu" => controller.on_mtu(ack.delivered as u32),
                _ => controller.on_wake(now),
            }
            assert_eq!(controller.directive().cwnd, *cwnd, "{name}, event {i}: {event:?}");
        }
    }
}

const UNCORRECTED: [(&str, afteryou_base::param::Value); 1] =
    [("clock_skew", afteryou_base::param::Value::Choice("none"))];

#[test]
fn the_rule_of_rfc_6817_replays_its_vectors_and_so_does_the_controller() {
    controllers::have_the_same_windows("ledbat", &UNCORRECTED, &replay::<Rfc6817>());
}

#[test]
fn the_rule_of_fledbat_replays_its_vectors_and_so_does_the_controller() {
    controllers::have_the_same_windows("fledbat", &UNCORRECTED, &replay::<Carofiglio>());
}

#[test]
fn the_rule_of_ledbat_plus_plus_replays_its_vectors_and_reaches_every_phase() {
    replay::<PlusPlus>();
    let text = std::fs::read_to_string(file("ledbatpp")).unwrap();
    let column = PlusPlus::columns().iter().position(|column| *column == "phase").unwrap() + 8;
    for phase in ["0", "1", "2", "3", "4"] {
        let is_reached = text.lines().skip(2).any(|line| line.split(',').nth(column) == Some(phase));
        assert!(is_reached, "phase {phase} is in no vector");
    }
}

#[test]
fn states_without_parameters_fit_what_a_kernel_keeps_for_a_socket() {
    assert_eq!(size_of::<ledbat::Compact>(), 104);
    assert_eq!(size_of::<fledbat::Compact>(), 96);
    assert_eq!(size_of::<ledbatpp::Compact>(), 144);
}
