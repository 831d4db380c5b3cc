//! Check vectors of the drafts as scripts, and the driver's own promises for every controller of the list.

use afteryou_base::param::Value;
use afteryou_base::{Span, Time};
use afteryou_cc::list::{find, CONTROLLERS};
use afteryou_cc::script::{Driver, Event, OutOfOrder};
use afteryou_cc::{Ack, Controller, Idle, Loss, Marks, Sent, Setup, SpuriousLoss, Timeout};
use proptest::prelude::*;

const MSS: u64 = 1500;

fn build(name: &str, overrides: &[(&'static str, Value)]) -> Box<dyn Controller> {
    find(name).expect("in the list").build(overrides, Setup::of(MSS as u32)).expect("valid")
}

fn ack(now: Time, acked: u64, base_ms: u64, queuing_ms: u64) -> Event {
    let rtt = Span::from_millis(base_ms + queuing_ms);
    Event::Ack(Ack {
        now,
        newly_acked: acked,
        flightsize: 1 << 30,
        in_flight: 1 << 30,
        rtt: Some(rtt),
        smoothed_rtt: Some(rtt),
        one_way_delay: Some((1000 * (base_ms / 2 + queuing_ms)) as u32),
        reverse_delay: Some(500 * base_ms as u32),
        sent_at: Time(now.0.saturating_sub(rtt.0)),
        ..Ack::default()
    })
}

/// draft-irtf-iccrg-ledbat-plus-plus §4.4: the window falls to two packets for two round trips, and slow start brings it back.
#[test]
fn a_script_without_acks_leads_ledbatpp_into_its_first_slowdown_and_out_of_its_freeze() {
    let mut controller = build("ledbat++", &[]);
    let mut driver = Driver::new(controller.as_mut());
    driver.apply(&ack(Time::from_millis(2000), 20 * MSS, 80, 0)).unwrap();
    // Four samples above three quarters of TARGET end slow start.
    let at = |ms| Time::from_millis(ms);
    for i in 0..4 {
        driver.apply(&ack(at(3000 + i), MSS, 80, 46)).unwrap();
    }
    let began = driver.state().directive.wake_at.expect("a slowdown is due");
    let before = driver.apply(&Event::Until(Time(began.0 - 1))).unwrap();
    assert_eq!(before.snapshot.phase, "congestion avoidance");
    let frozen = driver.apply(&Event::Until(began)).unwrap();
    assert_eq!((frozen.snapshot.phase, frozen.directive.cwnd), ("slowdown freeze", 2 * MSS));
    let round = Span::from_millis(126);
    let later = driver.apply(&Event::Until(began + round + round)).unwrap();
    assert_eq!(later.snapshot.phase, "slowdown ramp", "two round trips of 126 ms are over");
}

/// RFC 5681 §3.1 and §3.2: slow start adds a packet an ack, a loss halves the flight, a timeout leaves one packet.
#[test]
fn a_script_of_newreno_gives_the_windows_of_rfc_5681() {
    let mut controller = build("newreno", &[]);
    let mut driver = Driver::new(controller.as_mut());
    let initial = driver.state().directive.cwnd;
    let lost = Sent { now: Time::from_millis(100), bytes: MSS, packet_number: 9, ..Sent::default() };
    let events = [
        ack(Time::from_millis(100), MSS, 50, 0),
        Event::Loss(Loss {
            now: Time::from_millis(150),
            sent: lost,
            flightsize: 10 * MSS,
            ..Loss::default()
        }),
        Event::Timeout(Timeout { now: Time::from_millis(400), flightsize: 10 * MSS, consecutive: 1 }),
    ];
    let windows = events.map(|event| driver.apply(&event).unwrap().directive.cwnd);
    assert_eq!(windows, [initial + MSS, 5 * MSS, MSS]);
}

#[test]
fn an_event_out_of_order_is_refused_and_the_controller_has_not_seen_it() {
    let mut controller = build("newreno", &[]);
    let mut driver = Driver::new(controller.as_mut());
    let state = driver.apply(&ack(Time::from_millis(100), MSS, 50, 0)).unwrap();
    let late = driver.apply(&ack(Time::from_millis(99), MSS, 50, 0));
    assert_eq!(late, Err(OutOfOrder { at: Time::from_millis(99), after: Time::from_millis(100) }));
    assert_eq!(driver.state(), state);
    let error = late.unwrap_err().to_string();
    assert_eq!(error, "the event at 0.099 s comes after one at 0.1 s: sort the script by time");
}

fn event() -> impl Strategy<Value = (u8, u64, u64, u64)> {
    (0..8u8, 0..200_000u64, 0..20u64, 0..150u64)
}

proptest! {
    /// A script is the same as calls by hand: the driver adds nothing but the wake-ups that were asked for.
    #[test]
    fn a_script_equals_calls_by_hand_for_every_controller(steps in prop::collection::vec(event(), 1..80)) {
        for entry in CONTROLLERS {
            let (mut of_script, mut of_hand) = (build(entry.name, &[]), build(entry.name, &[]));
            let mut driver = Driver::new(of_script.as_mut());
            let (mut now, mut number) = (Time::ZERO, 0);
            for &(kind, gap_us, packets, queuing_ms) in &steps {
                now += Span::from_micros(gap_us);
                number += 1;
                let sent = Sent { now, bytes: MSS, packet_number: number, ..Sent::default() };
                let event = match kind {
                    0 => Event::Sent(sent),
                    1 => Event::Loss(Loss { now, sent, flightsize: packets * MSS, ..Loss::default() }),
                    2 => Event::Timeout(Timeout { now, flightsize: packets * MSS, consecutive: 1 }),
                    3 => Event::Idle(Idle { now, idle_for: Span::from_secs(2), rto: Span::from_secs(1) }),
                    4 => Event::SpuriousLoss(SpuriousLoss { now, sent, undo: packets > 10, since: sent.now }),
                    5 => Event::Until(now),
                    _ => match ack(now, packets * MSS, 50, queuing_ms) {
                        Event::Ack(ack) if kind == 7 => Event::Ack(Ack { marks: Marks::Echo, ..ack }),
                        other => other,
                    },
                };
                while let Some(at) = of_hand.directive().wake_at.filter(|at| *at <= now) {
                    of_hand.on_wake(at);
                }
                match &event {
                    Event::Sent(sent) => of_hand.on_sent(sent),
                    Event::Loss(loss) => of_hand.on_loss(loss),
                    Event::Timeout(timeout) => of_hand.on_timeout(timeout),
                    Event::Idle(idle) => of_hand.on_idle(idle),
                    Event::SpuriousLoss(spurious) => of_hand.on_spurious_loss(spurious),
                    Event::Ack(ack) => of_hand.on_ack(ack),
                    _ => {}
                }
                let state = driver.apply(&event).unwrap();
                prop_assert_eq!(state.directive, of_hand.directive(), "{}", entry.name);
                prop_assert_eq!(state.snapshot, of_hand.snapshot(), "{}", entry.name);
            }
        }
    }
}
