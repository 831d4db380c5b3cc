//! Sockets that programs make background traffic, with the controllers in the kernel: root's, and those of a user without privileges.

use crate::pinned::{alone, as_nobody};
use afteryou_background::{set_background, Background, Missing, Rule};
use afteryou_kernel::pinned;
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

const BEST: Rule = Rule::Controller("afteryou");

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// Sends bytes over a connection after the call, and returns what that managed and the controller that sends.
fn sent() -> (Background, String) {
    let (mut client, mut server) = pair();
    let background = set_background(&client).unwrap();
    client.write_all(&[7; 100_000]).unwrap();
    server.read_exact(&mut [0; 100_000]).unwrap();
    let name = SockRef::from(&client).tcp_congestion().unwrap();
    (background, String::from_utf8(name).unwrap().trim_end_matches('\0').to_owned())
}

#[test]
fn users_get_the_controller_when_root_offers_it() {
    alone(|| {
        let (before, default) = as_nobody(sent);
        assert_eq!(before.rule, Err(Missing::NotLoaded));
        assert!(before.mark.is_ok() && before.low_priority);

        pinned::load(false).unwrap();
        let (refused, name) = as_nobody(sent);
        assert_eq!((&refused.rule, &name), (&Err(Missing::NotPermitted("afteryou")), &default));
        assert!(refused.to_string().contains("does not offer afteryou to this user"), "{refused}");
        let (of_root, name) = sent();
        assert_eq!((of_root.rule, name.as_str()), (Ok(BEST), "afteryou"));
        pinned::unload().unwrap();

        pinned::load(true).unwrap();
        let (background, name) = as_nobody(sent);
        assert_eq!((background.rule, name.as_str()), (Ok(BEST), "afteryou"));
        assert!(background.mark.is_ok() && background.low_priority);
        pinned::unload().unwrap();
        assert_eq!(as_nobody(sent).0.rule, Err(Missing::NotLoaded));
    });
}

#[test]
fn a_connection_keeps_one_of_our_controllers_to_its_end() {
    alone(|| {
        pinned::load(false).unwrap();
        let (client, _server) = pair();
        SockRef::from(&client).set_tcp_congestion(b"ay_ledbat").unwrap();
        let kept = Ok(Rule::Controller("ay_ledbat"));
        assert_eq!(set_background(&client).unwrap().rule, kept);
        // Another user's process may have inherited it.
        assert_eq!(as_nobody(|| set_background(&client).unwrap().rule), kept);
        pinned::unload().unwrap();
        assert_eq!(set_background(&client).unwrap().rule, kept);
    });
}

#[test]
fn the_connections_of_a_listener_have_its_controller() {
    alone(|| {
        pinned::load(false).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(set_background(&listener).unwrap().rule, Ok(BEST));
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let name = SockRef::from(&accepted).tcp_congestion().unwrap();
        assert!(name.starts_with(b"afteryou\0"), "{name:?}");
        drop((listener, accepted));
        pinned::unload().unwrap();
    });
}
