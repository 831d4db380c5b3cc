use super::rate_control::MAX_MBIT_S;
use super::utility::Outcome;
use super::*;
use afteryou_base::param::Value;
use afteryou_base::units::Time;

mod directions;

const MSS: u32 = 1000;
const RTT: Span = Span::from_millis(40);

fn scavenger() -> Proteus {
    Proteus::new(&Settings::defaults(scavenger::PARAMS), &Setup::of(MSS), Direction::Down)
}

fn primary() -> Proteus {
    Proteus::new(&Settings::defaults(primary::PARAMS), &Setup::of(MSS), Direction::Up)
}

#[test]
fn utilities_are_those_of_the_published_code() {
    let base = Outcome { mbit_s: 10.0, ..Outcome::default() };
    let rows = [
        (base, 7.943282, 7.943282),
        (Outcome { loss: 0.01, ..base }, 6.808282, 6.808282),
        (Outcome { gradient: 0.01, ..base }, -82.056718, -82.056718),
        (Outcome { gradient: -0.01, ..base }, 7.943282, 7.943282),
        (Outcome { deviation: 100e-6, ..base }, 7.943282, 6.443282),
    ];
    for (outcome, of_primary, of_scavenger) in rows {
        for (proteus, expected) in [(primary(), of_primary), (scavenger(), of_scavenger)] {
            let utility = proteus.weights.utility(&outcome);
            assert!((utility - expected).abs() < 5e-7, "{outcome:?}: {utility}, not {expected}");
        }
    }
}

#[test]
fn more_is_worth_more_up_to_a_loss_of_five_percent_on_100_mbit_s() {
    let worth = |mbit_s, loss| primary().weights.utility(&Outcome { mbit_s, loss, ..Outcome::default() });
    for mbit_s in [1.0, 10.0, 50.0, 95.0] {
        assert!(worth(1.05 * mbit_s, 0.05) > worth(mbit_s, 0.05), "{mbit_s} Mbit/s");
    }
    assert!(worth(105.0, 0.06) < worth(100.0, 0.06));
}

#[test]
fn a_millisecond_of_deviation_makes_less_worth_more_to_the_scavenger() {
    let worth =
        |mbit_s| scavenger().weights.utility(&Outcome { mbit_s, deviation: 1e-3, ..Outcome::default() });
    for mbit_s in [0.5, 5.0, 50.0] {
        assert!(worth(0.95 * mbit_s) > worth(mbit_s), "{mbit_s} Mbit/s");
    }
}

/// A link that takes the packets of a controller one after the other, and acks each.
struct Link {
    proteus: Proteus,
    /// Bytes per second that it carries.
    capacity: f64,
    now: Time,
    next: Time,
    busy_until: Time,
    /// Packets that are under way: when they left, when their ack comes.
    flight: std::collections::VecDeque<(Sent, Time)>,
    /// Every packet with a number that this one divides is lost; 0: none.
    lost_every: u64,
    sent: u64,
    app_limited: bool,
}

impl Link {
    fn new(proteus: Proteus, mbit_s: f64) -> Link {
        Link {
            proteus,
            capacity: mbit_s * MBIT_S,
            now: Time::from_millis(1000),
            next: Time::ZERO,
            busy_until: Time::ZERO,
            flight: std::collections::VecDeque::new(),
            lost_every: 0,
            sent: 0,
            app_limited: false,
        }
    }

    /// Runs the link in steps of 50 µs; what a step sends late is made good by the next ones.
    fn run(&mut self, s: f64) {
        let end = self.now + Span::from_secs_f64(s);
        while self.now < end {
            self.now += Span::from_micros(50);
            while self.flight.front().is_some_and(|(_, acked)| *acked <= self.now) {
                self.acknowledge();
            }
            let directive = self.proteus.directive();
            if self.next <= self.now && (self.flight.len() as u64 + 1) * u64::from(MSS) <= directive.cwnd {
                self.send(&directive);
            }
        }
    }

    fn send(&mut self, directive: &Directive) {
        self.sent += 1;
        let sent = Sent {
            now: self.now,
            bytes: MSS.into(),
            packet_number: self.sent,
            app_limited: self.app_limited,
            ..Sent::default()
        };
        self.busy_until = self.busy_until.max(self.now) + Span::from_secs_f64(f64::from(MSS) / self.capacity);
        self.flight.push_back((sent, self.busy_until + RTT));
        self.proteus.on_sent(&sent);
        let rate = match directive.pacing {
            Pacing::Rate(rate) => rate,
            _ => 250_000,
        };
        let made_good = Time(self.now.0 - 1_000_000);
        self.next = self.next.max(made_good) + Span::of_bytes(MSS.into(), rate);
    }

    fn acknowledge(&mut self) {
        let Some((sent, _)) = self.flight.pop_front() else { return };
        let (now, rtt) = (self.now, self.now.since(sent.now));
        if self.lost_every > 0 && sent.packet_number % self.lost_every == 0 {
            self.proteus.on_loss(&Loss { now, sent, ..Loss::default() });
            return;
        }
        self.proteus.on_delivered(&Delivered { now, sent, rtt: Some(rtt), ..Delivered::default() });
        self.proteus.on_ack(&Ack {
            now,
            newly_acked: sent.bytes,
            sent_at: sent.now,
            packet_number: sent.packet_number,
            rtt: Some(rtt),
            smoothed_rtt: Some(rtt),
            min_rtt: Some(RTT),
            ..Ack::default()
        });
    }

    /// Returns the mean rate over some seconds, as a part of the capacity.
    fn share(&mut self, s: f64) -> f64 {
        let before = self.sent;
        self.run(s);
        (self.sent - before) as f64 * f64::from(MSS) / s / self.capacity
    }
}

#[test]
fn both_fill_an_empty_link_without_and_with_losses() {
    for (proteus, name) in [(primary(), "primary"), (scavenger(), "scavenger")] {
        for lost_every in [0, 1000, 100] {
            let mut link = Link::new(proteus.clone(), 20.0);
            link.lost_every = lost_every;
            link.run(20.0);
            let share = link.share(20.0);
            assert!((0.85..1.02).contains(&share), "{name}, every {lost_every}th packet lost: {share:.3}");
        }
    }
}

#[test]
fn a_link_that_becomes_slower_is_noticed_by_its_queue() {
    for proteus in [primary(), scavenger()] {
        let mut link = Link::new(proteus, 20.0);
        link.run(20.0);
        link.capacity = 16.0 * MBIT_S;
        link.run(10.0);
        let share = link.share(10.0);
        assert!(share < 1.05, "{share:.3}");
    }
}

#[test]
fn nothing_is_learnt_before_a_round_trip_time_is_known() {
    let mut proteus = scavenger();
    assert_eq!((proteus.directive().cwnd, proteus.directive().pacing), (10_000, Pacing::GrowingWindow));
    proteus.on_sent(&Sent { now: Time::from_millis(1), bytes: 1000, ..Sent::default() });
    assert!(proteus.intervals.is_empty());
    let mut link = Link::new(proteus, 20.0);
    link.run(0.045);
    // 10 packets in 40 ms and the time of the packet on the link.
    let Pacing::Rate(rate) = link.proteus.directive().pacing else { panic!("{:?}", link.proteus) };
    assert!((240_000..=250_000).contains(&rate), "{rate}");
}

#[test]
fn the_rate_doubles_with_each_interval_that_was_worth_more() {
    let mut link = Link::new(primary(), 200.0);
    let mut rates = Vec::new();
    for _ in 0..300 {
        link.run(0.001);
        let Pacing::Rate(rate) = link.proteus.directive().pacing else { continue };
        if rates.last() != Some(&rate) {
            rates.push(rate);
        }
    }
    assert!(rates.len() >= 3, "{rates:?}");
    assert!(rates.windows(2).all(|pair| pair[1].abs_diff(2 * pair[0]) <= 1), "{rates:?}");
}

#[test]
fn a_timeout_halves_the_rate_once_and_leaves_one_packet_until_an_ack_comes() {
    let mut link = Link::new(primary(), 20.0);
    link.run(10.0);
    let before = link.proteus.rates.rate();
    for consecutive in 1..=3 {
        link.proteus.on_timeout(&Timeout { now: link.now, flightsize: 50_000, consecutive });
    }
    assert_eq!(link.proteus.directive().cwnd, 1000);
    assert!((link.proteus.rates.rate() - before / 2.0).abs() < 1e-9);
    link.acknowledge();
    assert!(link.proteus.directive().cwnd > 10_000);
}

#[test]
fn after_a_long_pause_it_starts_again_and_after_a_short_one_it_only_repeats_the_interval() {
    let mut link = Link::new(primary(), 20.0);
    link.run(10.0);
    let (mode, rate) = (link.proteus.rates.mode(), link.proteus.rates.rate());
    let mut idle = |ms| {
        let (idle_for, rto) = (Span::from_millis(ms), Span::from_millis(300));
        link.proteus.on_idle(&Idle { now: link.now, idle_for, rto });
        (link.proteus.rates.mode(), link.proteus.rates.rate())
    };
    assert_eq!(idle(100), (mode, rate));
    let (mode, rate) = idle(301);
    assert_eq!(mode, Mode::Starting);
    assert!(rate <= 2.0, "{rate} Mbit/s: 10 packets per round trip");
}

#[test]
fn an_application_that_limits_the_sender_does_not_raise_the_rate() {
    let mut link = Link::new(primary(), 20.0);
    link.run(10.0);
    let before = link.proteus.rates.rate();
    link.app_limited = true;
    link.run(20.0);
    let after = link.proteus.rates.rate();
    assert!(after <= 1.1 * before, "{before} to {after} Mbit/s");
}

#[test]
fn the_window_is_two_round_trips_of_the_rate_and_four_packets() {
    let mut proteus = primary();
    proteus.smoothed_rtt = Some(RTT);
    proteus.rates.start(8.0);
    assert_eq!(proteus.directive().cwnd, 84_000);
    proteus.on_mtu(2000);
    assert_eq!(proteus.directive().cwnd, 88_000);
}

#[test]
fn the_least_rate_is_kept_whatever_happens() {
    let overrides = [("min_rate", Value::Count(800))];
    let settings = Settings::new(scavenger::PARAMS, &overrides).expect("valid");
    let mut link = Link::new(Proteus::new(&settings, &Setup::of(MSS), Direction::Down), 0.4);
    link.run(60.0);
    let rate = link.proteus.rates.rate();
    assert!((0.8..MAX_MBIT_S).contains(&rate), "{rate}");
    assert!(rate <= 1.0, "{rate} Mbit/s on a link of 0.4");
}
