//! Runs that entries need: each is made once, or found in the cache.

use crate::entry::Call;
use crate::error::{Error, Result};
use crate::measure;
use crate::reading::Reading;
use afteryou_base::lock::EvenPoisoned;
use afteryou_engines::{sweep, Engine, Event, Jobs, Point, Pool, PoolProgress};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicBool;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

/// The readings of runs that were made before.
pub type Cache = afteryou_engines::Cache<Kept>;

/// The kept part of a run: of each measure its reading, or the reason that there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// By the measure as it was called.
    pub readings: BTreeMap<String, Result<Reading, String>>,
    /// Processor time of the run, s.
    pub cpu_s: f64,
}

/// A run, and the measures that are taken of it.
pub struct Run<'a> {
    pub point: Point,
    /// By name with arguments.
    pub measures: &'a BTreeMap<String, Call>,
}

/// Where and how runs are made.
pub struct Making<'a> {
    pub engine: &'a dyn Engine,
    pub pool: Pool,
    /// The hash of the program, part of the key of each run.
    pub build: ContentHash,
    pub stop: &'a AtomicBool,
    /// The processor time of the calling thread, s.
    pub cpu_s: fn() -> f64,
}

/// Runs by their number: each is put together twice, for its key and when it begins, since thousands of scenarios would fill the memory.
pub struct Runs<'a> {
    pub count: usize,
    pub at: &'a (dyn Fn(usize) -> Result<Run<'a>> + Sync),
}

/// Makes the runs; returns their readings in order, and how many runs the machine spoiled. Those have no readings and are
/// not in the cache, so that the next call makes them again. `progress` gets the number of runs, of those that were there
/// already, and how far the others are.
pub fn make(
    runs: &Runs,
    making: &Making,
    cache: &mut Cache,
    progress: &mut dyn FnMut(usize, usize, PoolProgress),
) -> Result<(Vec<Kept>, usize)> {
    let singles = Singles::of(runs, &making.build)?;
    let is_pending = |place: &usize| {
        let (key, measures) = &singles.all[*place];
        let has = |kept: &Kept| measures.keys().all(|measure| kept.readings.contains_key(measure));
        !cache.get(key).is_some_and(has)
    };
    let pending: Vec<usize> = (0..singles.all.len()).filter(is_pending).collect();
    let (all, there) = (singles.all.len(), singles.all.len() - pending.len());
    let shared = Mutex::new(&mut *cache);
    let spoiled = Mutex::new(HashMap::new());
    let clock = Clock { cpu_s: making.cpu_s, began: Mutex::new(HashMap::new()) };
    let jobs = Jobs {
        engine: making.engine,
        indices: &pending,
        point: &|place| {
            clock.begin();
            let run = (runs.at)(singles.first[place]);
            Ok(run.map_err(|error| afteryou_engines::Error::Refused(Box::new(error)))?.point)
        },
        ahead: usize::MAX,
    };
    let finish = |place: usize, outcome: Outcome| -> Result<()> {
        let (key, measures) = &singles.all[place];
        if let Some(reason) = invalid(&outcome) {
            let readings = measures.keys().map(|name| (name.clone(), Err(reason.clone()))).collect();
            let kept = Kept { readings, cpu_s: clock.end() };
            spoiled.lock().even_poisoned().insert(key.to_string(), kept);
            return Ok(());
        }
        let read = |call: &Call| measure::take(&outcome, call).map_err(|error| error.to_string());
        let readings = measures.iter().map(|(name, call)| (name.clone(), read(call))).collect();
        let kept = Kept { readings, cpu_s: clock.end() };
        Ok(shared.lock().even_poisoned().put(key, kept)?)
    };
    making.pool.each(&jobs, &finish, making.stop, &mut |event| {
        if let Event::Progress(done) = event {
            progress(all, there, done);
        }
        Ok::<(), Error>(())
    })?;
    let spoiled = spoiled.into_inner().even_poisoned();
    let found = |place: &usize| {
        let (key, _) = &singles.all[*place];
        let kept = spoiled.get(&key.to_string()).or_else(|| cache.get(key)).cloned();
        kept.ok_or_else(|| Error::NoReading("a run left no readings".to_owned()))
    };
    Ok((singles.of_runs.iter().map(found).collect::<Result<_>>()?, spoiled.len()))
}

/// Returns the reason that a run has no meaning for the network, if there is one.
fn invalid(outcome: &Outcome) -> Option<String> {
    let runs = [Some(&outcome.run), outcome.baseline.as_ref()];
    let mut late = runs.into_iter().flatten().filter_map(|run| run.lateness);
    let late = late.find(|late| late.spoiled())?;
    let p99_ms = late.departures.p99_ms;
    Some(format!(
        "invalid measurement: the host was too slow, one packet in a hundred was {p99_ms:.1} ms late"
    ))
}

/// Runs without those that are the same as another one.
struct Singles {
    /// The key of each, and the measures of all runs that it stands for.
    all: Vec<(ContentHash, BTreeMap<String, Call>)>,
    /// Of each, the first run that it stands for.
    first: Vec<usize>,
    /// Of each run, its place among them.
    of_runs: Vec<usize>,
}

impl Singles {
    fn of(runs: &Runs, build: &ContentHash) -> Result<Singles> {
        let mut singles =
            Singles { all: Vec::new(), first: Vec::new(), of_runs: Vec::with_capacity(runs.count) };
        let mut places = HashMap::new();
        for index in 0..runs.count {
            let run = (runs.at)(index)?;
            let key = sweep::key(build, &run.point.hash(), run.point.scenario.seed);
            let place = *places.entry(key.to_string()).or_insert_with(|| {
                singles.all.push((key, BTreeMap::new()));
                singles.first.push(index);
                singles.all.len() - 1
            });
            singles.all[place].1.extend(run.measures.iter().map(|(name, call)| (name.clone(), call.clone())));
            singles.of_runs.push(place);
        }
        Ok(singles)
    }
}

/// The processor time of runs, each on a thread.
struct Clock {
    cpu_s: fn() -> f64,
    began: Mutex<HashMap<ThreadId, f64>>,
}

impl Clock {
    fn begin(&self) {
        let mut began = self.began.lock().even_poisoned();
        began.insert(thread::current().id(), (self.cpu_s)());
    }

    /// Returns the time since the beginning of the calling thread's run, s.
    fn end(&self) -> f64 {
        let began = self.began.lock().even_poisoned();
        began.get(&thread::current().id()).map_or(0.0, |began| (self.cpu_s)() - began)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_engines::{Error as LabError, RunProgress};
    use afteryou_scenario::outcome::{Lateness, LinkFigures, Quantiles, Run as Figures, WindowFigures};
    use afteryou_scenario::support::Unsupported;
    use afteryou_scenario::{Checked, Link, Scenario};
    use std::ops::ControlFlow;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An engine whose first run is 9 ms late.
    #[derive(Default)]
    struct Late(AtomicUsize);

    impl Engine for Late {
        fn name(&self) -> &str {
            "late"
        }

        fn summary(&self) -> &str {
            "Is late once"
        }

        fn supports(&self, _: &Checked) -> Result<(), Vec<Unsupported>> {
            Ok(())
        }

        fn run(
            &self,
            scenario: &Checked,
            _: &mut dyn FnMut(RunProgress) -> ControlFlow<()>,
        ) -> Result<Outcome, LabError> {
            let p99_ms = if self.0.fetch_add(1, Ordering::Relaxed) == 0 { 9.0 } else { 0.1 };
            let departures = Quantiles { p99_ms, ..Quantiles::default() };
            let link = LinkFigures { utilisation: 0.5, ..LinkFigures::default() };
            let window = WindowFigures { links: vec![link], ..WindowFigures::default() };
            let lateness = Some(Lateness { departures, bound_ms: 5.0 });
            let run = Figures { lateness, windows: vec![window], ..Figures::default() };
            Ok(Outcome::new("late", "0", Scenario::clone(scenario), run, None))
        }
    }

    #[test]
    fn a_spoiled_run_has_no_readings_and_is_made_again_and_the_others_are_not() {
        let (engine, stop) = (Late::default(), AtomicBool::new(false));
        let build = ContentHash::of_text("");
        let making = Making { engine: &engine, pool: Pool::of(1), build, stop: &stop, cpu_s: || 0.0 };
        let link = Link::new("1 Mbit/s".parse().unwrap(), "9 packets".parse().unwrap());
        let scenario = |name: &str| Scenario::new(name, "9 s".parse().unwrap(), link.clone());
        let point = |name| Point::new(&engine, scenario(name).checked().unwrap());
        let call: Call = toml::from_str("name = \"utilisation\"").unwrap();
        let measures = BTreeMap::from([("utilisation()".to_owned(), call)]);
        let run = |index| Ok(Run { point: point(["one", "two", "two"][index]), measures: &measures });
        let runs = Runs { count: 3, at: &run };
        let mut cache = Cache::in_memory();
        let (kept, spoiled) = make(&runs, &making, &mut cache, &mut |_, _, _| ()).unwrap();
        let reading = |kept: &Kept| kept.readings["utilisation()"].clone();
        assert!(reading(&kept[0]).unwrap_err().contains("9.0 ms late"));
        assert_eq!((spoiled, reading(&kept[1])), (1, Ok(0.5.into())));
        let mut there = 0;
        let (kept, spoiled) = make(&runs, &making, &mut cache, &mut |_, found, _| there = found).unwrap();
        assert_eq!((spoiled, reading(&kept[0]), there), (0, Ok(0.5.into()), 1));
        assert_eq!(engine.0.load(Ordering::Relaxed), 3, "two runs that are the same are one");
    }
}
