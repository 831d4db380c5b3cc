//! The controllers in the kernel of this machine.

use crate::network::{send, Network, Report, QUEUE};
use crate::paced;
use crate::turn::{are_gone, Turn};
use afteryou_kernel::{Error, Loaded, NAMES};
use std::time::Duration;

const LEDBATPP: &str = "ay_ledbatpp";

/// Makes the network and loads the controllers, or returns why not.
fn loaded() -> Result<(Network, Loaded), String> {
    let network = Network::new()?;
    match Loaded::new() {
        Ok(loaded) => Ok((network, loaded)),
        Err(error @ (Error::NoBtf | Error::TooOld(_) | Error::NotPermitted)) => Err(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

/// One test, since a name is in the kernel once.
#[test]
fn controllers_are_loaded_move_data_with_a_short_queue_and_are_unloaded() {
    let _turn = Turn::wait();
    let (network, loaded) = match loaded() {
        Ok(both) => both,
        Err(reason) => return eprintln!("SKIPPED: controllers in the kernel: {reason}"),
    };
    assert!(matches!(Loaded::new(), Err(Error::Exists)));
    for name in NAMES {
        each_controller_can_be_chosen(&network, name);
    }
    the_queue_is_short_and_the_link_is_used(&network);
    connections_yield(&network);
    paced::it_yields_to_cubic_and_comes_back(&network);
    paced::it_comes_back_on_a_slow_link();
    paced::an_interruption_is_survived(&network);
    an_interruption_is_followed_by_a_climb_to_a_threshold(&network);
    silence_is_followed_by_a_slow_start_from_the_floor(&network);
    a_connection_outlives_its_controllers(&network, loaded);
    drop(Loaded::new().expect("the names are free"));
    assert!(are_gone());
}

fn each_controller_can_be_chosen(network: &Network, name: &'static str) {
    let (mut socket, mut peer) = network.connect(name).unwrap();
    let chosen = socket.tcp_congestion().unwrap();
    assert!(chosen.starts_with(name.as_bytes()), "{chosen:?}");
    send(&mut socket, &mut peer, 500_000).unwrap();
}

// A receiver that gets no processor leaves the link idle, so that is measured up to three times.
fn the_queue_is_short_and_the_link_is_used(network: &Network) {
    let second = Duration::from_secs(1);
    // Reno, whose slow start has no delay exit.
    let full = network.measure("reno", 2 * second, second).unwrap();
    assert!(full.rtt_ms(0.5) >= QUEUE.as_secs_f64() * 500.0, "the queue can be filled");
    let is_used = || {
        let polite = network.measure(LEDBATPP, 4 * second, 10 * second).unwrap();
        let (median, high, used) = (polite.rtt_ms(0.5), polite.rtt_ms(0.95), polite.utilisation);
        println!("LEDBAT++: {median:.0} ms at the median, {high:.0} ms at 95 %, {used:.3} of the link");
        assert!(high <= 75.0, "a quarter above TARGET: {high:.1} ms");
        // Slowdowns take a tenth of the time at most.
        used >= 0.9
    };
    assert!((0..3).any(|_| is_used()), "less than 0.9 of the link three times");
}

// Several connections, since each begins with a random sequence number and must see its round trips. Above TARGET a window shrinks in
// proportion to itself, so half of it is gone after a few. A ramp has no delay exit, so two may still be in one.
fn connections_yield(network: &Network) {
    const CONNECTIONS: usize = 8;
    let second = Duration::from_secs(1);
    let yielded = std::thread::scope(|threads| {
        let measure = || network.measure(LEDBATPP, 2 * second, 7 * second).unwrap();
        let polite: Vec<_> = (0..CONNECTIONS).map(|_| threads.spawn(measure)).collect();
        std::thread::sleep(3 * second);
        network.measure("reno", second, 6 * second).unwrap();
        let transfers = polite.into_iter().map(|transfer| transfer.join().unwrap());
        transfers.filter(|transfer| halved(&transfer.reports)).count()
    });
    assert!(
        yielded >= CONNECTIONS - 2,
        "{yielded} of {CONNECTIONS} have yielded six seconds after Reno has come"
    );
}

/// Returns whether the last window is at most half of the largest in the first seventh.
fn halved(reports: &[Report]) -> bool {
    let early = reports[..reports.len() / 7].iter().map(|report| report.cwnd).fold(0.0, f64::max);
    reports.last().expect("figures of a connection").cwnd <= early / 2.0
}

// The initial slow start has no threshold, and the climb after a timeout has one.
fn an_interruption_is_followed_by_a_climb_to_a_threshold(network: &Network) {
    let (mut socket, mut peer) = network.connect(LEDBATPP).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    std::thread::scope(|threads| {
        threads.spawn(|| send(&mut socket, &mut peer, 12_000_000).unwrap());
        std::thread::sleep(Duration::from_secs(2));
        network.interrupt(Duration::from_secs(1));
        let reports: Vec<Report> = (0..40)
            .filter_map(|_| {
                std::thread::sleep(Duration::from_millis(20));
                network.report(port)
            })
            .collect();
        assert!(reports.len() >= 20, "{reports:?}");
        assert!(reports.iter().all(|report| report.ssthresh.is_some()), "{reports:?}");
        assert!(reports.iter().any(|report| report.cwnd <= 2.0), "{reports:?}");
    });
}

fn silence_is_followed_by_a_slow_start_from_the_floor(network: &Network) {
    let (mut socket, mut peer) = network.connect(LEDBATPP).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    send(&mut socket, &mut peer, 2_000_000).unwrap();
    let before = network.report(port).unwrap();
    assert!(before.cwnd > 4.0, "{before:?}");
    std::thread::sleep(Duration::from_secs(1));
    send(&mut socket, &mut peer, 1).unwrap();
    let after = network.report(port).unwrap();
    assert!(after.cwnd <= 3.0 && after.ssthresh.is_none(), "{after:?}");
}

fn a_connection_outlives_its_controllers(network: &Network, loaded: Loaded) {
    let (mut socket, mut peer) = network.connect(LEDBATPP).unwrap();
    drop(loaded);
    assert!(are_gone());
    assert!(network.connect(LEDBATPP).is_err());
    send(&mut socket, &mut peer, 500_000).unwrap();
}
