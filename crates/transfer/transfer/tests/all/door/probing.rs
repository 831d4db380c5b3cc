//! `doctor`'s question, asked of the real listening side.

use super::support::*;
use afteryou_transfer::dial::Failure;
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::job::{listen, Arrival, ListenOptions, Service};
use afteryou_transfer::probe;
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::{Address, Role, Secret, Ticket};
use afteryou_transfer::tls;
use afteryou_transfer::wire::Answer;
use quinn::Endpoint;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[tokio::test]
async fn the_far_end_says_how_packets_arrive_and_the_mtu_is_found() {
    let (identity, files) = (Identity::ephemeral().unwrap(), tempfile::tempdir().unwrap());
    let limits = Limits::default();
    let mut config = tls::server(&identity, &[admission()]).unwrap();
    limits.apply(&mut config);
    let endpoint = Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = Address::from(endpoint.local_addr().unwrap());
    let arrival = |_: &quinn::Connection| Arrival { tos: Some(6), ce: 3, packets: 40 };
    let options = ListenOptions { arrival_of: Arc::new(arrival), ..ListenOptions::default() };
    let service = Service::Receive(Store::open(files.path(), StoreOptions::default()).unwrap());
    let (_end, shutdown) = tokio::sync::watch::channel(false);
    let listening = tokio::spawn(listen(Guard::new(endpoint, limits), service, options, shutdown));

    let ticket = Ticket {
        role: Role::Receive,
        fingerprint: identity.fingerprint(),
        secret: Secret::new(SECRET),
        addresses: vec![address.clone()],
    };
    let began = Instant::now();
    let path = probe::look(&dialer(&ticket), &address).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    // Loopback passes all that quinn tries.
    assert!(path.mtu >= 1400, "{path:?}");
    assert!(
        path.round_trip < Duration::from_secs(1) && path.connected_in < Duration::from_secs(3),
        "{path:?}"
    );
    let Ok(Answer::Probed { tos: Some(6), ce: 3, packets: 40, address }) = path.answer else {
        panic!("{path:?}")
    };
    assert!(address.contains("127.0.0.1"), "{address}");
    listening.abort();
}

#[tokio::test]
async fn a_path_to_nobody_is_silent_before_the_patience_of_a_person_ends() {
    let hole = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let ticket = new_listening().ticket();
    let began = Instant::now();
    let failure = probe::look(&dialer(&ticket), &hole.local_addr().unwrap().into()).await.unwrap_err();
    assert_eq!(failure, Failure::Silent);
    assert!(began.elapsed() < Duration::from_secs(8));
}
