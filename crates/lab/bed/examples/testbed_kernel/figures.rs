//! The figures of a run.

use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Run, WindowFigures};
use afteryou_scenario::passage::{Fate, Passage};

/// The flow of CUBIC, and the background's.
const CUBIC: usize = 0;
const BACKGROUND: usize = 1;

/// Figures of a run, or medians of several. Shares are parts of the link's payload.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// The background's share alone.
    pub alone: f64,
    /// The queue then.
    pub queue_ms: f64,
    pub p95_ms: f64,
    /// The background's share beside CUBIC, from 2 s on.
    pub beside: f64,
    /// The queue then.
    pub queue_beside_ms: f64,
    /// CUBIC's share over its stay, and from 2 s on.
    pub cubic: [f64; 2],
    /// The longest one; of several runs as well.
    pub silence_s: f64,
}

impl Figures {
    pub fn of(run: &Run, silence: Span) -> Figures {
        let [alone, stay, late] = &run.windows[..] else { return Figures::default() };
        let share = |window: &WindowFigures, flow: usize| {
            window.flows.get(flow).map_or(0.0, |flow| flow.share_of_payload_capacity)
        };
        let queue = |window: &WindowFigures| {
            window.bottleneck().and_then(|link| link.queuing_delay).unwrap_or_default()
        };
        Figures {
            alone: share(alone, BACKGROUND),
            queue_ms: queue(alone).mean_ms,
            p95_ms: queue(alone).p95_ms,
            beside: share(late, BACKGROUND),
            queue_beside_ms: queue(late).mean_ms,
            cubic: [stay, late].map(|window| share(window, CUBIC)),
            silence_s: silence.as_secs_f64(),
        }
    }

    /// Returns the medians of runs, and their longest silence.
    pub fn middle(all: &[Figures]) -> Figures {
        let of = |figure: &dyn Fn(&Figures) -> f64| median(all.iter().map(figure));
        Figures {
            alone: of(&|run| run.alone),
            queue_ms: of(&|run| run.queue_ms),
            p95_ms: of(&|run| run.p95_ms),
            beside: of(&|run| run.beside),
            queue_beside_ms: of(&|run| run.queue_beside_ms),
            cubic: [0, 1].map(|part| of(&|run| run.cubic[part])),
            silence_s: all.iter().map(|run| run.silence_s).fold(0.0, f64::max),
        }
    }
}

/// Returns the median of some values; 0 if there are none.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

/// The longest time in which the link sends nothing of the background, from its first packet to the end of the run.
#[derive(Default)]
pub struct Silence {
    last: Option<Time>,
    longest: Span,
}

impl Silence {
    pub fn see(&mut self, passage: &Passage<'_>) {
        if passage.flow != BACKGROUND || passage.is_reply || passage.fate != Fate::Sent {
            return;
        }
        self.note(passage.at);
        self.last = Some(passage.at);
    }

    /// Returns the longest silence of a run that ends at `end`.
    pub fn until(mut self, end: Time) -> Span {
        self.note(end);
        self.longest
    }

    fn note(&mut self, at: Time) {
        if let Some(last) = self.last {
            self.longest = self.longest.max(at.since(last));
        }
    }
}
