//! Somebody who sees every datagram, repeats, cuts and changes them.

use super::support::*;
use afteryou_transfer::tls;
use data_encoding::{BASE32_NOPAD, BASE64, HEXLOWER};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{sleep, timeout};

const WORDS: &[u8] = b"what an onlooker must not read and nobody may say twice";

#[tokio::test]
async fn neither_the_secret_nor_what_is_said_can_be_seen_on_the_path() {
    let listening = new_listening();
    let forwarder = Forwarder::honest(listening.address).await;
    let ticket = listening.ticket_over(forwarder.address);
    let connection = dialer(&ticket).dial().await.unwrap();
    say(&connection, WORDS).await.unwrap();
    let seen: Vec<u8> =
        forwarder.seen.lock().unwrap().iter().flat_map(|(_, datagram)| datagram.clone()).collect();
    assert!(seen.len() > 3000, "{} bytes seen", seen.len());
    let encoded = [HEXLOWER.encode(&SECRET), BASE64.encode(&SECRET), BASE32_NOPAD.encode(&SECRET)];
    let hidden = encoded.iter().map(|text| text.as_bytes().to_vec());
    for hidden in hidden.chain([
        SECRET.to_vec(),
        SECRET[..8].to_vec(),
        WORDS[..16].to_vec(),
        listening.identity.certificate()[..32].to_vec(),
    ]) {
        assert!(!seen.windows(hidden.len()).any(|window| window == hidden));
    }
}

#[tokio::test]
async fn a_recorded_session_played_again_is_no_session() {
    let listening = new_listening();
    let forwarder = Forwarder::honest(listening.address).await;
    let connection = dialer(&listening.ticket_over(forwarder.address)).dial().await.unwrap();
    say(&connection, WORDS).await.unwrap();
    connection.close(0u32.into(), b"");
    sleep(Duration::from_millis(100)).await;
    let recorded = forwarder.seen_towards(Towards::Server);
    assert!(recorded.len() >= 3, "{}", recorded.len());
    assert_eq!(listening.sessions(), 1);

    play(&recorded, listening.address).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!((listening.sessions(), listening.said().len()), (1, 1));

    // The same identity after a restart: it remembers no connection, and the recording is still worth nothing.
    let restarted = listen(listening.identity.clone(), std::net::SocketAddr::from(([127, 0, 0, 1], 0)));
    play(&recorded, restarted.address).await;
    sleep(Duration::from_millis(500)).await;
    assert_eq!((restarted.sessions(), restarted.said().len()), (0, 0));
    // And it does no harm to those who are right.
    dialer(&restarted.ticket()).dial().await.unwrap();
}

async fn play(recorded: &[Vec<u8>], server: std::net::SocketAddr) {
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    for datagram in recorded {
        socket.send_to(datagram, server).await.unwrap();
        sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn the_listening_side_acts_on_nothing_before_the_client_has_proven_itself() {
    let listening = new_listening();
    // The client's first datagram passes, and then those that carry no part of the handshake's end.
    let mut first = true;
    let tamper = move |towards, datagram: Vec<u8>| match towards {
        Towards::Client => Some(datagram),
        Towards::Server => std::mem::take(&mut first).then_some(datagram),
    };
    let forwarder = Forwarder::new(listening.address, Box::new(tamper)).await;
    let ticket = listening.ticket_over(forwarder.address);
    let endpoint = client_endpoint();
    let connecting =
        endpoint.connect_with(tls::client(&ticket).unwrap(), forwarder.address, "afteryou").unwrap();
    let connection = timeout(Duration::from_secs(5), connecting)
        .await
        .unwrap()
        .expect("the client is satisfied after the server's part");
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(WORDS).await.unwrap();
    sleep(Duration::from_millis(500)).await;
    assert_eq!((listening.sessions(), listening.said().len()), (0, 0));
}

#[tokio::test]
async fn flipped_bits_and_cut_datagrams_cost_time_and_nothing_else() {
    const SEEDS: u64 = 8;
    let (mut arrived, mut changed) = (0, 0);
    for seed in 0..SEEDS {
        let listening = new_listening();
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let tamper = move |_, datagram: Vec<u8>| match random.next_u32() % 4 {
            0 => Some(spoiled(datagram, &mut random)),
            _ => Some(datagram),
        };
        let forwarder = Forwarder::new(listening.address, Box::new(tamper)).await;
        let dialer = dialer(&listening.ticket_over(forwarder.address));
        let words = WORDS.repeat(400);
        let attempt = async {
            let connection = dialer.dial().await.ok()?;
            say(&connection, &words).await.ok()
        };
        // A spoiled first flight may take its retransmissions; a wrong echo may never be.
        if let Ok(Some(echo)) = timeout(Duration::from_secs(8), attempt).await {
            assert!(echo == words, "seed {seed}");
            arrived += 1;
            changed += forwarder.changed.load(Ordering::Relaxed);
        }
        assert!(listening.said().iter().all(|said| *said == words), "seed {seed}");
    }
    assert!(arrived >= SEEDS - 2, "{arrived} of {SEEDS} arrived");
    // 22 kB there and back are some forty datagrams, and each fourth was spoiled. What loopback takes is delivered.
    assert!(changed >= 5 * arrived as usize, "{changed} datagrams of {arrived} conversations were changed");
}

#[tokio::test]
async fn when_every_datagram_is_changed_nobody_gets_in() {
    let listening = new_listening();
    let mut random = Pcg64Mcg::seed_from_u64(7);
    let tamper = move |towards, datagram: Vec<u8>| match towards {
        Towards::Server => Some(spoiled(datagram, &mut random)),
        Towards::Client => Some(datagram),
    };
    let forwarder = Forwarder::new(listening.address, Box::new(tamper)).await;
    let dialer = dialer(&listening.ticket_over(forwarder.address));
    let ended = timeout(Duration::from_secs(4), dialer.dial()).await;
    assert!(!matches!(ended, Ok(Ok(_))));
    assert!(!forwarder.seen_towards(Towards::Server).is_empty());
    assert_eq!(listening.sessions(), 0);
    // And the listening side is well.
    self::dialer(&listening.ticket()).dial().await.unwrap();
}

/// Returns a datagram with one bit flipped, or the end cut off.
fn spoiled(mut datagram: Vec<u8>, random: &mut Pcg64Mcg) -> Vec<u8> {
    let at = random.next_u32() as usize % datagram.len();
    match random.next_u32() % 2 {
        0 => datagram[at] ^= 1 << (random.next_u32() % 8),
        _ => datagram.truncate(at),
    }
    datagram
}

#[tokio::test]
async fn garbage_is_survived() {
    let listening = new_listening();
    let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for length in (0..1500).step_by(7) {
        let mut datagram = vec![0; length];
        random.fill_bytes(&mut datagram);
        if let Some(byte) = datagram.first_mut() {
            // Half of them claim a long header.
            *byte |= 0x40 | if length % 2 == 0 { 0x80 } else { 0 };
        }
        socket.send_to(&datagram, listening.address).await.unwrap();
    }
    dialer(&listening.ticket()).dial().await.unwrap();
    assert_eq!(listening.sessions(), 1);
}
