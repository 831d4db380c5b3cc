//! Streams over real sockets on loopback.

use afteryou_base::Span;
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::{ConnectionId, Endpoint, EndpointConfig, Error, Micros, SeqNr};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(60);

fn v4() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn v6() -> SocketAddr {
    "[::1]:0".parse().unwrap()
}

fn pair(addr: SocketAddr) -> (Endpoint, Endpoint) {
    let bind = || Endpoint::bind(addr, EndpointConfig::foreground()).unwrap();
    (bind(), bind())
}

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x as u8
    };
    std::iter::repeat_with(next).take(len).collect()
}

#[tokio::test]
async fn the_first_acknowledgements_travel_on_what_the_application_writes_in_answer() {
    let (client, server) = pair(v4());
    let to = server.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let mut stream = server.accept().await.unwrap();
        stream.read_exact(&mut [0; 100]).await.unwrap();
        stream.write_all(&[2; 1000]).await.unwrap();
        (stream, server)
    });
    let mut stream = client.connect(to).await.unwrap();
    stream.write_all(&[1; 100]).await.unwrap();
    stream.read_exact(&mut [0; 1000]).await.unwrap();
    let (served, _server) = serving.await.unwrap();
    let sent = [&stream, &served].map(|stream| stream.statistics().packets_sent);
    // The SYN and its answer, the request and its answer.
    assert_eq!(sent, [2, 2]);
}

#[tokio::test]
async fn one_call_copies_64_kib_at_most_and_the_rest_follows() {
    let (a, b) = pair(v4());
    let mut to_b = a.connect(b.local_addr().unwrap()).await.unwrap();
    let sent = noise(1 << 20, 3);
    let first = to_b.write(&sent).await.unwrap();
    assert!((1..=64 << 10).contains(&first), "{first}");
    let rest = sent[first..].to_vec();
    let writer = tokio::spawn(async move {
        to_b.write_all(&rest).await.unwrap();
        to_b.shutdown().await.unwrap();
    });
    let mut from_a = b.accept().await.unwrap();
    let (mut got, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    loop {
        let read = timeout(PATIENCE, from_a.read(&mut buffer)).await.unwrap().unwrap();
        assert!(read <= 64 << 10, "{read}");
        if read == 0 {
            break;
        }
        got.extend_from_slice(&buffer[..read]);
    }
    writer.await.unwrap();
    assert!(got == sent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_directions_carry_data_at_once_over_both_ip_versions() {
    for addr in [v4(), v6()] {
        let (a, b) = pair(addr);
        let to = b.local_addr().unwrap();
        let (from_a, from_b) = (noise(3_000_000, 1), noise(2_000_000, 2));
        let (expected_a, expected_b) = (from_a.clone(), from_b.clone());
        let server = tokio::spawn(async move {
            let (mut read, mut write) = tokio::io::split(b.accept().await.unwrap());
            let writer = tokio::spawn(async move {
                write.write_all(&from_b).await.unwrap();
                write.shutdown().await.unwrap();
            });
            let mut got = Vec::new();
            read.read_to_end(&mut got).await.unwrap();
            writer.await.unwrap();
            (got, b)
        });
        let (mut read, mut write) = tokio::io::split(a.connect(to).await.unwrap());
        let writer = tokio::spawn(async move {
            write.write_all(&from_a).await.unwrap();
            write.shutdown().await.unwrap();
        });
        let mut got = Vec::new();
        timeout(PATIENCE, read.read_to_end(&mut got)).await.unwrap().unwrap();
        writer.await.unwrap();
        assert!(got == expected_b);
        assert!(timeout(PATIENCE, server).await.unwrap().unwrap().0 == expected_a);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_socket_carries_many_connections() {
    let (a, b) = pair(v4());
    let to = b.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut echoes = Vec::new();
        for _ in 0..100 {
            let stream = b.accept().await.unwrap();
            echoes.push(tokio::spawn(async move {
                let (mut read, mut write) = tokio::io::split(stream);
                tokio::io::copy(&mut read, &mut write).await.unwrap();
                write.shutdown().await.unwrap();
            }));
        }
        for echo in echoes {
            echo.await.unwrap();
        }
        b
    });
    let mut clients = Vec::new();
    for i in 0..100 {
        let mut stream = a.connect(to).await.unwrap();
        clients.push(tokio::spawn(async move {
            let data = noise(20_000 + i, i as u64);
            stream.write_all(&data).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut got = Vec::new();
            stream.read_to_end(&mut got).await.unwrap();
            assert!(got == data);
        }));
    }
    for client in clients {
        timeout(PATIENCE, client).await.unwrap().unwrap();
    }
    drop(timeout(PATIENCE, server).await.unwrap().unwrap());
}

#[tokio::test]
async fn an_endpoint_that_takes_no_connections_stays_silent() {
    let config = EndpointConfig { accepts: false, ..EndpointConfig::foreground() };
    let (a, b) = (Endpoint::bind(v4(), config.clone()).unwrap(), Endpoint::bind(v4(), config).unwrap());
    let outcome = timeout(Duration::from_secs(1), a.connect(b.local_addr().unwrap())).await;
    assert!(outcome.is_err(), "it answered");
}

/// libutp answers each SYN once. This peer's first answer is lost, as it were.
#[tokio::test]
async fn a_lost_answer_is_made_good_by_a_second_try_under_another_id() {
    let peer = tokio::net::UdpSocket::bind(v4()).await.unwrap();
    let to = peer.local_addr().unwrap();
    let a = Endpoint::bind(v4(), EndpointConfig::foreground()).unwrap();
    let connecting = tokio::spawn(async move { (a.connect(to).await.map(|_| ()), a) });
    let mut ids = Vec::new();
    let mut buf = [0; 1500];
    loop {
        let (n, from) = timeout(PATIENCE, peer.recv_from(&mut buf)).await.unwrap().unwrap();
        let packet = Packet::decode(&buf[..n]).unwrap();
        let id = packet.header.connection_id;
        if packet.header.kind == Kind::Syn && !ids.contains(&id) {
            ids.push(id);
        }
        if ids.len() == 2 {
            let header =
                Header { kind: Kind::State, seq_nr: SeqNr(1), ack_nr: packet.header.seq_nr, ..packet.header };
            let mut answer = Vec::new();
            Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut answer);
            peer.send_to(&answer, from).await.unwrap();
            break;
        }
    }
    assert_eq!(timeout(PATIENCE, connecting).await.unwrap().unwrap().0, Ok(()));
    // The first try is taken back.
    loop {
        let (n, _) = timeout(PATIENCE, peer.recv_from(&mut buf)).await.unwrap().unwrap();
        let packet = Packet::decode(&buf[..n]).unwrap();
        if packet.header.kind == Kind::Reset {
            assert_eq!(packet.header.connection_id, ids[0].next());
            return;
        }
    }
}

#[tokio::test]
async fn without_room_for_a_second_try_the_first_goes_on() {
    let peer = tokio::net::UdpSocket::bind(v4()).await.unwrap();
    let to = peer.local_addr().unwrap();
    let a =
        Endpoint::bind(v4(), EndpointConfig { max_connections: 1, ..EndpointConfig::foreground() }).unwrap();
    let connecting = tokio::spawn(async move { (a.connect(to).await.map(|_| ()), a) });
    let mut buf = [0; 1500];
    let (n, from) = timeout(PATIENCE, peer.recv_from(&mut buf)).await.unwrap().unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    let syn = Packet::decode(&buf[..n]).unwrap();
    let header = Header { kind: Kind::State, seq_nr: SeqNr(1), ack_nr: syn.header.seq_nr, ..syn.header };
    let mut answer = Vec::new();
    Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut answer);
    peer.send_to(&answer, from).await.unwrap();
    assert_eq!(timeout(PATIENCE, connecting).await.unwrap().unwrap().0, Ok(()));
}

#[tokio::test]
async fn a_stream_that_is_dropped_still_delivers_what_was_written() {
    let (a, b) = pair(v4());
    let to = b.local_addr().unwrap();
    let mut stream = a.connect(to).await.unwrap();
    stream.write_all(&noise(60_000, 3)).await.unwrap();
    drop(stream);
    let mut incoming = timeout(PATIENCE, b.accept()).await.unwrap().unwrap();
    let mut got = Vec::new();
    timeout(PATIENCE, incoming.read_to_end(&mut got)).await.unwrap().unwrap();
    assert!(got == noise(60_000, 3));
    drop(incoming);
    timeout(PATIENCE, a.close()).await.unwrap();
}

#[tokio::test]
async fn an_endpoint_closes_although_a_peer_never_reads_what_a_dropped_stream_has_left() {
    let mut config = EndpointConfig::foreground();
    config.connection.recv_buffer = 5_000;
    config.connection.patience = Span::from_secs(2);
    let b = Endpoint::bind(v4(), config.clone()).unwrap();
    let a = Endpoint::bind(v4(), config).unwrap();
    let mut stream = a.connect(b.local_addr().unwrap()).await.unwrap();
    stream.write_all(&noise(20_000, 6)).await.unwrap();
    let _never_read = timeout(PATIENCE, b.accept()).await.unwrap().unwrap();
    drop(stream);
    let start = std::time::Instant::now();
    timeout(Duration::from_secs(10), a.close()).await.expect("it waits for a reader that never comes");
    assert!(start.elapsed() > Duration::from_secs(1), "the peer had no time to read");
}

#[tokio::test]
async fn a_peer_that_never_ends_its_direction_does_not_keep_a_dropped_stream() {
    let mut config = EndpointConfig::foreground();
    config.connection.patience = Span::from_secs(1);
    let b = Endpoint::bind(v4(), EndpointConfig::foreground()).unwrap();
    let a = Endpoint::bind(v4(), config).unwrap();
    drop(a.connect(b.local_addr().unwrap()).await.unwrap());
    let _never_ended = timeout(PATIENCE, b.accept()).await.unwrap().unwrap();
    timeout(Duration::from_secs(5), a.close()).await.expect("nothing wakes the entry");
}

#[tokio::test]
async fn a_dropped_endpoint_ends_the_connections_that_nobody_has_accepted() {
    let (a, b) = pair(v4());
    let mut stream = a.connect(b.local_addr().unwrap()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(b);
    let mut got = Vec::new();
    timeout(Duration::from_secs(5), stream.read_to_end(&mut got)).await.expect("it stays open").unwrap();
}

#[tokio::test]
async fn an_aborted_stream_is_reset_at_the_far_end() {
    let (a, b) = pair(v4());
    let mut stream = a.connect(b.local_addr().unwrap()).await.unwrap();
    stream.write_all(b"x").await.unwrap();
    let mut incoming = b.accept().await.unwrap();
    let mut byte = [0; 1];
    incoming.read_exact(&mut byte).await.unwrap();
    stream.monitor().abort();
    let error = timeout(PATIENCE, incoming.read(&mut byte)).await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    assert!(stream.write_all(b"y").await.is_err());
}

#[tokio::test]
async fn a_reader_that_stops_stops_the_writer() {
    let mut config = EndpointConfig::foreground();
    config.connection.recv_buffer = 100_000;
    let b = Endpoint::bind(v4(), config).unwrap();
    let a = Endpoint::bind(v4(), EndpointConfig::foreground()).unwrap();
    let mut stream = a.connect(b.local_addr().unwrap()).await.unwrap();
    let data = noise(10_000_000, 4);
    let mut written = 0;
    while let Ok(result) = timeout(Duration::from_millis(500), stream.write(&data[written..])).await {
        written += result.unwrap();
    }
    assert!(written < 1_000_000, "{written} bytes written and none read");
    let mut incoming = b.accept().await.unwrap();
    let writer = tokio::spawn(async move {
        stream.write_all(&data[written..]).await.unwrap();
        stream.shutdown().await.unwrap();
        data
    });
    let mut got = Vec::new();
    timeout(PATIENCE, incoming.read_to_end(&mut got)).await.unwrap().unwrap();
    assert!(got == writer.await.unwrap());
}

#[tokio::test]
async fn the_limit_on_connections_holds_and_a_closed_endpoint_accepts_no_more() {
    let mut config = EndpointConfig::foreground();
    config.max_connections = 2;
    let a = Endpoint::bind(v4(), config).unwrap();
    let b = Endpoint::bind(v4(), EndpointConfig::foreground()).unwrap();
    let _one = a.connect(b.local_addr().unwrap()).await.unwrap();
    let _two = a.connect(b.local_addr().unwrap()).await.unwrap();
    assert_eq!(a.connect(b.local_addr().unwrap()).await.err(), Some(Error::TooMany));
    drop(b.accept().await.unwrap());
    let closing = tokio::spawn(async move {
        b.close().await;
        b.accept().await.err()
    });
    drop((_one, _two));
    assert_eq!(timeout(PATIENCE, closing).await.unwrap().unwrap(), Some(Error::EndpointClosed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unpaced_bursts_do_not_overflow_sockets_on_loopback() {
    let (a, b) = pair(v4());
    let to = b.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut stream = b.accept().await.unwrap();
        let mut buf = vec![0; 1 << 16];
        let mut total = 0;
        loop {
            match stream.read(&mut buf).await.unwrap() {
                0 => return (total, b),
                n => total += n,
            }
        }
    });
    let mut stream = a.connect(to).await.unwrap();
    let chunk = noise(1 << 20, 5);
    let start = std::time::Instant::now();
    for _ in 0..100 {
        stream.write_all(&chunk).await.unwrap();
    }
    stream.shutdown().await.unwrap();
    let statistics = stream.statistics();
    println!("{:?} {statistics:?}", start.elapsed());
    assert_eq!(timeout(PATIENCE, server).await.unwrap().unwrap().0, 100 << 20);
    assert!(statistics.retransmissions * 20 < statistics.data_packets_sent, "{statistics:?}");
}

/// Connects from an address of its own and sends 14 bytes, and nothing more. Linux' loopback has all of 127.0.0.0/8.
#[cfg(target_os = "linux")]
async fn connect_and_say(i: u8, to: SocketAddr) -> tokio::net::UdpSocket {
    let socket = tokio::net::UdpSocket::bind(SocketAddr::from(([127, 1, 0, i], 0))).await.unwrap();
    let encode = |kind, connection_id, seq_nr, ack_nr, payload: &[u8]| {
        let wnd_size = 1 << 20;
        let header = Header {
            kind,
            connection_id: ConnectionId(connection_id),
            timestamp: Micros(1),
            timestamp_difference: Micros(1),
            wnd_size,
            seq_nr: SeqNr(seq_nr),
            ack_nr: SeqNr(ack_nr),
        };
        let mut datagram = Vec::new();
        Packet { header, sack: None, marks: None, payload }.encode(&mut datagram);
        datagram
    };
    let mut buf = [0; 2000];
    socket.send_to(&encode(Kind::Syn, 7, 1, 0, &[]), to).await.unwrap();
    if let Ok(received) = timeout(Duration::from_secs(1), socket.recv(&mut buf)).await {
        let answer = Packet::decode(&buf[..received.unwrap()]).unwrap().header;
        socket.send_to(&encode(Kind::Data, 8, 2, answer.seq_nr.prev().0, &[1; 14]), to).await.unwrap();
    }
    socket
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_honest_peer_is_served_within_two_seconds_while_others_that_spoke_once_hold_all_places() {
    let config = EndpointConfig { max_connections: 40, ..EndpointConfig::foreground() };
    let server = std::sync::Arc::new(Endpoint::bind(v4(), config).unwrap());
    let to = server.local_addr().unwrap();
    let application = std::sync::Arc::clone(&server);
    tokio::spawn(async move {
        while let Ok(mut stream) = application.accept().await {
            tokio::spawn(async move {
                let mut said = [0; 14];
                while stream.read_exact(&mut said).await.is_ok() && stream.write_all(&said).await.is_ok() {}
            });
        }
    });
    let mut crowd = Vec::new();
    for i in 1..=120 {
        crowd.push(connect_and_say(i, to).await);
    }
    assert_eq!(server.statistics().connections, 40);
    let client = Endpoint::bind(v4(), EndpointConfig::foreground()).unwrap();
    let served = timeout(Duration::from_secs(2), async {
        let mut stream = client.connect(to).await.unwrap();
        stream.write_all(&[2; 14]).await.unwrap();
        stream.read_exact(&mut [0; 14]).await.unwrap();
    });
    served.await.expect("it has no place");
}
