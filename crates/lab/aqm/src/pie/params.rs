//! PIE's parameters and the presets of its sources.

use afteryou_base::param::{Param, Preset, Value};
use afteryou_base::Span;

/// Everything but `preset`: the flow queues and the one with lower effort have these rows, too.
pub const COMMON: [Param; 19] = [
    Param::millis("target", 15, (1, 1000))
        .explained("delay that the probability is steered to", "RFC 8033 §4.2"),
    Param::millis("tupdate", 15, (1, 1000))
        .explained("time between updates of the probability", "RFC 8033 §4.2"),
    Param::millis("burst", 150, (0, 10_000)).explained("burst that may pass untouched", "RFC 8033 §4.4"),
    Param::number("alpha", "Hz", 0.125, (0.001, 100.0))
        .explained("gain of the distance from the target", "RFC 8033 §4.2"),
    Param::number("beta", "Hz", 1.25, (0.0, 100.0))
        .explained("gain of the change of the delay", "RFC 8033 §4.2"),
    Param::choice("tuning", "rfc8033", &["rfc8033", "linux-3.17", "none"])
        .explained("how the gains shrink with the probability", "RFC 8033 §4.2"),
    Param::flag("cap", true).explained("no step above 2 % once 10 % are reached", "RFC 8033 §5.5"),
    Param::millis("high_delay", 0, (0, 10_000))
        .explained("steps are 2 % longer above this delay; 0: never", "Linux sch_pie"),
    Param::number("decay", "", 0.98, (0.5, 1.0))
        .explained("factor of the probability while there is no queue", "RFC 8033 §4.2"),
    Param::choice("decay_below", "zero", &["zero", "half-target"])
        .explained("both delays that count as no queue", "RFC 8033 App. A (zero), App. B (half-target)"),
    Param::bytes("mean_packet", 1500, (1, 65_535))
        .explained("with two of them waiting nothing is dropped", "RFC 8033 §4.1"),
    Param::flag("derandomise", true).explained("no two drops close together", "RFC 8033 §5.4"),
    Param::flag("ecn", false)
        .explained("mark packets that understand ECN instead of dropping them", "RFC 8033 §5.1"),
    Param::number("ecn_threshold", "", 0.1, (0.0, 1.0))
        .explained("from this probability on all are dropped", "RFC 8033 §5.1"),
    Param::flag("on_off", false).explained("asleep until a third of the buffer is full", "RFC 8033 §5.3"),
    Param::choice("delay", "timestamps", &["timestamps", "departure-rate"])
        .explained("how the delay is known", "RFC 8033 §5.2"),
    Param::bytes("dq_threshold", 16_384, (1, 16_777_216))
        .explained("bytes that one sample of the departure rate takes", "RFC 8033 §5.2"),
    Param::number("dq_weight", "", 0.25, (0.001, 1.0))
        .explained("weight of a new sample of the departure rate", "RFC 8033 §5.2"),
    Param::choice("form", "rfc8033", &["rfc8033", "linux", "freebsd"])
        .explained("whose rules where they differ in more than a number", "the file's header"),
];

/// Whose values.
pub const PRESET: Param = Param::choice("preset", "rfc8033", &["rfc8033", "linux", "linux-3.17", "freebsd"])
    .explained("whose values", "RFC 8033; sch_pie.c; dn_aqm_pie.c");

/// Parameters.
pub const PARAMS: &[Param] = &join::<1, 19, 20>([PRESET], COMMON);

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

/// Joins two tables; `N` must be `A + B`.
pub const fn join<const A: usize, const B: usize, const N: usize>(
    first: [Param; A],
    then: [Param; B],
) -> [Param; N] {
    let mut joined = [Param::flag("", false); N];
    let mut i = 0;
    while i < N {
        joined[i] = if i < A { first[i] } else { then[i - A] };
        i += 1;
    }
    joined
}
