//! Routes that choose a controller: `ip route … congctl`, in a network namespace of the test.

use crate::pinned::{alone, as_nobody, NOBODY};
use afteryou_background::{set_background, Missing, Rule};
use afteryou_kernel::{choosers, pinned};
use nix::sched::{unshare, CloneFlags};
use socket2::{Domain, SockRef, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;

const UNLOCKED: &str = "10.8.0.1";
const LOCKED: &str = "10.8.0.2";
const ORDINARY: &str = "10.8.0.3";

/// Runs a test in a network namespace of its own with all controllers loaded, for root alone.
fn in_namespace(test: impl FnOnce() + Send + 'static) {
    in_namespace_offering(false, test);
}

fn in_namespace_offering(allow_users: bool, test: impl FnOnce() + Send + 'static) {
    alone(move || {
        pinned::load(allow_users).unwrap();
        unshare(CloneFlags::CLONE_NEWNET).unwrap();
        if let Err(reason) = ip("link set lo up") {
            eprintln!("SKIPPED: routes with congctl: {reason}");
            return;
        }
        ip(&format!("route add local {ORDINARY}/32 dev lo")).unwrap();
        test();
        pinned::unload().unwrap();
    });
}

fn ip(words: &str) -> Result<(), String> {
    let output = Command::new("ip").args(words.split(' ')).output();
    let output = output.map_err(|error| format!("ip of iproute2: {error}"))?;
    output.status.success().then_some(()).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn controller(socket: SockRef<'_>) -> String {
    let name = socket.tcp_congestion().unwrap();
    String::from_utf8(name).unwrap().trim_end_matches('\0').to_owned()
}

/// Connects within this machine to `to`, after the socket has chosen `before`. Returns both ends.
fn connected(to: &str, before: Option<&str>) -> (TcpStream, TcpStream) {
    let address: IpAddr = to.parse().unwrap();
    let listener = TcpListener::bind((address, 0)).unwrap();
    let socket = Socket::new(Domain::for_address((address, 0).into()), Type::STREAM, None).unwrap();
    before.inspect(|name| socket.set_tcp_congestion(name.as_bytes()).unwrap());
    socket.connect(&SocketAddr::from((address, listener.local_addr().unwrap().port())).into()).unwrap();
    let (mut client, mut server) = (TcpStream::from(socket), listener.accept().unwrap().0);
    client.write_all(&[7; 100_000]).unwrap();
    server.read_exact(&mut [0; 100_000]).unwrap();
    (client, server)
}

fn sends(to: &str, before: Option<&str>) -> String {
    controller(SockRef::from(&connected(to, before).0))
}

#[test]
fn a_route_chooses_for_its_destination_and_for_every_user() {
    in_namespace(|| {
        let default = sends(ORDINARY, None);
        ip(&format!("route add local {UNLOCKED}/32 dev lo congctl ay_ledbatpp")).unwrap();
        assert_eq!(sends(UNLOCKED, None), "ay_ledbatpp");
        // Who may not choose it gets it by the route.
        let (of_user, by_user) = as_nobody(|| {
            let (client, _server) = connected(UNLOCKED, None);
            (set_background(&client).unwrap().rule, controller(SockRef::from(&client)))
        });
        assert_eq!((of_user, by_user.as_str()), (Ok(Rule::Controller("ay_ledbatpp")), "ay_ledbatpp"));
        assert_eq!(sends(ORDINARY, None), default);
        // What answers on the route is a sender, too.
        assert_eq!(controller(SockRef::from(&connected(UNLOCKED, None).1)), "ay_ledbatpp");
        let route =
            choosers::routes().unwrap().into_iter().find(|route| route.to == format!("{UNLOCKED}/32"));
        assert_eq!(route.unwrap().controller, "ay_ledbatpp");
    });
}

#[test]
fn a_route_replaces_what_a_socket_has_chosen_before_it_connects() {
    in_namespace(|| {
        ip(&format!("route add local {UNLOCKED}/32 dev lo congctl ay_ledbatpp")).unwrap();
        assert_eq!(sends(UNLOCKED, Some("cubic")), "ay_ledbatpp");
        let listener = TcpListener::bind((UNLOCKED, 0)).unwrap();
        SockRef::from(&listener).set_tcp_congestion(b"cubic").unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        assert_eq!(controller(SockRef::from(&listener.accept().unwrap().0)), "ay_ledbatpp");
        let (client, _server) = connected(UNLOCKED, None);
        SockRef::from(&client).set_tcp_congestion(b"cubic").unwrap();
        assert_eq!(controller(SockRef::from(&client)), "cubic", "afterwards it may choose");
        assert_eq!(set_background(&client).unwrap().rule, Ok(Rule::Controller("afteryou")));
    });
}

#[test]
fn a_locked_route_lets_no_connection_choose() {
    in_namespace(|| {
        ip(&format!("route add local {LOCKED}/32 dev lo congctl lock reno")).unwrap();
        let (client, _server) = connected(LOCKED, Some("cubic"));
        let refused = SockRef::from(&client).set_tcp_congestion(b"cubic").unwrap_err();
        assert_eq!(
            (refused.kind(), controller(SockRef::from(&client))),
            (ErrorKind::PermissionDenied, "reno".into())
        );
        assert_eq!(set_background(&client).unwrap().rule, Err(Missing::Locked("reno".into())));
        ip(&format!("route change local {LOCKED}/32 dev lo congctl lock afteryou")).unwrap();
        let (client, _server) = connected(LOCKED, None);
        assert_eq!(set_background(&client).unwrap().rule, Ok(Rule::Controller("afteryou")));
        assert!(SockRef::from(&client).set_tcp_congestion(b"reno").is_err());
    });
}

#[test]
fn routes_of_ipv6_and_other_metrics_go_with_it() {
    in_namespace(|| {
        ip(&format!("route add local {UNLOCKED}/32 dev lo congctl afteryou features ecn initcwnd 4"))
            .unwrap();
        assert_eq!(sends(UNLOCKED, None), "afteryou");
        if Socket::new(Domain::IPV6, Type::STREAM, None).is_err() {
            eprintln!("SKIPPED: routes of IPv6: this kernel has none");
            return;
        }
        // The address has to be this machine's, which brings an ordinary route.
        ip("-6 addr add fd00::1/128 dev lo nodad").unwrap();
        ip("-6 route del local fd00::1 dev lo table local").unwrap();
        ip("-6 route add local fd00::1/128 dev lo table local congctl ay_ledbatpp").unwrap();
        assert_eq!(sends("fd00::1", None), "ay_ledbatpp");
        assert!(ip("route add local 10.8.0.4/32 dev lo congctl nosuch")
            .unwrap_err()
            .contains("Unknown tcp congestion"));
    });
}

#[test]
fn a_route_with_an_unloaded_controller_chooses_nothing() {
    in_namespace(|| {
        let default = sends(ORDINARY, None);
        ip(&format!("route add local {UNLOCKED}/32 dev lo congctl ay_ledbatpp")).unwrap();
        pinned::unload().unwrap();
        assert_eq!(sends(UNLOCKED, None), default);
        pinned::load(false).unwrap();
        assert_eq!(sends(UNLOCKED, None), "ay_ledbatpp", "loaded again, the route has its controller");
    });
}

#[test]
fn a_rule_of_routing_chooses_for_a_user_and_so_for_a_service() {
    in_namespace(|| {
        let default = sends(ORDINARY, None);
        // The peer is this machine, whose own table would come first.
        ip("rule add pref 200 lookup local").unwrap();
        ip("rule del pref 0").unwrap();
        ip(&format!("rule add pref 100 uidrange {NOBODY}-{NOBODY} lookup 51")).unwrap();
        ip(&format!("route add local {ORDINARY}/32 dev lo table 51 congctl afteryou")).unwrap();
        assert_eq!(as_nobody(|| sends(ORDINARY, None)), "afteryou");
        assert_eq!(sends(ORDINARY, None), default);
    });
}

#[test]
fn the_default_of_another_network_namespace_is_among_what_root_offers() {
    const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
    // What root does not offer is refused. That is not tried here: Linux 6.18 would keep the controller in memory until the machine restarts.
    in_namespace_offering(true, || {
        let default = sends(ORDINARY, None);
        std::fs::write(DEFAULT, "ay_ledbatpp").unwrap();
        let (client, _server) = connected(ORDINARY, None);
        assert_eq!(controller(SockRef::from(&client)), "ay_ledbatpp");
        assert_eq!(set_background(&client).unwrap().rule, Ok(Rule::Controller("ay_ledbatpp")));
        // Or the namespace would keep it loaded.
        std::fs::write(DEFAULT, default).unwrap();
    });
}
