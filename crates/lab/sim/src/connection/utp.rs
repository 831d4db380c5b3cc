//! A uTP connection: the real connection with real headers in virtual time, its payload left out.

use super::controllers::Controllers;
use super::{Format, Timers};
use crate::calendar::Kind;
use crate::net::{Net, Way};
use crate::packet::{Body, Packet, FIRST_SEQ};
use afteryou_aqm::Ecn;
use afteryou_base::Time;
use afteryou_cc::{Controller, Setup, Snapshot};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::{UtpOptions, UtpRecovery};
use afteryou_utp::packet::{Kind as PacketKind, Packet as Datagram, HEADER_LEN};
use afteryou_utp::{Arrival, Config, Connection, ConnectionId, Host, Outgoing, Recovery};

/// Content of every payload. As long as the longest one.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];
/// Packets have no content.
const HOST: Host = Host { keeps_received: false, ..Host::REAL };
/// Connection id: any will do, and the same one every time.
const CONNECTION_ID: ConnectionId = ConnectionId(1000);

/// The common properties of an application's connections.
pub(super) struct Options {
    config: Config,
    /// How much faster the receiver's clock runs.
    skew_ppm: i16,
    controllers: Controllers,
}

impl Options {
    pub(super) fn new(options: UtpOptions, format: Format, controllers: Controllers) -> Options {
        let config = Config { payload: format.payload, ..config(&options) };
        Options { config, skew_ppm: options.skew_ppm, controllers }
    }
}

/// The two ends of a connection.
pub(super) struct Ends {
    format: Format,
    config: Config,
    skew_ppm: i16,
    /// The client's, until it is there.
    for_client: Option<Box<dyn Controller>>,
    /// The server's, until it is there.
    for_server: Option<Box<dyn Controller>>,
    // Boxed: each time that they send they are taken out and put back.
    client: Option<Box<Connection>>,
    server: Option<Box<Connection>>,
    epoch: u16,
    /// Bytes that the application has still to write; `u64::MAX`: no end.
    left: u64,
    /// Highest data packet sent, to number the script's packets.
    highest: u64,
}

/// Returns the settings of a connection, the clock's skew and the payload excepted.
pub fn config(options: &UtpOptions) -> Config {
    Config {
        recv_buffer: options.rwnd,
        recovery: recovery(options.recovery),
        min_rto: options.min_rto,
        ack_every: options.ack.every,
        ack_delay: options.ack.delay,
        timer_slack: options.timer_slack,
        ecn: options.ecn,
        ..Config::default()
    }
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
    /// Creates the ends of a new connection; `seed` is its controllers'.
    pub(super) fn new(options: &Options, format: Format, epoch: u16, seed: u64) -> Ends {
        let Options { config, skew_ppm, controllers } = options;
        let setup = Setup { seed, ..Setup::of(format.payload) };
        Ends {
            format,
            config: config.clone(),
            skew_ppm: *skew_ppm,
            for_client: Some(controllers.build(setup, format.flow)),
            for_server: Some(controllers.idle(setup)),
            client: None,
            server: None,
            epoch,
            left: 0,
            highest: 0,
        }
    }

    pub(super) fn connect(&mut self, now: Time) {
        let Some(controller) = self.for_client.take() else { return };
        let client = HOST.connect(self.config.clone(), controller, now, CONNECTION_ID, FIRST_SEQ);
        self.client = Some(Box::new(client));
    }

    pub(super) fn give(&mut self, bytes: u64) {
        self.left = self.left.saturating_add(bytes);
    }

    pub(super) fn take_back(&mut self) -> u64 {
        std::mem::take(&mut self.left)
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.left == 0 && self.client.as_ref().is_some_and(|client| client.is_flushed())
    }

    pub(super) fn on_timer(&mut self, now: Time, kind: Kind) {
        let end = if kind == Kind::Receiver { &mut self.server } else { &mut self.client };
        if let Some(connection) = end {
            connection.handle_deadline(now);
        }
    }

    pub(super) fn receive(&mut self, net: &mut Net, now: Time, packet: Packet, way: Way, is_shut: bool) {
        let Body::Utp { head, payload, epoch } = packet.body else { return net.discard(packet) };
        let head = net.heads.remove(head);
        if epoch == self.epoch && !is_shut {
            self.handle(now, way, &head, payload, packet.ecn == Ecn::Ce);
        }
        net.heads.recycle(head);
    }

    fn handle(&mut self, now: Time, way: Way, head: &[u8], payload: u32, is_marked: bool) {
        let Ok(head) = Datagram::decode(head) else { return };
        let (header, payload) = (head.header, &NOTHING[..payload as usize]);
        let datagram = Datagram { payload, ..head };
        match (way, &mut self.client, &mut self.server) {
            (Way::Reverse, Some(client), _) => client.handle(now, &datagram),
            (Way::Forward, _, Some(server)) => {
                server.handle(Arrival { is_marked, ..now.into() }, &datagram);
            }
            (Way::Forward, _, None) if header.kind == PacketKind::Syn => {
                // The server sends no data, so any controller will do.
                let Some(controller) = self.for_server.take() else { return };
                let host = Host { clock_skew_ppm: self.skew_ppm, ..HOST };
                self.server =
                    Some(Box::new(host.accept(self.config.clone(), controller, now, &datagram, FIRST_SEQ)));
            }
            _ => {}
        }
    }

    /// Lets the client send what it may, after it was given `refill` bytes if everything before is acknowledged. Returns how many it
    /// was given.
    pub(super) fn pump(&mut self, net: &mut Net, now: Time, timers: &mut Timers, refill: u64) -> u64 {
        let Some(mut client) = self.client.take() else { return 0 };
        let given = if self.left == 0 && client.is_flushed() { refill } else { 0 };
        if given != 0 {
            self.left = given;
        }
        loop {
            self.write(&mut client);
            if !self.transmit(net, now, &mut client, Way::Forward) {
                break;
            }
        }
        timers.arm(net, Kind::Sender, client.deadline().unwrap_or(Time::NEVER));
        self.client = Some(client);
        given
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
        let has_number = matches!(header.kind, PacketKind::Data | PacketKind::Fin);
        let mut packet = match connection.sends_ecn() && has_number {
            true => self.format.capable(payload, body),
            false => self.format.packet(payload, body),
        };
        packet.size += extensions;
        if header.kind == PacketKind::Data && way == Way::Forward {
            // The first data packet follows the SYN's number.
            let near = self.highest;
            let number = near.wrapping_add_signed(i64::from(
                header.seq_nr.since(FIRST_SEQ).wrapping_sub(near as u16) as i16,
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
            packets: now.data_packets_sent,
            retransmissions: now.retransmissions,
            losses: now.losses,
            spurious: now.spurious_losses,
            timeouts: now.timeouts,
            handshake_timeouts: now.handshake_timeouts,
            ..Totals::default()
        }
    }
}
