//! Deadlines in virtual time: whoever does what is due and asks again is told of a later time. A simulator would
//! otherwise stay at one instant for ever.

use afteryou_base::{Span, Time};
use afteryou_cc::list::CONTROLLERS;
use afteryou_utp::packet::Packet;
use afteryou_utp::{Config, Connection, ConnectionId, Host, Recovery, SeqNr};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::VecDeque;

/// Payload is counted and not kept.
const COUNTS: Host = Host { keeps_received: false, ..Host::REAL };

/// Datagrams on their way to one end, the oldest first.
type Way = VecDeque<(Time, Vec<u8>)>;

/// A transfer over a path of nothing but a delay and losses.
struct Transfer {
    now: Time,
    host: Host,
    ends: [Option<Connection>; 2],
    ways: [Way; 2],
    one_way: Span,
    /// Losses among a thousand datagrams.
    losses: u32,
    rng: Pcg64,
}

impl Transfer {
    fn new(host: Host, client: Connection, one_way: Span, losses: u32) -> Transfer {
        let rng = Pcg64::seed_from_u64(1);
        let ways = [Way::new(), Way::new()];
        Transfer { now: Time::ZERO, host, ends: [Some(client), None], ways, one_way, losses, rng }
    }

    /// Sends all that an end has to send; then nothing of it may be due.
    fn settle(&mut self, at: usize) {
        let (now, arrival) = (self.now, self.now + self.one_way);
        let Some(end) = &mut self.ends[at] else { return };
        if end.deadline().is_some_and(|due| due <= now) {
            end.handle_deadline(now);
        }
        let mut datagram = Vec::new();
        while end.poll_transmit(now, &mut datagram) {
            let datagram = std::mem::take(&mut datagram);
            if self.rng.next_u32() % 1000 >= self.losses {
                self.ways[1 - at].push_back((arrival, datagram));
            }
        }
        assert!(end.deadline().is_none_or(|due| due > now), "at {now:?} still due: {end:?}");
    }

    /// Lets time pass to the next event; returns `false` if there never will be one.
    fn step(&mut self, config: &Config) -> bool {
        self.settle(0);
        self.settle(1);
        let arrivals = self.ways.iter().filter_map(|way| way.front()).map(|(at, _)| *at);
        let deadlines = self.ends.iter().flatten().filter_map(Connection::deadline);
        let Some(next) = arrivals.chain(deadlines).min() else { return false };
        self.now = next;
        for at in 0..2 {
            if self.ways[at].front().is_some_and(|(due, _)| *due <= next) {
                self.arrive(at, config);
            }
        }
        true
    }

    fn arrive(&mut self, at: usize, config: &Config) {
        let Some((_, datagram)) = self.ways[at].pop_front() else { return };
        let packet = Packet::decode(&datagram).expect("our own packets are well-formed");
        let Some(end) = &mut self.ends[at] else {
            let controller = CONTROLLERS[0]
                .build(&[], afteryou_cc::Setup::of(config.payload))
                .expect("defaults are valid");
            self.ends[at] = Some(self.host.accept(config.clone(), controller, self.now, &packet, SeqNr(500)));
            return;
        };
        end.handle(self.now, &packet);
        end.discard_received(self.now);
        if end.is_at_end() {
            end.finish();
        }
    }
}

/// Sends some, pauses, sends the rest and ends.
fn run(controller: usize, host: Host, config: &Config, one_way: Span, losses: u32) {
    let controller = CONTROLLERS[controller]
        .build(&[], afteryou_cc::Setup::of(config.payload))
        .expect("defaults are valid");
    let client = host.connect(config.clone(), controller, Time::ZERO, ConnectionId(1), SeqNr(1));
    let mut transfer = Transfer::new(host, client, one_way, losses);
    let mut left = 3_000_000;
    for step in 0.. {
        assert!(step < 1_000_000, "{left} bytes are left at {:?}", transfer.now);
        if !transfer.step(config) {
            break;
        }
        let pauses = left <= 1_500_000 && transfer.now < Time::from_millis(20_000);
        let Some(client) = transfer.ends[0].as_mut().filter(|_| !pauses) else { continue };
        left -= client.write_zeros(left).unwrap_or(0);
        if left == 0 {
            client.finish();
        }
    }
    // Without lingering the last acknowledgement may be missing, so errors are no matter here.
    let arrived = transfer.ends[1].as_ref().map(Connection::bytes_arrived);
    assert_eq!(arrived, Some(3_000_000), "at {:?}", transfer.now);
}

#[test]
fn no_timer_is_due_again_at_once_however_short_the_path_and_the_settings() {
    let shortest =
        Config { min_rto: Span::ZERO, ack_delay: Span::ZERO, linger: Span::ZERO, ..Config::default() };
    let [libutp, modified] =
        [Recovery::Libutp, Recovery::LibutpMod].map(|recovery| (COUNTS, Config::recovering(recovery)));
    for (host, config) in [(Host::REAL, Config::default()), (COUNTS, shortest), libutp, modified] {
        for controller in 0..CONTROLLERS.len() {
            for one_way in [Span::ZERO, Span::from_micros(50), Span::from_millis(10), Span::from_millis(100)]
            {
                for losses in [0, 50] {
                    run(controller, host, &config, one_way, losses);
                }
            }
        }
    }
}

#[test]
fn memory_kept_for_the_next_payloads_is_given_back_soon_after_the_last_acknowledgement() {
    let setup = afteryou_cc::Setup::of(Config::default().payload);
    let controller = CONTROLLERS[0].build(&[], setup).expect("defaults are valid");
    let config = Config::default();
    let client = Connection::connect(config.clone(), controller, Time::ZERO, ConnectionId(1), SeqNr(1));
    let mut transfer = Transfer::new(Host::REAL, client, Span::from_millis(5), 0);
    let mut left = 200_000;
    let last = loop {
        let client = transfer.ends[0].as_mut().expect("it was there from the beginning");
        left -= client.write(&[7; 200_000][..left]).unwrap_or(0);
        if left == 0 && client.is_flushed() {
            break transfer.now;
        }
        assert!(transfer.step(&config) && transfer.now < Time::from_millis(60_000));
    };
    let deadline = |transfer: &Transfer| transfer.ends[0].as_ref().and_then(Connection::deadline);
    assert!(deadline(&transfer) <= Some(last + Span::from_millis(250)));
    while transfer.now < last + Span::from_millis(250) {
        assert!(transfer.step(&config));
    }
    transfer.settle(0);
    // The next one keeps the connection alive.
    assert!(deadline(&transfer).is_some_and(|at| at > last + Span::from_secs(20)));
}
