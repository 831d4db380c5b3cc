//! Finding the right one among a ticket's addresses.

use super::support::*;
use afteryou_transfer::dial::{DialError, Failure};
use afteryou_transfer::ticket::{Address, Host};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

/// Takes datagrams and never answers.
fn black_hole() -> (std::net::UdpSocket, Address) {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = socket.local_addr().unwrap().into();
    (socket, address)
}

#[tokio::test]
async fn addresses_that_do_not_answer_cost_a_quarter_of_a_second_each() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    let holes = [black_hole(), black_hole()];
    ticket.addresses.splice(0..0, holes.iter().map(|(_, address)| address.clone()));
    let began = Instant::now();
    dialer(&ticket).dial().await.unwrap();
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(500) && took < Duration::from_secs(3), "{took:?}");
}

#[tokio::test]
async fn a_stranger_at_one_address_does_not_keep_the_right_one_from_being_found() {
    let (listening, stranger) = (new_listening(), new_listening());
    let mut ticket = listening.ticket();
    ticket.addresses.insert(0, stranger.address.into());
    let connection = dialer(&ticket).dial().await.unwrap();
    assert_eq!(connection.remote_address().port(), listening.address.port());
    assert_eq!(stranger.sessions(), 0);
}

#[tokio::test]
async fn names_are_looked_up() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    ticket.addresses = vec![Address { host: Host::Name("localhost".into()), port: listening.address.port() }];
    dialer(&ticket).dial().await.unwrap();
}

#[tokio::test]
async fn when_nobody_fits_every_address_is_named_with_its_reason() {
    let stranger = new_listening();
    let mut ticket = stranger.ticket();
    ticket.fingerprint.0[0] ^= 1;
    ticket.addresses.push(Address { host: Host::Name("no-such-name.invalid".into()), port: 1 });
    let error = dialer(&ticket).dial().await.unwrap_err();
    let DialError::Unreachable(tried) = &error else { panic!("{error}") };
    assert_eq!(tried.len(), 2);
    assert!(tried.iter().any(|attempt| matches!(attempt.failure, Failure::Stranger(_))));
    assert!(tried.iter().any(|attempt| matches!(attempt.failure, Failure::Name(_))));
    for address in &ticket.addresses {
        assert!(error.to_string().contains(&address.to_string()), "{error}");
    }
}

#[tokio::test]
async fn one_address_is_asked_once_however_often_and_in_whatever_form_a_ticket_has_it() {
    let stranger = new_listening();
    let mut ticket = stranger.ticket();
    ticket.fingerprint.0[0] ^= 1;
    let Host::Ip(std::net::IpAddr::V4(ip)) = ticket.addresses[0].host else { panic!("not IPv4") };
    let mapped = Address { host: Host::Ip(ip.to_ipv6_mapped().into()), ..ticket.addresses[0].clone() };
    ticket.addresses.extend([ticket.addresses[0].clone(), mapped]);
    let error = dialer(&ticket).dial().await.unwrap_err();
    let DialError::Unreachable(tried) = &error else { panic!("{error}") };
    let strangers = tried.iter().filter(|attempt| matches!(attempt.failure, Failure::Stranger(_)));
    assert_eq!((strangers.count(), tried.len()), (1, 3), "{error}");
    assert!(tried[1..].iter().all(|attempt| attempt.failure == Failure::Known), "{error}");
}

#[tokio::test]
async fn a_refusal_by_the_right_one_ends_the_search_at_once() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    ticket.secret = afteryou_transfer::ticket::Secret::new([1; 16]);
    let hole = black_hole();
    ticket.addresses.push(hole.1.clone());
    let began = Instant::now();
    let error = dialer(&ticket).dial().await.unwrap_err();
    assert!(
        matches!(&error, DialError::Refused { address } if *address == Address::from(listening.address)),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_secs(3));
}
