//! A uTP flow: the real connection with real headers in virtual time, its payload left out.

use super::{controller, Format, Timers};
use crate::calendar::Kind;
use crate::net::{Net, Way};
use crate::packet::{Body, Packet};
use afteryou_base::Time;
use afteryou_cc::{Setup, Snapshot};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::{UtpOptions, UtpRecovery};
use afteryou_scenario::{Error, Flow as Spec, Traffic};
use afteryou_utp::packet::{Kind as PacketKind, Packet as Datagram, HEADER_LEN};
use afteryou_utp::{Config, Connection, Outgoing, Recovery};

/// Content of every payload. As long as the longest one.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];
/// First sequence numbers and the connection id: any will do, and the same ones every time.
const FIRST_SEQ: u16 = 1;
const CONNECTION_ID: u16 = 1000;

/// The two ends of a flow's connection, and what earlier connections of it did.
pub(super) struct Ends {
    spec: Spec,
    format: Format,
    config: Config,
    /// The controller's.
    setup: Setup,
    /// How much faster the receiver's clock runs.
    skew_ppm: i32,
    // Boxed: each time that they send they are taken out and put back.
    client: Option<Box<Connection>>,
    server: Option<Box<Connection>>,
    epoch: u8,
    earlier: Totals,
    /// Bytes that the application has still to write; `u64::MAX`: no end.
    left: u64,
    /// What was left of a transfer of a given size when the application paused.
    unsent: u64,
    /// Highest data packet sent, to number the script's packets.
    highest: u64,
}

fn recovery(recovery: UtpRecovery) -> Recovery {
    match recovery {
        UtpRecovery::Modern => Recovery::Modern,
        UtpRecovery::Libutp => Recovery::Libutp,
        UtpRecovery::Libutp200ms => Recovery::Libutp200ms,
        UtpRecovery::LibutpMod => Recovery::LibutpMod,
    }
}

impl Ends {
    pub(super) fn new(spec: &Spec, options: UtpOptions, format: Format, seed: u64) -> Result<Ends, Error> {
        let setup = Setup { mss: format.payload, seed };
        controller(spec, setup, None)?; // so that nothing can fail later
        let config = Config {
            payload: format.payload,
            recv_buffer: options.rwnd,
            recovery: recovery(options.recovery),
            min_rto: options.min_rto,
            ack_every: options.ack.every,
            ack_delay: options.ack.delay,
            keep_received: false,
            ..Config::default()
        };
        Ok(Ends {
            spec: spec.clone(),
            format,
            config,
            setup,
            skew_ppm: options.skew_ppm,
            client: None,
            server: None,
            epoch: 0,
            earlier: Totals::default(),
            left: 0,
            unsent: 0,
            highest: 0,
        })
    }

    /// A new connection takes the place of the old one.
    pub(super) fn reconnect(&mut self) {
        self.earlier = self.totals();
        (self.client, self.server) = (None, None);
        self.epoch = self.epoch.wrapping_add(1);
        self.setup.seed = self.setup.seed.wrapping_add(1);
        self.highest = 0;
    }

    /// The application has something to send; the first time, the connection is opened.
    pub(super) fn turn_on(&mut self, now: Time, traffic: &Traffic, first: bool) -> Result<(), Error> {
        if first {
            let controller = controller(&self.spec, self.setup, None)?;
            let config = self.config.clone();
            self.client =
                Some(Box::new(Connection::connect(config, controller, now, CONNECTION_ID, FIRST_SEQ)));
        }
        match traffic {
            Traffic::Size(size) if first => self.left = size.bytes(),
            Traffic::Size(_) => self.left = self.unsent,
            Traffic::Chunk(_) => {}
            _ => self.left = u64::MAX,
        }
        Ok(())
    }

    pub(super) fn turn_off(&mut self) {
        self.unsent = std::mem::take(&mut self.left);
    }

    pub(super) fn on_timer(&mut self, now: Time, kind: Kind) {
        let end = if kind == Kind::Receiver { &mut self.server } else { &mut self.client };
        if let Some(connection) = end {
            connection.handle_deadline(now);
        }
    }

    pub(super) fn receive(&mut self, net: &mut Net, now: Time, packet: Packet, way: Way, over: bool) {
        let Body::Utp { head, payload, epoch } = packet.body else { return };
        let head = net.heads.remove(head);
        if epoch == self.epoch && !over {
            self.handle(now, way, &head, payload);
        }
        net.heads.recycle(head);
    }

    fn handle(&mut self, now: Time, way: Way, head: &[u8], payload: u32) {
        let Ok(Datagram { header, sack, .. }) = Datagram::decode(head) else { return };
        let datagram = Datagram { header, sack, payload: &NOTHING[..payload as usize] };
        match (way, &mut self.client, &mut self.server) {
            (Way::Reverse, Some(client), _) => client.handle(now, &datagram),
            (Way::Forward, _, Some(server)) => server.handle(now, &datagram),
            (Way::Forward, _, None) if header.kind == PacketKind::Syn => {
                // Checked when the flow was made; the far end sends no data, so any controller will do.
                let Ok(controller) = controller(&self.spec, self.setup, None) else { return };
                let config = Config { clock_skew_ppm: self.skew_ppm, ..self.config.clone() };
                self.server =
                    Some(Box::new(Connection::accept(config, controller, now, &datagram, FIRST_SEQ)));
            }
            _ => {}
        }
    }

    /// Lets the client send what it may.
    pub(super) fn pump(
        &mut self,
        net: &mut Net,
        now: Time,
        timers: &mut Timers,
        is_on: bool,
        traffic: &Traffic,
    ) {
        let Some(mut client) = self.client.take() else { return };
        if let Traffic::Chunk(size) = traffic {
            if is_on && self.left == 0 && client.is_flushed() {
                self.left = size.bytes();
            }
        }
        loop {
            self.write(&mut client);
            if !self.transmit(net, now, &mut client, Way::Forward) {
                break;
            }
        }
        timers.arm(net, Kind::Sender, client.deadline().unwrap_or(Time::NEVER));
        self.client = Some(client);
    }

    fn write(&mut self, client: &mut Connection) {
        if let (1.., Ok(written)) = (self.left, client.write_zeros(self.left)) {
            if self.left != u64::MAX {
                self.left -= written;
            }
        }
        if self.left == 0 {
            client.flush();
        }
    }

    /// Lets the server acknowledge what is due.
    pub(super) fn pump_receiver(&mut self, net: &mut Net, now: Time, timers: &mut Timers) {
        let Some(mut server) = self.server.take() else { return };
        while self.transmit(net, now, &mut server, Way::Reverse) {}
        timers.arm(net, Kind::Receiver, server.deadline().unwrap_or(Time::NEVER));
        self.server = Some(server);
    }

    /// Sends a connection's next datagram, if there is one.
    fn transmit(&mut self, net: &mut Net, now: Time, connection: &mut Connection, way: Way) -> bool {
        let head = net.heads.next();
        let Some(Outgoing { header, payload }) = connection.poll_transmit_head(now, head) else {
            return false;
        };
        let extensions = (head.len() - HEADER_LEN) as u32;
        let body = Body::Utp { head: net.heads.keep(), payload, epoch: self.epoch };
        let mut packet = self.format.packet(payload, body);
        packet.size += extensions;
        if header.kind == PacketKind::Data && way == Way::Forward {
            // The first data packet follows the SYN's number.
            let near = self.highest;
            let number = near.wrapping_add_signed(i64::from(
                header.seq_nr.wrapping_sub(FIRST_SEQ).wrapping_sub(near as u16) as i16,
            ));
            self.highest = near.max(number);
            net.send_data(now, packet, number);
        } else {
            net.send(now, way, packet);
        }
        true
    }

    pub(super) fn received(&self) -> u64 {
        self.server.as_ref().map_or(0, |server| server.bytes_arrived())
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        self.client.as_ref().map(|client| client.controller().snapshot()).unwrap_or_default()
    }

    pub(super) fn totals(&self) -> Totals {
        let now = self.client.as_ref().map(|client| client.statistics()).unwrap_or_default();
        Totals {
            packets: self.earlier.packets + now.data_packets_sent,
            retransmissions: self.earlier.retransmissions + now.retransmissions,
            losses: self.earlier.losses + now.losses,
            spurious: self.earlier.spurious + now.spurious_losses,
            timeouts: self.earlier.timeouts + now.timeouts,
            ..Totals::default()
        }
    }
}
