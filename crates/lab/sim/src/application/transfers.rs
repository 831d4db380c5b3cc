//! Transfers of an application: how many, and how long they took. Its size does not depend on their number.

use crate::instruments::{edges, Delays};
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{
    round, Completions, Levels, Offered, Quantiles, SetTransfers, SizeClass, WindowCompletions, MOST_TIMES,
    SIZE_CLASSES,
};
use afteryou_scenario::Scenario;
use hdrhistogram::Histogram;

/// A transfer that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub(super) began: Time,
    pub(super) bytes: u64,
}

/// All transfers that began.
#[derive(Default)]
pub(super) struct Transfers {
    pub(super) begun: u64,
    pub(super) connections: u64,
    /// Segments that came too late, for an application that has segments.
    pub(super) late: Option<u64>,
    times: Times,
    /// Windows of sets of flows: transfers that end there count once more. With the index of each set.
    windows: Vec<(usize, Time, Time, Times)>,
    /// Windows of the scenario: transfers that begin there count once more.
    by_beginning: Vec<BegunIn>,
}

/// Transfers that began in a window.
struct BegunIn {
    name: String,
    from: Time,
    to: Time,
    begun: u64,
    /// How long they took; made with the first that ends.
    times: Option<Delays>,
}

impl BegunIn {
    fn holds(&self, transfer: Transfer) -> bool {
        (self.from..self.to).contains(&transfer.began)
    }

    fn figures(&self) -> WindowCompletions {
        let time = self.times.as_ref().and_then(Delays::quantiles);
        let completed = time.map_or(0, |time| time.samples);
        WindowCompletions { window: self.name.clone(), begun: self.begun, completed, time }
    }
}

/// How long transfers took.
#[derive(Clone, Default)]
pub struct Times {
    completed: u64,
    /// Of all sizes, then of each class; made with the first transfer.
    times: Vec<Delays>,
    /// Bytes over time of each; made with the first transfer.
    rates: Option<Rates>,
}

/// The goodputs of transfers, kbit/s: counts in bins of a thousandth; mean and maximum are exact.
#[derive(Clone)]
struct Rates {
    bins: Histogram<u32>,
    sum: f64,
    max: f64,
}

/// Largest goodput that is distinguished from larger ones, kbit/s.
const LARGEST_RATE: u64 = 1 << 40;

impl Rates {
    fn new() -> Rates {
        // Three digits are a valid precision, so this cannot fail.
        let bins = Histogram::new(3).unwrap_or_else(|error| unreachable!("bug: {error}"));
        Rates { bins, sum: 0.0, max: 0.0 }
    }

    fn record(&mut self, kbit_s: f64) {
        // The bins grow by themselves up to the largest rate.
        let _ = self.bins.record((kbit_s as u64).min(LARGEST_RATE));
        self.sum += kbit_s;
        self.max = self.max.max(kbit_s);
    }

    fn levels(&self) -> Levels {
        let at = |q: f64| round((self.bins.value_at_quantile(q) as f64).min(self.max), 3);
        let mean = round(self.sum / self.bins.len().max(1) as f64, 3);
        Levels { mean, p5: at(0.05), p50: at(0.5), p95: at(0.95), max: round(self.max, 3) }
    }
}

impl Times {
    fn record(&mut self, took: Span, bytes: u64) {
        self.completed += 1;
        self.times.resize_with(SIZE_CLASSES.len() + 2, Delays::default);
        let class = SIZE_CLASSES.partition_point(|to| *to <= bytes);
        self.times[0].record(took);
        self.times[class + 1].record(took);
        if bytes > 0 && took > Span::ZERO {
            let kbit_s = bytes as f64 * 8.0 / 1e3 / took.as_secs_f64();
            self.rates.get_or_insert_with(Rates::new).record(kbit_s);
        }
    }

    /// Adds the transfers of another flow.
    pub fn add(&mut self, other: &Times) {
        self.completed += other.completed;
        self.times.resize_with(self.times.len().max(other.times.len()), Delays::default);
        self.times.iter_mut().zip(&other.times).for_each(|(own, other)| own.add(other));
        if let Some(other) = &other.rates {
            let own = self.rates.get_or_insert_with(Rates::new);
            // Both have the same precision, and the bins grow by themselves.
            let _ = own.bins.add(&other.bins);
            (own.sum, own.max) = (own.sum + other.sum, own.max.max(other.max));
        }
    }

    /// Returns the figures of transfers in a window.
    pub fn figures(&self) -> SetTransfers {
        SetTransfers {
            completed: self.completed,
            time: self.quantiles(),
            goodput_kbit_s: self.rates.as_ref().map(Rates::levels),
            classes: self.classes(),
        }
    }

    fn quantiles(&self) -> Option<Quantiles> {
        self.times.first().and_then(Delays::quantiles)
    }

    /// Returns the classes in which a transfer was completed.
    fn classes(&self) -> Vec<SizeClass> {
        let class = |(class, times): (usize, &Delays)| {
            let from_bytes = class.checked_sub(1).map_or(0, |before| SIZE_CLASSES[before]);
            let to_bytes = SIZE_CLASSES.get(class).copied();
            Some(SizeClass {
                from_bytes,
                to_bytes,
                time: times.quantiles()?,
                times_ms: times.in_order(MOST_TIMES),
            })
        };
        self.times.iter().skip(1).enumerate().filter_map(class).collect()
    }
}

impl Transfers {
    /// Creates the count before anything has begun. Transfers that end in one of the windows `of_sets` count there, too, and
    /// those that begin in a window of the scenario.
    pub(super) fn new(scenario: &Scenario, of_sets: impl Iterator<Item = (usize, Time, Time)>) -> Transfers {
        let windows = of_sets.map(|(index, from, to)| (index, from, to, Times::default()));
        let by_beginning = scenario.measure.iter().map(|window| {
            let (from, to) = edges(window);
            BegunIn { name: window.name.clone(), from, to, begun: 0, times: None }
        });
        Transfers { windows: windows.collect(), by_beginning: by_beginning.collect(), ..Transfers::default() }
    }

    /// Notes that a transfer begins.
    pub(super) fn begin(&mut self, now: Time, bytes: u64) -> Transfer {
        self.begun += 1;
        let transfer = Transfer { began: now, bytes };
        self.by_beginning
            .iter_mut()
            .filter(|window| window.holds(transfer))
            .for_each(|window| window.begun += 1);
        transfer
    }

    /// Notes that the last byte of a transfer has arrived. Returns how long it took.
    pub(super) fn complete(&mut self, now: Time, transfer: Transfer) -> Span {
        let took = now.since(transfer.began);
        self.times.record(took, transfer.bytes);
        for (_, from, to, times) in &mut self.windows {
            if (*from..*to).contains(&now) {
                times.record(took, transfer.bytes);
            }
        }
        for window in self.by_beginning.iter_mut().filter(|window| window.holds(transfer)) {
            window.times.get_or_insert_default().record(took);
        }
        took
    }

    /// Returns the transfers that ended in a window.
    pub(super) fn in_window(&self, index: usize) -> Option<&Times> {
        self.windows.iter().find(|(window, ..)| *window == index).map(|(.., times)| times)
    }

    /// Returns their outcomes; `bytes` are the application's books.
    pub(super) fn completions(&self, bytes: Offered) -> Completions {
        Completions {
            begun: self.begun,
            completed: self.times.completed,
            time: self.times.quantiles(),
            goodput_kbit_s: self.times.rates.as_ref().map(Rates::levels),
            classes: self.times.classes(),
            windows: self.by_beginning.iter().map(BegunIn::figures).collect(),
            late: self.late,
            connections: self.connections,
            bytes,
        }
    }
}
