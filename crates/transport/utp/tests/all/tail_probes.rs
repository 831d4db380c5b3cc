//! Reports to the controller about a tail that was probed: RFC 8985 §7.4.

use afteryou_base::{Span, Time};
use afteryou_cc::{Ack, Controller, Directive, Loss, Snapshot, Timeout};
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Config, Connection, ConnectionId, SeqNr};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
/// Returns settings by which every packet is acknowledged at once: a delayed acknowledgement could be for both copies of a
/// packet.
fn config() -> Config {
    Config { ack_every: 1, ..Config::default() }
}

/// Packets of a chunk.
const CHUNK: u64 = 20;

/// Calls of a controller.
#[derive(Debug, Default)]
struct Calls {
    losses: Vec<Loss>,
    timeouts: u32,
}

/// A fixed window that notes its calls.
#[derive(Debug)]
struct Noting(Arc<Mutex<Calls>>);

impl Controller for Noting {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, loss: &Loss) {
        self.0.lock().unwrap().losses.push(*loss);
    }
    fn on_timeout(&mut self, _: &Timeout) {
        self.0.lock().unwrap().timeouts += 1;
    }
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> Directive {
        Directive::window(1 << 20)
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}

/// Fate of a data packet: the delay added to the path's, or none if it is lost.
type Fate = fn(chunk_packet: u64, transmission: u32, rtt: Span) -> Option<Span>;

/// Datagrams in flight towards one end.
#[derive(Default)]
struct Way(VecDeque<(Time, Vec<u8>)>);

impl Way {
    fn push(&mut self, at: Time, datagram: Vec<u8>) {
        let behind = self.0.partition_point(|(due, _)| *due <= at);
        self.0.insert(behind, (at, datagram));
    }

    fn pop(&mut self, now: Time) -> Option<Vec<u8>> {
        self.0.front().filter(|(due, _)| *due <= now)?;
        self.0.pop_front().map(|(_, datagram)| datagram)
    }
}

/// A sender and a receiver; the second chunk's packets meet their `fate`, once the first has measured the round trip.
struct Transfer {
    now: Time,
    rtt: Span,
    client: Connection,
    server: Option<Connection>,
    ways: [Way; 2],
    fate: Fate,
    first: Option<SeqNr>,
    transmissions: Vec<u32>,
    calls: Arc<Mutex<Calls>>,
}

impl Transfer {
    fn new(rtt: Span, fate: Fate) -> Transfer {
        let calls = Arc::new(Mutex::new(Calls::default()));
        let controller = Box::new(Noting(Arc::clone(&calls)));
        let client = Connection::connect(config(), controller, Time::ZERO, ConnectionId(1), SeqNr(1));
        let ways = [Way::default(), Way::default()];
        let (server, transmissions) = (None, vec![0; CHUNK as usize]);
        Transfer { now: Time::ZERO, rtt, client, server, ways, fate, first: None, transmissions, calls }
    }

    /// Sends a chunk, waits until it is acknowledged, then for `pause`.
    fn send_chunk(&mut self, pause: Span) {
        let chunk = vec![0; CHUNK as usize * config().payload as usize];
        self.run_while(|client| !client.is_connected());
        assert_eq!(self.client.write(&chunk), Ok(chunk.len()));
        self.client.flush();
        self.run_while(|client| !client.is_flushed());
        let until = self.now + pause;
        while self.next() <= until {
            self.step();
        }
        self.now = until;
    }

    fn run_while(&mut self, goes_on: impl Fn(&Connection) -> bool) {
        for _ in 0..100_000 {
            if !goes_on(&self.client) {
                return;
            }
            self.step();
        }
        panic!("at {:?}: {:?}", self.now, self.client);
    }

    fn next(&self) -> Time {
        let arrivals = self.ways.iter().filter_map(|way| way.0.front()).map(|(at, _)| *at);
        let deadlines = [self.client.deadline(), self.server.as_ref().and_then(Connection::deadline)];
        arrivals.chain(deadlines.into_iter().flatten()).min().unwrap_or(Time::NEVER)
    }

    fn step(&mut self) {
        self.pump();
        self.now = self.now.max(self.next());
        let now = self.now;
        self.client.handle_deadline(now);
        self.server.iter_mut().for_each(|server| server.handle_deadline(now));
        if let Some(datagram) = self.ways[0].pop(now) {
            let packet = Packet::decode(&datagram).expect("our own packets are well-formed");
            match &mut self.server {
                Some(server) => server.handle(now, &packet),
                None => {
                    let controller = Box::new(Noting(Arc::default()));
                    self.server = Some(Connection::accept(config(), controller, now, &packet, SeqNr(1)));
                }
            }
            self.server.iter_mut().for_each(|server| server.discard_received(now));
        }
        if let Some(datagram) = self.ways[1].pop(now) {
            self.client.handle(now, &Packet::decode(&datagram).expect("our own packets are well-formed"));
        }
        self.pump();
    }

    fn pump(&mut self) {
        let mut datagram = Vec::new();
        while self.client.poll_transmit(self.now, &mut datagram) {
            let datagram = std::mem::take(&mut datagram);
            if let Some(extra) = self.fate_of(&datagram) {
                self.ways[0].push(self.now + self.rtt / 2 + extra, datagram);
            }
        }
        let Some(server) = &mut self.server else { return };
        while server.poll_transmit(self.now, &mut datagram) {
            self.ways[1].push(self.now + self.rtt / 2, std::mem::take(&mut datagram));
        }
    }

    fn fate_of(&mut self, datagram: &[u8]) -> Option<Span> {
        let header = Packet::decode(datagram).expect("our own packets are well-formed").header;
        if header.kind != Kind::Data {
            return Some(Span::ZERO);
        }
        let index = header.seq_nr.since(*self.first.get_or_insert(header.seq_nr));
        let Some(packet) = u64::from(index).checked_sub(CHUNK).filter(|packet| *packet < CHUNK) else {
            return Some(Span::ZERO);
        };
        let transmissions = &mut self.transmissions[packet as usize];
        *transmissions += 1;
        (self.fate)(packet, *transmissions, self.rtt)
    }

    fn losses(&self) -> Vec<Loss> {
        self.calls.lock().unwrap().losses.clone()
    }

    fn timeouts(&self) -> u32 {
        self.calls.lock().unwrap().timeouts
    }
}

/// Sends three chunks of which the second meets its `fate`.
fn three_chunks(rtt_ms: u64, fate: Fate) -> Transfer {
    let mut transfer = Transfer::new(Span::from_millis(rtt_ms), fate);
    for _ in 0..3 {
        // Long enough for the copy that is late to be acknowledged, too.
        transfer.send_chunk(Span::from_millis(3 * rtt_ms + 100));
    }
    transfer
}

#[test]
fn a_loss_that_a_probe_repaired_is_reported_once_when_the_sender_goes_on() {
    for rtt_ms in RTTS_MS {
        let transfer =
            three_chunks(rtt_ms, |packet, time, _| (packet != CHUNK - 1 || time > 1).then_some(Span::ZERO));
        let statistics = transfer.client.statistics();
        assert_eq!((statistics.probes, transfer.timeouts()), (1, 0), "{rtt_ms} ms: {statistics:?}");
        let losses = transfer.losses();
        assert_eq!(losses.len(), 1, "{rtt_ms} ms: {losses:?}");
        assert_eq!(
            losses[0].sent.packet_number,
            2 * CHUNK - 1,
            "{rtt_ms} ms: the transmission that was lost"
        );
        assert_eq!(losses[0].sent.bytes, u64::from(config().payload));
        assert_eq!((statistics.losses, statistics.spurious_losses), (1, 0));
    }
}

#[test]
fn a_probe_of_a_packet_that_was_only_late_reports_no_loss() {
    for rtt_ms in RTTS_MS {
        // The probe arrives first, then the packet that it repeats.
        let transfer = three_chunks(rtt_ms, |packet, time, rtt| {
            let is_late = packet == CHUNK - 1 && time == 1;
            Some(if is_late { rtt * 3 + Span::from_millis(100) } else { Span::ZERO })
        });
        let statistics = transfer.client.statistics();
        assert_eq!((statistics.probes, transfer.timeouts()), (1, 0), "{rtt_ms} ms: {statistics:?}");
        assert_eq!(transfer.losses(), [], "{rtt_ms} ms");
    }
}

#[test]
fn a_probe_that_crosses_the_acknowledgement_it_waits_for_reports_no_loss() {
    for rtt_ms in RTTS_MS {
        // The probe leaves two round trips and the peer's delay of 25 ms after the ack of the packet before.
        let transfer = three_chunks(rtt_ms, |packet, time, rtt| {
            let is_late = packet == CHUNK - 1 && time == 1;
            Some(if is_late { rtt * 11 / 4 + Span::from_millis(26) } else { Span::ZERO })
        });
        let statistics = transfer.client.statistics();
        assert_eq!((statistics.probes, transfer.timeouts()), (1, 0), "{rtt_ms} ms: {statistics:?}");
        assert_eq!(transfer.losses(), [], "{rtt_ms} ms");
    }
}

#[test]
fn of_a_probed_tail_of_several_packets_each_loss_is_reported_once() {
    for rtt_ms in RTTS_MS {
        let transfer =
            three_chunks(rtt_ms, |packet, time, _| (packet < CHUNK - 4 || time > 1).then_some(Span::ZERO));
        let mut lost: Vec<u64> = transfer.losses().iter().map(|loss| loss.sent.packet_number).collect();
        lost.sort_unstable();
        assert_eq!(lost, [36, 37, 38, 39], "{rtt_ms} ms");
        assert_eq!(transfer.timeouts(), 0, "{rtt_ms} ms");
    }
}

#[test]
fn a_tail_that_is_lost_with_its_probe_is_reported_by_the_timeout_alone() {
    for rtt_ms in RTTS_MS {
        let transfer =
            three_chunks(rtt_ms, |packet, time, _| (packet != CHUNK - 1 || time > 2).then_some(Span::ZERO));
        let statistics = transfer.client.statistics();
        assert_eq!((statistics.probes, transfer.timeouts()), (1, 1), "{rtt_ms} ms: {statistics:?}");
        assert_eq!(transfer.losses(), [], "{rtt_ms} ms");
    }
}
