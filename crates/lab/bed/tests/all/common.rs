//! What the tests of the relay share: links, paced senders, and patience with a busy machine.

use afteryou_aqm::droptail::DropTail;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Direction, Link, Statistics, TOS_IS_KEPT};
use afteryou_bed::Clock;
use afteryou_scenario::outcome::Lateness;
use afteryou_scenario::{Buffer, Probability, Rate};
use socket2::SockRef;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::{Duration, Instant};

/// UDP payload of a packet of 1250 bytes over IPv4.
pub const PAYLOAD_BYTES: usize = 1222;
/// The packet.
pub const PACKET_BYTES: u64 = 1250;

/// How exactly probes are timed: where the kernel does not tell arrival times, naps add to them.
pub const PROBE_TOLERANCE_MS: f64 = if TOS_IS_KEPT { 0.5 } else { 5.0 };

/// What is measured once more has the machine to itself: there may be two cores. All else shares it.
static MACHINE: RwLock<()> = RwLock::new(());

/// Waits until no other test uses the machine.
fn alone() -> RwLockWriteGuard<'static, ()> {
    MACHINE.write().even_poisoned()
}

/// Waits until no test has the machine to itself.
pub fn beside_others() -> RwLockReadGuard<'static, ()> {
    MACHINE.read().even_poisoned()
}

pub fn direction(rate: &str, buffer: &str, loss: &str) -> Direction {
    let rate: Rate = rate.parse().unwrap();
    let limit = buffer.parse::<Buffer>().unwrap().limit(rate);
    let loss: Probability = loss.parse().unwrap();
    Direction { rate, loss, queue: Box::new(DropTail::new(limit)) }
}

pub fn link(name: &str, rate: &str, buffer: &str, loss: &str) -> Link {
    let (forward, reverse) = (direction(rate, buffer, loss), direction(rate, buffer, loss));
    Link { name: name.to_owned(), forward, reverse }
}

/// Opens a socket on loopback whose reads give up after 300 ms.
pub fn socket() -> UdpSocket {
    socket_at("127.0.0.1:0").unwrap()
}

pub fn socket_at(address: &str) -> Option<UdpSocket> {
    let socket = UdpSocket::bind(address).ok()?;
    // As large as the system allows, so that a test that is kept waiting loses little.
    let _ = SockRef::from(&socket).set_recv_buffer_size(4 << 20);
    socket.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    Some(socket)
}

/// Sends packets of [`PACKET_BYTES`] at about `mbit` Mbit/s for `time`; catches up when it overslept. Returns the
/// longest time without sending.
pub fn overdrive(socket: &UdpSocket, to: SocketAddr, mbit: u64, time: Span) -> Span {
    let clock = Clock::start();
    let (mut sent, mut last, mut longest_gap) = (0, Time::ZERO, Span::ZERO);
    while last < Time::ZERO + time {
        let now = clock.now();
        longest_gap = longest_gap.max(now.since(last));
        last = now;
        let should = now.as_nanos() * mbit / (8000 * PACKET_BYTES);
        while sent < should {
            let _ = socket.send_to(&[0; PAYLOAD_BYTES], to);
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    longest_gap
}

/// Sends 50 probes of 60 bytes payload a second; the time of sending is in them.
pub fn probe(socket: &UdpSocket, to: SocketAddr, clock: Clock, count: u32) {
    for _ in 0..count {
        let mut payload = [0; 60];
        payload[..8].copy_from_slice(&clock.now().as_nanos().to_le_bytes());
        socket.send_to(&payload, to).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the ages in ms of the probes that arrive, until none comes for a while.
pub fn probe_ages_ms(socket: &UdpSocket, clock: Clock) -> Vec<f64> {
    let mut buffer = [0; 2000];
    let mut ages = Vec::new();
    while let Ok((bytes, _)) = socket.recv_from(&mut buffer) {
        let now = clock.now();
        assert_eq!(bytes, 60);
        let sent = Time(u64::from_le_bytes(buffer[..8].try_into().unwrap()));
        ages.push(now.since(sent).as_millis_f64());
    }
    ages
}

/// Returns what it gets to whom it came from, until nothing comes for a while.
pub fn echo(socket: &UdpSocket) {
    let mut buffer = [0; 2000];
    while let Ok((bytes, from)) = socket.recv_from(&mut buffer) {
        socket.send_to(&buffer[..bytes], from).unwrap();
    }
}

/// Returns the arrival times of packets, until none comes for a while.
pub fn arrivals(socket: &UdpSocket, clock: Clock) -> Vec<Time> {
    let mut buffer = [0; 2000];
    std::iter::from_fn(|| socket.recv_from(&mut buffer).ok().map(|_| clock.now())).collect()
}

pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// How often is measured on a machine that has other work.
const ATTEMPTS: u32 = 6;

/// Naps that are longer by this mean that ends of a flow were kept waiting, too: half a packet's time at 2 Mbit/s.
const LATE_NAP: Duration = Duration::from_millis(3);

/// Measures and judges. First beside other tests, most of which wait for their networks most of the time; what does not pass there is
/// measured alone. What a busy machine spoiled then, as `measure` reports with its value or naps beside it show, is measured again, up
/// to [`ATTEMPTS`] times.
pub fn judged<T>(measure: impl Fn() -> (T, Option<String>), judge: impl Fn(&T) -> Result<(), String>) {
    let ((value, _), _) = {
        let _beside_others = beside_others();
        beside_naps(&measure)
    };
    let Err(reason) = judge(&value) else { return };
    println!("{reason}, beside others: once more, alone");
    let _alone = alone();
    for attempt in 1..=ATTEMPTS {
        let ((value, trouble), late_nap) = beside_naps(&measure);
        let Err(reason) = judge(&value) else { return };
        let overslept =
            || (late_nap > LATE_NAP).then(|| format!("a thread beside it woke up {late_nap:?} late"));
        match trouble.or_else(overslept) {
            Some(trouble) if attempt < ATTEMPTS => println!("{reason}, but {trouble}: once more"),
            trouble => {
                panic!("{reason}; in attempt {attempt}, with {trouble:?} and naps at most {late_nap:?} late")
            }
        }
    }
}

/// Measures while as many threads as there are cores nap for a millisecond at a time. Returns by how much the longest nap was late: the
/// ends of a flow are threads as well, and no statistics of the relay show that these had to wait.
fn beside_naps<T>(measure: impl FnOnce() -> T) -> (T, Duration) {
    const NAP: Duration = Duration::from_millis(1);
    let over = AtomicBool::new(false);
    let naps = || {
        let mut late = Duration::ZERO;
        while !over.load(Ordering::Relaxed) {
            let start = Instant::now();
            thread::sleep(NAP);
            late = late.max(start.elapsed().saturating_sub(NAP));
        }
        late
    };
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let napping: Vec<_> = (0..cores).map(|_| scope.spawn(naps)).collect();
        let value = {
            let _over = Over(&over);
            measure()
        };
        (value, napping.into_iter().map(|one| one.join().unwrap()).max().unwrap_or_default())
    })
}

/// Ends the naps, also where the measurement panics: the scope waits for their threads.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Returns whether the relay was kept waiting, in words.
pub fn late(statistics: &Statistics) -> Option<String> {
    spoiled(statistics.lateness)
}

/// Returns the same of a testbed's run.
pub fn spoiled(lateness: Option<Lateness>) -> Option<String> {
    println!("lateness: {lateness:?}");
    let late = lateness.filter(Lateness::spoiled)?;
    Some(format!("the relay was kept waiting: {late:?}"))
}

/// Returns whether a sender was kept waiting for so long that it could not keep a queue filled, in words.
pub fn starved(longest_gap: Span) -> Option<String> {
    (longest_gap > Span::from_millis(40)).then(|| format!("a sender was kept waiting for {longest_gap:?}"))
}

/// Returns whether a receiver lost some of what the relay delivered, in words.
pub fn overrun(received: usize, delivered: u64) -> Option<String> {
    let lost = delivered.saturating_sub(received as u64);
    (lost > 0).then(|| format!("a receiver was kept waiting and lost {lost} packets"))
}

/// Fails unless `value` is within `tolerance` of `expected`.
pub fn within(what: &str, value: f64, expected: f64, tolerance: f64) -> Result<(), String> {
    println!("{what}: {value:.3}, expected {expected:.3}");
    let good = (value - expected).abs() <= tolerance;
    good.then_some(()).ok_or_else(|| format!("{what} is {value:.3}, not {expected:.3} ± {tolerance:.3}"))
}
