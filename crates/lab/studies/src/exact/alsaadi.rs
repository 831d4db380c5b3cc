//! Al-Saadi et al. (2017): the rules of libutp and libutp-mod fed with acks and losses, CoDel and PIE fed with packets.

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
        help: "queuing delay, ms: the same of LEDBAT with a gain of one",
        inputs: 1,
        compute: |inputs| growth("ledbat", inputs[0]),
    },
    Function {
        name: "libutp_after_loss",
        help: "0 for libutp, 1 for libutp-mod, 2 for RFC 6817: the window after a loss over the window before",
        inputs: 1,
        compute: |inputs| after_loss(variant(inputs[0])),
    },
    Function {
        name: "libutp_base_history",
        help: "0 for libutp, 2 for RFC 6817: time after which a lower base delay is forgotten, min",
        inputs: 1,
        compute: |inputs| base_history(variant(inputs[0])),
    },
    Function {
        name: "libutp_halvings_in_a_trip",
        help: "0 for libutp, 1 for libutp-mod, 2 for RFC 6817: windows that are halved by ten losses 3 ms apart",
        inputs: 1,
        compute: |inputs| halvings(variant(inputs[0]), 10, 3),
    },
    Function {
        name: "libutp_halvings",
        help: "0 for libutp, 1 for libutp-mod, 2 for RFC 6817: windows that are halved by ten losses 60 ms apart",
        inputs: 1,
        compute: |inputs| halvings(variant(inputs[0]), 10, 60),
    },
    Function {
        name: "libutp_halvings_in_a_second",
        help: "0 for libutp, 1 for libutp-mod: windows that are halved by losses 20 ms apart in a second",
        inputs: 1,
        compute: |inputs| halvings(variant(inputs[0]), 50, 20),
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
        name: "pie_between_drops",
        help: "0 for the least, 1 for the most: drop probabilities of PIE added up from one drop to the next",
        inputs: 1,
        compute: |inputs| pie_between_drops(inputs[0] == 1.0),
    },
];

/// Payload of libutp's packets, bytes.
const MSS: u32 = 1382;
/// Smoothed round-trip time of the script.
const RTT: Span = Span::from_millis(40);
/// One-way base delay, us.
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
        smoothed_rtt: Some(RTT),
        one_way_delay,
        ..Ack::default()
    })
}

/// Returns a controller that has left slow start, with a window of some fifty packets, and the time of the script, ms.
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

/// Returns a loss of a packet that left a round trip before.
fn loss(now_ms: u64, cwnd: u64) -> Event {
    let now = Time::from_millis(now_ms);
    let sent = Sent { now: Time(now.0 - RTT.0), ..Sent::default() };
    Event::Loss(Loss { now, sent, flightsize: cwnd, ..Loss::default() })
}

/// Returns the minutes from the last sample of the base delay, ten minutes into the connection, until the delay of an idle
/// path is taken as 30 ms more.
fn base_history(name: &str) -> f64 {
    let measured = || {
        let mut controller = afteryou_cc::list::find(name)?.build(&[], Setup::of(MSS)).ok()?;
        let mut driver = Driver::new(controller.as_mut());
        (1..=600).try_for_each(|second| driver.apply(&ack(second * 1000, 0.0, 1)).ok().map(drop))?;
        // The filter of the current delay holds old samples for some seconds.
        let seconds = (601..3600).find(|second| {
            let answer = driver.apply(&ack(second * 1000, 30.0, 1));
            *second > 620
                && answer
                    .is_ok_and(|state| state.snapshot.queuing_delay.is_some_and(|delay| delay == Span::ZERO))
        })?;
        Some((seconds - 600) as f64 / 60.0)
    };
    measured().unwrap_or(f64::NAN)
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
    match number {
        0.0 => "libutp",
        1.0 => "libutp-mod",
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
            cwnd = driver.apply(&ack(now + 202 + apart_ms * number, 0.0, after.max(1))).ok()?.directive.cwnd;
        }
        Some(f64::from(halved))
    };
    measured().unwrap_or(f64::NAN)
}

/// Returns a queue of a discipline, empty.
fn queue(name: &str, settings: &[(&'static str, Value)]) -> Option<Box<dyn Queue<u64>>> {
    let site =
        Site { limit: Limit::Packets(10_000), bits_per_second: 120_000_000, random: stream(1, "study") };
    afteryou_aqm::list::find(name)?.build(settings, site).ok()
}

/// Times between arrivals and between departures, us.
const STEP_US: u64 = 100;

fn arrive(at_us: u64, number: u64) -> QueueEvent<u64> {
    QueueEvent::Arrive { now: Time::from_micros(at_us), packet: Packet::from_tos(1500, 0, 0, number) }
}

/// Returns the times at which CoDel drops, ms, where every packet waits for so long from time zero on, in ten seconds.
fn codel(delay_ms: f64) -> Vec<f64> {
    let Some(mut queue) = queue("codel", &[]) else { return Vec::new() };
    let mut driver = QueueDriver::new(queue.as_mut());
    let waiting = (delay_ms * 1e3) as u64 / STEP_US;
    let (mut drops, mut in_queue) = (Vec::new(), 0);
    for number in 0..100_000 + waiting {
        let at_us = number * STEP_US;
        // What was dropped is replaced, so that the delay does not change.
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

/// PIE's script: packets 10 us apart that wait for 55 ms, 40 ms above the target. One update of the probability, after a second,
/// makes it the gain times these 40 ms, and the next one is a second away.
const PIE_STEP_US: u64 = 10;
const PIE_WAITING: u64 = 5500;
const PIE_ALPHA: f64 = 1.0;
const PIE_PROBABILITY: f64 = 0.04;

/// Returns the numbers of arrivals from one drop of PIE to the next, all with the same probability.
fn pie_gaps() -> Option<Vec<u64>> {
    let second = Value::Time(Span::from_secs(1));
    let settings = [
        ("tupdate", second),
        ("burst", Value::Time(Span::ZERO)),
        ("alpha", Value::Number(PIE_ALPHA)),
        ("beta", Value::Number(0.0)),
        ("tuning", Value::Choice("none")),
    ];
    let mut queue = queue("pie", &settings)?;
    let mut driver = QueueDriver::new(queue.as_mut());
    let (mut gaps, mut in_queue, mut since) = (Vec::new(), 0, 0);
    for at_us in (0..2_000_000).step_by(PIE_STEP_US as usize) {
        while in_queue < PIE_WAITING.min(at_us / PIE_STEP_US + 1) {
            let fates = driver.apply(arrive(at_us, at_us)).ok()?;
            since += 1;
            match fates.iter().any(|fate| matches!(fate, Fate::Dropped { .. })) {
                true => gaps.push(std::mem::take(&mut since)),
                false => in_queue += 1,
            }
        }
        if at_us >= PIE_WAITING * PIE_STEP_US {
            in_queue -= driver.apply(QueueEvent::Serve { now: Time::from_micros(at_us) }).ok()?.len() as u64;
        }
    }
    // The first gap began before the probability did.
    Some(gaps.split_off(1.min(gaps.len())))
}

fn pie_between_drops(most: bool) -> f64 {
    let gaps = pie_gaps().unwrap_or_default();
    let gap = if most { gaps.iter().max() } else { gaps.iter().min() };
    gap.map_or(f64::NAN, |gap| *gap as f64 * PIE_PROBABILITY)
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
