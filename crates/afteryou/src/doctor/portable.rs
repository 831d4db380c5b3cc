//! Checks that need nothing of a particular system: UDP at all, and how precisely a sleep ends.

use super::Check;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::{Duration, Instant};

const DATAGRAMS: usize = 32;
const DATAGRAM_BYTES: usize = 1200;
const SLEEPS: usize = 200;
const SLEEP: Duration = Duration::from_millis(1);

/// Packets that leave later than this come in bursts that a queue can feel: 2 ms at 100 Mbit/s are 17 packets.
const LATE: Duration = Duration::from_millis(2);

/// Runs all of these checks.
pub fn checks() -> Vec<Check> {
    vec![udp(), timer()]
}

fn udp() -> Check {
    const NAME: &str = "UDP on this machine";
    match exchange() {
        Ok((DATAGRAMS, took)) => Check::ok(
            NAME,
            format!("{DATAGRAMS} datagrams over loopback in {:.1} ms", took.as_secs_f64() * 1e3),
        ),
        Ok((arrived, _)) => {
            let todo = "look for a local firewall that drops UDP on loopback (nft list ruleset, pfctl -sr)";
            Check::fail(NAME, format!("{arrived} of {DATAGRAMS} datagrams arrived over loopback"), todo)
        }
        Err(error) => Check::fail(
            NAME,
            format!("no UDP socket: {error}"),
            "allow this program UDP sockets (sandbox, container, security policy)",
        ),
    }
}

/// Returns the number of datagrams that came through, and how long it took.
fn exchange() -> io::Result<(usize, Duration)> {
    let (from, to) = pair()?;
    to.set_read_timeout(Some(Duration::from_millis(500)))?;
    let began = Instant::now();
    let mut buffer = [0; DATAGRAM_BYTES];
    let mut arrived = 0;
    for _ in 0..DATAGRAMS {
        from.send(&[0; DATAGRAM_BYTES])?;
        match to.recv(&mut buffer) {
            Ok(DATAGRAM_BYTES) => arrived += 1,
            _ => break,
        }
    }
    Ok((arrived, began.elapsed()))
}

/// Opens two sockets on loopback, the first connected to the second.
pub fn pair() -> io::Result<(UdpSocket, UdpSocket)> {
    let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    let to = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    from.connect(to.local_addr()?)?;
    Ok((from, to))
}

fn timer() -> Check {
    const NAME: &str = "timer";
    let mut late: Vec<Duration> = (0..SLEEPS).map(|_| lateness()).collect();
    late.sort_unstable();
    let (median, p99) = (late[SLEEPS / 2], late[SLEEPS * 99 / 100]);
    let micros = |duration: Duration| duration.as_micros();
    let seen = format!(
        "a sleep of 1 ms ends {} µs late (median), {} µs at the 99th percentile",
        micros(median),
        micros(p99)
    );
    match p99 > LATE {
        false => Check::ok(NAME, seen),
        true => Check::warn(NAME, seen, "packets will leave in bursts: give the machine less to do, or a virtual machine more of its host"),
    }
}

fn lateness() -> Duration {
    let began = Instant::now();
    std::thread::sleep(SLEEP);
    began.elapsed().saturating_sub(SLEEP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn loopback_works_where_tests_run() {
        let check = udp();
        assert_eq!(check.state, Severity::Ok, "{check:?}");
    }

    #[test]
    fn the_timer_is_measured() {
        let check = timer();
        assert!(check.seen.contains("µs") && check.state != Severity::Fail, "{check:?}");
    }
}
