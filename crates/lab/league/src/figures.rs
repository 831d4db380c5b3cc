//! The kept figures of a run: a few numbers of each phase.

use crate::grid::LATE;
use afteryou_scenario::outcome::{jain, Outcome, Run, WindowFigures};
use afteryou_scenario::{Role, Scenario};
use serde::{Deserialize, Serialize};

/// The name of the foreground's flows in cells.
const FOREGROUND: &str = "foreground";
/// The name of the class of the foreground at a link.
const BEST_EFFORT: &str = "best effort";

/// A phase of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The first third of the time alone.
    Start,
    /// The rest of it.
    Alone,
    /// Beside the foreground.
    Together,
    /// After the foreground.
    After,
}

/// Numbers of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Of each [`Phase`], in order.
    pub phases: Vec<PhaseFigures>,
    /// Transfers of the foreground that began in the second phase.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transfers: Option<Transfers>,
    /// Data packets that all senders sent.
    pub packets: u64,
    /// From the foreground's end until the first half second in which the background had four fifths of what can arrive, s;
    /// none if it never had.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub back_s: Option<f64>,
}

/// Numbers of a phase.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseFigures {
    /// Goodput of the background over the payload capacity.
    pub background: f64,
    /// Goodput of the background, bit/s.
    pub background_bit_s: f64,
    /// Goodput of the foreground, bit/s.
    pub foreground_bit_s: f64,
    /// 95th percentile of the queuing delay of packets that are not of lower effort, ms.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay_p95_ms: Option<f64>,
    /// Goodput of the background over what the foreground left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub harvest: Option<f64>,
    /// Jain's index of the background's flows, of two or more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<f64>,
    /// Goodput of the flow that came late over the mean of all background flows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<f64>,
}

/// Transfers of a foreground.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    /// Transfers that began.
    pub begun: u64,
    /// Those whose last byte arrived.
    pub completed: u64,
    /// Mean time of these, ms.
    pub mean_ms: f64,
}

impl Figures {
    /// Reads the numbers off a run.
    pub fn of(outcome: &Outcome) -> Figures {
        let phases = outcome.run.windows.iter().map(|window| of_phase(&outcome.scenario, window)).collect();
        let packets = outcome.run.totals.iter().map(|totals| totals.packets).sum();
        // The only set of a cell is its background after the foreground.
        let back_s = outcome.run.sets.first().and_then(|after| after.start_up_s);
        Figures { phases, transfers: transfers(&outcome.run), packets, back_s }
    }

    /// Returns the numbers of a phase.
    pub fn phase(&self, phase: Phase) -> Option<&PhaseFigures> {
        self.phases.get(phase as usize)
    }
}

fn is_foreground(flow: &str) -> bool {
    flow.strip_prefix(FOREGROUND).is_some()
}

fn of_phase(scenario: &Scenario, window: &WindowFigures) -> PhaseFigures {
    let background = || window.flows.iter().filter(|flow| flow.role == Role::Background);
    let foreground = window.flows.iter().filter(|flow| is_foreground(&flow.flow));
    let rates: Vec<f64> = background().map(|flow| flow.goodput_bit_s).collect();
    let mean = rates.iter().sum::<f64>() / rates.len().max(1) as f64;
    let late = background().find(|flow| flow.flow == LATE).filter(|_| mean > 0.0);
    let link = window.bottleneck();
    let best_effort = link.and_then(|link| {
        let class = link.classes.iter().find(|class| class.class == BEST_EFFORT);
        // Without a background there are no classes: all packets are of one.
        let alone = scenario.flow.iter().all(|flow| flow.role == Role::Foreground);
        class.map_or(link.queuing_delay.filter(|_| alone), |class| class.queuing_delay)
    });
    PhaseFigures {
        background: background().map(|flow| flow.share_of_payload_capacity).sum(),
        background_bit_s: rates.iter().sum(),
        foreground_bit_s: foreground.map(|flow| flow.goodput_bit_s).sum(),
        delay_p95_ms: best_effort.map(|delay| delay.p95_ms),
        harvest: link.and_then(|link| link.harvest),
        fairness: (rates.len() > 1).then(|| jain(&rates)),
        late: late.map(|flow| flow.goodput_bit_s / mean),
    }
}

fn transfers(run: &Run) -> Option<Transfers> {
    let flow = run.totals.iter().find(|totals| is_foreground(&totals.flow))?;
    let window = flow.completions.as_ref()?.windows.get(Phase::Together as usize)?;
    Some(Transfers {
        begun: window.begun,
        completed: window.completed,
        mean_ms: window.time.map_or(0.0, |time| time.mean_ms),
    })
}
