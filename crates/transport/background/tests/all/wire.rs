//! The headers of packets, read in a network namespace of the test.

use afteryou_background::set_background;
use nix::sched::{unshare, CloneFlags};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::Duration;

/// DSCP 1 in the upper six bits; the lower two are ECN's.
const LE: u8 = 1;

/// A TCP segment as it was sent.
#[derive(Debug)]
struct Segment {
    from: u16,
    dscp: u8,
    is_syn: bool,
}

/// Every packet of this namespace.
struct Tap(Socket);

impl Tap {
    fn open() -> Tap {
        // ETH_P_ALL of `linux/if_ether.h`, in the order of the network.
        let all = i32::from(3_u16.to_be());
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(all))).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        Tap(socket)
    }

    /// Returns the segments since the last call.
    fn segments(&mut self) -> Vec<Segment> {
        let (mut found, mut packet) = (Vec::new(), [0; 200]);
        while let Ok(bytes) = self.0.read(&mut packet) {
            found.extend(segment(&packet[..bytes]));
        }
        found
    }
}

fn segment(packet: &[u8]) -> Option<Segment> {
    let (tos, protocol, header) = match packet.first()? >> 4 {
        4 => (packet[1], packet[9], usize::from(packet[0] & 15) * 4),
        6 => (packet[0] << 4 | packet[1] >> 4, packet[6], 40),
        _ => return None,
    };
    let tcp = packet.get(header..header + 20).filter(|_| protocol == 6)?;
    let from = u16::from_be_bytes([tcp[0], tcp[1]]);
    Some(Segment { from, dscp: tos >> 2, is_syn: tcp[13] & 2 != 0 })
}

/// Runs a test in a network namespace with loopback alone, or prints why it cannot run.
fn alone(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| {
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            eprintln!("SKIPPED: headers of packets: a network namespace: {error}");
            return;
        }
        match commands("ip link set lo up") {
            Ok(()) => test(),
            Err(reason) => eprintln!("SKIPPED: headers of packets: {reason}"),
        }
    });
    thread.join().unwrap();
}

/// Runs commands, one a line.
fn commands(lines: &str) -> Result<(), String> {
    lines.lines().map(str::trim).try_for_each(|line| {
        let mut words = line.split(' ');
        let output = Command::new(words.next().expect("a program")).args(words).output();
        let output = output.map_err(|error| format!("{line}: {error}"))?;
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim_end())),
        }
    })
}

fn move_bytes(from: &mut TcpStream, to: &mut TcpStream) {
    from.write_all(&[7; 20_000]).unwrap();
    to.read_exact(&mut [0; 20_000]).unwrap();
}

/// Connects `to` over a listener at `at`, marks the client, and returns the code points of its data and of the peer's.
fn marks(tap: &mut Tap, at: IpAddr, to: IpAddr) -> (Vec<u8>, Vec<u8>) {
    let listener = TcpListener::bind((at, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let socket = Socket::new(Domain::for_address((to, 0).into()), Type::STREAM, None).unwrap();
    socket.connect(&SocketAddr::from((to, port)).into()).unwrap();
    let (mut client, mut server) = (TcpStream::from(socket), listener.accept().unwrap().0);
    tap.segments();
    set_background(&client).unwrap().mark.unwrap();
    move_bytes(&mut client, &mut server);
    move_bytes(&mut server, &mut client);
    let segments = tap.segments();
    let of = |is_server: bool| {
        let mut found: Vec<u8> =
            segments.iter().filter(|one| (one.from == port) == is_server).map(|one| one.dscp).collect();
        found.dedup();
        found
    };
    (of(false), of(true))
}

#[test]
fn each_family_carries_the_mark_of_the_side_that_has_it() {
    alone(|| {
        let mut tap = Tap::open();
        let [v4, v6] = ["127.0.0.1", "::1"].map(|address| address.parse::<IpAddr>().unwrap());
        let mapped: Ipv6Addr = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(marks(&mut tap, v4, v4), (vec![LE], vec![0]));
        if Socket::new(Domain::IPV6, Type::STREAM, None).is_err() {
            eprintln!("SKIPPED: headers of IPv6: this kernel has none");
            return;
        }
        assert_eq!(marks(&mut tap, v6, v6), (vec![LE], vec![0]));
        assert_eq!(marks(&mut tap, v4, mapped.into()), (vec![LE], vec![0]));
        // A listener for both, and a peer of IPv4.
        assert_eq!(marks(&mut tap, Ipv6Addr::UNSPECIFIED.into(), v4), (vec![LE], vec![0]));
    });
}

#[test]
fn a_socket_that_is_set_before_it_connects_marks_its_first_packet() {
    alone(|| {
        let mut tap = Tap::open();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        set_background(&socket).unwrap();
        socket.connect(&listener.local_addr().unwrap().into()).unwrap();
        let segments = tap.segments();
        let port = listener.local_addr().unwrap().port();
        let first = segments.iter().find(|one| one.is_syn && one.from != port).expect("a SYN");
        assert_eq!(first.dscp, LE, "{segments:?}");
    });
}

#[test]
fn a_listener_marks_from_its_first_answer_on() {
    alone(|| {
        let mut tap = Tap::open();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        set_background(&listener).unwrap();
        let address = listener.local_addr().unwrap();
        let mut client = TcpStream::connect(address).unwrap();
        move_bytes(&mut listener.accept().unwrap().0, &mut client);
        let segments = tap.segments();
        let of_server = || segments.iter().filter(|one| one.from == address.port());
        assert!(of_server().any(|one| one.is_syn) && of_server().count() > 1, "{segments:?}");
        assert!(of_server().all(|one| one.dscp == LE), "{segments:?}");
    });
}

#[test]
fn the_own_queue_of_this_machine_sends_background_packets_last() {
    const EACH: usize = 20;
    alone(|| {
        let shaped = commands(
            "ip link add va type veth peer name vb
             ip addr add 10.9.0.1/24 dev va
             ip link set va up
             ip link set vb up
             ip neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev va
             tc qdisc add dev va root handle 1: tbf rate 8kbit burst 3000 limit 100000
             tc qdisc add dev va parent 1:1 handle 2: pfifo_fast",
        );
        if let Err(reason) = shaped {
            eprintln!("SKIPPED: the order of packets in pfifo_fast: {reason}");
            return;
        }
        let Tap(mut tap) = Tap::open();
        let [background, foreground] = [(); 2].map(|()| UdpSocket::bind("10.9.0.1:0").unwrap());
        assert!(set_background(&background).unwrap().low_priority);
        for (socket, byte) in [(&background, b'b'), (&foreground, b'f')] {
            for _ in 0..EACH {
                socket.send_to(&[byte; 1000], "10.9.0.2:9").unwrap();
            }
        }
        commands("tc qdisc change dev va root handle 1: tbf rate 10mbit burst 3000 limit 100000").unwrap();
        // Each packet is seen where it is sent, in the order in which it leaves the queue, and where it is received.
        tap.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let (mut order, mut packet) = (Vec::new(), [0; 2000]);
        while order.len() < 4 * EACH {
            let bytes = tap.read(&mut packet).unwrap();
            // Among others there may be those of the discovery of neighbors.
            order.extend(packet[..bytes].last().filter(|_| bytes > 1000));
        }
        let last = order.iter().rposition(|byte| *byte == b'f').expect("packets of the foreground");
        let after = order[last..].iter().filter(|byte| **byte == b'b').count();
        // The bucket holds two packets, and one waits at the head of the queue.
        assert!(after >= 2 * (EACH - 3), "{}", String::from_utf8_lossy(&order));
    });
}
