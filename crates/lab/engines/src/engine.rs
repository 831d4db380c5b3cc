//! The interface of an engine.

use crate::error::Error;
use afteryou_cc::Observers;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Outcome, Passage};
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;

/// The progress of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunProgress {
    /// The part of the whole run that is done, baseline included: 0 to 1.
    pub done: f64,
    /// Time that has passed within the scenario, the baseline's added, s.
    pub passed_s: f64,
}

/// Observers of single packets and of senders during a run. Its measures are the same with them and
/// without.
#[derive(Default)]
pub struct Looks<'a> {
    /// Sees every packet at every link, some [before their time](Passage::known).
    pub tap: Option<&'a mut dyn FnMut(&Passage<'_>)>,
    /// See what each sender's controller experiences.
    pub observers: Option<Observers>,
}

/// The abilities of an engine beyond running scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// [`Engine::traced`] shows single packets and senders.
    pub traces: bool,
    /// Closed forms explain a scenario without a run.
    pub explains: bool,
    /// Packets are real: they take real time, programs are started, and the kernel may queue.
    pub real_packets: bool,
    /// Controllers are called on the thread that called [`Engine::run`], so they may belong to an interpreter of that thread.
    pub on_one_thread: bool,
}

/// Runs scenarios. An engine holds no state of a run: one object serves all threads of a pool.
///
/// An engine of your own works with [plans](crate::Plan) and [pools](crate::Pool) like those of the
/// [list](crate::ENGINES). To be found there by name as well, it needs a line in `engines/mod.rs`.
pub trait Engine: Sync {
    /// Returns the engine's name in outcomes, in points of plans and on the command line: "sim".
    fn name(&self) -> &str;

    /// Returns the engine's version, part of the name of its results: another version may measure otherwise.
    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    /// Describes in one sentence, for lists, how it runs a scenario.
    fn summary(&self) -> &str;

    /// Returns the use of its answers, and their limits: a few sentences.
    fn description(&self) -> &str {
        ""
    }

    /// Returns the abilities of the engine beyond running scenarios. Callers ask for these, and not for a name.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns whether a run of `scenario` needs the rights of root, or a namespace in which the user has them. `shows_packets`: with a
    /// [tap](Looks::tap).
    fn needs_root(&self, _scenario: &Checked, _shows_packets: bool) -> bool {
        false
    }

    /// Returns whether the engine can run `scenario`.
    ///
    /// # Errors
    /// Everything in the scenario that it cannot run, with the keys in the file. [`run`](Self::run) refuses the same.
    fn supports(&self, scenario: &Checked) -> Result<(), Vec<Unsupported>>;

    /// Runs `scenario`, and once more without its background flows if [`baseline`](afteryou_scenario::Scenario::baseline) asks for it. The engine calls
    /// `watch` now and then with its progress, and ends the run when `watch` breaks.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `watch` broke it off, [`Error::Refused`] if the scenario is at fault, [`Error::Failed`] if
    /// the engine is.
    fn run(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome, Error>;

    /// Runs as [`run`](Self::run) does, with `looks`, which do not see the baseline. The outcome is the same.
    ///
    /// # Errors
    /// As [`run`](Self::run), [`Error::NoPackets`] of an engine that does not look at single packets, and [`Error::NoSenders`] of one
    /// that does not have them.
    fn traced(
        &self,
        _scenario: &Checked,
        _watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
        looks: Looks<'_>,
    ) -> Result<Outcome, Error> {
        let engine = self.name().to_owned();
        match looks.tap {
            Some(_) => Err(Error::NoPackets { engine }),
            None => Err(Error::NoSenders { engine }),
        }
    }

    /// Returns the repetitions that an experiment requests of this engine for each point, if it has a setting of its own for
    /// that. `None` takes the experiment's `repeat`.
    fn repeats(&self, _experiment: &Experiment) -> Option<u32> {
        None
    }

    /// Returns the most runs at the same time: 1 where two would disturb each other.
    fn at_once(&self) -> usize {
        usize::MAX
    }
}
