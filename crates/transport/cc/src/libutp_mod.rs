//! libutp-mod: libutp with the growth and the reaction to losses of RFC 6817.
//!
//! # Model
//! [`crate::libutp`] with two numbers changed:
//!
//! | name | libutp | here | why |
//! |---|---|---|---|
//! | gain | 3000 B per RTT | 1382 B per RTT, one full uTP packet | RFC 6817 §2.5: GAIN ≤ 1 |
//! | decay | half, at most once in 100 ms | half, at most once in a smoothed round trip | RFC 6817 §2.4.2 |
//!
//! The third change is the transport's. A lost retransmission is found by what was sent after it (the "maxTA" rule), not by
//! a timeout of a second. It is uTP's recovery preset `libutp-mod`.
//!
//! # Source
//! Al-Saadi, Armitage and But, "Characterising LEDBAT performance through bottlenecks using PIE, FQ-CoDel and FQ-PIE active
//! queue management" (2017) §V; RasoolAlSaadi/libutp-mod 0c452e1, read for facts.
//!
//! # Not implemented
//! See [`crate::libutp`].
//!
//! # Known bad cases
//! Those of LEDBAT: latecomers, drift, and an AQM below TARGET, where it takes the share of a Reno flow.

#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
#[cfg(feature = "alloc")]
use crate::libutp::Libutp;
use crate::libutp::{self, BINS, EXIT, MAX_WINDOW, MIN_WINDOW, SKEW, TARGET};
use afteryou_base::param::Key;
use afteryou_base::params;
use afteryou_base::units::Span;
#[cfg(feature = "alloc")]
use afteryou_base::About;

params! {
    /// Parameters: libutp's, with two other defaults.
    pub table PARAMS;

    use TARGET;
    const GAIN: Key<u64> = libutp::GAIN.with_default(1382);
    const DECAY: Key<Span> = libutp::DECAY.with_default(Span::ZERO);
    use BINS, EXIT, MIN_WINDOW, MAX_WINDOW, SKEW;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "libutp-mod",
        summary: "libutp with one packet of growth and one halving per round trip",
        source: "Al-Saadi 2017 §V",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Libutp::new(settings, setup.mss)),
};
