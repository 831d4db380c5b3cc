//! The protocols that carry a flow, and what can be set on them.
//!
//! A transport is written like a controller: `"tcp"`, or `{ kind = "tcp", preset = "classic", iw = "2" }`. Its settings
//! are rows of a table, from which the checker, the schema and the lists are made.

mod options;
mod recovery;
mod table;

pub use options::{Acking, QuicOptions, TcpOptions, UtpOptions};
pub use recovery::{Recovery, UtpRecovery};
pub use table::quic::QUIC;
pub use table::tcp::TCP;
pub use table::utp::UTP;

use afteryou_base::param::{ParamError, Settings};
use afteryou_base::About;
use afteryou_notation::{unknown, Algorithm, Error};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransportKind {
    /// TCP.
    Tcp,
    /// uTP over UDP.
    Utp,
    /// QUIC.
    Quic,
    /// Bare datagrams.
    Udp,
}

impl TransportKind {
    /// Every transport, in the order of lists.
    pub const ALL: [TransportKind; 4] =
        [TransportKind::Tcp, TransportKind::Utp, TransportKind::Quic, TransportKind::Udp];

    /// Finds a transport by its name in files: "tcp".
    ///
    /// # Errors
    /// The nearest name and all others.
    pub fn of_name(name: &str) -> Result<TransportKind, Error> {
        let found = TransportKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| unknown("transport", name, &TransportKind::ALL.map(TransportKind::name)))
    }

    /// Returns the transport's name in files.
    pub fn name(self) -> &'static str {
        self.about().name
    }

    /// Returns the transport's entry in lists.
    pub const fn about(self) -> &'static About {
        match self {
            TransportKind::Tcp => &ABOUT_TCP,
            TransportKind::Utp => &ABOUT_UTP,
            TransportKind::Quic => &ABOUT_QUIC,
            TransportKind::Udp => &ABOUT_UDP,
        }
    }
}

const ABOUT_TCP: About = About {
    name: "tcp",
    summary: "TCP with SACK, timestamps and RACK-TLP",
    source: "RFC 9293, 8985, 9937",
    params: TCP,
    presets: &[],
};
const ABOUT_UTP: About =
    About { name: "utp", summary: "uTP over UDP", source: "BEP 29", params: UTP, presets: &[] };
const ABOUT_QUIC: About = About {
    name: "quic",
    summary: "QUIC with TLS 1.3; packets are ECN-capable",
    source: "RFC 9000, 9001, 9002",
    params: QUIC,
    presets: &[],
};
const ABOUT_UDP: About = About {
    name: "udp",
    summary: "bare datagrams at a constant rate",
    source: "RFC 768",
    params: &[],
    presets: &[],
};

/// Protocol of a flow, with some of its settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "Algorithm", try_from = "Algorithm")]
#[schemars(with = "Algorithm")]
pub struct Transport {
    /// The protocol.
    pub kind: TransportKind,
    /// Settings by name, values as text with their unit.
    pub params: BTreeMap<String, String>,
}

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

impl Transport {
    /// Returns a transport with its defaults.
    pub fn of_kind(kind: TransportKind) -> Transport {
        Transport { kind, params: BTreeMap::new() }
    }

    /// Returns TCP with its defaults.
    pub fn tcp() -> Transport {
        Transport::of_kind(TransportKind::Tcp)
    }

    /// Returns uTP with its defaults.
    pub fn utp() -> Transport {
        Transport::of_kind(TransportKind::Utp)
    }

    /// Returns QUIC with its defaults.
    pub fn quic() -> Transport {
        Transport::of_kind(TransportKind::Quic)
    }

    /// Returns bare datagrams.
    pub fn udp() -> Transport {
        Transport::of_kind(TransportKind::Udp)
    }

    /// Returns the same transport with one more setting.
    pub fn with(mut self, name: &str, value: &str) -> Transport {
        self.params.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// A setting that does not exist, or a value out of range.
    pub fn protocol(&self) -> Result<Protocol, Error> {
        let About { name, params, .. } = self.kind.about();
        let overrides = table::with_preset(Algorithm::from(self.clone()).overrides(params)?);
        let refused =
            |error: ParamError| Error::Parameter { of: (*name).to_owned(), reason: error.to_string() };
        let settings = Settings::new(params, &overrides).map_err(refused)?;
        Ok(match self.kind {
            TransportKind::Tcp => Protocol::Tcp(TcpOptions::new(&settings)),
            TransportKind::Utp => Protocol::Utp(UtpOptions::new(&settings)),
            TransportKind::Quic => Protocol::Quic(QuicOptions::new(&settings)),
            TransportKind::Udp => Protocol::Udp,
        })
    }
}

impl TryFrom<Algorithm> for Transport {
    type Error = Error;

    fn try_from(Algorithm { kind, params }: Algorithm) -> Result<Transport, Error> {
        Ok(Transport { kind: TransportKind::of_name(&kind)?, params })
    }
}

impl From<Transport> for Algorithm {
    fn from(Transport { kind, params }: Transport) -> Algorithm {
        Algorithm { kind: kind.name().to_owned(), params }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Algorithm::from(self.clone()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;

    fn tcp(transport: Transport) -> TcpOptions {
        match transport.protocol() {
            Ok(Protocol::Tcp(options)) => options,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_transport_of_the_list_reads_with_its_defaults() {
        for kind in TransportKind::ALL {
            assert_eq!(TransportKind::of_name(kind.name()), Ok(kind));
            assert!(Transport::of_kind(kind).protocol().is_ok(), "{kind:?}");
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
        let unknown = TransportKind::of_name("tcpp").unwrap_err().to_string();
        assert!(unknown.contains("did you mean \"tcp\"?"), "{unknown}");
        assert!(message(Transport::tcp().with("iww", "2")).contains("did you mean \"iw\"?"));
        assert!(message(Transport::utp().with("iw", "2")).contains("parameter of utp"));
        assert!(message(Transport::tcp().with("iw", "0")).contains("1 to 1000"));
    }
}
