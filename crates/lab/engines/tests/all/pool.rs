//! Many runs at once: order, progress, cancellation, failures.

use crate::dummy::{experiment, Dummy};
use afteryou_engines::{find, Choices, Engine, Error, Event, Plan, Pool};
use afteryou_scenario_file::Experiment;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The first run takes much longer than the others.
const UNEQUAL: &str =
    "name = \"unequal\"\nduration = \"1 s\"\nlink = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }\n\
     flow = { name = \"a\", controller = \"cubic\", rtt = \"20 ms\" }\n\
     sweep.\"link.rate\" = [\"300 Mbit/s\", \"1 Mbit/s\"]\n";

fn plan(engine: &dyn Engine, experiment: &Experiment, repeat: u32) -> Plan {
    Plan::new(engine, experiment, Choices { seed: None, repeat: Some(repeat) }).unwrap()
}

/// Returns the results that a pool handed over: indices and, as written, outcomes; and how it ended.
fn carried_out(pool: Pool, engine: &dyn Engine, plan: &Plan) -> (Vec<(usize, String)>, Result<(), Error>) {
    let mut handed_over = Vec::new();
    let ended = pool.run(engine, &plan.points, &AtomicBool::new(false), &mut |event| {
        if let Event::Done(index, outcome) = event {
            handed_over.push((index, serde_json::to_string(&*outcome).expect("an outcome is JSON")));
        }
        Ok(())
    });
    (handed_over, ended)
}

#[test]
fn results_are_the_same_on_one_thread_and_on_many() {
    let sim = find("sim").unwrap();
    let plan = plan(sim, &Experiment::parse(UNEQUAL, "unequal.toml", &[]).unwrap(), 4);
    let (alone, ended) = carried_out(Pool::of(1), sim, &plan);
    ended.unwrap();
    assert_eq!(alone.iter().map(|(index, _)| *index).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    for threads in [0, 2, 5, 64] {
        assert!(carried_out(Pool::of(threads), sim, &plan).0 == alone, "{threads} threads");
    }
}

#[test]
fn an_engine_of_ones_own_runs_by_the_trait_in_order_although_later_runs_overtake() {
    let dummy = Dummy { steps: 3, step: Duration::from_millis(20), ..Dummy::default() };
    let plan = plan(&dummy, &experiment(""), 12);
    let outcomes = Pool::of(4).outcomes(&dummy, &plan.points, &AtomicBool::new(false)).unwrap();
    let measured: Vec<f64> = outcomes.iter().map(|outcome| outcome.run.duration_s).collect();
    assert_eq!(measured, (1..=12).map(f64::from).collect::<Vec<_>>());
    assert_eq!(outcomes[11].repetition, 12);
    assert!(dummy.most_under_way.load(Ordering::SeqCst) > 1, "several at once");
}

#[test]
fn an_engine_that_takes_one_run_at_a_time_gets_one() {
    let dummy = Dummy { steps: 2, step: Duration::from_millis(5), at_once: Some(1), ..Dummy::default() };
    let plan = plan(&dummy, &experiment(""), 6);
    carried_out(Pool::of(4), &dummy, &plan).1.unwrap();
    assert_eq!(dummy.most_under_way.load(Ordering::SeqCst), 1);
}

#[test]
fn progress_ascends_to_the_whole_of_all_runs() {
    let dummy = Dummy { steps: 4, step: Duration::from_millis(100), ..Dummy::default() };
    let plan = plan(&dummy, &experiment(""), 10);
    let mut seen = Vec::new();
    let report = &mut |event| {
        if let Event::Progress(progress) = event {
            seen.push(progress);
        }
        Ok::<(), Error>(())
    };
    Pool::of(3).run(&dummy, &plan.points, &AtomicBool::new(false), report).unwrap();
    let ascends = |pair: &[afteryou_engines::PoolProgress]| {
        pair[0].work <= pair[1].work && pair[0].done <= pair[1].done
    };
    assert!(seen.windows(2).all(ascends), "{seen:?}");
    let last = seen.last().unwrap();
    assert_eq!((last.done, last.work, last.passed_s), (10, 10.0, 20.0));
}

#[test]
fn cancellation_leaves_complete_outcomes_in_order_and_nothing_half_done() {
    let dummy = Dummy { steps: 1_000_000, step: Duration::from_millis(2), ..Dummy::default() };
    let quick = Dummy { steps: 1, ..Dummy::default() };
    let plan = plan(&dummy, &experiment(""), 1000);
    let stop = AtomicBool::new(false);
    // Runs that would take an hour end within a moment.
    let begun = Instant::now();
    let ended: Result<(), Error> = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        Pool::of(3).run(&dummy, &plan.points, &stop, &mut |event| match event {
            Event::Done(index, _) => panic!("run {index} is half done"),
            Event::Progress(_) => Ok(()),
        })
    });
    assert!(matches!(ended, Err(Error::Interrupted)));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(dummy.under_way.load(Ordering::SeqCst), 0, "no thread is left");
    assert_eq!(dummy.begun.load(Ordering::SeqCst), 3);
    // In the midst of many short ones: every result handed over is complete, and none comes after the flag is set.
    let stop = AtomicBool::new(false);
    let mut handed_over = Vec::new();
    let ended = Pool::of(3).run(&quick, &plan.points, &stop, &mut |event| {
        if let Event::Done(index, outcome) = event {
            assert_eq!(outcome.run.duration_s, index as f64 + 1.0);
            handed_over.push(index);
            stop.store(index == 10, Ordering::Relaxed);
        }
        Ok::<(), Error>(())
    });
    assert!(matches!(ended, Err(Error::Interrupted)));
    assert_eq!(handed_over, (0..=10).collect::<Vec<_>>());
    assert_eq!(quick.under_way.load(Ordering::SeqCst), 0);
    let begun = quick.begun.load(Ordering::SeqCst);
    assert!(begun < 100, "{begun} of 1000 runs had begun");
}

#[test]
fn a_run_that_fails_ends_all_after_the_outcomes_before_it() {
    let plan = plan(&Dummy::default(), &experiment(""), 20);
    for threads in [1, 4] {
        let fails =
            Dummy { steps: 2, step: Duration::from_millis(10), fails_at: Some(6), ..Dummy::default() };
        let (handed_over, ended) = carried_out(Pool::of(threads), &fails, &plan);
        let error = ended.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.is_usage()), ("seed 6 broke it", false));
        let indices: Vec<usize> = handed_over.iter().map(|(index, _)| *index).collect();
        assert_eq!(indices, [0, 1, 2, 3, 4], "{threads} threads");
        assert_eq!(fails.under_way.load(Ordering::SeqCst), 0);
    }
}

#[test]
fn an_error_of_the_caller_ends_all_and_comes_back() {
    let dummy = Dummy { steps: 1, ..Dummy::default() };
    let plan = plan(&dummy, &experiment(""), 50);
    let mut seen = 0;
    let ended = Pool::of(2).run(&dummy, &plan.points, &AtomicBool::new(false), &mut |event| match event {
        Event::Done(3, _) => Err(Error::Failed("the disk is full".into())),
        Event::Done(..) => {
            seen += 1;
            Ok(())
        }
        Event::Progress(_) => Ok(()),
    });
    assert_eq!((seen, ended.unwrap_err().to_string().as_str()), (3, "the disk is full"));
}

#[test]
fn the_simulator_stops_in_the_midst_of_a_run() {
    let sim = find("sim").unwrap();
    let long = UNEQUAL.replace("\"1 s\"", "\"36000 s\"");
    let plan = plan(sim, &Experiment::parse(&long, "long.toml", &[]).unwrap(), 1);
    let stop = AtomicBool::new(false);
    let mut report = |event| {
        if let Event::Progress(progress) = event {
            stop.store(progress.passed_s > 0.0, Ordering::Relaxed);
        }
        Ok::<(), Error>(())
    };
    assert!(matches!(Pool::of(2).run(sim, &plan.points, &stop, &mut report), Err(Error::Interrupted)));
}
