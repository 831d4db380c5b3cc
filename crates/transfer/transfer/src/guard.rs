//! Keeps strangers from filling the listening side's memory with handshakes that they never end.
//!
//! # Model
//! Between a client's first packet and the end of its handshake the listening side holds state for somebody who has proven nothing. The
//! guard counts such **half-open** handshakes and bounds them three ways:
//!
//! - From [`Limits::unvalidated`] on, first packets are answered with a Retry (RFC 9000 §8.1.2). No state is held, and
//!   only a client that receives packets at its claimed address returns the token.
//! - At most [`Limits::half_open`] in all, and each for [`Limits::timeout`]. When all places are taken, a newcomer gets that of the oldest
//!   handshake, provided that it has had [`Limits::crowded_timeout`].
//! - One validated address (for IPv6 one /64) may hold as many as a sixteenth ([`Limits::share`]) of the places that are still free. The
//!   fuller it gets, the less anybody gets, so a newcomer finds a place unless more than two hundred addresses are at it. Addresses that
//!   were not validated may be forged, so they only bring a Retry earlier: nobody can lock out another by forging his address.
//!
//! The rule of shares is the dynamic threshold of Choudhury and Hahne, "Dynamic queue length thresholds for shared-memory packet
//! switches", 1998, there for queues that share a memory.
//!
//! A handshake that failed leaves a connection that quinn keeps for three probe timeouts to answer late packets (RFC 9000 §10.2). These
//! **lingering** ones are counted for `LINGER` and have places of their own, shared by the same rule.
//!
//! Excess packets are ignored rather than refused. The client of a right ticket sends its first packet again after a
//! second and gets in when there is room, while a refusal would end it. Packets of handshakes that were not taken yet
//! wait in quinn's own queue, which is bounded here, too ([`Limits::apply`]).
//!
//! # Constants
//! 256 half-open handshakes of some 30 kB each are 8 MB. 32 before Retry: a job of a few connections does not pay its extra round trip.
//! 10 s: as long as the client tries; 3 s when it is crowded: two round trips by satellite, and a lost
//! packet.
//!
//! # Known bad cases
//! An attacker with more than two hundred real addresses who begins more than 85 handshakes a second from them holds all
//! places. A right client then gets in only now and then. Sessions that have proven to have the secret are not counted here.

use quinn::{Connection, Endpoint, Incoming, ServerConfig};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long quinn keeps a failed handshake: three probe timeouts of a second (RFC 9002 §6.2.2), and some more.
const LINGER: Duration = Duration::from_secs(4);

/// Between two reports.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// The limits of what is tolerated.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Handshakes at a time.
    pub half_open: usize,
    /// Handshakes at a time before addresses must be validated.
    pub unvalidated: usize,
    /// Failed handshakes that quinn still remembers.
    pub lingering: usize,
    /// One validated address gets the free places divided by this.
    pub share: usize,
    /// For a whole handshake.
    pub timeout: Duration,
    /// For a whole handshake while others wait for its place.
    pub crowded_timeout: Duration,
    /// First packets that wait to be looked at.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            half_open: 256,
            unvalidated: 32,
            lingering: 1024,
            share: 16,
            timeout: Duration::from_secs(10),
            crowded_timeout: Duration::from_secs(3),
            waiting: 512,
        }
    }
}

impl Limits {
    /// Bounds the queue in front of the guard.
    pub fn apply(&self, config: &mut ServerConfig) {
        const DATAGRAMS: u64 = 8;
        const DATAGRAM_BYTES: u64 = 1500;
        config.max_incoming(self.waiting);
        config.incoming_buffer_size(DATAGRAMS * DATAGRAM_BYTES);
        config.incoming_buffer_size_total(self.waiting as u64 * DATAGRAM_BYTES);
    }
}

/// The outcomes of connection attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Got in.
    pub admitted: u64,
    /// Attempts that had to prove their address.
    pub retried: u64,
    /// Ignored: too many in all.
    pub crowded: u64,
    /// Ignored: too many of one address.
    pub hogging: u64,
    /// Did not end the handshake in time.
    pub timed_out: u64,
    /// Failed the handshake: a wrong ticket, garbage, a client that found us to be the wrong one.
    pub failed: u64,
}

impl Counters {
    fn turned_away(&self) -> u64 {
        self.crowded + self.hogging + self.timed_out + self.failed
    }
}

/// For a log.
impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counters { admitted, retried, crowded, hogging, timed_out, failed } = self;
        write!(
            f,
            "handshakes: {admitted} admitted, {failed} failed (wrong ticket or garbage), {timed_out} not ended in time, \
             {retried} asked to prove their address, {crowded} ignored for too many at once, {hogging} for too many of one address"
        )
    }
}

/// Called with the counters at most once a second, and only when somebody was turned away.
pub type OnRefusals = Box<dyn FnMut(&Counters) + Send>;

/// The configuration for a client at this address, instead of the endpoint's own.
pub type ConfigFor = Box<dyn FnMut(SocketAddr) -> Arc<ServerConfig> + Send>;

/// The door of a listening endpoint.
pub struct Guard {
    endpoint: Endpoint,
    limits: Limits,
    handshakes: JoinSet<(Guest, Ended)>,
    /// When each began, oldest first, and how to end it. Some have ended already.
    begun: VecDeque<(Instant, oneshot::Sender<()>)>,
    /// Half-open and lingering handshakes of validated addresses.
    addresses: HashMap<IpAddr, Held>,
    lingering: VecDeque<(Instant, Guest)>,
    counters: Counters,
    on_refusals: OnRefusals,
    config_for: Option<ConfigFor>,
    reported: (Instant, u64),
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    half_open: usize,
    lingering: usize,
}

/// Whose handshake it is.
#[derive(Clone, Copy, Debug)]
struct Guest {
    /// None: the address may be forged, so it counts for nobody.
    validated: Option<IpAddr>,
}

enum Ended {
    Admitted(Connection),
    Failed,
    TimedOut,
}

impl Guard {
    /// Creates a guard at `endpoint`, whose configuration must have been prepared by [`Limits::apply`].
    pub fn new(endpoint: Endpoint, limits: Limits) -> Guard {
        Guard {
            endpoint,
            limits,
            handshakes: JoinSet::new(),
            begun: VecDeque::new(),
            addresses: HashMap::new(),
            lingering: VecDeque::new(),
            counters: Counters::default(),
            on_refusals: Box::new(|_| {}),
            config_for: None,
            reported: (Instant::now(), 0),
        }
    }

    /// Reports to `listener` when a client was turned away.
    pub fn on_refusals(mut self, listener: OnRefusals) -> Guard {
        self.on_refusals = listener;
        self
    }

    /// Takes clients in with what `choose` gives for them: connections of one host may share a congestion window.
    pub fn config_for(mut self, choose: ConfigFor) -> Guard {
        self.config_for = Some(choose);
        self
    }

    /// Returns the counters so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns the next client whose handshake is complete, with its key checked. None when the endpoint is closed. Must be
    /// called again soon, since nobody else takes first packets; nothing is lost when the future is dropped.
    pub async fn accept(&mut self) -> Option<Connection> {
        loop {
            tokio::select! {
                Some(ended) = self.handshakes.join_next() => {
                    // Handshakes neither panic nor are aborted while the guard lives.
                    let Ok((guest, ended)) = ended else { continue };
                    if let Some(connection) = self.settle(guest, ended) {
                        return Some(connection);
                    }
                }
                incoming = self.endpoint.accept() => self.consider(incoming?),
            }
            self.report();
        }
    }

    fn consider(&mut self, incoming: Incoming) {
        self.forget_lingering();
        self.begun.retain(|(_, end)| !end.is_closed());
        let address = subscriber(incoming.remote_address().ip());
        let held = self.addresses.get(&address).copied().unwrap_or_default();
        let hogging = self.hogging(held);
        if !incoming.remote_address_validated()
            && (hogging || self.handshakes.len() >= self.limits.unvalidated)
        {
            self.counters.retried += 1;
            // Never fails for an address that was not validated.
            let _ = incoming.retry();
            return;
        }
        if hogging {
            self.counters.hogging += 1;
            return incoming.ignore();
        }
        let lingers = self.lingering.len() >= self.limits.lingering;
        if lingers || (self.handshakes.len() >= self.limits.half_open && !self.end_oldest()) {
            self.counters.crowded += 1;
            return incoming.ignore();
        }
        let guest = Guest { validated: incoming.remote_address_validated().then_some(address) };
        if let Some(held) = self.held(guest) {
            held.half_open += 1;
        }
        let limit = self.limits.timeout;
        let accepted = match &mut self.config_for {
            Some(choose) => {
                let config = choose(incoming.remote_address());
                incoming.accept_with(config)
            }
            None => incoming.accept(),
        };
        let handshake = async { accepted?.await };
        let (end, ended) = oneshot::channel();
        self.begun.push_back((Instant::now(), end));
        self.handshakes.spawn(async move {
            let ended = tokio::select! {
                result = handshake => result.map_or(Ended::Failed, Ended::Admitted),
                _ = ended => Ended::TimedOut,
                () = tokio::time::sleep(limit) => Ended::TimedOut,
            };
            (guest, ended)
        });
    }

    /// Returns whether it has more than its share of what is free. A newcomer never has.
    fn hogging(&self, held: Held) -> bool {
        let over = |held: usize, used: usize, limit: usize| {
            held > 0 && held * self.limits.share >= limit.saturating_sub(used)
        };
        over(held.half_open, self.handshakes.len(), self.limits.half_open)
            || over(held.lingering, self.lingering.len(), self.limits.lingering)
    }

    /// Makes room by ending the oldest handshake, if it has had time enough.
    fn end_oldest(&mut self) -> bool {
        if self.begun.front().is_none_or(|(begun, _)| begun.elapsed() < self.limits.crowded_timeout) {
            return false;
        }
        self.begun.pop_front().is_some_and(|(_, end)| end.send(()).is_ok())
    }

    fn settle(&mut self, guest: Guest, ended: Ended) -> Option<Connection> {
        if let Some(held) = self.held(guest) {
            held.half_open -= 1;
        }
        match ended {
            Ended::Admitted(connection) => {
                self.counters.admitted += 1;
                self.release(guest);
                tracing::debug!(peer = %connection.remote_address(), "handshake complete, the ticket's key is right");
                return Some(connection);
            }
            Ended::Failed => self.counters.failed += 1,
            Ended::TimedOut => self.counters.timed_out += 1,
        }
        if let Some(held) = self.held(guest) {
            held.lingering += 1;
        }
        self.lingering.push_back((Instant::now() + LINGER, guest));
        None
    }

    fn held(&mut self, guest: Guest) -> Option<&mut Held> {
        Some(self.addresses.entry(guest.validated?).or_default())
    }

    fn release(&mut self, guest: Guest) {
        let Some(address) = guest.validated else { return };
        if self.addresses.get(&address).is_some_and(|held| held.half_open + held.lingering == 0) {
            self.addresses.remove(&address);
        }
    }

    fn forget_lingering(&mut self) {
        let now = Instant::now();
        while self.lingering.front().is_some_and(|(until, _)| *until <= now) {
            let Some((_, guest)) = self.lingering.pop_front() else { return };
            if let Some(held) = self.held(guest) {
                held.lingering -= 1;
            }
            self.release(guest);
        }
    }

    fn report(&mut self) {
        let (last, known) = self.reported;
        if self.counters.turned_away() > known && last.elapsed() >= REPORT_EVERY {
            self.reported = (Instant::now(), self.counters.turned_away());
            tracing::info!("turned away some who knocked; so far {}", self.counters);
            (self.on_refusals)(&self.counters);
        }
    }
}

/// Returns the address block of one subscriber: an IPv4 address, or a /64.
fn subscriber(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64).into(),
    }
}
