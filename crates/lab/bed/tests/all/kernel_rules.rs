//! Rules of ours inside the kernel, for flows over its TCP.

use super::testbed::{scenario, skipped};
use afteryou_bed::run::Options;
use afteryou_bed::{testbed, Error};
use afteryou_scenario::Scenario;
use std::ops::ControlFlow;

/// Returns a scenario with one flow of this controller over the kernel's TCP, 10 Mbit/s and 40 ms.
fn alone(controller: &str) -> Scenario {
    let flow = format!(
        "[[flow]]\nname = \"backup\"\nrole = \"background\"\ncontroller = {controller:?}\nrtt = \"40 ms\"\ntransport = \"tcp\"\n"
    );
    let mut scenario = scenario(&flow);
    scenario.link.buffer = "500 ms".parse().unwrap();
    scenario
}

#[cfg(not(feature = "kernel"))]
#[test]
fn a_build_without_the_kernel_part_refuses_a_rule_that_is_not_loaded_in_one_sentence() {
    let error = testbed::run(&alone("ledbat++").checked().unwrap(), &Options::default(), &mut |_| {
        ControlFlow::Continue(())
    });
    match error {
        Err(Error::NotLoaded { flow, name, reason }) => {
            assert_eq!((flow.as_str(), name.as_str()), ("backup", "ay_ledbatpp"));
            assert_eq!(reason.lines().count(), 1, "{reason}");
            assert!(reason.contains("--features kernel"), "{reason}");
        }
        Err(error) => skipped(error).unwrap_or_default(),
        Ok(_) => println!("SKIPPED: the kernel has the rules already"),
    }
}

#[cfg(feature = "kernel")]
mod loaded {
    use super::*;
    use afteryou_kernel::{Loaded, NAMES};
    use afteryou_scenario::outcome::Outcome;
    use nix::fcntl::{Flock, FlockArg};
    use std::fs::File;
    use std::time::Duration;

    /// Waits until no test of another process loads the rules: a name is in the kernel once.
    fn turn() -> Flock<File> {
        let file = File::create(std::env::temp_dir().join("afteryou-kernel.lock")).unwrap();
        Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error).unwrap()
    }

    fn has_rules() -> bool {
        let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        available.unwrap().split_whitespace().any(|name| NAMES.contains(&name))
    }

    /// Returns whether the kernel has none of the rules within two seconds: a program that another test starts holds them until it is executed.
    fn are_gone() -> bool {
        (0..200).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !has_rules()
        })
    }

    /// Begins a run with a rule and interrupts it. Returns nothing, with a word of why, where the kernel cannot have rules.
    fn begun() -> Option<()> {
        let scenario = alone("ledbat").checked().unwrap();
        match testbed::run(&scenario, &Options::default(), &mut |_| ControlFlow::Break(())) {
            Err(Error::Interrupted) => Some(()),
            Err(error @ Error::NotLoaded { .. }) => {
                println!("SKIPPED: {error}");
                None
            }
            Err(error) => skipped(error),
            Ok(_) => panic!("it was interrupted"),
        }
    }

    fn side_by_side(scenarios: &[Scenario]) -> Option<Vec<Outcome>> {
        std::thread::scope(|threads| {
            let runs: Vec<_> =
                scenarios.iter().map(|one| threads.spawn(|| crate::testbed::run(one))).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        })
    }

    #[test]
    fn flows_of_scenarios_run_the_rules_and_the_last_run_unloads_them() {
        let _turn = turn();
        if !are_gone() {
            return println!("SKIPPED: the kernel has the rules already");
        }
        if begun().is_none() {
            return;
        }
        // Each with the longest queue, ms: 1.25 or, without a delay exit of slow start, 1.5 times its target.
        let rules = [("ebb", 25.0), ("ledbat", 150.0), ("fledbat", 37.5), ("ledbat++", 75.0)];
        let Some(outcomes) = side_by_side(&rules.map(|(name, _)| alone(name))) else { return };
        for ((name, most_ms), outcome) in rules.into_iter().zip(outcomes) {
            let window = &outcome.run.windows[0];
            let p95_ms = window.links[0].queuing_delay.unwrap().p95_ms;
            println!("{name}: {:.3} of the link, {p95_ms:.1} ms", window.links[0].utilisation);
            // CUBIC keeps the 500 ms full.
            assert!(p95_ms <= most_ms, "{name}: {p95_ms} ms");
            assert!(window.links[0].utilisation >= 0.5, "{name}: {}", window.links[0].utilisation);
        }
        assert!(are_gone(), "a run leaves the kernel as it was");
        let elsewhere = Loaded::new().unwrap();
        begun().expect("the rules are there");
        assert!(has_rules(), "a run leaves what it has not loaded");
        drop(elsewhere);
    }
}
