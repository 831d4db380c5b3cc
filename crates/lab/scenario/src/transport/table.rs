//! The settings of each transport, as keys of a table, and the presets that change several of them.

use super::recovery::{Recovery, UtpRecovery};
use afteryou_base::param::{Key, Value};
use afteryou_base::{params, Span};
use afteryou_notation::Overrides;

const CLASSIC: &str = "classic";
const DELAYED: &str = "delayed";
const EVERY_PACKET: &str = "every packet";
const SACK: &str = "sack";
const LIBUTP: &str = "libutp";
const LIBUTP_200MS: &str = "libutp-200ms";
const LIBUTP_MOD: &str = "libutp-mod";
const ACKS: &str = "acks";

const RECEIVE_WINDOW: &str = "receive window: most bytes beyond the receiver's acknowledgement";
const ACK_DELAY_HELP: &str = "a lone packet is acknowledged after this time";

/// Full packets for which one acknowledgement is sent.
pub(super) const ACK_EVERY: Key<u32> = Key::choice("ack", &[DELAYED, EVERY_PACKET], &[2, 1])
    .explained("acknowledge every second full packet, or each one", "RFC 5681 §4.2");
/// The receiver's clock only: what a sender measures in one direction drifts by as much.
pub(super) const SKEW: Key<f64> = Key::number("skew", "ppm", 0.0, (-1_000.0, 1_000.0))
    .explained("how much faster the receiver's clock runs, in whole parts in a million", "");
/// A property of hosts, as real as their links: it makes a paced flow as bursty as it is on sockets.
pub(super) const TIMER_SLACK: Key<Span> = Key::micros("timer_slack", 2_000, (0, 100_000)).explained(
    "time by which paced sending runs ahead, since timers of real machines are late; 0 paces exactly. A network of another scale has this scaled, too",
    "",
);

/// TCP.
pub mod tcp {
    use super::*;

    const TCP_ACK_EVERY: Key<u32> = ACK_EVERY.explained(
        "acknowledge every second full packet, or each one; preset classic acknowledges every packet",
        "RFC 5681 §4.2",
    );

    params! {
        /// Settings of TCP. Where the preset `classic` has another default, the help has it.
        pub table TCP;

        const PRESET: Key<&'static str> = Key::word("preset", &["modern", CLASSIC]).explained(
            "defaults of a stack of today, or of the ns-2 era: three duplicate acks, no RACK, no PRR, no pacing",
            "ns-2 defaults",
        );
        pub const IW: Key<u64> = Key::count("iw", "packets", 10, (1, 1000))
            .explained("initial window; preset classic has 2", "RFC 6928 §2");
        pub const RWND: Key<u64> =
            Key::bytes("rwnd", 1 << 30, (1_000, 1 << 32)).explained(RECEIVE_WINDOW, "RFC 9293 §3.8.6");
        use TCP_ACK_EVERY;
        pub const ACK_DELAY: Key<Span> =
            Key::millis("ack_delay", 40, (0, 500)).explained(ACK_DELAY_HELP, "RFC 5681 §4.2; Linux");
        pub const MIN_RTO: Key<Span> = Key::millis("min_rto", 200, (1, 60_000)).explained(
            "lower bound of the retransmission timeout; preset classic has 1 s",
            "Linux; RFC 6298 §2.4",
        );
        pub const RECOVERY: Key<Recovery> =
            Key::choice("recovery", &["rack", SACK], &[Recovery::Rack, Recovery::Sack]).explained(
                "how losses are found: RACK-TLP and PRR, or three SACKed packets (RFC 6675), which preset classic has",
                "RFC 8985, RFC 9937",
            );
        pub const PACING: Key<bool> =
            Key::flag("pacing", true).explained("spread packets over the round trip; off in preset classic", "");
        use TIMER_SLACK;
        pub const ECN: Key<bool> =
            Key::flag("ecn", false).explained("mark packets as ECN-capable and react to marks", "RFC 3168");
        pub const COUNTS_ACKS: Key<bool> = Key::choice("counting", &["bytes", ACKS], &[false, true]).explained(
            "the window grows by acknowledged bytes, or by at most a packet for each ack, which preset classic does",
            "RFC 3465",
        );
        use SKEW;
    }
}

/// uTP.
pub mod utp {
    use super::*;

    params! {
        /// Settings of uTP.
        pub table UTP;

        pub const RWND: Key<u64> =
            Key::bytes("rwnd", 8 << 20, (1_000, 1 << 32)).explained(RECEIVE_WINDOW, "BEP 29");
        use ACK_EVERY;
        pub const ACK_DELAY: Key<Span> =
            Key::millis("ack_delay", 25, (0, 500)).explained(ACK_DELAY_HELP, "");
        pub const MIN_RTO: Key<Span> = Key::millis("min_rto", 500, (1, 60_000)).explained(
            "lower bound of the retransmission timeout; recovery libutp and libutp-mod have 1 s, libutp-200ms has 200 ms",
            "BEP 29; libutp",
        );
        use TIMER_SLACK;
        pub const ECN: Key<bool> = Key::flag("ecn", false).explained(
            "mark data packets as ECN-capable and react to marks, which both ends count",
            "RFC 3168; RFC 9000 §13.4",
        );
        pub const RECOVERY: Key<UtpRecovery> = Key::choice(
            "recovery",
            &["modern", LIBUTP, LIBUTP_200MS, LIBUTP_MOD],
            &[UtpRecovery::Modern, UtpRecovery::Libutp, UtpRecovery::Libutp200ms, UtpRecovery::LibutpMod],
        )
        .explained(
            "how losses are found: in the order of transmissions, with tail probes; or as libutp does, once, and then by \
             timeouts; or as libutp-mod does, which finds lost retransmissions, too",
            "RFC 9002 §6; libutp; Al-Saadi et al. 2017",
        );
        use SKEW;
    }
}

/// QUIC.
pub mod quic {
    use super::*;

    params! {
        /// Settings of QUIC.
        pub table QUIC;

        pub const RWND: Key<u64> =
            Key::bytes("rwnd", 64 << 20, (1_000, 1 << 30)).explained(RECEIVE_WINDOW, "RFC 9000 §4.1");
        pub const ACK_DELAY: Key<Span> =
            Key::millis("ack_delay", 5, (1, 500)).explained(ACK_DELAY_HELP, "draft-ietf-quic-ack-frequency");
    }
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

/// Puts the preset's values below those that were written.
pub(super) fn with_preset(written: Overrides) -> Overrides {
    let chosen = PRESETS.iter().filter(|(preset, _)| written.contains(preset));
    let mut overrides: Overrides = chosen.flat_map(|(_, values)| values.iter().copied()).collect();
    overrides.extend(written); // the last one counts
    overrides
}
