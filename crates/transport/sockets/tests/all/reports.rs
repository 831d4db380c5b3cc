//! Addresses, arrival times, drops, fragments.

use super::{End, Families, Options, Outgoing};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant, SystemTime};

#[test]
fn the_address_that_a_datagram_was_sent_to_is_reported_and_can_be_sent_from() {
    let destination = Options { destination: true, ..Options::default() };
    let to = End::open("0.0.0.0:0", Families::Own, destination);
    let from = End::open("0.0.0.0:0", Families::Own, Options::default());
    let (port, ip) = (to.address().port(), IpAddr::from(Ipv4Addr::new(127, 0, 0, 9)));
    let source = IpAddr::from(Ipv4Addr::new(127, 0, 0, 5));
    from.send(&Outgoing { from: Some(source), ..Outgoing::new(SocketAddr::new(ip, port), b"hello") });
    let incoming = to.receive();
    assert_eq!((incoming.to, incoming.from.ip()), (Some(ip), source));

    let to = End::open("[::]:0", Families::Both, destination);
    let ip = IpAddr::from(Ipv6Addr::LOCALHOST);
    let from = End::open("[::]:0", Families::Both, Options::default());
    let address = SocketAddr::new(ip, to.address().port());
    from.send(&Outgoing { from: Some(ip), ..Outgoing::new(address, b"hello") });
    let incoming = to.receive();
    assert_eq!((incoming.to, incoming.from.ip()), (Some(ip), ip));
}

#[test]
fn the_kernels_time_of_arrival_is_before_the_reading() {
    const WAIT: Duration = Duration::from_millis(20);
    let to = End::v4(Options { arrival: true, tos: true, ..Options::default() });
    let from = End::v4(Options::default());
    let began = Instant::now();
    // The first socket of the machine that asks has the kernel turn stamping on, a moment later.
    loop {
        let before = SystemTime::now();
        from.send(&Outgoing { tos: 6, ..Outgoing::new(to.address(), b"hello") });
        std::thread::sleep(WAIT);
        let incoming = to.receive();
        let read = SystemTime::now();
        let arrived = incoming.arrived.unwrap();
        assert!(before <= arrived && arrived <= read, "{before:?} {arrived:?} {read:?}");
        assert_eq!(incoming.age(read), Some(read.duration_since(arrived).unwrap()));
        assert_eq!(incoming.tos, Some(6));
        if arrived + WAIT <= read {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(10), "stamped when it was read");
    }
}

#[test]
fn datagrams_that_found_the_buffer_full_are_counted_with_the_next_one() {
    let to = End::v4(Options { drops: true, ..Options::default() });
    socket2::SockRef::from(&to.socket).set_recv_buffer_size(4096).unwrap();
    let from = End::v4(Options::default());
    let sent = 50;
    (0..sent).for_each(|_| from.send(&Outgoing::new(to.address(), &[0; 1000])));
    let mut received = 0;
    while to.try_receive(&mut [0; 1000]).is_ok() {
        received += 1;
    }
    assert!((1..sent).contains(&received), "{received}");
    from.send(&Outgoing::new(to.address(), &[0; 1000]));
    assert_eq!(to.receive().dropped, Some(sent - received));
}

#[test]
fn whole_datagrams_larger_than_the_interface_are_refused() {
    let from = End::v4(Options { whole: true, ..Options::default() });
    assert!(!from.control.may_fragment());
    let to = End::v4(Options::default());
    let too_large = from.control.send((&from.socket).into(), &Outgoing::new(to.address(), &[0; 65_530]));
    assert!(too_large.is_err());
    from.send(&Outgoing::new(to.address(), b"after you"));
    assert_eq!(to.receive().bytes, 9);
    for host in ["[::1]:0", "[::]:0"] {
        let whole = Options { whole: true, ..Options::default() };
        assert!(!End::open(host, Families::Both, whole).control.may_fragment());
    }
}
