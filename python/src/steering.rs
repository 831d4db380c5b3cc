//! One flow of a simulation steered from outside, a decision per round trip: the base of the Gymnasium environment.
//!
//! The simulation continues until its controller `steered` has seen a whole round trip. The window that is set then holds from the
//! next event on. Nothing depends on time or threads.

use crate::errors;
use crate::scenario::Scenario;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::{About, Span, Time};
use afteryou_cc::list::{Class, Entry};
use afteryou_cc::{Ack, Controller, Directive, Loss, Setup, Snapshot, Timeout};
use afteryou_engines::{Choices, Error, Lineup, Simulator};
use afteryou_notation::catalogue;
use afteryou_scenario::Flow;
use afteryou_sim::Steps;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard};

const NAME: &str = "steered";
/// Events between two looks for Ctrl-C.
const SIGNALS: u32 = 1 << 16;

static STEERED: Entry = Entry {
    about: About {
        name: NAME,
        summary: "a window that a program outside of the simulation sets once per round trip",
        source: "afteryou.gym",
        params: &[],
        presets: &[],
    },
    class: Class::Background,
    make: |_, setup| Box::new(Steered::new(setup)),
};

thread_local! {
    /// The helm of the simulation that runs in this thread, until its controller takes it.
    static HELM: RefCell<Option<Arc<Mutex<Helm>>>> = const { RefCell::new(None) };
}

/// The last round trip of the steered flow.
#[pyclass(frozen, module = "afteryou")]
#[derive(Clone, Copy, Default)]
pub struct Round {
    /// The time, s.
    #[pyo3(get)]
    now_s: f64,
    /// Time since the round before, s.
    #[pyo3(get)]
    elapsed_s: f64,
    /// Bytes delivered.
    #[pyo3(get)]
    delivered: u64,
    /// Packets found lost.
    #[pyo3(get)]
    lost: u32,
    /// Timeouts.
    #[pyo3(get)]
    timeouts: u32,
    /// Mean of the round-trip times, s; 0 without a sample.
    #[pyo3(get)]
    rtt_s: f64,
    /// The smallest round-trip time of the connection so far, s; 0 before the first sample.
    #[pyo3(get)]
    least_rtt_s: f64,
    /// Window, bytes.
    #[pyo3(get)]
    cwnd: u64,
    /// Payload of a packet, bytes.
    #[pyo3(get)]
    mss: u32,
}

/// The values that controller and policy leave for each other.
#[derive(Debug, Default)]
struct Helm {
    /// The last round trip, until the policy takes it.
    round: Option<Round>,
    /// The policy's window, until the controller takes it, bytes.
    cwnd: Option<u64>,
}

fn lock(helm: &Mutex<Helm>) -> MutexGuard<'_, Helm> {
    helm.lock().even_poisoned()
}

impl std::fmt::Debug for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Round(now_s={}, cwnd={})", self.now_s, self.cwnd)
    }
}

/// A controller whose window comes from outside.
#[derive(Debug)]
struct Steered {
    /// Taken with the first ack: the simulator makes controllers for a check, and for ends that send no data.
    helm: Option<Arc<Mutex<Helm>>>,
    round: Round,
    began: Time,
    rtts: (Span, u32),
    least: Option<Span>,
}

impl Steered {
    fn new(setup: &Setup) -> Steered {
        let round = Round { mss: setup.mss, cwnd: 2 * u64::from(setup.mss), ..Round::default() };
        Steered { helm: None, round, began: Time::ZERO, rtts: (Span::ZERO, 0), least: None }
    }

    /// Takes the policy's window, if there is a new one.
    fn take_window(&mut self) {
        let helm = self.helm.get_or_insert_with(|| HELM.take().unwrap_or_default());
        if let Some(cwnd) = lock(helm).cwnd.take() {
            self.round.cwnd = cwnd.max(self.round.mss.into());
        }
    }

    fn end_round(&mut self, now: Time) {
        let (sum, samples) = self.rtts;
        let round = Round {
            now_s: now.as_secs_f64(),
            elapsed_s: now.since(self.began).as_secs_f64(),
            rtt_s: sum.as_secs_f64() / f64::from(samples.max(1)),
            least_rtt_s: self.least.map_or(0.0, Span::as_secs_f64),
            ..self.round
        };
        if let Some(helm) = &self.helm {
            lock(helm).round = Some(round);
        }
        self.round = Round { mss: round.mss, cwnd: round.cwnd, ..Round::default() };
        (self.began, self.rtts) = (now, (Span::ZERO, 0));
    }
}

impl Controller for Steered {
    fn on_ack(&mut self, ack: &Ack) {
        self.take_window();
        self.round.delivered += ack.delivered();
        if let Some(rtt) = ack.rtt {
            self.rtts = (Span(self.rtts.0 .0 + rtt.0), self.rtts.1 + 1);
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        if ack.round_start {
            self.end_round(ack.now);
        }
    }

    fn on_loss(&mut self, _: &Loss) {
        self.round.lost += 1;
    }

    fn on_timeout(&mut self, _: &Timeout) {
        self.round.timeouts += 1;
        self.round.cwnd = self.round.mss.into();
    }

    fn on_mtu(&mut self, mss: u32) {
        self.round.mss = mss;
    }

    fn directive(&self) -> Directive {
        Directive::window(self.round.cwnd)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: NAME, cwnd: self.round.cwnd, ..Snapshot::default() }
    }
}

/// A simulation whose flow with the controller "steered" gets a window for each round trip.
#[pyclass(unsendable, module = "afteryou")]
pub struct Steering {
    steps: Steps,
    helm: Arc<Mutex<Helm>>,
}

#[pymethods]
impl Steering {
    /// Begins a run. Exactly one flow has the controller "steered".
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario, seed: u64) -> PyResult<Steering> {
        let failed = |error: Error| errors::of_run(py, &error);
        let choices = Choices { seed: Some(seed), repeat: Some(1) };
        let lineup = Lineup::new(&Simulator, &scenario.experiment, choices).map_err(failed)?;
        let scenario = lineup.point(0).map_err(failed)?.scenario;
        let is_steered = |flow: &&Flow| flow.controller.as_ref().is_some_and(|made| made.kind == NAME);
        let (steered, runs) = (scenario.flow.iter().filter(is_steered).count(), lineup.number());
        if (steered, runs) != (1, 1) {
            return Err(PyValueError::new_err(format!(
                "a scenario to steer is one run with one flow with the controller {NAME:?}: this has {steered} in {runs} runs"
            )));
        }
        let steps = Steps::new(&scenario).map_err(|error| errors::other(py, &error))?;
        Ok(Steering { steps, helm: Arc::default() })
    }

    /// Sets the window, bytes, and returns the round trip that follows; None at the end of the scenario. The first call has no
    /// window.
    #[pyo3(signature = (cwnd = None))]
    fn step(&mut self, py: Python<'_>, cwnd: Option<u64>) -> PyResult<Option<Round>> {
        lock(&self.helm).cwnd = cwnd;
        HELM.set(Some(self.helm.clone()));
        loop {
            let mut events = 0;
            let mut after_event = || {
                events += 1;
                match events == SIGNALS || lock(&self.helm).round.is_some() {
                    true => ControlFlow::Break(()),
                    false => ControlFlow::Continue(()),
                }
            };
            let went_on = self.steps.go_on(&mut after_event);
            if let Some(round) = lock(&self.helm).round.take() {
                return Ok(Some(round));
            }
            if went_on.is_none() {
                return Ok(None);
            }
            py.check_signals()?;
        }
    }
}

/// Makes the controller "steered" known.
#[pyfunction]
pub fn register_steered(py: Python<'_>) -> PyResult<()> {
    catalogue::register(&STEERED).map_err(|error| errors::other(py, &error))
}
