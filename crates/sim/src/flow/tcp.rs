//! A TCP flow: a sender, a receiver, and packets between them.

use super::{controller, Format, Timers};
use crate::calendar::Kind;
use crate::net::{Net, Way};
use crate::packet::{Body, Packet, CWR, NO_SACK};
use crate::tcp::{Arrival, Incoming, Receiver, Sender, Transmit};
use afteryou_aqm::Ecn;
use afteryou_base::Time;
use afteryou_cc::{Setup, Snapshot};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::TcpOptions;
use afteryou_scenario::{Error, Flow as Spec, Traffic};
use afteryou_sender::expand;

/// The two ends of a flow's connection, and what earlier connections of it did.
pub(super) struct Ends {
    format: Format,
    options: TcpOptions,
    sender: Sender,
    receiver: Receiver,
    /// Which connection of the flow this is: packets of earlier ones are nobody's.
    epoch: u8,
    /// The controller's.
    seed: u64,
    earlier: Totals,
    /// What was left of a transfer of a given size when the application paused.
    unsent: u64,
    /// Highest segment that was handed to the network, to number the script's packets.
    next_expected: u64,
}

/// The sender of a flow's connection; `seed` is its controller's.
fn sender(spec: &Spec, options: TcpOptions, format: Format, seed: u64) -> Result<Sender, Error> {
    let mss = format.payload.min(u32::from(u16::MAX));
    let controller = controller(spec, Setup { mss, seed }, Some(options.iw))?;
    Ok(Sender::new(options, controller, mss as u16))
}

impl Ends {
    pub(super) fn new(spec: &Spec, options: TcpOptions, format: Format, seed: u64) -> Result<Ends, Error> {
        Ok(Ends {
            format,
            options,
            sender: sender(spec, options, format, seed)?,
            seed,
            receiver: Receiver::new(options.ack),
            epoch: 0,
            earlier: Totals::default(),
            unsent: 0,
            next_expected: 0,
        })
    }

    /// A new connection takes the place of the old one.
    pub(super) fn reconnect(&mut self, spec: &Spec) -> Result<(), Error> {
        self.earlier = self.totals();
        self.seed = self.seed.wrapping_add(1);
        self.sender = sender(spec, self.options, self.format, self.seed)?;
        self.receiver = Receiver::new(self.options.ack);
        self.epoch = self.epoch.wrapping_add(1);
        Ok(())
    }

    /// The application has something to send; the first time, the connection is opened.
    pub(super) fn turn_on(&mut self, now: Time, traffic: &Traffic, first: bool) {
        if first {
            self.sender.open(now);
        }
        match traffic {
            Traffic::Size(size) if first => self.sender.give(size.bytes()),
            Traffic::Size(_) => self.sender.give(self.unsent),
            Traffic::Chunk(_) => {} // given when everything before is acknowledged
            _ => self.sender.give(u64::MAX),
        }
    }

    pub(super) fn turn_off(&mut self) {
        self.unsent = self.sender.take_back();
    }

    pub(super) fn on_timer(&mut self, now: Time, kind: Kind) {
        // The pacing timer and the receiver's only let the pump run.
        if kind == Kind::Sender {
            self.sender.on_timer(now);
        }
    }

    pub(super) fn receive(&mut self, net: &mut Net, now: Time, way: Way, packet: Packet, over: bool) {
        match (way, packet.body) {
            (Way::Forward, Body::Syn { epoch }) if epoch == self.epoch && !over => {
                net.send(now, Way::Reverse, self.format.packet(0, Body::SynAck { epoch }));
            }
            (Way::Forward, Body::Data { seq, tsval, len, epoch, transmission }) if epoch == self.epoch => {
                let seq = expand(self.next_expected, seq);
                self.next_expected = self.next_expected.max(seq + 1);
                let marked = packet.ecn == Ecn::Ce;
                self.receiver.on_data(now, Arrival { seq, len, tsval, transmission, marked });
            }
            (Way::Reverse, Body::SynAck { epoch }) if epoch == self.epoch && !over => {
                self.sender.on_syn_ack(now);
            }
            (Way::Reverse, Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags }) => {
                let sack = (sack != NO_SACK).then(|| net.sacks.remove(sack as usize));
                if epoch == self.epoch && !over {
                    let sack = sack.as_ref();
                    let incoming = Incoming { cumulative, tsecr, one_way_delay, sack, flags };
                    self.sender.on_ack(now, &incoming);
                }
            }
            _ => {}
        }
    }

    /// Lets the sender send what it may.
    pub(super) fn pump(
        &mut self,
        net: &mut Net,
        now: Time,
        timers: &mut Timers,
        is_on: bool,
        traffic: &Traffic,
    ) {
        if let (Traffic::Chunk(size), true) = (traffic, is_on && self.sender.is_flushed()) {
            self.sender.give(size.bytes());
        }
        while let Some(transmit) = self.sender.poll(now) {
            self.transmit(net, now, transmit);
        }
        timers.arm(net, Kind::Sender, self.sender.deadline());
        timers.arm(net, Kind::Pacing, self.sender.pacing_deadline());
    }

    fn transmit(&mut self, net: &mut Net, now: Time, transmit: Transmit) {
        let Transmit::Data(outgoing, cwr) = transmit else {
            let syn = self.format.packet(0, Body::Syn { epoch: self.epoch });
            return net.send(now, Way::Forward, syn);
        };
        let body = Body::Data {
            seq: outgoing.seq as u32,
            tsval: now.as_micros() as u32,
            len: outgoing.len,
            epoch: self.epoch,
            transmission: outgoing.transmission | if cwr { CWR } else { 0 },
        };
        // RFC 3168 §6.1.5: retransmissions are not ECN-capable.
        let packet = match outgoing.transmission {
            1 => self.format.capable(u32::from(outgoing.len), body),
            _ => self.format.packet(u32::from(outgoing.len), body),
        };
        net.send_data(now, packet, outgoing.seq + 1);
    }

    /// Lets the receiver acknowledge what is due.
    pub(super) fn pump_receiver(&mut self, net: &mut Net, now: Time, timers: &mut Timers) {
        if self.receiver.ack_at() > now {
            timers.arm(net, Kind::Receiver, self.receiver.ack_at());
            return;
        }
        let acknowledgement = self.receiver.acknowledge();
        let sack = match acknowledgement.sack {
            None => NO_SACK,
            Some(sack) => net.sacks.insert(sack) as u32,
        };
        let receivers_clock = now.as_micros_on_clock(self.options.skew_ppm) as u32;
        let body = Body::Ack {
            cumulative: acknowledgement.cumulative as u32,
            tsecr: acknowledgement.tsecr,
            one_way_delay: receivers_clock.wrapping_sub(acknowledgement.tsecr),
            sack,
            epoch: self.epoch,
            flags: acknowledgement.flags,
        };
        net.send(now, Way::Reverse, self.format.packet(0, body));
    }

    pub(super) fn received(&self) -> u64 {
        self.receiver.received
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.sender.controller().snapshot()
    }

    pub(super) fn totals(&self) -> Totals {
        let now = self.sender.counters();
        Totals {
            packets: self.earlier.packets + now.packets,
            retransmissions: self.earlier.retransmissions + now.retransmissions,
            losses: self.earlier.losses + now.losses,
            spurious: self.earlier.spurious + now.spurious,
            timeouts: self.earlier.timeouts + now.timeouts,
            ..Totals::default()
        }
    }
}
