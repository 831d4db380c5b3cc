//! What every controller in the list owes its transport, whatever it is told: packets that take an hour, clocks
//! that jump, acks for nothing, acks for more than was ever sent.

use afteryou_base::param::{Kind, Param, Value};
use afteryou_base::{Span, Time};
use afteryou_cc::event::{
    Ack, Delivered, DeliveryRate, Idle, Loss, Marks, Sent, SpuriousLoss, Timeout, Totals,
};
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_cc::{Controller, Pacing, Setup};
use proptest::prelude::*;

/// The largest window that any rule may keep.
const MAX_WINDOW: u64 = 1 << 40;
const HOUR_NS: i64 = 3_600_000_000_000;

/// One thing that happens, and how far the clock moves before it.
#[derive(Clone, Debug)]
struct Step {
    clock_ns: i64,
    what: What,
}

/// Times are spans before now, so that most of what is reported could have happened.
#[derive(Clone, Debug)]
enum What {
    Sent { bytes: u64, in_flight: u64, app_limited: bool },
    Delivered { bytes: u64, delivered: u64, sent_ago: u64, rtt: Option<u64>, may_have_waited: bool },
    Ack(AckStep),
    Loss { bytes: u64, flightsize: u64, sent_ago: u64, queuing: Option<u64>, persistent: bool },
    SpuriousLoss { undo: bool },
    Timeout { flightsize: u64, consecutive: u32 },
    Idle { idle_for: u64, rto: u64 },
    Mtu(u32),
    Wake,
}

#[derive(Clone, Debug)]
struct AckStep {
    newly_acked: u64,
    newly_sacked: u64,
    flightsize: u64,
    sent_ago: u64,
    rtt: Option<u64>,
    smoothed_rtt: u64,
    one_way_delay: Option<u32>,
    reverse_delay: Option<u32>,
    may_have_waited: bool,
    marks: Marks,
    round_start: bool,
    app_limited: bool,
}

fn size() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0..200_000u64, 2 => Just(0), 1 => 0..MAX_WINDOW, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn span_ns() -> impl Strategy<Value = u64> {
    let ordinary = 0..300_000_000u64;
    prop_oneof![8 => ordinary, 1 => Just(0), 1 => 0..4 * HOUR_NS as u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn clock_ns() -> impl Strategy<Value = i64> {
    prop_oneof![20 => 0..200_000_000i64, 4 => Just(0), 1 => Just(HOUR_NS), 1 => Just(-HOUR_NS), 1 => any::<i64>()]
}

fn marks() -> impl Strategy<Value = Marks> {
    let packets = prop_oneof![1 => 0..5u32, 1 => any::<u32>()];
    prop_oneof![8 => Just(Marks::None), 1 => Just(Marks::Echo), 1 => packets.prop_map(Marks::Count)]
}

fn ack() -> impl Strategy<Value = What> {
    let sizes = (size(), prop_oneof![3 => Just(0), 1 => size()], size());
    let times =
        (span_ns(), proptest::option::of(span_ns()), span_ns(), any::<Option<u32>>(), any::<Option<u32>>());
    let signs = (marks(), any::<bool>(), proptest::bool::weighted(0.2), any::<bool>());
    (sizes, times, signs).prop_map(|(sizes, times, signs)| {
        What::Ack(AckStep {
            newly_acked: sizes.0,
            newly_sacked: sizes.1,
            flightsize: sizes.2,
            sent_ago: times.0,
            rtt: times.1,
            smoothed_rtt: times.2,
            one_way_delay: times.3,
            reverse_delay: times.4,
            may_have_waited: signs.3,
            marks: signs.0,
            round_start: signs.1,
            app_limited: signs.2,
        })
    })
}

fn what() -> impl Strategy<Value = What> {
    let sent = (size(), size(), any::<bool>());
    let delivered = (size(), size(), span_ns(), proptest::option::of(span_ns()), any::<bool>());
    let loss = (size(), size(), span_ns(), proptest::option::of(span_ns()), proptest::bool::weighted(0.1));
    let timeout = (size(), prop_oneof![4 => 1..8u32, 1 => any::<u32>()]);
    prop_oneof![
        2 => sent.prop_map(|(bytes, in_flight, app_limited)| What::Sent { bytes, in_flight, app_limited }),
        20 => ack(),
        10 => delivered.prop_map(|(bytes, delivered, sent_ago, rtt, may_have_waited)| What::Delivered {
            bytes,
            delivered,
            sent_ago,
            rtt,
            may_have_waited
        }),
        3 => loss.prop_map(|(bytes, flightsize, sent_ago, queuing, persistent)| What::Loss {
            bytes,
            flightsize,
            sent_ago,
            queuing,
            persistent
        }),
        1 => any::<bool>().prop_map(|undo| What::SpuriousLoss { undo }),
        1 => timeout.prop_map(|(flightsize, consecutive)| What::Timeout { flightsize, consecutive }),
        1 => (span_ns(), span_ns()).prop_map(|(idle_for, rto)| What::Idle { idle_for, rto }),
        1 => (1..=65_535u32).prop_map(What::Mtu),
        3 => Just(What::Wake),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (clock_ns(), what()).prop_map(|(clock_ns, what)| Step { clock_ns, what });
    proptest::collection::vec(step, 1..150)
}

/// Returns a value of `param` for a random number: its default, an end of its range, or one of its words.
fn pick(param: &Param, choice: u8) -> Value {
    match param.kind {
        Kind::Choice(words) => Value::Choice(words[usize::from(choice) % words.len()]),
        _ => [param.default, param.min, param.max][usize::from(choice) % 3],
    }
}

/// Returns a packet that left at `now`, with everything that can be counted at `count`.
fn sent(now: Time, bytes: u64, count: u64) -> Sent {
    let totals = Totals { delivered: count, delivered_at: now, first_sent_at: now, lost: count };
    Sent { now, bytes, packet_number: 1, sequence: None, in_flight: count, app_limited: false, totals }
}

fn apply(controller: &mut dyn Controller, now: Time, what: &What) {
    let ago = |span: u64| Time(now.0.saturating_sub(span));
    match what {
        &What::Sent { bytes, in_flight, app_limited } => {
            controller.on_sent(&Sent {
                now,
                bytes,
                packet_number: 1,
                in_flight,
                app_limited,
                ..Sent::default()
            });
        }
        What::Ack(ack) => controller.on_ack(&Ack {
            now,
            newly_acked: ack.newly_acked,
            newly_sacked: ack.newly_sacked,
            flightsize: ack.flightsize,
            in_flight: ack.flightsize,
            sent_at: ago(ack.sent_ago),
            packet_number: 1,
            rtt: ack.rtt.map(Span),
            smoothed_rtt: Some(Span(ack.smoothed_rtt)),
            min_rtt: Some(Span(ack.smoothed_rtt.min(ack.rtt.unwrap_or(u64::MAX)))),
            one_way_delay: ack.one_way_delay,
            reverse_delay: ack.reverse_delay,
            delivery: Some(DeliveryRate {
                delivered: ack.newly_acked,
                interval: Span(ack.smoothed_rtt),
                in_flight_at_send: ack.flightsize,
                app_limited: ack.app_limited,
            }),
            may_have_waited: ack.may_have_waited,
            marks: ack.marks,
            round_start: ack.round_start,
            app_limited: ack.app_limited,
        }),
        &What::Delivered { bytes, delivered, sent_ago, rtt, may_have_waited } => {
            controller.on_delivered(&Delivered {
                now,
                sent: sent(ago(sent_ago), bytes, delivered),
                delivered,
                rtt: rtt.map(Span),
                one_way_delay: rtt.map(|ns| ns as u32),
                may_have_waited,
            });
        }
        &What::Loss { bytes, flightsize, sent_ago, queuing, persistent } => controller.on_loss(&Loss {
            now,
            sent: sent(ago(sent_ago), bytes, flightsize),
            flightsize,
            queuing_delay: queuing.map(Span),
            persistent,
        }),
        &What::SpuriousLoss { undo } => {
            controller.on_spurious_loss(&SpuriousLoss {
                now,
                sent: sent(ago(1_000_000), 1, 1),
                undo,
                since: ago(50_000_000),
            });
        }
        &What::Timeout { flightsize, consecutive } => {
            controller.on_timeout(&Timeout { now, flightsize, consecutive });
        }
        &What::Idle { idle_for, rto } => {
            controller.on_idle(&Idle { now, idle_for: Span(idle_for), rto: Span(rto) });
        }
        &What::Mtu(mss) => controller.on_mtu(mss),
        What::Wake => {
            if controller.directive().wake_at.is_some_and(|at| at <= now) {
                controller.on_wake(now);
            }
        }
    }
}

/// Returns the smallest window that a controller's rule allows, bytes: a packet, but for libutp, which has it as a
/// parameter.
fn floor(entry: &Entry, overrides: &[(&str, Value)], mss: u32) -> u64 {
    let own = overrides.iter().find(|(name, _)| entry.name.starts_with("libutp") && *name == "min_window");
    match own {
        Some((_, Value::Bytes(bytes))) => (*bytes).min(u64::from(mss)),
        _ => u64::from(mss),
    }
}

fn check(entry: &Entry, controller: &dyn Controller, floor: u64) -> Result<(), TestCaseError> {
    let (name, cwnd, snapshot) = (entry.name, controller.directive().cwnd, controller.snapshot());
    prop_assert!(cwnd >= floor, "{name}: {cwnd} B is less than its floor of {floor} B");
    prop_assert!(cwnd <= MAX_WINDOW, "{name}: {cwnd} B");
    prop_assert_eq!(snapshot.cwnd, cwnd, "{}", name);
    match controller.directive().pacing {
        Pacing::Window | Pacing::GrowingWindow => {}
        Pacing::Rate(rate) => prop_assert!(rate > 0, "{name} would never send again"),
        Pacing::Together { packets, .. } => prop_assert!(packets > 0, "{name} would never send again"),
    }
    prop_assert!(!snapshot.phase.is_empty(), "{name}");
    prop_assert!(snapshot.gain.is_none_or(f64::is_finite), "{name}: gain {:?}", snapshot.gain);
    for (quantity, value) in snapshot.extra.into_iter().flatten() {
        prop_assert!(value.is_finite(), "{name}: {quantity} is {value}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_events_breaks_a_controller(
        first_mss in 1..=65_535u32,
        seed: u64,
        choices in proptest::collection::vec(any::<u8>(), 16),
        steps in steps(),
    ) {
        for entry in CONTROLLERS {
            let setup = Setup { mss: first_mss, seed, paced: true };
            let picked = entry.params.iter().zip(choices.iter().cycle());
            let overrides: Vec<_> = picked.map(|(param, choice)| (param.name, pick(param, *choice))).collect();
            let mut controller = entry.build(&overrides, setup).expect("ends of ranges are valid");
            let mut mss = first_mss;
            let needs = controller.needs();
            let mut now = Time(2 * HOUR_NS as u64);
            for step in &steps {
                now = Time(now.0.saturating_add_signed(step.clock_ns));
                let before = controller.directive().cwnd;
                apply(&mut *controller, now, &step.what);
                match step.what {
                    What::Mtu(new) => mss = new,
                    What::Loss { .. } | What::Timeout { .. } => {
                        prop_assert!(controller.directive().cwnd <= before, "{} grew by {:?}", entry.name, step.what);
                    }
                    _ => {}
                }
                prop_assert_eq!(controller.needs(), needs, "{}", entry.name);
                check(entry, &*controller, floor(entry, &overrides, mss))?;
            }
        }
    }
}
