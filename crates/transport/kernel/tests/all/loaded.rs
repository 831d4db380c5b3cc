//! The controllers in the kernel of this machine.

use crate::network::{send, Network, QUEUE};
use afteryou_kernel::{Error, Loaded, NAMES};
use std::time::Duration;

/// Returns whether the kernel has none of the names within a second. A child that another test has just forked keeps the links open
/// until it executes its program.
fn are_gone() -> bool {
    let is_gone = || {
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        !available.unwrap().contains("ay_")
    };
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_gone()
    })
}

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
    let (network, loaded) = match loaded() {
        Ok(both) => both,
        Err(reason) => return eprintln!("SKIPPED: controllers in the kernel: {reason}"),
    };
    for name in NAMES {
        let (mut socket, mut peer) = network.connect(name).unwrap();
        let chosen = socket.tcp_congestion().unwrap();
        assert!(chosen.starts_with(name.as_bytes()), "{chosen:?}");
        send(&mut socket, &mut peer, 500_000).unwrap();
    }
    assert!(matches!(Loaded::new(), Err(Error::Exists)));

    let (settling, measured) = (Duration::from_secs(4), Duration::from_secs(10));
    let polite = network.measure("ay_ledbatpp", settling, measured).unwrap();
    // Reno, whose slow start has no delay exit.
    let full = network.measure("reno", Duration::from_secs(2), Duration::from_secs(1)).unwrap();
    println!(
        "LEDBAT++: {:.0} ms at the median, {:.0} ms at 95 %, {:.3} of the link; Reno: {:.0} ms at the median",
        polite.rtt_ms(0.5),
        polite.rtt_ms(0.95),
        polite.utilisation,
        full.rtt_ms(0.5)
    );
    assert!(full.rtt_ms(0.5) >= QUEUE.as_secs_f64() * 500.0, "the queue can be filled");
    assert!(polite.rtt_ms(0.95) <= 75.0, "a quarter above TARGET: {:.1} ms", polite.rtt_ms(0.95));
    // Slowdowns take a tenth of the time at most.
    assert!(polite.utilisation >= 0.9, "{:.3} of the link", polite.utilisation);

    let (mut socket, mut peer) = network.connect("ay_ledbatpp").unwrap();
    drop(loaded);
    assert!(are_gone());
    assert!(network.connect("ay_ledbatpp").is_err());
    send(&mut socket, &mut peer, 500_000).expect("an open connection goes on");
    drop((socket, peer));
    drop(Loaded::new().expect("the names are free"));
    assert!(are_gone());
}
