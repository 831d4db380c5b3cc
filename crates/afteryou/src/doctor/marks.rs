//! Linux: what the kernel does with marks and batches, tried on loopback.

use super::portable::pair;
use super::Check;
use nix::cmsg_space;
use nix::sys::socket::{recvmsg, setsockopt, sockopt, ControlMessageOwned, MsgFlags, SockaddrIn};
use std::io::{self, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// Lower effort (RFC 8622) in the upper six bits, ECT(0) in the lower two.
const LOWER_EFFORT_ECT0: u8 = 0b0000_0110;

const DSCP_BITS: u8 = 0b1111_1100;
const ECN_BITS: u8 = 0b0000_0011;

const SEGMENT_BYTES: i32 = 1200;
const SEGMENTS: usize = 4;
const BATCH_BYTES: usize = SEGMENT_BYTES as usize * SEGMENTS;

/// All of them.
pub fn checks() -> Vec<Check> {
    let mut checks = marks();
    checks.extend([gso(), gro()]);
    checks
}

/// What came in one receive call.
struct Received {
    bytes: usize,
    tos: Option<u8>,
    segment_bytes: Option<i32>,
}

fn receive(socket: &UdpSocket) -> io::Result<Received> {
    let mut payload = [0; 2 * BATCH_BYTES];
    let mut slices = [IoSliceMut::new(&mut payload)];
    let mut control = cmsg_space!(u8, i32);
    let message =
        recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut slices, Some(&mut control), MsgFlags::empty())?;
    let mut received = Received { bytes: message.bytes, tos: None, segment_bytes: None };
    for control in message.cmsgs()? {
        match control {
            ControlMessageOwned::Ipv4Tos(tos) => received.tos = Some(tos),
            ControlMessageOwned::UdpGroSegments(bytes) => received.segment_bytes = Some(bytes),
            _ => {}
        }
    }
    Ok(received)
}

fn sockets() -> io::Result<(UdpSocket, UdpSocket)> {
    let (from, to) = pair()?;
    to.set_read_timeout(Some(Duration::from_millis(300)))?;
    Ok((from, to))
}

fn marks() -> Vec<Check> {
    judge_marks(send_marked().map_err(|error| error.to_string()))
}

fn send_marked() -> io::Result<Option<u8>> {
    let (from, to) = sockets()?;
    setsockopt(&to, sockopt::IpRecvTos, &true)?;
    setsockopt(&from, sockopt::Ipv4Tos, &i32::from(LOWER_EFFORT_ECT0))?;
    from.send(&[0; 100])?;
    Ok(receive(&to)?.tos)
}

fn judge_marks(seen: Result<Option<u8>, String>) -> Vec<Check> {
    const DSCP: &str = "DSCP";
    const ECN: &str = "ECN";
    let tos = match seen {
        Ok(Some(tos)) => tos,
        Ok(None) => {
            let todo = "nothing: routers still see the mark, only this report cannot";
            return vec![Check::warn(DSCP, "the kernel does not tell which byte arrives", todo)];
        }
        Err(error) => {
            let todo = "allow setsockopt(IP_TOS) in this sandbox or container; without it routers cannot see that the traffic may wait";
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
    let (from, to) = sockets()?;
    setsockopt(&from, sockopt::UdpGsoSegment, &SEGMENT_BYTES)?;
    from.send(&[0; BATCH_BYTES])?;
    let mut arrived = 0;
    while arrived < SEGMENTS && receive(&to)?.bytes == SEGMENT_BYTES as usize {
        arrived += 1;
    }
    Ok(arrived)
}

fn gro() -> Check {
    const NAME: &str = "batched receiving (GRO)";
    let todo = "needs Linux 5.0 and a sandbox that lets the option through; without it receiving takes more processor time";
    match receive_batch() {
        Ok(Received { bytes: BATCH_BYTES, segment_bytes: Some(SEGMENT_BYTES), .. }) => {
            Check::ok(NAME, format!("{SEGMENTS} datagrams in one call"))
        }
        Ok(_) => {
            Check::warn(NAME, "the option is there, and the kernel hands datagrams over one by one", todo)
        }
        Err(error) => Check::warn(NAME, format!("not available: {error}"), todo),
    }
}

fn receive_batch() -> io::Result<Received> {
    let (from, to) = sockets()?;
    setsockopt(&to, sockopt::UdpGroSegment, &true)?;
    setsockopt(&from, sockopt::UdpGsoSegment, &SEGMENT_BYTES)?;
    from.send(&[0; BATCH_BYTES])?;
    receive(&to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn a_byte_that_arrives_as_sent_is_well_and_each_part_is_judged_by_itself() {
        let states = |tos| judge_marks(Ok(Some(tos))).iter().map(|check| check.state).collect::<Vec<_>>();
        assert_eq!(states(0x06), [State::Ok, State::Ok]);
        assert_eq!(states(0x02), [State::Warn, State::Ok]);
        assert_eq!(states(0x04), [State::Ok, State::Warn]);
        assert_eq!(states(0x07), [State::Ok, State::Warn]);
    }

    #[test]
    fn what_cannot_be_seen_or_set_is_said_with_what_to_do() {
        for seen in [Ok(None), Err("not permitted".to_owned())] {
            let checks = judge_marks(seen);
            assert!(
                checks.iter().all(|check| check.state == State::Warn && check.todo.is_some()),
                "{checks:?}"
            );
        }
    }

    #[test]
    fn every_check_on_loopback_comes_to_a_verdict_quickly() {
        let began = std::time::Instant::now();
        let checks = checks();
        assert!(checks.len() >= 3 && checks.iter().all(|check| check.state != State::Fail), "{checks:?}");
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}
