//! Al-Saadi et al. (2017): the rules of libutp and libutp-mod fed with acks and losses, and CoDel fed with packets.

use super::Function;
use afteryou_aqm::script::{Driver as QueueDriver, Event as QueueEvent, Fate};
use afteryou_aqm::{Limit, Packet, Queue, Site};
use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::script::{Driver, Event};
use afteryou_cc::{Ack, Controller, Loss, Sent, Setup};
use afteryou_scenario::random::stream;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "libutp_growth",
        help: "queuing delay, ms: growth of libutp's window when a window of data is acknowledged, bytes",
        inputs: 1,
        compute: |inputs| growth("libutp", inputs[0]),
    },
    Function {
        name: "libutp_mod_growth",
        help: "queuing delay, ms: the same of libutp-mod",
        inputs: 1,
        compute: |inputs| growth("libutp-mod", inputs[0]),
    },
    Function {
        name: "rfc6817_growth",
        help: "queuing delay, ms: the same of LEDBAT with a gain of one, in packets of 1382 B",
        inputs: 1,
        compute: |inputs| growth("ledbat", inputs[0]),
    },
    Function {
        name: "utp_after_loss",
        help: "0 for libutp, 1 for libutp-mod, 2 for LEDBAT: the window after a loss over the window before",
        inputs: 1,
        compute: |inputs| after_loss(variant(inputs[0])),
    },
    Function {
        name: "utp_halvings",
        help: "0 for libutp, 1 for libutp-mod, 2 for LEDBAT: windows that are halved by ten losses 60 ms apart",
        inputs: 1,
        compute: |inputs| halvings(variant(inputs[0]), 10, 60),
    },
    Function {
        name: "utp_halvings_in_a_second",
        help: "0 for libutp, 1 for libutp-mod, 2 for LEDBAT: windows that are halved by losses 20 ms apart in a second",
        inputs: 1,
        compute: |inputs| halvings(variant(inputs[0]), 50, 20),
    },
    Function {
        name: "utp_base_history",
        help: "0 for libutp, 1 for libutp-mod, 2 for LEDBAT: whole minutes for which the base delay remembers its smallest sample",
        inputs: 1,
        compute: |inputs| base_history(variant(inputs[0])),
    },
    Function {
        name: "codel_first_drop",
        help: "time with a delay of 10 ms before CoDel's first drop, ms",
        inputs: 0,
        compute: |_| codel(10.0).first().copied().unwrap_or(f64::NAN),
    },
    Function {
        name: "codel_drops_below_target",
        help: "drops of CoDel in ten seconds with a delay of 4.5 ms",
        inputs: 0,
        compute: |_| codel(4.5).len() as f64,
    },
    Function {
        name: "codel_interval",
        help: "number of a drop, from 1: the time until the next one over 100 ms / sqrt(number)",
        inputs: 1,
        compute: |inputs| codel_interval(inputs[0] as usize),
    },
    Function {
        name: "pie_setting",
        help: "0 for RFC 8033, 1 for Linux 3.17; 0 for the target, 1 for the update period, 2 for the burst: PIE's value, ms",
        inputs: 2,
        compute: |inputs| pie_setting(inputs[0] as usize, inputs[1] as usize),
    },
    Function {
        name: "pie_least_before_drop",
        help: "probability that has accumulated at a drop of PIE, with the packet that is dropped: the least",
        inputs: 0,
        compute: |_| accumulated().iter().map(|(_, with)| *with).fold(f64::INFINITY, f64::min),
    },
    Function {
        name: "pie_most_before_drop",
        help: "the same without the packet that is dropped: the most",
        inputs: 0,
        compute: |_| accumulated().iter().map(|(without, _)| *without).fold(f64::NAN, f64::max),
    },
];

/// Payload of libutp's packets, bytes.
const MSS: u32 = 1382;
/// Smoothed round-trip time of the script.
const RTT: Span = Span::from_millis(40);
/// One-way delay of the empty path, us.
const BASE_US: u32 = 20_000;
/// Acks that fill the filter of the current delay.
const FILTER: u64 = 4;

fn ack(now_ms: u64, queuing_ms: f64, bytes: u64) -> Event {
    let one_way_delay = Some(BASE_US + (queuing_ms * 1e3) as u32);
    let now = Time::from_millis(now_ms);
    Event::Ack(Ack {
        now,
        newly_acked: bytes,
        // LEDBAT's window stays close to what is in flight, however little is acknowledged.
        flightsize: bytes.max(100 * u64::from(MSS)),
        smoothed_rtt: RTT,
        one_way_delay,
        ..Ack::default()
    })
}

/// A controller that has left slow start, with a window of some fifty packets, and the time of the script, ms.
fn settled(name: &str) -> Option<(Box<dyn Controller>, u64)> {
    let mut controller = afteryou_cc::list::find(name)?.build(&[], Setup::of(MSS)).ok()?;
    let mut driver = Driver::new(controller.as_mut());
    let mut now = 40;
    let mut cwnd = driver.apply(&ack(now, 0.0, u64::from(MSS))).ok()?.directive.cwnd;
    while cwnd < 50 * u64::from(MSS) {
        now += 40;
        cwnd = driver.apply(&ack(now, 0.0, cwnd)).ok()?.directive.cwnd;
    }
    // A delay close to the target ends slow start, and moves the window hardly at all.
    for _ in 0..FILTER {
        now += 40;
        driver.apply(&ack(now, 99.0, 1)).ok()?;
    }
    Some((controller, now))
}

fn growth(name: &str, queuing_ms: f64) -> f64 {
    let measured = || {
        let (mut controller, mut now) = settled(name)?;
        let mut driver = Driver::new(controller.as_mut());
        for _ in 0..FILTER {
            now += 40;
            driver.apply(&ack(now, queuing_ms, 1)).ok()?;
        }
        let before = driver.apply(&Event::Until(Time::from_millis(now))).ok()?.directive.cwnd;
        let after = driver.apply(&ack(now + 40, queuing_ms, before)).ok()?.directive.cwnd;
        Some(after as f64 - before as f64)
    };
    measured().unwrap_or(f64::NAN)
}

fn loss(now_ms: u64, cwnd: u64) -> Event {
    // The lost packet left a round trip earlier, when the window was no smaller.
    let sent = Sent { now: Time(Time::from_millis(now_ms).0 - RTT.0), ..Sent::default() };
    Event::Loss(Loss { now: Time::from_millis(now_ms), sent, flightsize: cwnd, ..Loss::default() })
}

fn after_loss(name: &str) -> f64 {
    let measured = || {
        let (mut controller, now) = settled(name)?;
        let before = controller.directive().cwnd;
        let after = Driver::new(controller.as_mut()).apply(&loss(now + 200, before)).ok()?.directive.cwnd;
        Some(after as f64 / before as f64)
    };
    measured().unwrap_or(f64::NAN)
}

fn variant(number: f64) -> &'static str {
    match number as u32 {
        0 => "libutp",
        1 => "libutp-mod",
        _ => "ledbat",
    }
}

fn halvings(name: &str, losses: u64, apart_ms: u64) -> f64 {
    let measured = || {
        let (mut controller, now) = settled(name)?;
        let (mut cwnd, mut halved) = (controller.directive().cwnd, 0);
        let mut driver = Driver::new(controller.as_mut());
        for number in 0..losses {
            let after = driver.apply(&loss(now + 200 + apart_ms * number, cwnd)).ok()?.directive.cwnd;
            halved += u32::from(after < cwnd);
            // An ack in between, so that there is always a window to halve.
            cwnd = driver.apply(&ack(now + 205 + apart_ms * number, 0.0, after.max(1))).ok()?.directive.cwnd;
        }
        Some(f64::from(halved))
    };
    measured().unwrap_or(f64::NAN)
}

/// Whole minutes until a controller forgets one sample that is 50 ms shorter than those that follow it each second.
fn base_history(name: &str) -> f64 {
    let measured = || {
        let mut controller = afteryou_cc::list::find(name)?.build(&[], Setup::of(MSS)).ok()?;
        let mut driver = Driver::new(controller.as_mut());
        driver.apply(&ack(0, 0.0, 1)).ok()?;
        let is_forgotten = |second: &u64| {
            let state = driver.apply(&ack(1000 * second, 50.0, 1)).ok();
            // The filter of the current delay holds the short sample at first.
            *second > FILTER && state.and_then(|state| state.snapshot.queuing_delay) == Some(Span::ZERO)
        };
        (1..3600).find(is_forgotten)
    };
    measured().map_or(f64::NAN, |second| (second / 60) as f64)
}

/// A queue of a discipline, empty.
fn queue(name: &str, settings: &[(&'static str, Value)]) -> Option<Box<dyn Queue<u64>>> {
    let site = Site { limit: Limit::Packets(1000), bits_per_second: 10_000_000, random: stream(1, "study") };
    afteryou_aqm::list::find(name)?.build(settings, site).ok()
}

/// Times between arrivals and between departures, us.
const STEP_US: u64 = 100;

fn arrive(at_us: u64, number: u64) -> QueueEvent<u64> {
    QueueEvent::Arrive { now: Time::from_micros(at_us), packet: Packet::from_tos(1500, 0, 0, number) }
}

/// The times at which CoDel drops, ms, where every packet waits for so long from time zero on, in ten seconds.
fn codel(delay_ms: f64) -> Vec<f64> {
    let Some(mut queue) = queue("codel", &[]) else { return Vec::new() };
    let mut driver = QueueDriver::new(queue.as_mut());
    let waiting = (delay_ms * 1e3) as u64 / STEP_US;
    let (mut drops, mut in_queue) = (Vec::new(), 0);
    for number in 0..100_000 + waiting {
        let at_us = number * STEP_US;
        // What was dropped is replaced, so that the delay stays.
        while in_queue < (number + 1).min(waiting) {
            if driver.apply(arrive(at_us, number)).is_err() {
                return Vec::new();
            }
            in_queue += 1;
        }
        if number < waiting {
            continue;
        }
        let Ok(fates) = driver.apply(QueueEvent::Serve { now: Time::from_micros(at_us) }) else {
            return Vec::new();
        };
        in_queue -= fates.len() as u64;
        let dropped = fates.iter().filter(|fate| matches!(fate, Fate::Dropped { .. }));
        drops.extend(dropped.map(|_| (number - waiting) as f64 * STEP_US as f64 / 1e3));
    }
    drops
}

fn codel_interval(number: usize) -> f64 {
    let drops = codel(10.0);
    let pair = drops.get(number.wrapping_sub(1)).zip(drops.get(number));
    pair.map_or(f64::NAN, |(one, next)| (next - one) / (100.0 / (number as f64).sqrt()))
}

fn pie_setting(preset: usize, which: usize) -> f64 {
    let found = || {
        let pie = afteryou_aqm::list::find("pie")?;
        let preset =
            pie.presets.iter().find(|known| Some(&known.name) == ["rfc8033", "linux-3.17"].get(preset))?;
        let name = *["target", "tupdate", "burst"].get(which)?;
        let own = preset.rows.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let default = || pie.params.iter().find(|param| param.name == name).map(|param| param.default);
        match own.or_else(default)? {
            Value::Time(time) => Some(time.as_secs_f64() * 1e3),
            _ => None,
        }
    };
    found().unwrap_or(f64::NAN)
}

/// PIE's target in [`accumulated`], and the delay that it sees, ms.
const PIE_DELAY_MS: (u64, u64) = (1, 11);
/// Growth of its probability in an update: 1 s⁻¹ × 10 ms.
const PIE_STEP: f64 = 0.01;
/// Times between arrivals there, us.
const PIE_APART_US: u64 = 20;

/// The probability that accumulates between drops of a PIE that sees the same delay for ten seconds, without and with the packet
/// that is dropped. One update in a second and no other term make the probability a staircase that is known from outside.
fn accumulated() -> Vec<(f64, f64)> {
    let (target, delay) = PIE_DELAY_MS;
    let settings = [
        ("target", Value::Time(Span::from_millis(target))),
        ("tupdate", Value::Time(Span::from_millis(1000))),
        ("burst", Value::Time(Span::ZERO)),
        ("alpha", Value::Number(1.0)),
        ("beta", Value::Number(0.0)),
        ("tuning", Value::Choice("none")),
    ];
    let Some(mut queue) = queue("pie", &settings) else { return Vec::new() };
    let mut driver = QueueDriver::new(queue.as_mut());
    let waiting = delay * 1000 / PIE_APART_US;
    let (mut sums, mut sum, mut in_queue) = (Vec::new(), 0.0, 0);
    for number in 0..10_000_000 / PIE_APART_US {
        let at_us = number * PIE_APART_US;
        let probability = PIE_STEP * (at_us / 1_000_000) as f64;
        // What was dropped is replaced, so that the delay stays.
        while in_queue < (number + 1).min(waiting) {
            let Ok(fates) = driver.apply(arrive(at_us, number)) else { return Vec::new() };
            in_queue += 1 - fates.len() as u64;
            match fates.is_empty() {
                true => sum += probability,
                false => {
                    sums.push((sum, sum + probability));
                    sum = 0.0;
                }
            }
        }
        if number < waiting {
            continue;
        }
        let Ok(fates) = driver.apply(QueueEvent::Serve { now: Time::from_micros(at_us) }) else {
            return Vec::new();
        };
        in_queue -= fates.len() as u64;
    }
    sums
}
