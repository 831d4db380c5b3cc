//! Linux: what the kernel does with marks and batches, tried on loopback.

use super::portable::pair;
use super::Check;
use afteryou_sockets::{Control, Incoming, Messages, Options, Outgoing};
use socket2::SockRef;
use std::io;
use std::net::UdpSocket;
use std::time::Duration;

/// Lower effort (RFC 8622) in the upper six bits, ECT(0) in the lower two.
const LOWER_EFFORT_ECT0: u8 = 0b0000_0110;

const DSCP_BITS: u8 = 0b1111_1100;
const ECN_BITS: u8 = 0b0000_0011;

const SEGMENT_BYTES: usize = 1200;
const SEGMENTS: usize = 4;
const BATCH_BYTES: usize = SEGMENT_BYTES * SEGMENTS;

/// Runs all of these checks.
pub fn checks() -> Vec<Check> {
    let mut checks = marks();
    checks.extend([gso(), gro()]);
    checks
}

/// Two sockets on loopback, as transfers use them.
struct Pair {
    from: (UdpSocket, Control),
    to: (UdpSocket, Control),
}

impl Pair {
    fn open(receiving: Options) -> io::Result<Pair> {
        let (from, to) = pair()?;
        to.set_read_timeout(Some(Duration::from_millis(300)))?;
        let [sends, receives] = [(&from, Options::default()), (&to, receiving)]
            .map(|(socket, options)| Control::new(SockRef::from(socket), options));
        Ok(Pair { from: (from, sends?), to: (to, receives?) })
    }

    fn send(&self, payload: &[u8], tos: u8, segment: Option<usize>) -> io::Result<()> {
        let (socket, control) = &self.from;
        let outgoing = Outgoing { tos, segment, ..Outgoing::new(self.to.0.local_addr()?, payload) };
        control.send(SockRef::from(socket), &outgoing)
    }

    fn receive(&self) -> io::Result<Incoming> {
        let (socket, control) = &self.to;
        control.receive(SockRef::from(socket), &mut Messages::default(), &mut [0; 2 * BATCH_BYTES])
    }
}

fn marks() -> Vec<Check> {
    judge_marks(send_marked().map_err(|error| error.to_string()))
}

fn send_marked() -> io::Result<Option<u8>> {
    let pair = Pair::open(Options { tos: true, ..Options::default() })?;
    pair.send(&[0; 100], LOWER_EFFORT_ECT0, None)?;
    match pair.from.1.sends_tos() {
        true => Ok(pair.receive()?.tos),
        false => Err(io::Error::other("the kernel takes no TOS byte with a datagram")),
    }
}

fn judge_marks(seen: Result<Option<u8>, String>) -> Vec<Check> {
    const DSCP: &str = "DSCP";
    const ECN: &str = "ECN";
    let tos = match seen {
        Ok(Some(tos)) => tos,
        Ok(None) => {
            let todo = "nothing: routers still see the mark, only this report cannot";
            return vec![Check::warn(DSCP, "the kernel does not report the received byte", todo)];
        }
        Err(error) => {
            let todo = "allow the IP_TOS control message in this sandbox or container; without it routers cannot see that the traffic may wait";
            return vec![Check::warn(DSCP, format!("packets cannot be marked: {error}"), todo)];
        }
    };
    let sent = LOWER_EFFORT_ECT0;
    let dscp = match tos & DSCP_BITS == sent & DSCP_BITS {
        true => Check::ok(
            DSCP,
            format!("sent as lower effort (1), arrives as {}: the byte is 0x{tos:02x}", tos >> 2),
        ),
        false => {
            let todo = "look for a rule that rewrites it (nft list ruleset, iptables -t mangle -L)";
            Check::warn(
                DSCP,
                format!("sent as lower effort (1), arrives as {} on this very machine", tos >> 2),
                todo,
            )
        }
    };
    let ecn = match tos & ECN_BITS == sent & ECN_BITS {
        true => Check::ok(ECN, "capable packets arrive as capable"),
        false => {
            let todo = "look for a rule that clears it; without ECN queues can only drop";
            Check::warn(
                ECN,
                format!(
                    "the bits {:02b} arrive as {:02b} on this very machine",
                    sent & ECN_BITS,
                    tos & ECN_BITS
                ),
                todo,
            )
        }
    };
    vec![dscp, ecn]
}

fn gso() -> Check {
    const NAME: &str = "batched sending (GSO)";
    let todo = "needs Linux 4.18 and a sandbox that lets the option through; without it sending takes more processor time";
    match send_batch() {
        Ok(SEGMENTS) => Check::ok(NAME, format!("{SEGMENTS} datagrams in one call")),
        Ok(arrived) => {
            Check::warn(NAME, format!("one call of {SEGMENTS} datagrams arrived as {arrived}"), todo)
        }
        Err(error) => Check::warn(NAME, format!("not available: {error}"), todo),
    }
}

fn send_batch() -> io::Result<usize> {
    let pair = Pair::open(Options::default())?;
    pair.send(&[0; BATCH_BYTES], 0, Some(SEGMENT_BYTES))?;
    if pair.from.1.send_segments() == 1 {
        return Err(io::Error::other("the kernel does not cut a buffer into datagrams"));
    }
    let mut arrived = 0;
    while arrived < SEGMENTS && pair.receive()?.bytes == SEGMENT_BYTES {
        arrived += 1;
    }
    Ok(arrived)
}

fn gro() -> Check {
    const NAME: &str = "batched receiving (GRO)";
    let todo = "needs Linux 5.0 and a sandbox that lets the option through; without it receiving takes more processor time";
    match receive_batch() {
        Ok(Incoming { bytes: BATCH_BYTES, stride: SEGMENT_BYTES, .. }) => {
            Check::ok(NAME, format!("{SEGMENTS} datagrams in one call"))
        }
        Ok(_) => {
            Check::warn(NAME, "the option is there, and the kernel hands datagrams over one by one", todo)
        }
        Err(error) => Check::warn(NAME, format!("not available: {error}"), todo),
    }
}

fn receive_batch() -> io::Result<Incoming> {
    let pair = Pair::open(Options { batches: true, ..Options::default() })?;
    if pair.to.1.receive_segments() == 1 {
        return Err(io::Error::other("the kernel does not have the option"));
    }
    pair.send(&[0; BATCH_BYTES], 0, Some(SEGMENT_BYTES))?;
    pair.receive()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    #[test]
    fn a_byte_that_arrives_as_sent_is_well_and_each_part_is_judged_by_itself() {
        let states = |tos| judge_marks(Ok(Some(tos))).iter().map(|check| check.state).collect::<Vec<_>>();
        assert_eq!(states(0x06), [Severity::Ok, Severity::Ok]);
        assert_eq!(states(0x02), [Severity::Warn, Severity::Ok]);
        assert_eq!(states(0x04), [Severity::Ok, Severity::Warn]);
        assert_eq!(states(0x07), [Severity::Ok, Severity::Warn]);
    }

    #[test]
    fn what_cannot_be_seen_or_set_is_said_with_what_to_do() {
        for seen in [Ok(None), Err("not permitted".to_owned())] {
            let checks = judge_marks(seen);
            assert!(
                checks.iter().all(|check| check.state == Severity::Warn && check.todo.is_some()),
                "{checks:?}"
            );
        }
    }

    #[test]
    fn every_check_on_loopback_comes_to_a_verdict_quickly() {
        let began = std::time::Instant::now();
        let checks = checks();
        assert!(checks.len() >= 3 && checks.iter().all(|check| check.state != Severity::Fail), "{checks:?}");
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}
