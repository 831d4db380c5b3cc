//! Kernels that refuse: the calls are made to a function here.

use super::*;

fn control() -> Control {
    let socket = crate::bind("127.0.0.1:0".parse().unwrap(), crate::Families::Own).unwrap();
    Control::new(SockRef::from(&socket), Options::default()).unwrap()
}

fn peer() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 9))
}

/// The contents of one call: bytes, the TOS byte, the size of the segments.
type Call = (usize, Option<u8>, Option<u16>);

fn seen(payload: &[u8], controls: &[ControlMessage<'_>]) -> Call {
    let tos = controls.iter().find_map(|control| match control {
        ControlMessage::Ipv4Tos(tos) => Some(**tos),
        _ => None,
    });
    let segment = controls.iter().find_map(|control| match control {
        ControlMessage::UdpGsoSegments(size) => Some(**size),
        _ => None,
    });
    (payload.len(), tos, segment)
}

/// Sends by a kernel that answers each call with `answer`; returns the calls and the result.
fn send_by(
    control: &Control,
    outgoing: &Outgoing<'_>,
    answer: impl Fn(Call) -> nix::Result<()>,
) -> (Vec<Call>, io::Result<()>) {
    let mut calls = Vec::new();
    let result = control.send_by(outgoing, |payload, controls| {
        calls.push(seen(payload, controls));
        answer(seen(payload, controls))
    });
    (calls, result)
}

#[test]
fn a_kernel_that_takes_no_byte_gets_the_datagram_without_and_is_not_asked_again() {
    let control = control();
    let old = |(_, tos, _): Call| if tos.is_some() { Err(Errno::EINVAL) } else { Ok(()) };
    let outgoing = Outgoing { tos: 6, ..Outgoing::new(peer(), &[0; 10]) };
    assert!(control.sends_tos());
    let (calls, result) = send_by(&control, &outgoing, old);
    assert!(result.is_ok());
    assert_eq!(calls, [(10, Some(6), None), (10, None, None)]);
    assert!(!control.sends_tos());
    assert_eq!(send_by(&control, &outgoing, old).0, [(10, None, None)]);
}

#[test]
fn a_datagram_that_is_refused_either_way_does_not_cost_the_byte() {
    let control = control();
    let outgoing = Outgoing { tos: 6, ..Outgoing::new(peer(), &[0; 10]) };
    let (_, result) = send_by(&control, &outgoing, |_| Err(Errno::EINVAL));
    assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EINVAL));
    assert!(control.sends_tos());
}

#[test]
fn a_buffer_that_the_device_cannot_cut_leaves_in_parts_with_their_byte() {
    let control = control();
    assert_eq!(control.send_segments(), MOST_SEGMENTS);
    let no_offload = |(_, _, segment): Call| if segment.is_some() { Err(Errno::EIO) } else { Ok(()) };
    let outgoing = Outgoing { tos: 6, segment: Some(1000), ..Outgoing::new(peer(), &[0; 2500]) };
    let (calls, result) = send_by(&control, &outgoing, no_offload);
    assert!(result.is_ok());
    let parts = [(1000, Some(6), None), (1000, Some(6), None), (500, Some(6), None)];
    assert_eq!(calls, [&[(2500, Some(6), Some(1000))][..], &parts].concat());
    assert_eq!(control.send_segments(), 1);
    assert_eq!(send_by(&control, &outgoing, no_offload).0, parts);
}

#[test]
fn a_full_buffer_is_an_error_only_if_nothing_has_left() {
    let control = control();
    control.offload_failed.store(true, Ordering::Relaxed);
    let outgoing = Outgoing { segment: Some(1000), ..Outgoing::new(peer(), &[0; 2500]) };
    let full_after = |most: usize| {
        let calls = std::cell::Cell::new(0);
        send_by(&control, &outgoing, |_| {
            calls.set(calls.get() + 1);
            if calls.get() > most {
                Err(Errno::EAGAIN)
            } else {
                Ok(())
            }
        })
    };
    let (calls, result) = full_after(0);
    assert_eq!((calls.len(), result.unwrap_err().kind()), (1, io::ErrorKind::WouldBlock));
    let (calls, result) = full_after(1);
    assert_eq!((calls.len(), result.is_ok()), (2, true));
}

#[test]
fn the_sockets_own_byte_needs_no_control_message() {
    let socket = crate::bind("127.0.0.1:0".parse().unwrap(), crate::Families::Own).unwrap();
    let options = Options { own_tos: Some(4), ..Options::default() };
    let control = Control::new(SockRef::from(&socket), options).unwrap();
    assert_eq!(control.own_tos(), Some(4));
    let with = |tos| Outgoing { tos, ..Outgoing::new(peer(), &[0; 10]) };
    assert_eq!(send_by(&control, &with(4), |_| Ok(())).0, [(10, None, None)]);
    assert_eq!(send_by(&control, &with(6), |_| Ok(())).0, [(10, Some(6), None)]);
}

#[test]
fn a_datagram_too_long_for_the_interface_is_refused_reported_and_sent_in_fragments_with_permission() {
    // Loopback's MTU is 65 536 bytes, and IPv6 has 48 of headers: 65 507 do not fit into one packet.
    let bind = || crate::bind("[::1]:0".parse().unwrap(), crate::Families::Own).unwrap();
    let (from, to) = (bind(), bind());
    let options = Options { whole: true, reports: true, ..Options::default() };
    let control = Control::new(SockRef::from(&from), options).unwrap();
    let address = to.local_addr().unwrap();
    let payload = vec![7; 65_507];
    let outgoing = Outgoing::new(address, &payload);
    let refused = control.send(SockRef::from(&from), &outgoing).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(Errno::EMSGSIZE as i32));
    let mut found = Vec::new();
    control.take_too_big(SockRef::from(&from), &mut found);
    assert_eq!(found, [TooBig { to: address, mtu: 65_536 }]);
    // The report may have left an error behind, which the next call returns.
    let sent = (0..2).any(|_| control.send_fragmentable(SockRef::from(&from), &outgoing).is_ok());
    assert!(sent);
    let mut buffer = vec![0; 65_536];
    to.set_nonblocking(false).unwrap();
    to.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    assert_eq!(to.recv(&mut buffer).unwrap(), payload.len());
    assert!(control.send(SockRef::from(&from), &outgoing).is_err(), "the permission is for one call");
}

#[test]
fn the_route_to_this_machine_takes_what_loopback_does() {
    for to in ["127.0.0.1:9", "[::1]:9", "[::ffff:127.0.0.1]:9"] {
        let mtu = route_mtu(to.parse().unwrap()).unwrap();
        // An IPv4 packet has 65 535 bytes at most.
        assert!((65_535..=65_536).contains(&mtu), "{to}: {mtu}");
    }
}

#[test]
fn memory_of_waiting_datagrams_is_that_of_the_receive_buffer_and_batches_take_less_of_it() {
    let bind = || crate::bind("127.0.0.1:0".parse().unwrap(), crate::Families::Own).unwrap();
    let waiting = |segment| {
        let (from, to) = (bind(), bind());
        let control =
            Control::new(SockRef::from(&to), Options { batches: true, ..Options::default() }).unwrap();
        assert_eq!(control.waiting_memory(SockRef::from(&to)), Some(0));
        let sending = Control::new(SockRef::from(&from), Options::default()).unwrap();
        let payload = vec![7; 1000 * 20];
        for payload in payload.chunks(if segment { payload.len() } else { 1000 }) {
            let outgoing = Outgoing::new(to.local_addr().unwrap(), payload);
            let segment = segment.then_some(1000);
            sending.send(SockRef::from(&from), &Outgoing { segment, ..outgoing }).unwrap();
        }
        control.waiting_memory(SockRef::from(&to)).unwrap()
    };
    let (alone, batch) = (waiting(false), waiting(true));
    assert!(alone >= 20 * 1000 && batch >= 20 * 1000 && batch <= alone, "{alone} {batch}");
}
