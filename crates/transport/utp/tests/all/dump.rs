//! Captures and logs, read back with parsers that are not ours.

use afteryou_base::param::Settings;
use afteryou_base::{Span, Time};
use afteryou_cc::cubic::{Cubic, PARAMS};
use afteryou_trace::qlog::read;
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{
    Config, Connection, ConnectionId, Dump, Endpoint, EndpointConfig, SeqNr, Statistics, Stream,
};
use pcap_parser::{parse_block_le, Block};
use qlog::events::connectivity::{ConnectionClosed, ConnectionClosedTrigger};
use qlog::events::quic::{AckedRanges, QuicFrame};
use qlog::events::EventData;
use qlog::reader::Event;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BYTES: usize = 300_000;

/// A datagram of a capture.
struct Captured {
    interface: u32,
    at: Duration,
    /// The captured part, and the length of the whole IP packet.
    data: Vec<u8>,
    length: usize,
}

impl Captured {
    fn utp(&self) -> Packet<'_> {
        Packet::decode(&self.data[28..]).expect("uTP behind IPv4 and UDP")
    }

    fn source_port(&self) -> u16 {
        u16::from_be_bytes([self.data[20], self.data[21]])
    }
}

/// Returns the number of interfaces and the packets.
fn read_capture(path: &Path) -> (usize, Vec<Captured>) {
    let file = std::fs::read(path).expect("a capture");
    let (mut rest, _) = pcap_parser::parse_sectionheaderblock_le(&file).expect("a section");
    let (mut interfaces, mut packets) = (0, Vec::new());
    while !rest.is_empty() {
        let (after, block) = parse_block_le(rest).expect("a whole block");
        rest = after;
        match block {
            Block::InterfaceDescription(block) => {
                assert_eq!((block.if_tsresol, block.linktype.0), (9, 101), "nanoseconds, raw IP");
                interfaces += 1;
            }
            Block::EnhancedPacket(block) => packets.push(Captured {
                interface: block.if_id,
                at: Duration::from_nanos(u64::from(block.ts_high) << 32 | u64::from(block.ts_low)),
                data: block.data[..block.caplen as usize].to_vec(),
                length: block.origlen as usize,
            }),
            _ => {}
        }
    }
    (interfaces, packets)
}

/// A connection's log, as another reader sees it.
#[derive(Default)]
struct Log {
    ports: Vec<(u16, u16)>,
    /// Numbers and payload of packets sent; not all have a number.
    sent: Vec<(Option<u64>, u64)>,
    /// Where in the stream the packets begin that carry some of it, or its end.
    offsets: BTreeSet<u64>,
    received: u64,
    acknowledged: u64,
    lost: u64,
    timeouts: u64,
    windows: Vec<u64>,
    rtts: usize,
    /// The smallest round-trip time and the mean, ms.
    rtt: (Option<f32>, Option<f32>),
    /// Events of our own.
    own: Vec<String>,
    closed: Option<ConnectionClosed>,
}

impl Log {
    fn read(path: &Path) -> Log {
        let read::Log { header, events } =
            read::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let common = header.trace.common_fields.expect("common fields");
        assert_eq!(common.protocol_type.as_deref(), Some(&["UTP".to_owned()][..]));
        let (mut log, mut latest) = (Log::default(), 0.0);
        for event in events {
            let at = match event {
                Event::Qlog(event) => {
                    log.take(event.data);
                    event.time
                }
                Event::Json(event) => {
                    log.own.push(event.data.to_string());
                    event.time
                }
            };
            assert!(at >= latest, "in the order of time");
            latest = at;
        }
        log
    }

    fn take(&mut self, data: EventData) {
        assert!(self.closed.is_none(), "nothing follows the end");
        match data {
            EventData::ConnectionStarted(started) => {
                self.ports.extend(started.src_port.zip(started.dst_port));
            }
            EventData::PacketSent(packet) => {
                let payload = packet.raw.and_then(|raw| raw.payload_length).expect("a length");
                self.sent.push((packet.header.packet_number, payload));
                self.offsets.extend(packet.frames.into_iter().flatten().map(|frame| match frame {
                    QuicFrame::Stream { offset, .. } => offset,
                    other => panic!("{other:?}"),
                }));
            }
            EventData::PacketReceived(packet) => {
                self.received += 1;
                for frame in packet.frames.into_iter().flatten() {
                    let QuicFrame::Ack { acked_ranges: Some(AckedRanges::Single(ranges)), .. } = frame else {
                        panic!("{frame:?}")
                    };
                    self.acknowledged += ranges.iter().map(|range| range[1] - range[0] + 1).sum::<u64>();
                }
            }
            EventData::PacketLost(_) => self.lost += 1,
            EventData::LossTimerUpdated(_) => self.timeouts += 1,
            EventData::MetricsUpdated(metrics) => {
                self.windows.extend(metrics.congestion_window);
                self.rtts += usize::from(metrics.smoothed_rtt.is_some());
                let (min, smoothed) = self.rtt;
                self.rtt = (metrics.min_rtt.or(min), metrics.smoothed_rtt.or(smoothed));
                assert!(self.rtt.0 <= self.rtt.1, "the smallest round trip and the mean: {:?}", self.rtt);
            }
            EventData::ConnectionClosed(closed) => self.closed = Some(closed),
            EventData::ConnectionStateUpdated(_) | EventData::CongestionStateUpdated(_) => {}
            other => panic!("{other:?}"),
        }
    }

    fn numbers(&self) -> Vec<u64> {
        self.sent.iter().filter_map(|(number, _)| *number).collect()
    }

    fn trigger(&self) -> Option<ConnectionClosedTrigger> {
        self.closed.as_ref().and_then(|closed| closed.trigger)
    }
}

fn loopback() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn endpoint(dump: &Dump) -> Endpoint {
    let config = EndpointConfig { dump: dump.clone(), ..EndpointConfig::background() };
    Endpoint::bind(loopback(), config).unwrap()
}

/// Opens two streams of `from` and `to`, after `bytes` bytes each way.
async fn exchanged(from: &Endpoint, to: &Endpoint, bytes: usize) -> (Stream, Stream) {
    let address = to.local_addr().unwrap();
    let (one, other) = tokio::join!(from.connect(address), to.accept());
    let (mut one, mut other) = (one.unwrap(), other.unwrap());
    carry(&mut one, &mut other, bytes).await;
    carry(&mut other, &mut one, bytes).await;
    (one, other)
}

async fn carry(from: &mut Stream, to: &mut Stream, bytes: usize) {
    let (data, mut got) = (vec![7; bytes], vec![0; bytes]);
    let writing = async {
        from.write_all(&data).await.unwrap();
        from.flush().await.unwrap();
    };
    let (_, read) = tokio::join!(writing, to.read_exact(&mut got));
    read.unwrap();
    assert_eq!(got, data);
}

/// Returns the counters of both ends once nothing moves any more, and the capture of one at the same moment: however late a
/// busy machine sends the last acks, no packet came between the two.
async fn at_rest(ends: [&Stream; 2], dump: &Dump, path: &Path) -> ([Statistics; 2], (usize, Vec<Captured>)) {
    loop {
        let before = ends.map(Stream::statistics);
        tokio::time::sleep(Duration::from_millis(300)).await;
        dump.flush().unwrap();
        let capture = read_capture(path);
        if ends.map(Stream::statistics) == before {
            return (before, capture);
        }
    }
}

/// Returns the logs in a folder.
fn logs(folder: &Path) -> Vec<Log> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| Log::read(path)).collect()
}

#[tokio::test]
async fn capture_and_logs_have_every_packet_that_the_statistics_count() {
    let folder = tempfile::tempdir().unwrap();
    let (path, logs_at) = (folder.path().join("utp.pcapng"), folder.path().join("logs"));
    let dump = Dump::default().pcapng(File::create(&path).unwrap()).qlog(&logs_at).unwrap();
    let begun = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (here, there) = (endpoint(&dump), endpoint(&Dump::default()));
    let (one, other) = exchanged(&here, &there, BYTES).await;
    let ([one_rests, other_rests], (interfaces, packets)) = at_rest([&one, &other], &dump, &path).await;

    assert_eq!(interfaces, 1);
    let port = here.local_addr().unwrap().port();
    let (sent, received): (Vec<_>, Vec<_>) = packets.iter().partition(|packet| packet.source_port() == port);
    let counts = [one_rests.packets_sent, one_rests.packets_received];
    assert_eq!([sent.len() as u64, received.len() as u64], counts);
    let with_payload = |packets: &[&Captured]| {
        packets.iter().filter(|packet| packet.utp().header.kind == Kind::Data).count() as u64
    };
    assert_eq!(with_payload(&sent), one_rests.data_packets_sent);
    assert_eq!(with_payload(&received), other_rests.data_packets_sent);
    let payload: usize = sent.iter().map(|packet| packet.utp().payload.len()).sum();
    assert!(payload >= BYTES && packets.iter().all(|packet| packet.length == packet.data.len()));
    let tos = |packet: &Captured| match packet.utp().header.kind {
        Kind::Data | Kind::Fin => 0b0000_0110,
        _ => 0b0000_0100,
    };
    assert!(packets.iter().all(|packet| packet.data[1] == tos(packet)), "the service class, and ECN of data");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let slack = Duration::from_millis(100); // the clock may be corrected meanwhile
    assert!(packets
        .iter()
        .all(|packet| packet.interface == 0 && packet.at + slack >= begun && packet.at <= now + slack));

    drop((one, other));
    tokio::join!(here.close(), there.close());
    dump.flush().unwrap();
    assert_eq!(dump.statistics().error, None);
    assert_eq!(here.statistics().dump, dump.statistics());
    let [log] = &logs(&logs_at)[..] else { panic!("one connection") };
    assert_eq!(log.ports, [(port, there.local_addr().unwrap().port())]);
    // The ends of the directions follow what was counted before.
    assert!(log.sent.len() as u64 > counts[0] && log.received > counts[1]);
    let numbers = log.numbers();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "each transmission once, in order");
    let payload: u64 = log.sent.iter().map(|(_, payload)| payload).sum();
    assert!(payload as usize >= BYTES);
    assert_eq!(log.acknowledged, log.offsets.len() as u64, "each packet once, of however many transmissions");
    // A probe on a busy machine repeats a packet that is not lost.
    assert!(log.acknowledged + log.lost <= numbers.len() as u64);
    assert!(log.windows.len() > 10 && log.rtts > 10);
    for quantity in ["base_delay", "queuing_delay", "target"] {
        assert!(log.own.iter().any(|event| event.contains(quantity)), "no {quantity}");
    }
    assert_eq!(log.trigger(), Some(ConnectionClosedTrigger::Clean));
}

#[tokio::test]
async fn strangers_that_only_open_leave_no_file_and_a_peer_that_answers_has_its_handshake_in_one() {
    const STRANGERS: u16 = 300;
    let folder = tempfile::tempdir().unwrap();
    let dump = Dump::default().qlog(folder.path()).unwrap();
    let (here, there) = (endpoint(&dump), endpoint(&Dump::default()));
    let socket = std::net::UdpSocket::bind(loopback()).unwrap();
    while here.statistics().half_open < usize::from(STRANGERS) {
        for id in 0..STRANGERS {
            let controller = Box::new(Cubic::new(&Settings::defaults(PARAMS), 1352));
            let mut syn = Vec::new();
            let (id, config) = (ConnectionId(4 * id), Config::default());
            let mut opening = Connection::connect(config, controller, Time::ZERO, id, SeqNr(1));
            assert!(opening.poll_transmit(Time::ZERO, &mut syn));
            socket.send_to(&syn, here.local_addr().unwrap()).unwrap();
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    dump.flush().unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files of strangers");
    assert_eq!(dump.statistics().bytes, 0);

    let streams = exchanged(&there, &here, BYTES).await;
    drop(streams);
    tokio::join!(here.close(), there.close());
    dump.flush().unwrap();
    let [log] = &logs(folder.path())[..] else { panic!("one connection") };
    assert_eq!(log.ports, [(here.local_addr().unwrap().port(), there.local_addr().unwrap().port())]);
    assert_eq!(log.sent[0], (None, 0), "the answer to the SYN comes first");
    assert_eq!(dump.statistics().skipped, 0);
    let name = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().file_name();
    assert!(name.to_string_lossy().starts_with("1-127.0.0.1-"), "{name:?}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_is_reported_and_the_connection_goes_on() {
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let dump = Dump::default().pcapng(full()).qlog(folder.path().join("logs")).unwrap();
    // The folder is removed, so that no log can be made.
    std::fs::remove_dir(folder.path().join("logs")).unwrap();
    let (here, there) = (endpoint(&dump), endpoint(&Dump::default()));
    let streams = exchanged(&here, &there, BYTES).await;
    assert_eq!(dump.flush().unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(here.statistics().dump.error, Some(ErrorKind::StorageFull));
    drop(streams);
    let streams = exchanged(&here, &there, BYTES).await;
    assert!(dump.flush().is_ok(), "an error is returned once");
    assert!(here.statistics().dump.skipped > 0);
    drop(streams);
}

#[tokio::test]
async fn a_limit_ends_the_files_at_whole_records() {
    let folder = tempfile::tempdir().unwrap();
    let (path, logs_at) = (folder.path().join("utp.pcapng"), folder.path().join("logs"));
    let dump = Dump::default().at_most(50_000).pcapng(File::create(&path).unwrap()).snap(20);
    let dump = dump.qlog(&logs_at).unwrap();
    let (here, there) = (endpoint(&dump), endpoint(&Dump::default()));
    let streams = exchanged(&here, &there, BYTES).await;
    dump.flush().unwrap();
    let (_, packets) = read_capture(&path);
    assert!(packets.len() > 10 && packets.iter().all(|packet| packet.data.len() <= 48));
    assert!(packets.iter().any(|packet| packet.length > 1000));
    assert!(logs(&logs_at)[0].sent.len() > 10);
    let statistics = dump.statistics();
    assert!(statistics.bytes <= 50_000 && statistics.skipped > 100, "{statistics:?}");
    drop(streams);
}

#[test]
fn a_folder_with_logs_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("1-192.0.2.1-9.sqlog"), "").unwrap();
    let error = Dump::default().qlog(folder.path()).unwrap_err();
    assert!(error.kind() == ErrorKind::AlreadyExists && error.to_string().contains("choose another folder"));
    let error = Dump::default().qlog("/dev/null/logs").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotADirectory);
}

/// Hands over what `from` sends, except for the datagrams that `drops` names; returns whether there was anything.
fn deliver(now: Time, from: &mut Connection, to: &mut Connection, mut drops: impl FnMut() -> bool) -> bool {
    let (mut datagram, mut any) = (Vec::new(), false);
    while from.poll_transmit(now, &mut datagram) {
        if !drops() {
            to.handle(now, &Packet::decode(&datagram).unwrap());
        }
        datagram.clear();
        any = true;
    }
    any
}

#[test]
fn a_log_of_a_connection_without_io_has_its_losses_its_timeouts_and_the_reason_of_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let dump = Dump::default().qlog(folder.path()).unwrap();
    let controller = || Box::new(Cubic::new(&Settings::defaults(PARAMS), 1352));
    let address = |last| SocketAddr::from(([192, 0, 2, last], 6881));
    let (mut now, config) = (Time::ZERO, Config::default());
    let dump = dump.bound(address(1), now, SystemTime::now());
    let mut one = dump.connect(address(2), config.clone(), controller(), now, ConnectionId(1), SeqNr(1));
    let mut syn = Vec::new();
    assert!(one.poll_transmit(now, &mut syn));
    let mut other = Connection::accept(config, controller(), now, &Packet::decode(&syn).unwrap(), SeqNr(1));
    let (mut left, mut packets, mut buf) = (2_000_000, 0, [0; 4096]);
    while other.bytes_arrived() < 2_000_000 {
        left -= one.write(&[1; 4096][..left.min(4096)]).unwrap();
        // Each fiftieth is lost, and everything for a second: long enough for a timeout.
        let is_dark = (Time::from_millis(300)..Time::from_millis(1500)).contains(&now);
        let mut drops = || {
            packets += 1;
            is_dark || packets % 50 == 0
        };
        while deliver(now, &mut one, &mut other, &mut drops) | deliver(now, &mut other, &mut one, || is_dark)
        {
        }
        while other.read(now, &mut buf).unwrap() > 0 {}
        now += Span::from_millis(5);
        for end in [&mut one, &mut other] {
            if end.deadline().is_some_and(|at| at <= now) {
                end.handle_deadline(now);
            }
        }
    }
    let statistics = one.statistics();
    one.abort();
    while one.poll_transmit(now, &mut Vec::new()) {}
    drop(one);
    dump.flush().unwrap();
    let [log] = &logs(folder.path())[..] else { panic!("one connection") };
    assert_eq!(log.sent.len() as u64, statistics.packets_sent + 1, "the reset follows");
    assert_eq!(log.received, statistics.packets_received);
    assert_eq!((log.lost, log.timeouts), (statistics.losses, statistics.timeouts));
    assert!(statistics.losses > 10 && statistics.timeouts > 0, "nothing is not tested: {statistics:?}");
    let closed = log.closed.as_ref().expect("an end");
    assert_eq!(log.trigger(), Some(ConnectionClosedTrigger::Application));
    assert_eq!(closed.reason.as_deref(), Some("the connection was aborted locally"));
}
