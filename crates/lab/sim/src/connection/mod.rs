//! A connection: two protocol ends, a controller, and the timers of both ends.
//!
//! An application opens and closes connections and gives them bytes; the connection reports when bytes have arrived or
//! everything given is acknowledged. Constant-rate datagrams are a connection too, one that needs neither.

mod cbr;
mod controllers;
mod outside;
mod slab;
mod tcp;
mod template;
mod utp;

pub use outside::{Dial, Id, Opening, Remote};
pub use slab::Connections;
pub use template::Template;
pub use utp::config as utp_config;

use crate::calendar::{Kind, Slot, Timer};
use crate::net::{Net, Way};
use crate::packet::{Body, Packet};
use afteryou_aqm::Ecn;
use afteryou_base::{Dscp, Span, Time};
use afteryou_cc::Snapshot;
use afteryou_outside::rule as steered;
use afteryou_outside::rule::{Direction, Reading};
use afteryou_scenario::outcome::{Quantiles, Totals};
use std::net::IpAddr;

/// The common properties of a connection's packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Index of the connection.
    flow: u32,
    /// Headers, bytes.
    overhead: u32,
    payload: u32,
    dscp: Dscp,
    ecn: Ecn,
}

impl Format {
    /// Returns a packet of the connection with `payload` bytes of payload.
    fn packet(&self, payload: u32, body: Body) -> Packet {
        let (size, ecn) = (payload + self.overhead, Ecn::NotEct);
        Packet { size, flow: self.flow, dscp: self.dscp, ecn, label: 0, body }
    }

    /// Returns the same packet, ECN-capable if the connection is.
    fn capable(&self, payload: u32, body: Body) -> Packet {
        Packet { ecn: self.ecn, ..self.packet(payload, body) }
    }
}

/// The two ends, by protocol.
enum Ends {
    Tcp(Box<tcp::Ends>),
    Utp(Box<utp::Ends>),
    Cbr(Box<cbr::Ends>),
    Outside(outside::Ends),
    /// Closed: packets that are still under way are discarded.
    Closed,
}

/// A connection's reports to its application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// As many bytes have arrived as the application expects.
    Arrived,
    /// Everything given has been sent and acknowledged. Where a connection gives itself the next piece, that has begun.
    Flushed,
}

/// A connection.
pub struct Connection {
    ends: Ends,
    timers: Timers,
    /// Index of the application that opened it.
    owner: u32,
    /// Its application is over: it sends nothing and answers nothing, but what was under way is still counted.
    is_shut: bool,
    /// Bytes given so far.
    given: u64,
    /// Given anew whenever everything before is acknowledged; 0 for nothing.
    refill: u64,
    /// Payload received of which the application waits; `u64::MAX` for none.
    expected: u64,
    /// The application waits until everything given is acknowledged.
    awaits_flush: bool,
    /// It has given itself a piece anew, which it has not reported yet.
    has_refilled: bool,
}

/// A connection's timers in the calendar. They belong to the place in the slab, whose number their entries carry.
#[derive(Debug)]
struct Timers {
    index: usize,
    sender: Timer,
    pacing: Timer,
    receiver: Timer,
}

impl Timers {
    fn new(index: usize) -> Timers {
        Timers { index, sender: Timer::default(), pacing: Timer::default(), receiver: Timer::default() }
    }

    fn arm(&mut self, net: &mut Net, kind: Kind, at: Time) {
        let slot = Slot::new(kind, self.index);
        self.of(kind).arm(&mut net.calendar, at, slot);
    }

    fn of(&mut self, kind: Kind) -> &mut Timer {
        match kind {
            Kind::Sender => &mut self.sender,
            Kind::Pacing => &mut self.pacing,
            _ => &mut self.receiver,
        }
    }
}

impl Connection {
    /// Returns the application that opened it.
    pub fn owner(&self) -> usize {
        self.owner as usize
    }

    /// Begins the handshake.
    pub fn connect(&mut self, now: Time) {
        match &mut self.ends {
            Ends::Tcp(ends) => ends.connect(now),
            Ends::Utp(ends) => ends.connect(now),
            Ends::Outside(ends) => ends.remote.connect(),
            Ends::Cbr(_) | Ends::Closed => {}
        }
    }

    /// Gives `bytes` to send; `u64::MAX` for as much as can be sent. [`pump`](Self::pump) sends them.
    pub fn give(&mut self, bytes: u64) {
        self.given = self.given.saturating_add(bytes);
        match &mut self.ends {
            Ends::Tcp(ends) => ends.give(bytes),
            Ends::Utp(ends) => ends.give(bytes),
            Ends::Outside(ends) => ends.remote.give(bytes),
            Ends::Cbr(_) | Ends::Closed => {}
        }
    }

    /// Gives `bytes` whenever everything before is acknowledged, from now on.
    pub fn refill(&mut self, bytes: u64) {
        self.refill = bytes;
    }

    /// Takes back what was not sent yet. Returns how much that is.
    pub fn take_back(&mut self) -> u64 {
        self.refill = 0;
        match &mut self.ends {
            Ends::Tcp(ends) => ends.take_back(),
            Ends::Utp(ends) => ends.take_back(),
            Ends::Outside(ends) => ends.remote.take_back(),
            Ends::Cbr(_) | Ends::Closed => 0,
        }
    }

    /// Takes back what was not sent yet, as if it had not been given. Returns how much that is.
    pub fn give_up(&mut self) -> u64 {
        let unsent = self.take_back();
        self.given = self.given.saturating_sub(unsent);
        unsent
    }

    /// Returns whether it has given itself a piece anew since the last call.
    pub fn take_refilled(&mut self) -> bool {
        std::mem::take(&mut self.has_refilled)
    }

    fn refilled(&mut self, bytes: u64) {
        self.has_refilled |= bytes > 0;
        self.given = self.given.saturating_add(bytes);
    }

    /// Reports [`News::Arrived`] once `bytes` in all have arrived.
    pub fn expect(&mut self, bytes: u64) {
        self.expected = bytes;
    }

    /// Reports [`News::Flushed`] once everything given has been sent and acknowledged.
    pub fn await_flush(&mut self) {
        self.awaits_flush = true;
    }

    /// Returns the bytes given so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Stops both ends. Packets in flight are still counted.
    pub fn shut(&mut self) {
        self.take_back();
        self.is_shut = true;
        if let Ends::Outside(ends) = &mut self.ends {
            ends.remote.stop();
        }
    }

    /// Sends a datagram of a constant rate; returns the mean time to the next one.
    pub fn send_datagram(&mut self, net: &mut Net, now: Time) -> Option<Span> {
        match &mut self.ends {
            Ends::Cbr(ends) => Some(ends.send(net, now)),
            Ends::Outside(ends) => ends.send_datagram(),
            _ => None,
        }
    }

    /// Takes in a packet that reaches one of the ends, which answers.
    #[inline]
    pub fn receive(&mut self, net: &mut Net, now: Time, way: Way, packet: &Packet) -> Option<News> {
        let (timers, is_shut) = (&mut self.timers, self.is_shut);
        match (&mut self.ends, way) {
            (Ends::Tcp(ends), Way::Forward) => ends.receive_data(net, now, packet, timers, is_shut),
            (Ends::Tcp(ends), Way::Reverse) => {
                let refilled = ends.receive_ack(net, now, packet, timers, (self.refill, is_shut));
                if refilled > 0 {
                    self.refilled(refilled);
                }
            }
            _ => self.receive_others(net, now, way, packet),
        }
        self.news(way)
    }

    /// Takes in a packet of a connection that is not TCP's.
    fn receive_others(&mut self, net: &mut Net, now: Time, way: Way, packet: &Packet) {
        let is_shut = self.is_shut;
        match &mut self.ends {
            Ends::Utp(ends) => ends.receive(net, now, *packet, way, is_shut),
            Ends::Cbr(ends) => ends.receive(net, now, *packet),
            Ends::Tcp(_) | Ends::Outside(_) | Ends::Closed => net.discard(*packet),
        }
        if !is_shut {
            self.pump_after(net, now, way);
        }
    }

    /// Looks at a connection that runs elsewhere and has received something or was acknowledged.
    pub fn look(&mut self) -> impl Iterator<Item = News> {
        if let Ends::Outside(ends) = &mut self.ends {
            let refilled = ends.refill(if self.is_shut { 0 } else { self.refill });
            self.refilled(refilled);
        }
        let news = [Way::Forward, Way::Reverse].map(|way| self.news(way));
        news.into_iter().flatten()
    }

    /// Returns whether a packet that went this `way` brought what the application waits for. It is reported once.
    #[inline]
    fn news(&mut self, way: Way) -> Option<News> {
        match way {
            Way::Forward if self.expected != u64::MAX && !self.is_shut => self.arrived(),
            Way::Reverse if self.has_refilled && !self.is_shut => {
                self.take_refilled().then_some(News::Flushed)
            }
            Way::Reverse if self.awaits_flush && !self.is_shut => self.flushed(),
            _ => None,
        }
    }

    fn arrived(&mut self) -> Option<News> {
        if self.received() < self.expected {
            return None;
        }
        self.expected = u64::MAX;
        Some(News::Arrived)
    }

    fn flushed(&mut self) -> Option<News> {
        if self.is_flushed() != Some(true) {
            return None;
        }
        self.awaits_flush = false;
        Some(News::Flushed)
    }

    /// Returns whether everything given has been sent and acknowledged. None for ends without a known total.
    fn is_flushed(&self) -> Option<bool> {
        match &self.ends {
            Ends::Tcp(ends) => Some(ends.is_flushed()),
            Ends::Utp(ends) => Some(ends.is_flushed()),
            Ends::Outside(ends) if ends.interval.is_none() => Some(ends.remote.is_flushed()),
            Ends::Outside(_) | Ends::Cbr(_) | Ends::Closed => None,
        }
    }

    /// Returns whether it has data that are not sent or not acknowledged.
    pub fn has_data(&self) -> bool {
        !self.is_shut && self.is_flushed() == Some(false)
    }

    /// Handles a timer's entry that comes up.
    pub fn on_timer(&mut self, net: &mut Net, now: Time, kind: Kind) {
        if !self.timers.of(kind).fires(now) || self.is_shut {
            return;
        }
        if let Ends::Tcp(ends) = &self.ends {
            if let Some(later) = ends.postponed(now, kind) {
                return self.timers.arm(net, kind, later);
            }
        }
        let way = if kind == Kind::Receiver { Way::Forward } else { Way::Reverse };
        match &mut self.ends {
            Ends::Tcp(ends) => ends.on_timer(now, kind),
            Ends::Utp(ends) => ends.on_timer(now, kind),
            Ends::Cbr(_) | Ends::Outside(_) | Ends::Closed => {}
        }
        self.pump_after(net, now, way);
    }

    /// Lets the sender send what it may.
    pub fn pump(&mut self, net: &mut Net, now: Time) {
        self.pump_after(net, now, Way::Reverse);
    }

    /// Lets the end that `way` leads to send what it has.
    fn pump_after(&mut self, net: &mut Net, now: Time, way: Way) {
        let (timers, refill) = (&mut self.timers, self.refill);
        let refilled = match &mut self.ends {
            Ends::Tcp(ends) if way == Way::Forward => return ends.pump_receiver(net, now, timers),
            Ends::Utp(ends) if way == Way::Forward => return ends.pump_receiver(net, now, timers),
            Ends::Tcp(ends) => ends.pump(net, now, timers, refill),
            Ends::Utp(ends) => ends.pump(net, now, timers, refill),
            Ends::Outside(ends) if way == Way::Reverse => ends.refill(refill),
            Ends::Outside(_) | Ends::Cbr(_) | Ends::Closed => 0,
        };
        if refilled > 0 {
            self.refilled(refilled);
        }
    }

    /// Returns what the host at one end reports of the connection to a rule from outside: at the receiver's if the rule is of a download. None
    /// unless it is steered there.
    pub fn reading(&mut self, direction: Direction, id: steered::Id, peer: IpAddr) -> Option<Reading> {
        match (&mut self.ends, direction) {
            (_, _) if self.is_shut => None,
            (Ends::Tcp(ends), Direction::Down) => ends.download(id, peer),
            (Ends::Tcp(ends), Direction::Up) => Some(ends.upload(id, peer)),
            _ => None,
        }
    }

    /// Bounds the window that its receiver announces, bytes.
    pub fn set_window(&mut self, bytes: u64) {
        if let Ends::Tcp(ends) = &mut self.ends {
            ends.set_window(bytes);
        }
    }

    /// Bounds the rate of its sender, bytes per second.
    pub fn set_max_rate(&mut self, bytes_per_second: u64) {
        if let Ends::Tcp(ends) = &mut self.ends {
            ends.set_max_rate(bytes_per_second);
        }
    }

    /// Returns the payload received, each byte once.
    pub fn received(&self) -> u64 {
        match &self.ends {
            Ends::Tcp(ends) => ends.received(),
            Ends::Utp(ends) => ends.received(),
            Ends::Cbr(ends) => ends.received(),
            Ends::Outside(ends) => ends.remote.received(),
            Ends::Closed => 0,
        }
    }

    /// Returns the state of its controller, if it has one.
    pub fn snapshot(&self) -> Option<Snapshot> {
        match &self.ends {
            Ends::Tcp(ends) => Some(ends.snapshot()),
            Ends::Utp(ends) => Some(ends.snapshot()),
            Ends::Cbr(_) | Ends::Outside(_) | Ends::Closed => None,
        }
    }

    /// Returns the counters of its sender.
    pub fn totals(&self) -> Totals {
        match &self.ends {
            Ends::Tcp(ends) => ends.totals(),
            Ends::Utp(ends) => ends.totals(),
            Ends::Cbr(ends) => ends.totals(),
            Ends::Outside(ends) => ends.remote.totals(),
            Ends::Closed => Totals::default(),
        }
    }

    /// Returns the delay of its packets beyond the propagation delay in a window, if it measures that.
    pub fn window_delays(&self, window: usize) -> Option<Quantiles> {
        match &self.ends {
            Ends::Cbr(ends) => ends.window_delays(window),
            _ => None,
        }
    }

    /// Returns the mean of that delay since the last call.
    pub fn take_step_delay_ms(&mut self) -> Option<f64> {
        match &mut self.ends {
            Ends::Cbr(ends) => ends.take_step_delay_ms(),
            _ => None,
        }
    }
}

/// Returns the time that `bytes` take at `bits_per_second`, for packets at a constant rate.
fn interval(bytes: u64, bits_per_second: u64) -> Span {
    let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(bits_per_second.max(1));
    Span(u64::try_from(nanos).unwrap_or(u64::MAX).max(1))
}
