//! Our LEDBAT++ driven by scripts: acknowledgements in, windows and phases out.

use afteryou_base::param::Value;
use afteryou_cc::list;
use afteryou_cc::script::{Driver, Event};
use afteryou_cc::{Ack, Controller, Loss, Sent, Setup, Span, Time};

/// Bytes of a packet: many, so that a window in whole bytes resolves small parts of a packet.
const MSS: u64 = 1 << 20;
/// Acknowledgements in a round trip.
const TICKS: usize = 64;
/// Round trips after which a script that found nothing ends.
const MOST_ROUNDS: usize = 20_000;

fn ledbatpp(slowdowns: bool) -> Option<Box<dyn Controller>> {
    list::find("ledbat++")?.build(&[("slowdowns", Value::Flag(slowdowns))], Setup::of(MSS as u32)).ok()
}

fn span(ms: f64) -> Span {
    Span::from_micros((ms * 1e3).round() as u64)
}

fn ack(now: Time, bytes: u64, rtt: Span, round_start: bool) -> Event {
    Event::Ack(Ack {
        now,
        newly_acked: bytes,
        flightsize: bytes,
        in_flight: bytes,
        // The packets of the script leave before the loss that ends slow start, and after it alike: no ack is late.
        sent_at: Time(now.0.saturating_sub(rtt.0)),
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        round_start,
        ..Ack::default()
    })
}

fn loss(now: Time) -> Event {
    Event::Loss(Loss { now, sent: Sent { now, bytes: MSS, ..Sent::default() }, ..Loss::default() })
}

/// Returns 1/GAIN after an acknowledgement with this round-trip time.
pub(super) fn gain_divisor(base_ms: f64) -> f64 {
    let Some(mut controller) = ledbatpp(true) else { return f64::NAN };
    let base = span(base_ms);
    controller_after(&mut *controller, &[ack(Time(base.0), MSS, base, true)])
        .map_or(f64::NAN, |gain| 1.0 / gain)
}

/// Returns GAIN after these events.
fn controller_after(controller: &mut dyn Controller, events: &[Event]) -> Option<f64> {
    let mut driver = Driver::new(controller);
    for event in events {
        driver.apply(event).ok()?;
    }
    driver.state().snapshot.gain
}

/// Returns the change, packets, of a window of `packets` in a round trip with `queuing_ms` of delay over a base of 100 ms
/// (GAIN 1/2).
pub(super) fn window_step(packets: f64, queuing_ms: f64) -> f64 {
    step_in_avoidance(packets, queuing_ms).unwrap_or(f64::NAN)
}

fn step_in_avoidance(packets: f64, queuing_ms: f64) -> Option<f64> {
    let mut controller = ledbatpp(false)?;
    let mut driver = Driver::new(&mut *controller);
    let (base, delayed) = (span(100.0), span(100.0 + queuing_ms));
    let mut now = Time(base.0);
    // Slow start adds half of what is acknowledged: from 2 packets to twice the window, which a loss halves.
    let bytes = 2.0 * (2.0 * packets - 2.0) * MSS as f64;
    driver.apply(&ack(now, bytes as u64, base, true)).ok()?;
    now += Span::from_millis(1);
    driver.apply(&loss(now)).ok()?;
    // Four samples fill the filter; they acknowledge nothing.
    for _ in 0..4 {
        now += delayed;
        driver.apply(&ack(now, 0, delayed, false)).ok()?;
    }
    let before = driver.state().snapshot.cwnd;
    for packet in 0..packets as usize {
        driver.apply(&ack(now, MSS, delayed, packet == 0)).ok()?;
    }
    Some((driver.state().snapshot.cwnd as f64 - before as f64) / MSS as f64)
}

/// Returns the queuing delay, ms, above which a window of `packets` shrinks.
pub(super) fn resting_delay(packets: f64) -> f64 {
    let (mut low, mut high) = (30.0, 120.0);
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        match window_step(packets, middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// Returns the growth of the window in the third round trip of slow start.
pub(super) fn slow_start_factor(base_ms: f64) -> f64 {
    third_round(span(base_ms)).unwrap_or(f64::NAN)
}

fn third_round(base: Span) -> Option<f64> {
    let mut controller = ledbatpp(true)?;
    let mut driver = Driver::new(&mut *controller);
    let mut windows = [driver.state().snapshot.cwnd; 4];
    for round in 1..4 {
        let now = Time(base.0 * round as u64);
        windows[round] = driver.apply(&ack(now, windows[round - 1], base, true)).ok()?.snapshot.cwnd;
    }
    Some(windows[3] as f64 / windows[2] as f64)
}

/// A slow-down and the wait after it, in round trips and packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlowDown {
    pub(super) floor_rtts: f64,
    pub(super) floor_packets: f64,
    /// Less nine times the slow-down.
    pub(super) wait_rtts: f64,
}

/// Returns the first slow-down of a sender with a window of `packets` on an idle path.
pub(super) fn slow_down(rtt_ms: f64, packets: f64) -> SlowDown {
    let nothing = SlowDown { floor_rtts: f64::NAN, floor_packets: f64::NAN, wait_rtts: f64::NAN };
    first_slow_down(span(rtt_ms), packets).unwrap_or(nothing)
}

fn first_slow_down(rtt: Span, packets: f64) -> Option<SlowDown> {
    let mut controller = ledbatpp(true)?;
    let mut driver = Driver::new(&mut *controller);
    let mut windows = vec![driver.state().snapshot.cwnd; TICKS];
    let mut floor_packets = f64::INFINITY;
    let (mut phase, mut changes) = ("", Vec::new());
    for tick in 0..MOST_ROUNDS * TICKS {
        let now = Time(rtt.0 + rtt.0 * tick as u64 / TICKS as u64);
        // What was sent a round trip ago is acknowledged now.
        let bytes = windows[tick % TICKS] / TICKS as u64;
        let mut state = driver.apply(&ack(now, bytes, rtt, tick % TICKS == 0)).ok()?;
        if changes.len() < 2 && state.snapshot.cwnd as f64 >= 2.0 * packets * MSS as f64 {
            state = driver.apply(&loss(now)).ok()?;
        }
        windows[tick % TICKS] = state.snapshot.cwnd;
        if state.snapshot.phase != phase {
            phase = state.snapshot.phase;
            changes.push((phase, now));
            if let Some(found) = of_changes(&changes, rtt, floor_packets) {
                return Some(found);
            }
        }
        if phase == "slowdown freeze" {
            floor_packets = floor_packets.min(state.snapshot.cwnd as f64 / MSS as f64);
        }
    }
    None
}

/// Returns the slow-down of these changes of phase, once the next one has begun.
fn of_changes(changes: &[(&str, Time)], rtt: Span, floor_packets: f64) -> Option<SlowDown> {
    let freezes = changes.windows(3).filter(|part| part[0].0 == "slowdown freeze");
    let [(_, freeze), (_, ramp), (_, ended)] = *freezes.into_iter().next()? else { return None };
    let (_, next) = *changes.iter().filter(|(phase, _)| *phase == "slowdown freeze").nth(1)?;
    let in_rtts = |from: Time, to: Time| to.since(from).as_secs_f64() / rtt.as_secs_f64();
    Some(SlowDown {
        floor_rtts: in_rtts(freeze, ramp),
        floor_packets,
        wait_rtts: in_rtts(ended, next) - 9.0 * in_rtts(freeze, ended),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_holds_the_window_that_it_names() {
        // Without a queue the window grows by GAIN = 1/2 whatever it is; at twice the target it is halved.
        for packets in [10.0, 100.0, 400.0] {
            assert!((window_step(packets, 0.0) - 0.5).abs() < 1e-3);
            assert!((window_step(packets, 120.0) + packets / 2.0).abs() < 1e-3);
        }
    }

    #[test]
    fn a_slow_down_is_found_on_every_path() {
        for rtt_ms in [5.0, 50.0, 135.0, 250.0] {
            let found = slow_down(rtt_ms, 50.0);
            assert!(found.floor_packets == 2.0 && found.wait_rtts.is_finite(), "{rtt_ms} ms: {found:?}");
        }
    }
}
