//! Runs a scenario on real sockets and returns its outcome.
//!
//! Every flow is a pair of programs in miniature: a client and a server with sockets of their own. They talk through a
//! [`relay`](crate::relay) that plays the scenario's link. Times are those of the wall clock, so a run takes as long as
//! the scenario says.
//!
//! # The baseline
//! A scenario may ask for the same run without its background flows. With more than two cores both runs go side by
//! side, over two emulated links of one relay. With fewer they would disturb each other and go one after the other. The
//! second one then begins two seconds before the first foreground transfer: earlier it has nothing but traffic at a
//! constant rate. Windows from that time are measured over those two seconds.

pub(crate) mod cbr;
pub(crate) mod controllers;
mod data;
mod end;
pub(crate) mod ends;
pub(crate) mod log;
pub(crate) mod measure;
pub(crate) mod quic;
mod session;
pub(crate) mod transfer;
pub(crate) mod utp;
pub(crate) mod watched;

pub use crate::support::by_relay as supports;
pub use data::Source;
pub use end::End;

use crate::error::Error;
use afteryou_base::Span;
use afteryou_cc::{Observers, Snapshot};
use afteryou_scenario::outcome::Outcome;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Role, Scenario, Traffic};
use session::Part;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Time before the first foreground transfer at which a baseline run of its own begins.
const BASELINE_LEAD: Span = Span::from_secs(2);

/// Settings that a scenario leaves open.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The source of a flow's bytes; generated ones by default.
    pub sources: BTreeMap<String, Source>,
    /// When the baseline runs.
    pub baseline: Baseline,
    /// When a run is over.
    pub end: End,
    /// See the senders of the run, and not those of its baseline.
    pub observers: Option<Observers>,
    /// The owner of the queues at links that data cross.
    pub queue_by: QueueBy,
}

/// The owner of the queues at links that data cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueBy {
    /// The queues of afteryou, which the simulator has, too.
    #[default]
    Afteryou,
    /// The kernel's queue disciplines, in the testbed alone.
    Kernel,
}

/// When the baseline runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Baseline {
    /// Side by side where there are more than two cores, else afterwards.
    #[default]
    Auto,
    /// At the same time, over a second link.
    Beside,
    /// After the run.
    After,
}

/// How far a run is; observers get it several times a second.
#[derive(Clone, Debug)]
pub struct BedProgress {
    /// This is the run without background.
    pub is_baseline: bool,
    /// Time within the scenario, s.
    pub at_s: f64,
    /// Wall time since everything began, s.
    pub elapsed_s: f64,
    /// Wall time that everything will take, s, as far as is known.
    pub total_s: f64,
    /// The flows of this run.
    pub flows: Vec<FlowProgress>,
    /// Time in the bottleneck's queue lately, ms.
    pub queue_ms: Option<f64>,
}

/// How a flow is doing.
#[derive(Clone, Debug)]
pub struct FlowProgress {
    /// The flow's name.
    pub name: String,
    /// The flow's role.
    pub role: Role,
    /// Payload received lately, Mbit/s.
    pub rate_mbit: f64,
    /// Payload received in all, bytes.
    pub received_bytes: u64,
    /// Its controller's state, while it runs.
    pub controller: Option<Snapshot>,
}

/// Runs `scenario` and returns what came out, without checks and verdict: judging is the caller's business. `observe`
/// may break everything off.
///
/// # Errors
/// Anything in the scenario that the bed does not [support](supports), an interruption, a machine without
/// loopback sockets. Also a flow that breaks down or does not finish.
pub fn run(
    scenario: &Checked,
    options: &Options,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    check(supports(scenario))?;
    let whole = Part {
        scenario: Scenario::clone(scenario),
        network: scenario.network().clone(),
        from: Span::ZERO,
        is_baseline: false,
    };
    let mut baseline = None;
    let run = match (scenario.baseline, options.runs_beside()) {
        (false, _) => run_one(whole, options, Span::ZERO, Span::ZERO, observe)?,
        (true, true) => {
            let other = baseline_beside(scenario, options.end);
            let mut runs =
                session::run(vec![whole, other], options, (Span::ZERO, Span::ZERO), observe)?.into_iter();
            let first = runs.next().unwrap_or_default();
            baseline = runs.next();
            first
        }
        (true, false) => {
            let other = later_baseline(scenario, options.end);
            let afterwards = scenario.duration.0 - other.from;
            let run = run_one(whole, options, Span::ZERO, afterwards, observe)?;
            let before = Span::from_secs_f64(run.duration_s);
            baseline = Some(run_one(other, options, before, Span::ZERO, observe)?);
            run
        }
    };
    let baseline = baseline.map(|baseline| baseline.run);
    let outcome =
        Outcome::new("bed", env!("CARGO_PKG_VERSION"), Scenario::clone(scenario), run.run, baseline);
    Ok(Outcome { transfers: run.transfers, ..outcome })
}

/// Refuses a scenario that is not `supported`.
pub(crate) fn check(supported: Result<(), Vec<Unsupported>>) -> Result<(), Error> {
    match supported.err().into_iter().flatten().next() {
        Some(reason) => Err(reason.into()),
        None => Ok(()),
    }
}

/// Runs one part alone; `around` is the wall time that other runs take before and after it.
fn run_one(
    part: Part,
    options: &Options,
    before: Span,
    after: Span,
    observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
) -> Result<session::Ended, Error> {
    let runs = session::run(vec![part], options, (before, after), observe)?;
    Ok(runs.into_iter().next().unwrap_or_default())
}

/// Returns the baseline of a run beside it. Where the background's sizes end the run, its duration is a limit only. Nothing
/// but the last foreground transfer's end is left to end the baseline.
fn baseline_beside(scenario: &Checked, end: End) -> Part {
    let alone = scenario.without_background();
    let network = alone.network().clone();
    let mut baseline = alone.into_scenario();
    if end.is_by_sizes(scenario) && !end.is_by_sizes(&baseline) {
        baseline.duration.0 = last_end(&baseline);
    }
    Part { scenario: baseline, network, from: Span::ZERO, is_baseline: true }
}

/// Returns the end of the last transfer that is no call, or the scenario's.
fn last_end(scenario: &Scenario) -> Span {
    let transfers = scenario.flow.iter().filter(|flow| !matches!(flow.traffic, Traffic::Cbr { .. }));
    let last = transfers.map(|flow| flow.stop.unwrap_or(scenario.duration).0).max();
    last.unwrap_or(scenario.duration.0).min(scenario.duration.0)
}

/// Returns the baseline as a run of its own: from shortly before the first foreground transfer until the last one's end.
/// Where the scenario's duration ends a run, until the last window's end at least.
fn later_baseline(scenario: &Checked, end: End) -> Part {
    let alone = scenario.without_background();
    let network = alone.network().clone();
    let mut scenario = alone.into_scenario();
    let transfers = scenario.flow.iter().filter(|flow| !matches!(flow.traffic, Traffic::Cbr { .. }));
    let first = transfers.map(|flow| flow.start.0).min().unwrap_or_default();
    let measured = scenario.measure.iter().map(|window| window.to.0).filter(|_| end == End::Duration).max();
    scenario.duration.0 = last_end(&scenario).max(measured.unwrap_or_default());
    Part { scenario, network, from: first - BASELINE_LEAD, is_baseline: true }
}

impl Options {
    fn runs_beside(&self) -> bool {
        match self.baseline {
            Baseline::Auto => std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 2),
            Baseline::Beside => true,
            Baseline::After => false,
        }
    }
}
