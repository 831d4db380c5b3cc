//! What the kernel of Linux keeps of a socket.

use crate::kinds::pair;
use afteryou_background::{set_background, Missing, Rule, CONTROLLERS};
use socket2::{Domain, SockRef, Socket, Type};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};

/// DSCP 1 in the upper six bits.
const LE: u32 = 4;
const FILLER: u32 = 1;

fn controller(socket: &SockRef<'_>) -> String {
    let name = socket.tcp_congestion().unwrap();
    String::from_utf8(name).unwrap().trim_end_matches('\0').to_owned()
}

/// Returns the first of the controllers that a socket of this process may choose.
fn best() -> Option<&'static str> {
    CONTROLLERS.into_iter().find(|name| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_tcp_congestion(name.as_bytes()).is_ok()
    })
}

#[test]
fn the_best_controller_that_the_kernel_has_sends() {
    let (client, _server) = pair("127.0.0.1");
    let before = controller(&SockRef::from(&client));
    // The controllers of the kernel may come and go while this runs.
    let attempt = || {
        let (first, background, second) = (best(), set_background(&client).unwrap(), best());
        (first == second).then_some((first, background))
    };
    let (best, background) = std::iter::repeat_with(attempt).flatten().next().unwrap();
    let now = controller(&SockRef::from(&client));
    println!("{background}");
    match background.rule {
        Ok(Rule::Controller(name)) => assert_eq!((Some(name), now.as_str()), (best, name)),
        Err(Missing::NotLoaded | Missing::NotPermitted(_)) => assert_eq!((best, now), (None, before)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn marks_and_priority_are_set_for_each_family() {
    let (v4, _peer) = pair("127.0.0.1");
    assert!(set_background(&v4).unwrap().low_priority);
    let v4 = SockRef::from(&v4);
    assert_eq!((v4.tos_v4().unwrap(), v4.priority().unwrap()), (LE, FILLER));
    let Ok(v6) = Socket::new(Domain::IPV6, Type::STREAM, None) else {
        eprintln!("SKIPPED: sockets of IPv6: this kernel has none");
        return;
    };
    // Not bound yet, so for both.
    set_background(&v6).unwrap().mark.unwrap();
    assert_eq!((v6.tclass_v6().unwrap(), v6.tos_v4().unwrap(), v6.priority().unwrap()), (LE, LE, FILLER));
    let alone = Socket::new(Domain::IPV6, Type::STREAM, None).unwrap();
    alone.set_only_v6(true).unwrap();
    set_background(&alone).unwrap().mark.unwrap();
    assert_eq!((alone.tclass_v6().unwrap(), alone.tos_v4().unwrap()), (LE, 0));
}

#[test]
fn a_socket_of_ipv6_with_a_peer_of_ipv4_is_marked_as_one_of_ipv4() {
    let Ok(socket) = Socket::new(Domain::IPV6, Type::STREAM, None) else {
        eprintln!("SKIPPED: sockets of IPv6: this kernel has none");
        return;
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mapped = SocketAddr::from((Ipv4Addr::LOCALHOST.to_ipv6_mapped(), port));
    socket.connect(&mapped.into()).unwrap();
    set_background(&socket).unwrap().mark.unwrap();
    assert_eq!(socket.tos_v4().unwrap(), LE);
}

#[test]
fn the_connections_of_a_listener_inherit_mark_and_controller_but_no_priority() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    set_background(&listener).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (accepted, _) = listener.accept().unwrap();
    let (listener, accepted) = (SockRef::from(&listener), SockRef::from(&accepted));
    assert_eq!(controller(&accepted), controller(&listener));
    assert_eq!((accepted.tos_v4().unwrap(), accepted.priority().unwrap()), (LE, 0));
    assert!(set_background(accepted).unwrap().low_priority);
}

#[test]
fn datagrams_are_marked_and_have_the_priority() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(set_background(&socket).unwrap().low_priority);
    let socket = SockRef::from(&socket);
    assert_eq!((socket.tos_v4().unwrap(), socket.priority().unwrap()), (LE, FILLER));
}
