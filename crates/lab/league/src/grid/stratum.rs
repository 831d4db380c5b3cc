//! The strata of the grid: how many cells there are at which rates and round-trip times, and how long their phases last.

/// Cells with rates and round-trip times in common ranges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stratum {
    /// The stratum's name: its rates in words.
    pub name: &'static str,
    /// Cells.
    pub cells: usize,
    /// Of them, those whose phases last [`LONG_S`].
    pub long: usize,
    /// Rates, Mbit/s.
    pub rate_mbit: (f64, f64),
    /// Base round-trip times, ms.
    pub rtt_ms: (f64, f64),
    /// The least lengths of the phases.
    pub phases: Phases,
}

/// Lengths of the phases of a cell, s: the background alone, beside the foreground, alone again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phases {
    /// Before the foreground.
    pub alone_s: f64,
    /// Beside it.
    pub together_s: f64,
    /// After it.
    pub after_s: f64,
}

/// Round trips that each phase lasts at least: enough for a start-up, for several periods of a loss-based foreground, for a return.
const ROUND_TRIPS: Phases = Phases { alone_s: 60.0, together_s: 80.0, after_s: 40.0 };
/// The phases of cells of the whole grid.
const USUAL: Phases = Phases { alone_s: 15.0, together_s: 20.0, after_s: 10.0 };
/// The phases of long cells: periodic slowdowns, probes of the base delay and base histories of ten minutes need minutes to show.
const LONG: Phases = Phases { alone_s: 100.0, together_s: 120.0, after_s: 80.0 };
/// The phases of the quick grid.
const SHORT: Phases = Phases { alone_s: 12.0, together_s: 18.0, after_s: 10.0 };

/// The whole grid: 1200 cells.
pub const WHOLE: &[Stratum] = &[
    Stratum {
        name: "0.5–5 Mbit/s",
        cells: 300,
        long: 15,
        rate_mbit: (0.5, 5.0),
        rtt_ms: (5.0, 600.0),
        phases: USUAL,
    },
    Stratum {
        name: "10–50 Mbit/s",
        cells: 500,
        long: 15,
        rate_mbit: (10.0, 50.0),
        rtt_ms: (5.0, 600.0),
        phases: USUAL,
    },
    Stratum {
        name: "100–200 Mbit/s",
        cells: 300,
        long: 0,
        rate_mbit: (100.0, 200.0),
        rtt_ms: (5.0, 250.0),
        phases: USUAL,
    },
    Stratum {
        name: "500 Mbit/s",
        cells: 100,
        long: 0,
        rate_mbit: (500.0, 500.0),
        rtt_ms: (5.0, 100.0),
        phases: USUAL,
    },
];

/// The quick grid: 200 cells of 40 s.
pub const QUICK: &[Stratum] = &[
    Stratum {
        name: "0.5–5 Mbit/s",
        cells: 90,
        long: 0,
        rate_mbit: (0.5, 5.0),
        rtt_ms: (5.0, 200.0),
        phases: SHORT,
    },
    Stratum {
        name: "5–50 Mbit/s",
        cells: 110,
        long: 0,
        rate_mbit: (5.0, 50.0),
        rtt_ms: (5.0, 200.0),
        phases: SHORT,
    },
];

impl Stratum {
    /// Returns the phases of a cell whose longest round-trip time is `rtt_ms`.
    pub fn phases(&self, rtt_ms: f64, is_long: bool) -> Phases {
        let least = if is_long { LONG } else { self.phases };
        let at_least =
            |least_s: f64, round_trips: f64| (least_s.max(round_trips * rtt_ms / 1e3) * 10.0).ceil() / 10.0;
        Phases {
            alone_s: at_least(least.alone_s, ROUND_TRIPS.alone_s),
            together_s: at_least(least.together_s, ROUND_TRIPS.together_s),
            after_s: at_least(least.after_s, ROUND_TRIPS.after_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_last_their_least_time_and_their_round_trips() {
        let of = |rtt_ms, is_long| WHOLE[0].phases(rtt_ms, is_long);
        assert_eq!(of(50.0, false), USUAL);
        assert_eq!(of(600.0, false), Phases { alone_s: 36.0, together_s: 48.0, after_s: 24.0 });
        assert_eq!(of(50.0, true), LONG);
        let quick = QUICK[1].phases(200.0, false);
        assert_eq!(quick.alone_s + quick.together_s + quick.after_s, 40.0);
    }
}
