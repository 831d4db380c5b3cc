//! Every sentence, and every phase of every controller.

use super::*;
use afteryou_cc::list::{Class, CONTROLLERS};
use std::path::{Path, PathBuf};

/// Returns a connection at 10 Mbit/s whose controller has this state.
fn with(phase: &str, queue_ms: Option<u64>, cwnd: u64) -> Situation {
    let state = ControllerState {
        base_us: Some(21_000),
        queue_us: queue_ms.map(|ms| ms * 1_000),
        target_us: Some(60_000),
        cwnd,
        phase: phase.to_owned(),
    };
    Situation { link: Link::Up, rate: 1_250_000, state: Some(state), ..Situation::default() }
}

const AVOIDANCE: &str = "congestion avoidance";

fn alone() -> Situation {
    with(AVOIDANCE, Some(12), 100_000)
}

#[test]
fn full_speed_is_below_the_target_and_yielding_well_above_it() {
    assert_eq!(words(&alone()), "full speed: queue is 12 ms over base 21 ms (target 60 ms)");
    // Alone it swings about its target.
    for (queue_ms, yields) in [(59, false), (61, false), (75, false), (76, true), (300, true)] {
        let situation = with(AVOIDANCE, Some(queue_ms), 100_000);
        assert_eq!(mood(&situation) == Mood::Yielding, yields, "{queue_ms} ms");
    }
    assert_eq!(words(&with(AVOIDANCE, Some(148), 90_000)), "yielding: queue is 148 ms over base 21 ms");
}

#[test]
fn two_packets_beside_a_queue_of_others_are_yielding() {
    assert_eq!(words(&with(AVOIDANCE, Some(48), 2_400)), "yielding: queue is 48 ms over base 21 ms");
    assert_eq!(mood(&with(AVOIDANCE, Some(3), 2_400)), Mood::FullSpeed, "nobody is there");
    assert_eq!(mood(&with("slow start", Some(3), 2_400)), Mood::FindingOut, "it has only just begun");
}

#[test]
fn a_slowdown_is_neither_yielding_nor_a_fault() {
    let freeze = with("slowdown freeze", Some(200), 2_400);
    assert_eq!(words(&freeze), "pausing a moment to measure the base delay");
    let ramp = with("slowdown ramp", Some(1), 20_000);
    let expected = "speeding up again after measuring the base delay: queue is 1 ms over base 21 ms";
    assert_eq!(words(&ramp), expected);
}

#[test]
fn a_limit_is_named_with_its_owner_only_where_it_holds() {
    let hold = |owner| Situation { hold: Some(Hold { max_rate: 625_000, owner }), rate: 600_000, ..alone() };
    assert_eq!(words(&hold(Owner::User)), "held to 5 Mbit/s by --max-rate");
    assert_eq!(words(&hold(Owner::Control)), "held to 5 Mbit/s by ctl");
    assert_eq!(words(&hold(Owner::FarEnd)), "held to 5 Mbit/s by the peer");
    let timetable = Situation { until: Some("18:00".to_owned()), ..hold(Owner::Timetable) };
    assert_eq!(words(&timetable), "held to 5 Mbit/s by the timetable until 18:00");
    let below = Situation { rate: 300_000, ..hold(Owner::User) };
    assert_eq!(mood(&below), Mood::FullSpeed);
    let yielding = Situation { hold: hold(Owner::User).hold, ..with(AVOIDANCE, Some(200), 9_000) };
    assert_eq!(mood(&yielding), Mood::Yielding, "others matter more than a limit");
}

#[test]
fn pauses_name_who_made_them() {
    let paused = |owner| Situation { paused_by: Some(owner), rate: 0, ..alone() };
    assert_eq!(words(&paused(Owner::Control)), "paused by ctl: `afteryou ctl resume` resumes it");
    assert_eq!(words(&paused(Owner::FarEnd)), "paused by the peer");
    let timetable = Situation { until: Some("18:00".to_owned()), ..paused(Owner::Timetable) };
    assert_eq!(words(&timetable), "paused by the timetable until 18:00");
}

#[test]
fn a_sender_that_is_paused_over_there_is_seen_here() {
    assert_eq!(words(&with("paused", Some(0), 100_000)), "paused by the peer");
    assert_eq!(mood(&with("paused", Some(0), 100_000)), Mood::Paused);
}

#[test]
fn without_a_connection_nothing_else_is_said() {
    let reason = "no answer".to_owned();
    let down = |s| Link::Down { reason: reason.clone(), retry_in: Duration::from_secs(s) };
    let away = Situation { link: down(5), paused_by: Some(Owner::Control), ..alone() };
    assert_eq!(words(&away), "no connection: no answer, trying again in 5 s");
    assert_eq!(words(&Situation { link: down(0), ..alone() }), "no connection: no answer, trying again");
    assert_eq!(words(&Situation::default()), "connecting");
    let waiting = |reason| Situation { link: Link::Waiting { reason }, ..alone() };
    assert_eq!(words(&waiting(None)), "waiting for files to move");
    let gone = words(&waiting(Some("timed out".to_owned())));
    assert_eq!(gone, "waiting for the other machine to come back: timed out");
}

#[test]
fn standing_still_is_said() {
    let still = Situation { rate: 0, ..alone() };
    assert!(words(&still).starts_with("nothing moves at the moment"));
    let unmeasured = Situation { state: None, ..alone() };
    assert_eq!(words(&unmeasured), "moving");
}

/// The phases that controllers have, as their sources write them.
const PHASES: [(&str, Mood); 20] = [
    ("slow start", Mood::FindingOut),
    ("conservative slow start", Mood::FindingOut),
    (AVOIDANCE, Mood::FullSpeed),
    ("slowdown freeze", Mood::Measuring),
    ("slowdown ramp", Mood::Measuring),
    ("stalled", Mood::Yielding),
    ("below two packets", Mood::Yielding),
    // BBR.
    ("startup", Mood::FindingOut),
    ("drain", Mood::FullSpeed),
    ("probe up", Mood::FullSpeed),
    ("probe down", Mood::FullSpeed),
    ("cruise", Mood::FullSpeed),
    ("refill", Mood::FullSpeed),
    ("probe RTT", Mood::FullSpeed),
    // Copa, Proteus.
    ("steering", Mood::FullSpeed),
    ("probing", Mood::FullSpeed),
    ("moving up", Mood::FullSpeed),
    ("moving down", Mood::Yielding),
    // Ebb; its cruise is above.
    ("ramp", Mood::FindingOut),
    ("yield", Mood::Yielding),
];

#[test]
fn every_phase_has_its_words_whatever_is_known_beside_it() {
    for (phase, expected) in PHASES {
        assert_eq!(mood(&with(phase, Some(12), 100_000)), expected, "{phase}");
        for (queue_ms, base_us, target_us) in [
            (None, None, None),
            (Some(12), None, None),
            (None, Some(9), None),
            (Some(12), None, Some(60_000)),
        ] {
            let mut situation = with(phase, queue_ms, 100_000);
            let state = situation.state.as_mut().unwrap();
            (state.base_us, state.target_us) = (base_us, target_us);
            assert_eq!(mood(&situation), expected, "{phase}");
            let said = words(&situation);
            assert!(said.len() > 9 && !said.contains("None") && !said.ends_with(' '), "{said}");
        }
    }
}

/// A new phase of a controller is found here, and requires a line above.
#[test]
fn the_phases_above_are_those_of_the_controllers() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transport/cc/src");
    let known = |phase: &str| PHASES.iter().any(|(name, _)| *name == phase);
    for entry in CONTROLLERS {
        let phase = entry.build(&[], afteryou_cc::Setup::of(1_200)).unwrap().snapshot().phase;
        assert!(known(phase), "{}: {phase:?}", entry.name);
    }
    let mut found = 0;
    let files = |folder: &Path| std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    let above: Vec<PathBuf> = files(&sources);
    let below =
        above.iter().filter(|path| path.is_dir()).flat_map(|folder| -> Vec<PathBuf> { files(folder) });
    // A receiver's rule sends nothing.
    let is_left_out = |file: &Path| ["tests.rs", "rledbat.rs"].iter().any(|name| file.ends_with(name));
    for file in above.iter().cloned().chain(below).filter(|file| !is_left_out(file)) {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let mut open = false;
        for line in text.lines() {
            open |= line.contains("phase = match")
                || line.contains("phase: match")
                || line.contains("fn phase_name(");
            open |= line.contains("fn phase(");
            if open || line.contains("phase: if") {
                for phase in line.split('"').skip(1).step_by(2) {
                    assert!(known(phase), "{}: {phase:?}", file.display());
                    found += 1;
                }
            }
            open &= !line.trim_start().starts_with('}');
        }
    }
    assert!(found >= PHASES.len(), "{found}");
}

#[test]
fn a_controller_that_never_yields_is_never_said_to() {
    for entry in CONTROLLERS.iter().filter(|entry| entry.class == Class::Foreground) {
        let never_yields = Some(entry.name.to_owned());
        for (phase, _) in PHASES {
            let situation = Situation { never_yields: never_yields.clone(), ..with(phase, Some(300), 2_400) };
            assert_eq!(mood(&situation), Mood::Sharing);
            assert!(words(&situation).contains(entry.name));
        }
    }
}

#[test]
fn a_file_that_another_job_is_storing_is_named() {
    let busy = Situation { link: Link::Up, busy: Some("photos/a.jpg".to_owned()), ..Situation::default() };
    assert_eq!(words(&busy), "waiting for another job that is storing photos/a.jpg");
}

#[test]
fn a_peers_numbers_may_be_any() {
    // The sender's state comes off the wire.
    let values = [None, Some(0), Some(1), Some(u64::MAX / 2), Some(u64::MAX)];
    let phases =
        [AVOIDANCE, "slow start", "slowdown freeze", "slowdown ramp", "stalled", "", "no such phase"];
    let all = |values: [Option<u64>; 3], cwnd, phase: &str| {
        let [base_us, queue_us, target_us] = values;
        let state = ControllerState { base_us, queue_us, target_us, cwnd, phase: phase.to_owned() };
        let hold = Some(Hold { max_rate: cwnd, owner: Owner::FarEnd });
        Situation { state: Some(state), hold, rate: cwnd, link: Link::Up, ..Situation::default() }
    };
    for [base, queue, target, cwnd] in
        (0..625).map(|n| [n, n / 5, n / 25, n / 125].map(|digit| values[digit % 5]))
    {
        for phase in phases {
            assert!(!words(&all([base, queue, target], cwnd.unwrap_or(2_400), phase)).is_empty());
        }
    }
    let huge = all([None, Some(1), Some(u64::MAX)], 100_000, AVOIDANCE);
    assert_eq!(mood(&huge), Mood::Held, "far below that target nobody yields");
}
