//! What a hostile peer can make a connection hold, counted by the allocator.
#![allow(unsafe_code)] // an allocator that counts has to be one

#[allow(dead_code)] // the fuzz targets use the rest of these bodies
#[path = "../../../../fuzz/src/bodies/connection.rs"]
mod connection;

use afteryou_base::Span;
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::{ConnectionId, Endpoint, EndpointConfig, Micros, SeqNr};
use connection::{forged, Forged, Machine, Number, Op, Setup, Start, MAX_PAYLOAD};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;
use tokio::time::timeout;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator; counts the bytes that each thread holds.
struct Counting;

fn count(bytes: isize) {
    // Threads that are just ending have no counter any more.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
}

/// Returns what an allocation costs beyond its bytes, and at least, in a usual allocator.
fn cost(size: usize) -> isize {
    (size + 8).max(32).next_multiple_of(16) as isize
}

// SAFETY: everything is left to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(cost(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-cost(layout.size()));
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Slots for packets out of order: their number is bounded, and an empty slot is as large as a full one.
const SLOTS: u64 = 32 * 32_768;

/// Returns the memory held after an attack, with default settings, or a receive buffer of 4000 bytes.
fn held_after(small: bool, attack: impl Fn(&mut Machine)) -> u64 {
    let setup = Setup { controller: 3, start: Start::Receiving, options: u8::from(small), seq_nr: 0 };
    let mut machine = Machine::new(setup);
    let before = HELD.get();
    attack(&mut machine);
    (HELD.get() - before).max(0) as u64
}

fn send(machine: &mut Machine, seq_nr: Number, payload: u16) {
    machine.run(&Op::Packet(Forged { seq_nr, payload, ..forged(Kind::Data) }));
}

#[test]
fn packets_in_order_hold_little_more_than_the_buffer_however_small_they_are() {
    for payload in [1, 2, 10, 100, 255, 256, 257, MAX_PAYLOAD] {
        let held = held_after(true, |machine| {
            for _ in 0..5_000 / payload + 1 {
                // Every second packet is acknowledged; then the next number is known.
                send(machine, Number::Near(0), payload);
                send(machine, Number::Near(1), payload);
            }
        });
        let slack = 4096 + 2 * u64::from(MAX_PAYLOAD);
        assert!(held < 2 * 4_000 + slack, "{payload}-byte packets: {held} bytes are held for 4000");
    }
}

#[test]
fn packets_out_of_order_hold_no_more_than_the_buffer_and_their_slots() {
    for (small, buffer) in [(true, 4_000), (false, 8 << 20)] {
        for payload in [0, 1, 100, MAX_PAYLOAD] {
            let held = held_after(small, |machine| {
                for seq_nr in (0..=u16::MAX).rev() {
                    send(machine, Number::Exactly(seq_nr), payload);
                }
            });
            // Small payloads out of order cost an allocation each.
            let most = 2 * buffer + SLOTS + 16_384 * 64;
            assert!(held < most, "{payload}-byte packets: {held} of {most} bytes");
        }
    }
}

#[test]
fn a_sender_whose_peer_keeps_the_first_packet_holds_no_more_than_its_scoreboard() {
    let setup = Setup { controller: 3, start: Start::Sending, options: 0, seq_nr: 0 };
    let mut machine = Machine::new(setup);
    let before = HELD.get();
    for _ in 0..3_000 {
        machine.run(&Op::Write(60_000));
        let ack_nr = Number::Near(-(machine.connection.statistics().max_packets_outstanding as i16));
        machine.run(&Op::Packet(Forged { ack_nr, sack: Some(vec![0xFF; 255]), ..forged(Kind::State) }));
    }
    let held = (HELD.get() - before).max(0) as u64;
    let unsent = machine.connection.writable() as u64 + (16 << 20);
    assert!(held < 8192 * (1352 + 256) + 2 * unsent, "{held} bytes");
}

/// A peer that can just complete a handshake. It may have thousands of connections.
struct Peer {
    socket: UdpSocket,
    to: SocketAddr,
}

impl Peer {
    async fn new(to: SocketAddr) -> Peer {
        Peer { socket: UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap(), to }
    }

    async fn send(&self, kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16) {
        self.send_data(kind, connection_id, seq_nr, ack_nr, &[]).await;
    }

    async fn send_data(&self, kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16, payload: &[u8]) {
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
        self.socket.send_to(&datagram, self.to).await.unwrap();
    }

    /// Opens connection `id`, as often as it takes until somebody answers; the first sequence number there.
    async fn connect(&self, id: u16) -> u16 {
        let mut buf = [0; 2000];
        loop {
            self.send(Kind::Syn, id, 1, 0).await;
            while let Ok(received) = timeout(Duration::from_millis(300), self.socket.recv(&mut buf)).await {
                let Header { connection_id, seq_nr, .. } =
                    Packet::decode(&buf[..received.unwrap()]).unwrap().header;
                if connection_id == ConnectionId(id) {
                    self.send(Kind::State, id + 1, 2, seq_nr.prev().0).await;
                    return seq_nr.0;
                }
            }
        }
    }
}

/// Lets peers connect, send nothing more and vanish. All of them are noticed within `most_s`, what they held is freed, and a
/// new peer is served within a second.
async fn vanish(config: EndpointConfig, peers: u16, most_s: u64) {
    let config = EndpointConfig { max_connections: 2 * usize::from(peers), ..config };
    let endpoint = Endpoint::bind((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap();
    let before = HELD.get();
    let to = endpoint.local_addr().unwrap();
    let application = tokio::spawn(async move {
        let mut readers = Vec::new();
        while readers.len() < usize::from(peers) {
            let mut stream = endpoint.accept().await.unwrap();
            readers.push(tokio::spawn(async move { stream.read(&mut [0; 10]).await.is_err() }));
        }
        for reader in readers {
            assert!(reader.await.unwrap(), "it reads something");
        }
        endpoint
    });
    let crowd = Peer::new(to).await;
    for id in 0..peers {
        crowd.connect(2 * id).await;
    }
    let most = HELD.get() - before;
    drop(crowd);
    let vanished = Instant::now();
    let endpoint =
        timeout(Duration::from_secs(most_s), application).await.expect("nobody is given up").unwrap();
    let noticed = vanished.elapsed();
    tokio::time::sleep(Duration::from_millis(100)).await; // the driver's turn
    let left = HELD.get() - before;
    println!("{peers} peers: {most} bytes, noticed after {noticed:.1?}, then {left} bytes");
    assert!(left * 10 < most, "{left} of {most} bytes are still held");
    timeout(Duration::from_secs(1), Peer::new(to).await.connect(1)).await.expect("no room");
    drop(timeout(Duration::from_secs(1), endpoint.accept()).await.expect("no stream").unwrap());
}

#[tokio::test]
async fn what_vanished_peers_held_is_freed_and_a_new_one_is_served() {
    let mut config = EndpointConfig::foreground();
    (config.connection.keepalive, config.connection.patience) = (Span::from_secs(1), Span::from_secs(1));
    vanish(config, 2000, 60).await;
}

#[tokio::test]
async fn a_connection_that_has_carried_data_and_idles_holds_three_kilobytes_at_each_end() {
    const MOST: u64 = 3 << 10;
    let [one, other] = [(); 2]
        .map(|()| Endpoint::bind((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::background()).unwrap());
    let to = other.local_addr().unwrap();
    let (mut streams, mut before, connections) = (Vec::with_capacity(1000), 0, 400);
    // What the first ones take is the endpoints'.
    for opened in 0..50 + connections {
        if opened == 50 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            before = HELD.get();
        }
        let (here, there) = tokio::join!(one.connect(to), other.accept());
        let (mut here, mut there) = (here.unwrap(), there.unwrap());
        let mut buf = [0; 20_000];
        let (written, read) = tokio::join!(here.write_all(&[1; 20_000]), there.read_exact(&mut buf));
        written.and(read.map(drop)).unwrap();
        let (written, read) = tokio::join!(there.write_all(&[2; 20_000]), here.read_exact(&mut buf));
        written.and(read.map(drop)).unwrap();
        streams.push((here, there));
    }
    // On a busy machine the last acks come late, and buffers are kept for them.
    let mut held = u64::MAX;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        held = (HELD.get() - before) as u64 / connections / 2;
        if held <= MOST {
            break;
        }
    }
    println!("an idle connection holds {held} bytes");
    assert!(held <= MOST, "{held} bytes");
}

/// The same with the default times, which takes a minute and a half.
#[tokio::test]
#[ignore = "takes 90 s"]
async fn three_thousand_vanished_peers_are_noticed_and_freed_within_ninety_seconds() {
    vanish(EndpointConfig::foreground(), 3000, 90).await;
}

#[tokio::test]
async fn strangers_that_leave_gaps_hold_no_more_than_the_budget() {
    const BUDGET: u64 = 32 << 20;
    type Attack = (u16, usize, fn(u16) -> u16);
    let attacks: [Attack; 4] =
        [(150, 1352, |n| 3 + n), (100, 1, |n| 16_000 - 100 * n), (100, 1, |n| 3 + n), (4, 60_000, |n| 3 + n)];
    for (packets, len, seq_nr) in attacks {
        let mut config = EndpointConfig::foreground();
        config.memory = BUDGET;
        let endpoint = Endpoint::bind((Ipv4Addr::LOCALHOST, 0).into(), config).unwrap();
        let before = HELD.get();
        let strangers = Peer::new(endpoint.local_addr().unwrap()).await;
        let (mut streams, payload) = (Vec::new(), vec![1; len]);
        for id in (0..600).step_by(2) {
            let connecting = timeout(Duration::from_secs(30), strangers.connect(id));
            let ack_nr = connecting.await.expect("no place").wrapping_sub(1);
            streams.push(timeout(Duration::from_secs(30), endpoint.accept()).await.unwrap().unwrap());
            for n in 0..packets {
                strangers.send_data(Kind::Data, id + 1, seq_nr(n), ack_nr, &payload).await;
                tokio::task::yield_now().await;
            }
        }
        let (held, statistics) = ((HELD.get() - before) as u64, endpoint.statistics());
        println!("{packets} packets of {len} bytes: {held} bytes are held, {statistics:?}");
        assert_eq!((statistics.connections, statistics.memory_limit), (300, BUDGET));
        assert!(held <= BUDGET, "{held} bytes");
        assert!(held <= statistics.memory, "{held} bytes, {statistics:?}");
    }
}
