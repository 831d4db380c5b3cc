//! An engine that a user could write: a run takes some steps and comes to a share that follows from the seed.

use afteryou_engines::{Engine, Error, RunProgress};
use afteryou_scenario::outcome::{Outcome, Run};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Checked, Scenario};
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[derive(Default)]
pub struct Dummy {
    /// Steps of each run.
    pub steps: u32,
    /// Wall time of each step.
    pub step: Duration,
    /// The seed at which a run fails.
    pub fails_at: Option<u64>,
    /// Most runs at the same time, if there is a limit.
    pub at_once: Option<usize>,
    pub begun: AtomicUsize,
    pub under_way: AtomicUsize,
    pub most_under_way: AtomicUsize,
}

/// Counts a run as under way until it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Engine for Dummy {
    fn name(&self) -> &str {
        "dummy"
    }

    fn version(&self) -> &str {
        "0.0.0"
    }

    fn summary(&self) -> &str {
        "Comes to a duration that follows from the seed"
    }

    fn supports(&self, scenario: &Checked) -> Result<(), Vec<Unsupported>> {
        match scenario.link.queue.kind.as_str() {
            "droptail" => Ok(()),
            kind => Err(vec![Unsupported::new("link.queue", format!("{kind} is too much for a dummy"))]),
        }
    }

    fn run(
        &self,
        scenario: &Checked,
        watch: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        let _until_the_end = UnderWay(&self.under_way);
        self.most_under_way.fetch_max(now, Ordering::SeqCst);
        for step in 1..=self.steps {
            // Later runs are faster, so that they overtake the earlier ones.
            std::thread::sleep(self.step / (1 + scenario.seed as u32));
            let done = f64::from(step) / f64::from(self.steps);
            if watch(RunProgress { done, passed_s: done * scenario.duration.as_secs_f64() }).is_break() {
                return Err(Error::Interrupted);
            }
        }
        match self.fails_at {
            Some(seed) if seed == scenario.seed => Err(Error::Failed(format!("seed {seed} broke it").into())),
            _ => {
                let run = Run { duration_s: scenario.seed as f64, ..Run::default() };
                Ok(Outcome::new("dummy", "0.0.0", Scenario::clone(scenario), run, None))
            }
        }
    }

    fn at_once(&self) -> usize {
        self.at_once.unwrap_or(usize::MAX)
    }
}

/// Returns a file without flows, with these further lines at its top.
pub fn experiment(top: &str) -> Experiment {
    let link = "link = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }";
    let text = format!("name = \"dummy\"\nduration = \"2 s\"\nseed = 1\n{top}\n{link}\n");
    Experiment::parse(&text, "dummy.toml", &[]).unwrap_or_else(|error| panic!("{error}"))
}
