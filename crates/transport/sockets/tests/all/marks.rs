//! DSCP and ECN, read from the IP header of received datagrams.

use super::{End, Families, Options, Outgoing};
use std::net::{Ipv6Addr, SocketAddr};

const SEEING: Options = Options {
    own_tos: None,
    tos: true,
    destination: false,
    arrival: false,
    drops: false,
    batches: false,
    whole: false,
    reports: false,
};

/// Lower effort with each of the four ECN code points, other classes, nothing.
const BYTES: [u8; 7] = [0x04, 0x05, 0x06, 0x07, 0xb8, 0x03, 0x00];

fn assert_carried(from: &End, to: &End, address: SocketAddr) {
    for tos in BYTES {
        from.send(&Outgoing { tos, ..Outgoing::new(address, b"hello") });
        let incoming = to.receive();
        assert_eq!((incoming.tos, incoming.ecn), (Some(tos), Some(tos & 3)), "sent {tos:#04x}");
        assert_eq!((incoming.bytes, incoming.stride), (5, 5));
        assert_eq!(incoming.from.port(), from.address().port());
    }
}

#[test]
fn every_datagram_has_its_own_byte_over_ipv4_and_ipv6() {
    for host in ["127.0.0.1:0", "[::1]:0"] {
        let [from, to] = [Options::default(), SEEING].map(|options| End::open(host, Families::Own, options));
        assert_carried(&from, &to, to.address());
    }
}

#[test]
fn a_socket_for_both_families_marks_and_reads_both() {
    let both = || End::open("[::]:0", Families::Both, SEEING);
    let (one, other) = (both(), both());
    let mapped =
        SocketAddr::from((Ipv6Addr::from([0, 0, 0, 0, 0, 0xffff, 0x7f00, 1]), other.address().port()));
    assert_carried(&one, &other, mapped);
    assert_carried(&one, &other, SocketAddr::from((Ipv6Addr::LOCALHOST, other.address().port())));
    // To a socket of IPv4 alone, which sees an IPv4 header.
    let v4 = End::v4(SEEING);
    let SocketAddr::V4(address) = v4.address() else { unreachable!() };
    assert_carried(&one, &v4, SocketAddr::from((address.ip().to_ipv6_mapped(), address.port())));
}

#[test]
fn a_socket_of_its_own_family_refuses_the_other() {
    let v6 = End::open("[::]:0", Families::Own, SEEING);
    let v4 = End::v4(Options::default());
    v4.send(&Outgoing::new(SocketAddr::from(([127, 0, 0, 1], v6.address().port())), b"hello"));
    assert_eq!(v6.try_receive(&mut [0; 9]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn the_sockets_own_byte_is_carried_and_another_one_overrides_it() {
    for host in ["127.0.0.1:0", "[::1]:0"] {
        let own = Options { own_tos: Some(0x04), ..Options::default() };
        let [from, to] = [own, SEEING].map(|options| End::open(host, Families::Own, options));
        assert_eq!(from.control.own_tos(), Some(0x04));
        assert_carried(&from, &to, to.address());
    }
}

#[test]
fn a_socket_that_did_not_ask_is_told_no_byte() {
    let (from, to) = (End::v4(Options::default()), End::v4(Options::default()));
    from.send(&Outgoing { tos: 6, ..Outgoing::new(to.address(), b"hello") });
    assert_eq!(to.receive().tos, None);
}
