//! A controller's reports on real sockets agree with one another and with what was transferred, whatever host and path do.

use crate::support::recorder::{Log, Recorder, Report};
use crate::support::relay::{Fate, Manner, Relay};
use afteryou_base::{Dscp, Span, Time};
use afteryou_cc::{Ack, Controller, Delivered, Pacing, Sent};
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Endpoint, EndpointConfig, SeqNr, Statistics};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

const PATIENCE: Duration = Duration::from_secs(60);
const WINDOW: u64 = 200_000;

/// Reports until everything was acknowledged.
#[derive(Debug, Default)]
struct Account {
    sent: Vec<Sent>,
    delivered: BTreeSet<u64>,
    delivered_bytes: u64,
    lost: BTreeSet<u64>,
    lost_bytes: u64,
    spurious: BTreeSet<u64>,
    timeouts: u64,
    wakes: u64,
    rates: u64,
    idles: u64,
    /// Deliveries whose ack has not been reported.
    of_ack: Vec<Delivered>,
    latest: Time,
    latest_stamp: Sent,
}

impl Account {
    /// Reads reports; each must agree with those before.
    fn of(reports: &[Report]) -> Account {
        let mut account = Account::default();
        reports.iter().for_each(|report| account.take(report));
        assert!(account.of_ack.is_empty(), "delivered by no ack: {:?}", account.of_ack);
        account
    }

    fn take(&mut self, report: &Report) {
        let now = match report {
            Report::Sent(sent) => sent.now,
            Report::Delivered(delivered) => delivered.now,
            Report::Ack(ack) => ack.now,
            Report::Loss(loss) => loss.now,
            Report::Spurious(spurious) => spurious.now,
            Report::Timeout(timeout) => timeout.now,
            Report::Idle(idle) => idle.now,
            Report::Wake(now, _) => *now,
        };
        assert!(now >= self.latest, "{report:?} after {:?}", self.latest);
        self.latest = now;
        match report {
            Report::Sent(sent) => self.take_sent(sent),
            Report::Delivered(delivered) => self.take_delivered(delivered),
            Report::Ack(ack) => self.take_ack(ack),
            Report::Loss(loss) => {
                self.check(&loss.sent);
                let number = loss.sent.packet_number;
                assert!(!self.delivered.contains(&number), "{loss:?} was delivered");
                assert!(self.lost.insert(number), "{loss:?} was lost before");
                self.lost_bytes += loss.sent.bytes;
            }
            Report::Spurious(spurious) => {
                self.check(&spurious.sent);
                let number = spurious.sent.packet_number;
                assert!(self.lost.contains(&number), "{spurious:?} was not lost");
                assert!(self.spurious.insert(number), "{spurious:?} was named before");
            }
            Report::Timeout(timeout) => {
                assert!(timeout.consecutive > 0, "{timeout:?}");
                self.timeouts += 1;
            }
            Report::Idle(idle) => {
                assert!(idle.idle_for > Span::ZERO, "{idle:?}");
                self.idles += 1;
            }
            Report::Wake(now, asked_for) => {
                assert!(now >= asked_for, "called at {now:?}, not {asked_for:?}");
                self.wakes += 1;
            }
        }
    }

    /// Checks that a report about a packet is what was reported when it left.
    fn check(&self, sent: &Sent) {
        assert_eq!(self.sent.get(sent.packet_number as usize), Some(sent));
    }

    fn take_sent(&mut self, sent: &Sent) {
        assert_eq!(sent.packet_number, self.sent.len() as u64, "{sent:?}");
        assert!(sent.in_flight >= sent.bytes, "{sent:?}");
        assert_eq!(sent.totals.delivered, self.delivered_bytes, "{sent:?}");
        // A timeout is reported once, for all the packets that it takes for lost.
        let counts_lost = sent.totals.lost == self.lost_bytes || self.timeouts > 0;
        assert!(
            counts_lost && sent.totals.lost >= self.lost_bytes,
            "{sent:?}: lost are {} B",
            self.lost_bytes
        );
        let (old, new) = (self.latest_stamp.totals, sent.totals);
        // After a needless timeout, packets that only the timer declared lost are in flight again.
        let keeps_lost = new.lost >= old.lost || self.timeouts > 0;
        assert!(new.delivered >= old.delivered && keeps_lost, "{sent:?} after {old:?}");
        assert!(new.delivered_at >= old.delivered_at, "{sent:?} after {old:?}");
        // The packet delivered last may have left before one that was delivered earlier.
        assert!(new.first_sent_at <= new.delivered_at && new.delivered_at <= sent.now, "{sent:?}");
        self.latest_stamp = *sent;
        self.sent.push(*sent);
    }

    fn take_delivered(&mut self, delivered: &Delivered) {
        self.check(&delivered.sent);
        let (sent, number) = (delivered.sent, delivered.sent.packet_number);
        assert!(self.delivered.insert(number), "{delivered:?} was delivered before");
        self.delivered_bytes += sent.bytes;
        assert_eq!(delivered.delivered, self.delivered_bytes, "{delivered:?}");
        assert!(delivered.rtt.is_none_or(|rtt| rtt == delivered.now.since(sent.now)), "{delivered:?}");
        self.of_ack.push(*delivered);
    }

    fn take_ack(&mut self, ack: &Ack) {
        let packets = std::mem::take(&mut self.of_ack);
        assert_eq!(packets.iter().map(|packet| packet.sent.bytes).sum::<u64>(), ack.delivered(), "{ack:?}");
        assert!(packets.iter().all(|packet| packet.now == ack.now), "{ack:?}");
        assert!(packets.is_sorted_by_key(|packet| packet.sent.packet_number), "{packets:?}");
        let newest = packets.iter().find(|packet| packet.sent.packet_number == ack.packet_number);
        let sent = newest.expect("an ack names one of the packets that it delivers").sent;
        assert_eq!(sent.now, ack.sent_at, "{ack:?}");
        assert!(ack.rtt.is_none_or(|rtt| rtt == ack.now.since(sent.now)), "{ack:?}");
        assert!(packets.iter().filter(|packet| packet.one_way_delay.is_some()).count() <= 1, "{packets:?}");
        if let Some(rate) = ack.delivery {
            self.rates += 1;
            assert_eq!(rate.delivered, self.delivered_bytes - sent.totals.delivered, "{ack:?}");
            assert_eq!(rate.in_flight_at_send, sent.in_flight, "{ack:?}");
            assert!(rate.interval >= ack.now.since(sent.totals.delivered_at), "{ack:?}");
        }
    }
}

/// A transfer through a relay.
struct Transfer {
    bytes: usize,
    pacing: Pacing,
    manner: Manner,
    /// Something else blocks the worker for 3 ms again and again.
    is_busy: bool,
}

/// Returns a runtime with the worker that calls it, and one with two.
fn runtimes() -> [Runtime; 2] {
    let two = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    [Builder::new_current_thread().enable_all().build().unwrap(), two.unwrap()]
}

fn bind(config: EndpointConfig) -> Endpoint {
    Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0)), config).unwrap()
}

fn run(runtime: Runtime, transfer: Transfer) -> Account {
    let logs = Arc::new(Mutex::new(Vec::new()));
    let (made, pacing) = (logs.clone(), transfer.pacing);
    let make = move |_| {
        let log = Log::default();
        made.lock().unwrap().push(log.clone());
        let (wakes_every, wake_at) = (Span::from_millis(1), None);
        Box::new(Recorder { cwnd: WINDOW, pacing, wakes_every, wake_at, log }) as Box<dyn Controller>
    };
    let (reports, before, statistics) = runtime.block_on(async {
        let (server, client) =
            (bind(EndpointConfig::foreground()), bind(EndpointConfig::new(Arc::new(make), Dscp::DEFAULT)));
        let relay = Relay::new(server.local_addr().unwrap(), transfer.manner);
        if transfer.is_busy {
            tokio::spawn(async {
                loop {
                    std::thread::sleep(Duration::from_millis(3));
                    sleep(Duration::from_millis(2)).await;
                }
            });
        }
        let reading = tokio::spawn(async move {
            let mut all = Vec::new();
            server.accept().await.unwrap().read_to_end(&mut all).await.unwrap();
            (all, server)
        });
        let mut stream = client.connect(relay.addr).await.unwrap();
        let data: Vec<u8> = (0..transfer.bytes).map(|i| (i % 251) as u8).collect();
        timeout(PATIENCE, stream.write_all(&data)).await.unwrap().unwrap();
        timeout(PATIENCE, stream.shutdown()).await.unwrap().unwrap();
        let (all, _server) = timeout(PATIENCE, reading).await.unwrap().unwrap();
        assert!(all == data);
        let is_acknowledged = async {
            while stream.statistics().bytes_delivered < transfer.bytes as u64 {
                sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(PATIENCE, is_acknowledged).await.unwrap();
        let log = logs.lock().unwrap()[0].clone();
        let before = log.reports().len();
        let statistics = stream.statistics();
        drop(stream);
        timeout(PATIENCE, client.close()).await.expect("it does not end");
        (log.reports(), before, statistics)
    });
    assert_eq!(logs.lock().unwrap().len(), 1, "one connection");
    let account = Account::of(&reports);
    assert_eq!(account.delivered_bytes, transfer.bytes as u64);
    assert_eq!(statistics.bytes_delivered, transfer.bytes as u64);
    compare(&reports[..before], &statistics, &account);
    assert!(account.rates > 0 && account.wakes > 0, "{} rates, {} wake-ups", account.rates, account.wakes);
    account
}

/// Checks that the connection's counters lie between what had been reported before they were read and after.
fn compare(before: &[Report], statistics: &Statistics, after: &Account) {
    let count = |is: fn(&Report) -> bool| before.iter().filter(|report| is(report)).count() as u64;
    for (counter, before, after) in [
        (statistics.losses, count(|report| matches!(report, Report::Loss(_))), after.lost.len() as u64),
        (statistics.timeouts, count(|report| matches!(report, Report::Timeout(_))), after.timeouts),
    ] {
        assert!((before..=after).contains(&counter), "{before} to {after}: {statistics:?}");
    }
    // What comes late in a recovery that a timeout began is counted and not named.
    assert!(
        statistics.spurious_losses >= count(|report| matches!(report, Report::Spurious(_))),
        "{statistics:?}"
    );
}

/// Loses every 50th data packet the first time that it is sent, and every 250th the second time, too.
fn losing_now_and_then() -> impl FnMut(&Packet<'_>) -> Fate {
    let mut sent = BTreeMap::<SeqNr, u32>::new();
    move |packet| {
        if packet.header.kind != Kind::Data {
            return Fate::Passes;
        }
        let place = sent.len() as u32;
        let count = sent.entry(packet.header.seq_nr).or_default();
        *count += 1;
        match (*count, place % 50, place % 250) {
            (1, 49, _) | (2, _, 249) => Fate::IsLost,
            _ => Fate::Passes,
        }
    }
}

#[test]
fn with_acks_in_batches_and_late_wake_ups_each_packet_is_reported_once() {
    for is_busy in [false, true] {
        for runtime in runtimes() {
            let manner = Manner { fate: Box::new(losing_now_and_then()), batch: 16, ..Manner::default() };
            let transfer = Transfer { bytes: 1_000_000, pacing: Pacing::Window, manner, is_busy };
            let account = run(runtime, transfer);
            assert!(account.lost.len() >= 10, "{} losses", account.lost.len());
        }
    }
}

#[test]
fn with_a_small_socket_buffer_on_the_way_each_packet_is_reported_once() {
    for runtime in runtimes() {
        // Two packets fit, and whole windows come.
        let buffer = Some((4096, Duration::from_micros(100)));
        let manner = Manner { buffer, ..Manner::default() };
        let pacing = Pacing::Rate(1 << 40);
        let account = run(runtime, Transfer { bytes: 500_000, pacing, manner, is_busy: false });
        assert!(!account.lost.is_empty(), "nothing overflowed");
    }
}

#[test]
fn a_late_packet_is_reported_as_lost_as_no_loss_and_as_delivered() {
    for runtime in runtimes() {
        // Groups of ten packets with 100 ms between them: each third packet comes after its group, before it is sent again.
        let (mut place, mut seen) = (0, HashSet::new());
        let late = move |packet: &Packet<'_>| {
            if packet.header.kind != Kind::Data || !seen.insert(packet.header.seq_nr) {
                return Fate::Passes;
            }
            place += 1;
            if place % 10 == 3 {
                Fate::IsLate
            } else {
                Fate::Passes
            }
        };
        let manner = Manner { fate: Box::new(late), ..Manner::default() };
        let pacing = Pacing::Together { packets: 10, apart_us: 0, every: Span::from_millis(100) };
        let account = run(runtime, Transfer { bytes: 100 * 1352, pacing, manner, is_busy: false });
        assert!(!account.spurious.is_empty(), "{} losses, none was none", account.lost.len());
        let arrived = account.spurious.iter().all(|number| account.delivered.contains(number));
        assert!(arrived, "{:?} of {:?}", account.spurious, account.delivered);
    }
}

#[test]
fn a_timeout_is_reported_once_for_all_packets() {
    for runtime in runtimes() {
        // From the 100th packet on nothing gets through until three packets have been sent again: a probe is one.
        let (mut seen, mut repeated) = (HashSet::new(), 0);
        let outage = move |packet: &Packet<'_>| {
            if packet.header.kind != Kind::Data {
                return Fate::Passes;
            }
            let is_new = seen.insert(packet.header.seq_nr);
            repeated += u32::from(seen.len() >= 100 && !is_new);
            if seen.len() >= 100 && repeated < 3 {
                Fate::IsLost
            } else {
                Fate::Passes
            }
        };
        let manner = Manner { fate: Box::new(outage), ..Manner::default() };
        let account =
            run(runtime, Transfer { bytes: 500_000, pacing: Pacing::Window, manner, is_busy: false });
        assert!(account.timeouts > 0, "no timeout");
    }
}
