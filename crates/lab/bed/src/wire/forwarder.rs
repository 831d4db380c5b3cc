//! The thread between the two devices.
//!
//! It sleeps in `ppoll` until a packet comes or one is due, and never spins. The kernel stops a real-time thread that
//! spins for a twentieth of each second. Departures follow from arrivals and the rate alone, so a late wake-up delays
//! packets and does not slow the link down.
//!
//! A sleeping thread wakes some tens of µs after it should, four times in a round trip. The thread measures by how much at least
//! ([`WakeUp`]) and sleeps for that much less; the packet that wakes it came that much earlier. So the usual lateness is in no
//! delay; only what exceeds it is.

use super::connections::{Connections, Place};
use super::ip::{set_tos, Headers};
use super::outside::Outside;
use super::routes::Routes;
use super::sizes::Sizes;
use super::wake_up::WakeUp;
use crate::clock::Clock;
use crate::error::Error;
use crate::lateness::Distribution;
use crate::net::{flow_of, Side, Tun};
use afteryou_base::{Span, Time};
use afteryou_sim::live::{Live, Real};
use nix::errno::Errno;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::eventfd::EventFd;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Packets read from one device before the other has its turn.
const BATCH: usize = 64;
/// Longest sleep. A core that was idle for longer is slow to wake, and a virtual one may no longer be scheduled: KVM waits 0.2 ms
/// before it gives one away. Then a packet that comes is read 0.05 to 0.2 ms late, by an unknown time. It costs 5 % of a core.
const NAP: Span = Span::from_micros(250);

/// The thread's inputs.
pub struct Forwarder<'a> {
    pub tuns: &'a [Tun; 2],
    pub live: Live<'a>,
    pub clock: Clock,
    pub sizes: &'a Sizes,
    pub mtu: u32,
    pub lateness: Distribution,
    pub counts: Counts,
    pub connections: Connections,
    pub routes: Routes,
    /// Links whose queue is the kernel's.
    pub outside: Vec<Outside>,
    /// By connection, its flow.
    pub flows: Vec<usize>,
    /// By flow, payload that has come out of the network; empty where nobody looks at it.
    pub passed: &'a [AtomicU64],
    pub wake_up: WakeUp,
    pub buffer: Vec<u8>,
    /// A packet with another TOS byte.
    pub marked: Vec<u8>,
}

/// Values that do not measure the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets of nobody: neighbour discovery and the like.
    pub strangers: u64,
    /// Packets that the receiving device refused.
    pub refused: u64,
    /// Packets whose ECN field a queue changed.
    pub marked: u64,
}

/// Places in the set of descriptors: both devices, the end, then the kernel's queues.
const SENT: usize = 0;
const REPLIED: usize = 1;
const STOPPED: usize = 2;
const QUEUES: usize = 3;

impl Forwarder<'_> {
    /// Forwards until `stop` is written to.
    pub fn run(&mut self, stop: &EventFd) -> Result<(), Error> {
        let tuns = self.tuns;
        let [first, second] = tuns;
        let queues: Vec<OwnedFd> = self
            .outside
            .iter()
            .map(|outside| outside.tun.as_fd().try_clone_to_owned())
            .collect::<Result<_, _>>()
            .map_err(Error::Tun)?;
        let descriptors =
            [first.as_fd(), second.as_fd(), stop.as_fd()].into_iter().chain(queues.iter().map(AsFd::as_fd));
        let mut waits_for: Vec<PollFd<'_>> =
            descriptors.map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN)).collect();
        loop {
            let now = self.clock.now();
            self.deliver_due(now + self.wake_up.least());
            let began = self.clock.now();
            let due = self.live.next_event().unwrap_or(Time::NEVER);
            let sleep = due.since(began + self.wake_up.least()).min(NAP);
            let woken = ppoll(&mut waits_for, Some(Duration::from(sleep).into()), None);
            match woken {
                Ok(0) => {
                    self.wake_up.woke(self.clock.now().since(began + sleep));
                    continue;
                }
                Err(Errno::EINTR) => continue,
                Ok(_) => {}
                Err(error) => return Err(Error::Tun(error.into())),
            }
            let is_ready = |place: usize| waits_for[place].any().unwrap_or(true);
            if is_ready(STOPPED) {
                let now = self.clock.now();
                self.deliver_due(now);
                return Ok(());
            }
            // A packet that was there before the thread slept did not wake it.
            let mut earlier = self.wake_up.least().min(self.clock.now().since(began));
            for queue in (0..queues.len()).filter(|queue| is_ready(QUEUES + queue)) {
                self.take_back(queue, &mut earlier)?;
            }
            if is_ready(SENT) {
                self.read(&tuns[0], Side::Receivers, &mut earlier)?;
            }
            if is_ready(REPLIED) {
                self.read(&tuns[1], Side::Senders, &mut earlier)?;
            }
        }
    }

    /// Takes packets that have come out of a queue of the kernel, of which the first came `earlier`.
    fn take_back(&mut self, queue: usize, earlier: &mut Span) -> Result<(), Error> {
        for _ in 0..BATCH {
            let came = Time::ZERO + self.clock.now().since(Time::ZERO + std::mem::take(earlier));
            self.deliver_due(came);
            let Forwarder { outside, live, buffer, .. } = self;
            if !outside[queue].take(live, came, buffer)? {
                break;
            }
        }
        Ok(())
    }

    /// Puts packets that have reached a link whose queue is the kernel's into it.
    fn hand_out(&mut self) {
        let Forwarder { live, outside, .. } = self;
        live.hand_out(&mut |handed| {
            if let Some(queue) = outside.iter_mut().find(|queue| queue.link == handed.link) {
                queue.put(handed);
            }
        });
    }

    /// Reads packets that go to `side`, of which the first came `earlier`.
    fn read(&mut self, from: &Tun, side: Side, earlier: &mut Span) -> Result<(), Error> {
        for _ in 0..BATCH {
            let mut buffer = std::mem::take(&mut self.buffer);
            let read = from.read(&mut buffer).map_err(Error::Tun);
            let taken = match read {
                Ok(Some(length)) => {
                    self.take(&buffer[..length], side, std::mem::take(earlier)).map(|()| true)
                }
                Ok(None) => Ok(false),
                Err(error) => Err(error),
            };
            self.buffer = buffer;
            if !taken? {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, packet: &[u8], side: Side, earlier: Span) -> Result<(), Error> {
        let came = Time::ZERO + self.clock.now().since(Time::ZERO + earlier);
        let found =
            Headers::of(packet).and_then(|headers| Some((flow_of(side, headers.destination)?, headers)));
        let Some((flow, headers)) = found.filter(|(flow, _)| *flow < self.sizes.flows()) else {
            self.counts.strangers += 1;
            return Ok(());
        };
        if packet.len() > self.mtu as usize {
            return Err(Error::Oversized { bytes: packet.len(), mtu: self.mtu });
        }
        let is_reply = side == Side::Senders;
        let route = if is_reply { None } else { self.routes.take(flow, headers.ports[0]) };
        if route.is_some() {
            self.connections.forget(flow, headers.protocol, headers.ports);
        }
        let utp = if self.sizes.is_utp(flow) { headers.utp(packet) } else { None };
        let Place { connection, is_new, number } =
            self.connections.place(flow, is_reply, &headers, utp, self.sizes.full(flow));
        if is_new {
            self.live.open(flow, route);
            self.flows.push(flow);
        }
        let size = self.sizes.on_link(flow, packet);
        self.deliver_due(came);
        self.live.offer(came, Real { connection, is_reply, number, tos: headers.tos, size, bytes: packet });
        self.hand_out();
        Ok(())
    }

    /// Writes the packets that are due to the devices behind the network.
    fn deliver_due(&mut self, now: Time) {
        let Forwarder { live, tuns, clock, lateness, counts, marked, sizes, flows, passed, .. } = self;
        live.advance(now, &mut |due, real| {
            let flow = flows[real.connection];
            if let Some(passed) = passed.get(flow).filter(|_| !real.is_reply) {
                passed.fetch_add(sizes.payload(flow, real.size), Ordering::Relaxed);
            }
            let to = if real.is_reply { &tuns[0] } else { &tuns[1] };
            let tos = Headers::of(real.bytes).map_or(real.tos, |headers| headers.tos);
            let written = if tos == real.tos {
                to.write(real.bytes)
            } else {
                counts.marked += 1;
                marked.clear();
                marked.extend_from_slice(real.bytes);
                set_tos(marked, real.tos);
                to.write(marked)
            };
            counts.refused += u64::from(written.is_err());
            lateness.add(clock.now().since(due));
        });
        self.hand_out();
    }
}
