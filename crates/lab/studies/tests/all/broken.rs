//! `--check` must be able to fail: rules and queues are broken on purpose, and the checks that are about them miss their bands.

use afteryou_scenario::content::ContentHash;
use afteryou_studies::{
    choice, run, AxisValue, Cache, Chosen, Entry, EntryVerdict, Extent, Paper, Setting, Verdict,
};
use std::sync::atomic::AtomicBool;

/// Runs an entry with one of its checks, in a quick run with the paper's data after `change`.
fn studied(name: &str, check: &str, change: &dyn Fn(&mut Paper)) -> EntryVerdict {
    let chosen = choice::named(&[name.to_owned()]).unwrap().remove(0);
    let mut entry = chosen.entry.clone();
    entry.checks.retain(|other| other.id == check);
    let mut paper = chosen.paper.clone();
    change(&mut paper);
    // A study lasts as long as its program.
    let (paper, entry): (&'static Paper, &'static Entry) = (Box::leak(paper.into()), Box::leak(entry.into()));
    let stop = AtomicBool::new(false);
    let build = ContentHash::of_text("test");
    let setting = Setting {
        extent: Extent::Quick,
        pool: Default::default(),
        build,
        figures: false,
        stop: &stop,
        cpu_s: || 0.0,
    };
    run(&[Chosen { paper, entry }], &setting, &mut Cache::in_memory(), &mut |_, _, _| ()).unwrap().remove(0)
}

/// Returns the verdicts of the check at all its points.
fn verdicts(name: &str, check: &str, change: &dyn Fn(&mut Paper)) -> Vec<Verdict> {
    let studied = studied(name, check, change);
    let of_check = studied.findings.iter().filter(|finding| finding.check == check && finding.decides());
    of_check.map(|finding| finding.verdict).collect()
}

/// Asserts that a check that is met misses its band somewhere once `from` is `to` in the assignments of the grid.
#[track_caller]
fn turns_red(name: &str, check: &str, grid: &str, from: &str, to: &str) {
    let healthy = verdicts(name, check, &|_| ());
    assert!(!healthy.is_empty() && healthy.iter().all(|verdict| *verdict == Verdict::Met), "{healthy:?}");
    let broken = verdicts(name, check, &|paper| {
        let grid = paper.grids.iter_mut().find(|known| known.id == grid).unwrap();
        let values = grid.axes.iter_mut().flat_map(|axis| &mut axis.values);
        let labelled = values.filter_map(|value| match value {
            AxisValue::Labelled(parts) => Some(parts),
            _ => None,
        });
        let assignments = labelled.flat_map(|parts| parts.iter_mut().skip(1)).chain(&mut grid.set);
        let mut replaced = 0;
        for assignment in assignments.filter(|assignment| assignment.contains(from)) {
            *assignment = assignment.replace(from, to);
            replaced += 1;
        }
        assert!(replaced > 0, "{from:?} is not in the grid");
    });
    assert!(broken.contains(&Verdict::Missed), "{name}/{check} is still met: {broken:?}");
}

#[test]
fn a_doubled_gain_is_noticed() {
    let (from, to) = (r#"controller="libutp""#, r#"controller={ kind = "libutp", gain = "6 kB" }"#);
    turns_red("alsaadi2017/s4A-growth", "libutp", "growth", from, to);
}

#[test]
fn a_target_that_is_ignored_is_noticed() {
    // Without its target LEDBAT grows as NewReno does.
    let (from, to) = (r#"{ kind = "ledbat", target = "25 ms" }"#, r#""newreno""#);
    turns_red("gong2012/fig2", "tcp-share-droptail", "fig2", from, to);
}

#[test]
fn a_pie_with_three_times_its_target_is_noticed() {
    let (from, to) = (r#"preset = "linux-3.17""#, r#"preset = "linux-3.17", target = "60 ms""#);
    turns_red("alsaadi2017/fig3", "b-mid", "map", from, to);
}

#[test]
fn a_queue_per_flow_that_has_one_queue_for_all_is_noticed() {
    let (from, to) = (r#""fq_codel""#, r#"{ kind = "fq_codel", flows = 1 }"#);
    turns_red("alsaadi2017/s5B-d", "part", "both", from, to);
}

#[test]
fn a_shorter_least_timeout_of_libutp_is_noticed() {
    turns_red(
        "alsaadi2017/fig5",
        "libutp-length",
        "close",
        r#"recovery="libutp""#,
        r#"recovery="libutp-200ms""#,
    );
}

#[test]
fn a_libutp_mod_without_its_rule_for_lost_retransmissions_is_noticed() {
    let (from, to) = (r#"recovery="libutp-mod""#, r#"recovery="libutp""#);
    turns_red("alsaadi2017/s4B-maxTA", "timeouts", "twice", from, to);
}

#[test]
fn slowdowns_that_are_off_are_noticed() {
    let (from, to) = (r#"kind = "ledbat++""#, r#"kind = "ledbat++", slowdowns = false"#);
    turns_red("bagnulo2022/fig9", "base-max", "drift", from, to);
}

/// Over ten seconds the short-term index of LEDBAT's swarm hardly differs with the web and without, so a stored explanation does
/// not hold any more: that fails `--check`, too.
#[test]
fn a_short_term_index_over_ten_seconds_is_noticed() {
    let changed = studied("carofiglio2013/fig6b", "web-raises", &|paper| {
        let grid = paper.grids.iter_mut().find(|known| known.id == "fig6b").unwrap();
        grid.set.push(
            r#"measure=[{ name = "each uplink", from = "20 s", flows = ["swarm"], among = "host-slots", step = "10 s" }]"#
                .to_owned(),
        );
    });
    let noticed = "web-raises at ledbat, ADSL, 250 kB: an explanation is stored, and the band is met";
    assert!(changed.stale.iter().any(|stale| stale.starts_with(noticed)), "{:?}", changed.stale);
}
