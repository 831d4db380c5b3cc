//! PIE's parameters and the presets of its sources.

use super::form::Form;
use afteryou_base::param::{Key, Preset, Value};
use afteryou_base::params;
use afteryou_base::Span;

/// Below each probability, the divisor of the gains.
pub type Tuning = &'static [(f64, f64)];

/// Divisors of §4.2.
const RFC_TUNING: Tuning =
    &[(0.000_001, 2048.0), (0.000_01, 512.0), (0.000_1, 128.0), (0.001, 32.0), (0.01, 8.0), (0.1, 2.0)];
/// Divisors of Linux 3.14 to 3.17.
const OLD_LINUX_TUNING: Tuning = &[(0.01, 8.0), (0.1, 2.0)];

params! {
    /// Everything but `preset`: the flow queues and the one with lower effort have these rows, too.
    pub table COMMON;

    pub const TARGET: Key<Span> = Key::millis("target", 15, (1, 1000))
        .explained("delay that the probability is steered to", "RFC 8033 §4.2");
    pub const TUPDATE: Key<Span> = Key::millis("tupdate", 15, (1, 1000))
        .explained("time between updates of the probability", "RFC 8033 §4.2");
    pub const BURST: Key<Span> = Key::millis("burst", 150, (0, 10_000))
        .explained("burst that may pass untouched", "RFC 8033 §4.4");
    pub const ALPHA: Key<f64> = Key::number("alpha", "Hz", 0.125, (0.001, 100.0))
        .explained("gain of the distance from the target", "RFC 8033 §4.2");
    pub const BETA: Key<f64> = Key::number("beta", "Hz", 1.25, (0.0, 100.0))
        .explained("gain of the change of the delay", "RFC 8033 §4.2");
    pub const TUNING: Key<Tuning> =
        Key::choice("tuning", &["rfc8033", "linux-3.17", "none"], &[RFC_TUNING, OLD_LINUX_TUNING, &[]])
        .explained("how the gains shrink with the probability", "RFC 8033 §4.2");
    pub const CAP: Key<bool> = Key::flag("cap", true)
        .explained("no step above 2 % once 10 % are reached", "RFC 8033 §5.5");
    pub const HIGH_DELAY: Key<Span> = Key::millis("high_delay", 0, (0, 10_000))
        .explained("steps are 2 % longer above this delay; 0: never", "Linux sch_pie");
    pub const DECAY: Key<f64> = Key::number("decay", "", 0.98, (0.5, 1.0))
        .explained("factor of the probability while there is no queue", "RFC 8033 §4.2");
    pub const DECAYS_BELOW_HALF: Key<bool> =
        Key::choice("decay_below", &["zero", "half-target"], &[false, true])
        .explained("both delays that count as no queue", "RFC 8033 App. A (zero), App. B (half-target)");
    pub const MEAN_PACKET: Key<u64> = Key::bytes("mean_packet", 1500, (1, 65_535))
        .explained("with two of them waiting nothing is dropped", "RFC 8033 §4.1");
    pub const DERANDOMISE: Key<bool> = Key::flag("derandomise", true)
        .explained("no two drops close together", "RFC 8033 §5.4");
    pub const ECN: Key<bool> = Key::flag("ecn", false)
        .explained("mark packets that understand ECN instead of dropping them", "RFC 8033 §5.1");
    pub const ECN_THRESHOLD: Key<f64> = Key::number("ecn_threshold", "", 0.1, (0.0, 1.0))
        .explained("from this probability on all are dropped", "RFC 8033 §5.1");
    pub const ON_OFF: Key<bool> = Key::flag("on_off", false)
        .explained("asleep until a third of the buffer is full", "RFC 8033 §5.3");
    pub const BY_DEPARTURES: Key<bool> =
        Key::choice("delay", &["timestamps", "departure-rate"], &[false, true])
        .explained("how the delay is known", "RFC 8033 §5.2");
    pub const DQ_THRESHOLD: Key<u64> = Key::bytes("dq_threshold", 16_384, (1, 16_777_216))
        .explained("bytes that one sample of the departure rate takes", "RFC 8033 §5.2");
    pub const DQ_WEIGHT: Key<f64> = Key::number("dq_weight", "", 0.25, (0.001, 1.0))
        .explained("weight of a new sample of the departure rate", "RFC 8033 §5.2");
    pub const FORM: Key<Form> =
        Key::choice("form", &["rfc8033", "linux", "freebsd"], &[Form::Rfc8033, Form::Linux, Form::FreeBsd])
        .explained("whose rules where they differ in more than a number", "the file's header");
}

params! {
    /// Parameters.
    pub table PARAMS;

    pub const PRESET: Key<&'static str> = Key::word("preset", &["rfc8033", "linux", "linux-3.17", "freebsd"])
        .explained("whose values", "RFC 8033; sch_pie.c; dn_aqm_pie.c");
    use all COMMON;
}

/// Current Linux, where it differs from the table.
pub const LINUX: &[(&str, Value)] = &[
    ("form", Value::Choice("linux")),
    ("decay", Value::Number(1.0 - 1.0 / 64.0)),
    ("high_delay", Value::Time(Span::from_millis(250))),
    ("mean_packet", Value::Bytes(1514)),
    ("dq_weight", Value::Number(0.125)),
];

/// FreeBSD's dummynet, where it differs from the table.
pub const FREEBSD: &[(&str, Value)] = &[
    ("form", Value::Choice("freebsd")),
    ("decay", Value::Number(1.0 - 1.0 / 64.0)),
    ("mean_packet", Value::Bytes(800)),
    ("delay", Value::Choice("departure-rate")),
];

/// Whose values there are.
pub const PRESETS: &[Preset] = &[
    Preset { name: "rfc8033", help: "the RFC with timestamps, capped steps and de-randomisation", rows: &[] },
    Preset { name: "linux", help: "Linux since 5.4", rows: LINUX },
    Preset {
        name: "linux-3.17",
        help: "the first PIE of Linux, 3.14 to 3.17",
        rows: &[
            ("form", Value::Choice("linux")),
            ("target", Value::Time(Span::from_millis(20))),
            ("tupdate", Value::Time(Span::from_millis(30))),
            ("burst", Value::Time(Span::from_millis(100))),
            ("tuning", Value::Choice("linux-3.17")),
            ("high_delay", Value::Time(Span::from_millis(250))),
            ("mean_packet", Value::Bytes(1514)),
            ("derandomise", Value::Flag(false)),
            ("delay", Value::Choice("departure-rate")),
            ("dq_threshold", Value::Bytes(10_000)),
            ("dq_weight", Value::Number(0.125)),
        ],
    },
    Preset { name: "freebsd", help: "FreeBSD's dummynet with its default options", rows: FREEBSD },
];
