//! Models where their equilibria can be had by hand: constant loss, no loss, a full buffer.

use afteryou_fluid::closed::ledbatpp::share_at_equal_loss;
use afteryou_fluid::model::{Cubic, Fledbat, LedbatPp, Model, NewReno, Signal, Slowdowns};
use afteryou_fluid::{Network, Options, RoundTrip, Sender, Trajectory};

const RTT_S: f64 = 0.050;
const RENO: Model = Model::NewReno(NewReno { initial_window: 10.0 });

/// Returns the window of a lone flow on a link without a queue that loses this part of its packets, after `to_s`.
fn window_at_loss(model: Model, rtt_s: f64, loss: f64, to_s: f64) -> f64 {
    let network = Network::new(1e9, Options::default(), vec![Sender::new(model, rtt_s)]).with_loss(loss);
    let step_s = network.step_s();
    let mut trajectory = Trajectory::running(network, 0.0, &[20.0], step_s);
    trajectory.run_to(to_s);
    trajectory.window(0)
}

fn near(value: f64, expected: f64, relative: f64) {
    assert!((value / expected - 1.0).abs() <= relative, "{value} is not {expected} within {relative}");
}

#[test]
fn reno_s_window_is_the_square_root_of_two_over_the_loss() {
    for loss in [1e-2, 1e-3, 1e-4] {
        // With a round trip of deafness after each loss event: p·W² = 2·(1 + p·W).
        let expected = 1.0 + libm::sqrt(1.0 + 2.0 / loss);
        near(window_at_loss(RENO, RTT_S, loss, 300.0), expected, 1e-3);
    }
    near(window_at_loss(RENO, RTT_S, 1e-4, 300.0), libm::sqrt(2.0 / 1e-4), 0.01);
}

#[test]
fn cubic_s_window_is_that_of_its_response_function() {
    let (c, beta, rtt_s, loss) = (0.4, 0.7, 0.2, 1e-5);
    let cubic = Cubic { c, beta, initial_window: 10.0 };
    // Near rest W − M = C·(s − K)³ is of third order: the approach is slow.
    let window = window_at_loss(Model::Cubic(cubic), rtt_s, loss, 40_000.0);
    // At rest M = W, and the time between loss events is K.
    let between_s = rtt_s / (loss * window) + rtt_s;
    near(cubic.k_s(window), between_s, 0.02);
    // RFC 9438 §5.1, for losses at equal distances.
    let rfc = libm::pow(c * (3.0 + beta) / (4.0 * (1.0 - beta)), 0.25) * libm::pow(rtt_s / loss, 0.75);
    near(window, rfc, 0.03);
}

#[test]
fn on_a_short_path_cubic_does_as_reno_does() {
    let cubic = Cubic { c: 0.4, beta: 0.7, initial_window: 10.0 };
    let window = window_at_loss(Model::Cubic(cubic), 0.010, 1e-3, 300.0);
    near(window, window_at_loss(RENO, 0.010, 1e-3, 300.0), 0.15);
}

#[test]
fn at_equal_loss_ledbatpp_has_the_square_root_of_its_gain() {
    for rtt_s in [0.020, 0.060, 0.150] {
        let rule = LedbatPp { slowdowns: Slowdowns::None, ..LedbatPp::new(0.060) };
        let window = window_at_loss(Model::LedbatPp(rule), rtt_s, 1e-4, 400.0);
        let reno = window_at_loss(RENO, rtt_s, 1e-4, 400.0);
        near(window / reno, share_at_equal_loss(rule.gain(rtt_s)), 0.01);
    }
}

#[test]
fn without_slowdowns_ledbatpp_rests_a_little_above_its_target() {
    let rule = LedbatPp { slowdowns: Slowdowns::None, ..LedbatPp::new(0.060) };
    let options = Options { round_trip: RoundTrip::WithQueue, ..Options::PAPERS };
    let network = Network::new(1717.0, options, vec![Sender::new(Model::LedbatPp(rule), RTT_S)]);
    let mut trajectory = Trajectory::running(network, 50.0, &[150.0], 0.005);
    trajectory.run_to(60.0);
    let expected_s = 0.060 * (1.0 + rule.gain(RTT_S) / trajectory.window(0));
    near(trajectory.queue() / 1717.0, expected_s, 1e-6);
}

#[test]
fn reno_flows_fill_the_buffer_and_share_the_link() {
    let senders = (0..10).map(|_| Sender::new(RENO, RTT_S)).collect();
    let network = Network::new(833.3, Options::PAPERS, senders).with_buffer(500.0);
    let step_s = network.step_s();
    let mut trajectory = Trajectory::idle(network, step_s);
    (0..10).for_each(|flow| trajectory.start(flow));
    trajectory.run_to(60.0);
    assert_eq!(trajectory.queue(), 500.0, "feedback at once holds the queue at the limit");
    let window = trajectory.window(0);
    near(1.0 - trajectory.loss(), 833.3 * RTT_S / (10.0 * window), 1e-9);
    near(trajectory.loss() * window * window, 2.0 * (1.0 + trajectory.loss() * window), 1e-3);
    (1..10).for_each(|flow| near(trajectory.window(flow), window, 1e-9));
}

#[test]
fn slow_start_doubles_in_a_round_trip_and_ledbatpp_s_grows_by_its_gain() {
    let rule = Model::LedbatPp(LedbatPp::new(0.060));
    for (model, rtt_s, start, rounds, window) in [
        (RENO, 0.060, 10.0, 5.0, 320.0),
        (rule, 0.060, 2.0, 8.0, 51.257812),
        (rule, 0.020, 2.0, 20.0, 43.648145),
    ] {
        let network = Network::new(1e9, Options::PAPERS, vec![Sender::new(model, rtt_s)]);
        let mut trajectory = Trajectory::idle(network, rtt_s / 20.0);
        trajectory.start(0);
        assert_eq!(trajectory.window(0), start);
        trajectory.run_to(rounds * rtt_s);
        near(trajectory.window(0), window, 1e-6);
    }
}

#[test]
fn a_slowdown_lasts_and_comes_again_as_the_draft_says() {
    // 80 packets at entry, 50 ms: two round trips, a ramp of 12.8228, and nine times as long until the next.
    let rule = LedbatPp::new(0.060);
    let network =
        Network::new(80.0 / RTT_S, Options::PAPERS, vec![Sender::new(Model::LedbatPp(rule), RTT_S)]);
    let step_s = 0.0005;
    let mut trajectory = Trajectory::idle(network, step_s);
    trajectory.start(0);
    let mut entries = Vec::new();
    let (mut window, mut exits, mut was) = (0.0, Vec::new(), 0.0);
    while trajectory.t_s() < 60.0 {
        trajectory.step();
        let now = trajectory.window(0);
        if trajectory.slowdowns(0) as usize > entries.len() {
            entries.push(trajectory.t_s());
            window = was;
        }
        if entries.len() > exits.len()
            && now >= 0.998 * window
            && trajectory.t_s() > entries[exits.len()] + 0.2
        {
            exits.push(trajectory.t_s());
            let rounds = libm::log(window / 2.0) / libm::log1p(rule.gain(RTT_S));
            let length_s = exits[exits.len() - 1] - entries[entries.len() - 1];
            // The first comes while the window still falls.
            if exits.len() > 1 {
                near(length_s, 0.1 + rounds * RTT_S, 3.0 * step_s / length_s);
            }
        }
        was = now;
    }
    assert!(entries.len() >= 5, "{entries:?}");
    for (exit, (entry, next)) in exits.iter().zip(entries.iter().zip(&entries[1..])).skip(1) {
        near(next - exit, 9.0 * (exit - entry), 2e-3);
    }
}

#[test]
fn slowdowns_in_the_mean_leave_a_flow_among_others_what_their_events_leave_it() {
    // Two NewReno flows keep the queue; the mean and the events of a LEDBAT++ flow beside them send alike.
    let rate = |slowdowns: Slowdowns| {
        let rule = LedbatPp { slowdowns, ..LedbatPp::new(0.060) };
        let senders = vec![
            Sender::new(RENO, RTT_S),
            Sender::new(RENO, RTT_S),
            Sender::new(Model::LedbatPp(rule), RTT_S),
        ];
        let network = Network::new(1717.0, Options::default(), senders).with_buffer(60.0);
        let step_s = network.step_s();
        let mut trajectory = Trajectory::idle(network, step_s);
        (0..3).for_each(|flow| trajectory.start(flow));
        trajectory.run_to(100.0);
        let (mut sum, mut n) = (0.0, 0.0);
        while trajectory.t_s() < 600.0 {
            trajectory.step();
            sum += trajectory.rate(2);
            n += 1.0;
        }
        sum / n
    };
    let (events, mean, none) = (rate(Slowdowns::Events), rate(Slowdowns::Mean), rate(Slowdowns::None));
    near(mean, events, 0.05);
    assert!(events < 0.97 * none, "{events} and {none}");
}

#[test]
fn a_state_is_the_same_to_the_last_bit_on_every_machine() {
    let cubic = Model::Cubic(Cubic { c: 0.4, beta: 0.7, initial_window: 10.0 });
    let senders = [RENO, cubic, Model::LedbatPp(LedbatPp::new(0.060))].map(|model| Sender::new(model, RTT_S));
    let network = Network::new(1717.0, Options::default(), senders.to_vec()).with_buffer(150.0);
    let mut trajectory = Trajectory::idle(network, 0.005);
    (0..3).for_each(|flow| trajectory.start(flow));
    trajectory.run_to(20.0);
    let windows = [0, 1, 2].map(|flow| trajectory.window(flow).to_bits());
    let expected = [4_635_113_068_334_204_648, 4_639_561_887_195_323_795, 4_611_686_018_427_387_904];
    assert_eq!((trajectory.queue().to_bits(), windows), (4_639_275_074_660_112_460, expected));
}

#[test]
fn below_one_packet_an_acknowledgement_counts_for_one_round_trip_at_most() {
    let rule = Fledbat::new(0.025, 1.0, 0.1);
    let growth = |window: f64, ack_rate: f64| {
        rule.drift(&Signal { window, ack_rate, rtt_s: RTT_S, ..Signal::default() })
    };
    // As many acknowledgements as the window sends: α in a round trip, however small it is.
    for window in [0.01, 0.5, 1.0, 20.0] {
        near(growth(window, window / RTT_S), 1.0 / RTT_S, 1e-12);
    }
    // The acknowledgements of 40 packets after a collapse: α with each.
    near(growth(0.01, 40.0 / RTT_S), 40.0 / RTT_S, 1e-12);
    near(growth(0.999, 40.0 / RTT_S), 40.0 / RTT_S, 1e-12);
    near(growth(1.0, 40.0 / RTT_S), 40.0 / RTT_S, 1e-12);
}
