//! The protocols that carry a flow, and what can be set on them.
//!
//! A transport is written like a controller: `"tcp"`, or `{ kind = "tcp", preset = "classic", iw = "2" }`. Its settings
//! are rows of a table, from which the checker, the schema and the lists are made.

use crate::algorithm::{Algorithm, Overrides};
use crate::error::Error;
use crate::words::unknown;
use afteryou_base::param::{Param, ParamError, Settings, Value};
use afteryou_base::About;
use afteryou_base::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Protocol of a flow, with some of its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Transport(pub Algorithm);

/// All transports.
pub const TRANSPORTS: &[About] = &[
    About {
        name: "tcp",
        summary: "TCP with SACK, timestamps and RACK-TLP",
        source: "RFC 9293, 8985, 9937",
        params: TCP,
        presets: &[],
    },
    About { name: "utp", summary: "uTP over UDP", source: "BEP 29", params: UTP, presets: &[] },
    About {
        name: "quic",
        summary: "QUIC with TLS 1.3; packets are ECN-capable",
        source: "RFC 9000, 9001, 9002",
        params: QUIC,
        presets: &[],
    },
    About {
        name: "udp",
        summary: "bare datagrams at a constant rate",
        source: "RFC 768",
        params: &[],
        presets: &[],
    },
];

const MODERN: &str = "modern";
const CLASSIC: &str = "classic";
const DELAYED: &str = "delayed";
const EVERY_PACKET: &str = "every packet";
const RACK: &str = "rack";
const SACK: &str = "sack";
const LIBUTP: &str = "libutp";
const LIBUTP_200MS: &str = "libutp-200ms";
const LIBUTP_MOD: &str = "libutp-mod";
const BYTES: &str = "bytes";
const ACKS: &str = "acks";

const RECEIVE_WINDOW: &str = "receive window: most bytes beyond the receiver's acknowledgement";
const ACK_HELP: &str = "acknowledge every second full packet, or each one";
const ACK_DELAY_HELP: &str = "a lone packet is acknowledged after this time";
/// The receiver's clock only: what a sender measures in one direction drifts by as much.
const SKEW: Param = Param::number("skew", "ppm", 0.0, (-1_000.0, 1_000.0))
    .explained("how much faster the receiver's clock runs, in whole parts in a million", "");

/// A property of hosts, as real as their links: it makes a paced flow as bursty as it is on sockets.
const TIMER_SLACK: Param = Param::micros("timer_slack", 2_000, (0, 100_000)).explained(
    "time by which paced sending runs ahead, since timers of real machines are late; 0 paces exactly. A network of another scale has this scaled, too",
    "",
);

/// Settings of TCP. Where the preset `classic` has another default, the help says so.
pub const TCP: &[Param] = &[
    Param::choice("preset", MODERN, &[MODERN, CLASSIC]).explained(
        "defaults of a stack of today, or of the ns-2 era: three duplicate acks, no RACK, no PRR, no pacing",
        "ns-2 defaults",
    ),
    Param::count("iw", "packets", 10, (1, 1000))
        .explained("initial window; preset classic has 2", "RFC 6928 §2"),
    Param::bytes("rwnd", 1 << 30, (1_000, 1 << 32)).explained(RECEIVE_WINDOW, "RFC 9293 §3.8.6"),
    Param::choice("ack", DELAYED, &[DELAYED, EVERY_PACKET]).explained(
        "acknowledge every second full packet, or each one; preset classic acknowledges every packet",
        "RFC 5681 §4.2",
    ),
    Param::millis("ack_delay", 40, (0, 500)).explained(ACK_DELAY_HELP, "RFC 5681 §4.2; Linux"),
    Param::millis("min_rto", 200, (1, 60_000)).explained(
        "lower bound of the retransmission timeout; preset classic has 1 s",
        "Linux; RFC 6298 §2.4",
    ),
    Param::choice("recovery", RACK, &[RACK, SACK]).explained(
        "how losses are found: RACK-TLP and PRR, or three SACKed packets (RFC 6675), which preset classic has",
        "RFC 8985, RFC 9937",
    ),
    Param::flag("pacing", true).explained("spread packets over the round trip; off in preset classic", ""),
    TIMER_SLACK,
    Param::flag("ecn", false).explained("mark packets as ECN-capable and react to marks", "RFC 3168"),
    Param::choice("counting", BYTES, &[BYTES, ACKS]).explained(
        "the window grows by acknowledged bytes, or by at most a packet for each ack, which preset classic does",
        "RFC 3465",
    ),
    SKEW,
];

/// Settings of uTP.
pub const UTP: &[Param] = &[
    Param::bytes("rwnd", 8 << 20, (1_000, 1 << 32)).explained(RECEIVE_WINDOW, "BEP 29"),
    Param::choice("ack", DELAYED, &[DELAYED, EVERY_PACKET]).explained(ACK_HELP, "RFC 5681 §4.2"),
    Param::millis("ack_delay", 25, (0, 500)).explained(ACK_DELAY_HELP, ""),
    Param::millis("min_rto", 500, (1, 60_000)).explained(
        "lower bound of the retransmission timeout; recovery libutp and libutp-mod have 1 s, libutp-200ms has 200 ms",
        "BEP 29; libutp",
    ),
    TIMER_SLACK,
    Param::flag("ecn", false).explained("mark data packets as ECN-capable and react to marks, which both ends count", "RFC 3168; RFC 9000 §13.4"),
    Param::choice("recovery", MODERN, &[MODERN, LIBUTP, LIBUTP_200MS, LIBUTP_MOD]).explained(
        "how losses are found: in the order of transmissions, with tail probes; or as libutp does, once, and then by \
         timeouts; or as libutp-mod does, which finds lost retransmissions, too",
        "RFC 9002 §6; libutp; Al-Saadi et al. 2017",
    ),
    SKEW,
];

/// Settings of QUIC.
pub const QUIC: &[Param] = &[
    Param::bytes("rwnd", 64 << 20, (1_000, 1 << 30)).explained(RECEIVE_WINDOW, "RFC 9000 §4.1"),
    Param::millis("ack_delay", 5, (1, 500)).explained(ACK_DELAY_HELP, "draft-ietf-quic-ack-frequency"),
];

/// A transport's settings, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP.
    Tcp(TcpOptions),
    /// uTP over UDP.
    Utp(UtpOptions),
    /// QUIC.
    Quic(QuicOptions),
    /// Bare datagrams.
    Udp,
}

impl Protocol {
    /// Returns whether data packets are ECN-capable, by a setting of the scenario.
    pub fn uses_ecn(&self) -> bool {
        match self {
            Protocol::Tcp(options) => options.ecn,
            Protocol::Utp(options) => options.ecn,
            Protocol::Quic(_) | Protocol::Udp => false,
        }
    }
}

/// How acknowledgements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acking {
    /// After this many full packets…
    pub every: u32,
    /// …or after this time.
    pub delay: Span,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RACK-TLP (RFC 8985) and PRR (RFC 9937).
    Rack,
    /// Three duplicate acks or their like in SACK, and the pipe (RFC 6675). As in ns-2, a timeout is not undone, needless or not.
    Sack,
}

/// How uTP finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtpRecovery {
    /// Packet and time thresholds on transmissions, tail probes.
    Modern,
    /// As libutp does.
    Libutp,
    /// As libutp does, with a shortest timeout of 200 ms.
    Libutp200ms,
    /// As libutp-mod does.
    LibutpMod,
}

/// Settings of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// Initial window, packets.
    pub iw: u32,
    /// Receive window, bytes.
    pub rwnd: u64,
    /// When the receiver acknowledges.
    pub ack: Acking,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// How losses are found.
    pub recovery: Recovery,
    /// Spread packets over the round trip.
    pub pacing: bool,
    /// Time by which paced sending runs ahead.
    pub timer_slack: Span,
    /// ECN-capable.
    pub ecn: bool,
    /// An ack counts as at most one packet.
    pub count_acks: bool,
    /// How much faster the receiver's clock runs, parts in a million.
    pub skew_ppm: i32,
}

/// Settings of uTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtpOptions {
    /// Receive buffer, bytes.
    pub rwnd: u64,
    /// When the receiver acknowledges.
    pub ack: Acking,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// How losses are found.
    pub recovery: UtpRecovery,
    /// Time by which paced sending runs ahead.
    pub timer_slack: Span,
    /// ECN-capable.
    pub ecn: bool,
    /// How much faster the receiver's clock runs, parts in a million.
    pub skew_ppm: i32,
}

/// Settings of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicOptions {
    /// Receive window, bytes.
    pub rwnd: u64,
    /// A lone packet is acknowledged after this time.
    pub ack_delay: Span,
}

/// A setting and its value.
type Setting = (&'static str, Value);

/// The settings of the preset `classic`, which hold where the table has no value.
const CLASSIC_DEFAULTS: &[Setting] = &[
    ("iw", Value::Count(2)),
    ("ack", Value::Choice(EVERY_PACKET)),
    ("min_rto", Value::Time(Span::from_secs(1))),
    ("recovery", Value::Choice(SACK)),
    ("pacing", Value::Flag(false)),
    ("counting", Value::Choice(ACKS)),
];
/// The same for uTP's ways of recovery.
const LIBUTP_DEFAULTS: &[Setting] = &[("min_rto", Value::Time(Span::from_secs(1)))];
const LIBUTP_200MS_DEFAULTS: &[Setting] = &[("min_rto", Value::Time(Span::from_millis(200)))];
/// The source of values that were not written, and the values.
const PRESETS: &[(Setting, &[Setting])] = &[
    (("preset", Value::Choice(CLASSIC)), CLASSIC_DEFAULTS),
    (("recovery", Value::Choice(LIBUTP)), LIBUTP_DEFAULTS),
    (("recovery", Value::Choice(LIBUTP_200MS)), LIBUTP_200MS_DEFAULTS),
    (("recovery", Value::Choice(LIBUTP_MOD)), LIBUTP_DEFAULTS),
];

/// The transport of that name.
pub fn find(name: &str) -> Option<&'static About> {
    TRANSPORTS.iter().find(|entry| entry.name == name)
}

impl Transport {
    /// TCP with its defaults.
    pub fn tcp() -> Transport {
        Transport(Algorithm::named("tcp"))
    }

    /// uTP with its defaults.
    pub fn utp() -> Transport {
        Transport(Algorithm::named("utp"))
    }

    /// QUIC with its defaults.
    pub fn quic() -> Transport {
        Transport(Algorithm::named("quic"))
    }

    /// Bare datagrams.
    pub fn udp() -> Transport {
        Transport(Algorithm::named("udp"))
    }

    /// The same with one more setting.
    pub fn with(self, name: &str, value: &str) -> Transport {
        Transport(self.0.with(name, value))
    }

    /// Returns the transport's name.
    pub fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// A transport or a setting that does not exist, or a value out of range.
    pub fn protocol(&self) -> Result<Protocol, Error> {
        let names: Vec<_> = TRANSPORTS.iter().map(|entry| entry.name).collect();
        let entry = find(self.kind()).ok_or_else(|| unknown("transport", self.kind(), &names))?;
        let overrides = preset(self.0.overrides(entry.params)?);
        let refused =
            |error: ParamError| Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() };
        match entry.name {
            "tcp" => Ok(Protocol::Tcp(TcpOptions::new(&Settings::new(TCP, &overrides).map_err(refused)?))),
            "utp" => Ok(Protocol::Utp(UtpOptions::new(&Settings::new(UTP, &overrides).map_err(refused)?))),
            "quic" => {
                Ok(Protocol::Quic(QuicOptions::new(&Settings::new(QUIC, &overrides).map_err(refused)?)))
            }
            _ => Ok(Protocol::Udp),
        }
    }
}

/// Puts the preset's values below those that were written.
fn preset(written: Overrides) -> Overrides {
    let chosen = PRESETS.iter().filter(|(preset, _)| written.contains(preset));
    let mut overrides: Overrides = chosen.flat_map(|(_, values)| values.iter().copied()).collect();
    overrides.extend(written); // the last one counts
    overrides
}

fn skew_ppm(settings: &Settings<'_>) -> i32 {
    settings.number("skew").round() as i32
}

fn utp_recovery(word: &str) -> UtpRecovery {
    match word {
        LIBUTP => UtpRecovery::Libutp,
        LIBUTP_200MS => UtpRecovery::Libutp200ms,
        LIBUTP_MOD => UtpRecovery::LibutpMod,
        _ => UtpRecovery::Modern,
    }
}

fn acking(settings: &Settings<'_>) -> Acking {
    let every = if settings.choice("ack") == EVERY_PACKET { 1 } else { 2 };
    Acking { every, delay: settings.time("ack_delay") }
}

impl TcpOptions {
    fn new(settings: &Settings<'_>) -> TcpOptions {
        TcpOptions {
            iw: settings.count("iw") as u32,
            rwnd: settings.bytes("rwnd"),
            ack: acking(settings),
            min_rto: settings.time("min_rto"),
            recovery: if settings.choice("recovery") == SACK { Recovery::Sack } else { Recovery::Rack },
            pacing: settings.flag("pacing"),
            timer_slack: settings.time("timer_slack"),
            ecn: settings.flag("ecn"),
            count_acks: settings.choice("counting") == ACKS,
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl UtpOptions {
    fn new(settings: &Settings<'_>) -> UtpOptions {
        UtpOptions {
            rwnd: settings.bytes("rwnd"),
            ack: acking(settings),
            min_rto: settings.time("min_rto"),
            recovery: utp_recovery(settings.choice("recovery")),
            timer_slack: settings.time("timer_slack"),
            ecn: settings.flag("ecn"),
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl QuicOptions {
    fn new(settings: &Settings<'_>) -> QuicOptions {
        QuicOptions { rwnd: settings.bytes("rwnd"), ack_delay: settings.time("ack_delay") }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(transport: Transport) -> TcpOptions {
        match transport.protocol() {
            Ok(Protocol::Tcp(options)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_transport_of_the_list_reads_with_its_defaults() {
        for entry in TRANSPORTS {
            assert!(Transport(Algorithm::named(entry.name)).protocol().is_ok(), "{}", entry.name);
        }
    }

    #[test]
    fn the_classic_preset_changes_defaults_and_what_is_written_stands() {
        let modern = tcp(Transport::tcp());
        assert_eq!((modern.iw, modern.ack.every, modern.recovery), (10, 2, Recovery::Rack));
        let classic = tcp(Transport::tcp().with("preset", "classic").with("iw", "4"));
        assert_eq!((classic.iw, classic.ack.every, classic.recovery), (4, 1, Recovery::Sack));
        assert!(!classic.pacing && classic.count_acks);
    }

    #[test]
    fn each_way_of_utps_recovery_has_its_shortest_timeout_unless_one_is_written() {
        let utp = |transport: Transport| match transport.protocol() {
            Ok(Protocol::Utp(options)) => (options.recovery, options.min_rto),
            other => panic!("{other:?}"),
        };
        let ms = Span::from_millis;
        let named = |word| Transport::utp().with("recovery", word);
        assert_eq!(utp(Transport::utp()), (UtpRecovery::Modern, ms(500)));
        assert_eq!(utp(named("libutp")), (UtpRecovery::Libutp, ms(1000)));
        assert_eq!(utp(named("libutp-200ms")), (UtpRecovery::Libutp200ms, ms(200)));
        assert_eq!(utp(named("libutp-mod")), (UtpRecovery::LibutpMod, ms(1000)));
        assert_eq!(utp(named("libutp-mod").with("min_rto", "300 ms")), (UtpRecovery::LibutpMod, ms(300)));
        assert!(named("libtup").protocol().unwrap_err().to_string().contains("libutp-200ms"));
    }

    #[test]
    fn the_receivers_clock_may_be_faster_or_slower_by_whole_parts_in_a_million() {
        assert_eq!(tcp(Transport::tcp()).skew_ppm, 0);
        assert_eq!(tcp(Transport::tcp().with("skew", "-200")).skew_ppm, -200);
        assert!(Transport::utp().with("skew", "1001").protocol().is_err());
    }

    #[test]
    fn errors_name_the_transport_and_the_choices() {
        let message = |transport: Transport| transport.protocol().unwrap_err().to_string();
        assert!(message(Transport(Algorithm::named("tcpp"))).contains("did you mean \"tcp\"?"));
        assert!(message(Transport::tcp().with("iww", "2")).contains("did you mean \"iw\"?"));
        assert!(message(Transport::utp().with("iw", "2")).contains("parameter of utp"));
        assert!(message(Transport::tcp().with("iw", "0")).contains("1 to 1000"));
    }
}
