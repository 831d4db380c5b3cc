//! Sweeps beside each other.

use afteryou_report::ComparedSweeps;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Rates of a point, and the goodput of each of its seeds.
type Point<'a> = (u64, &'a [(u64, f64)]);

fn write_sweep(folder: &Path, name: &str, setting: &str, points: &[Point]) -> PathBuf {
    let mut text = format!("{setting},run,repetition,seed,key,engine,controller,goodput_bit_s\n");
    let mut run = 0;
    for (value, seeds) in points {
        for (i, (seed, goodput)) in seeds.iter().enumerate() {
            run += 1;
            let _ = writeln!(text, "{value},{run},{},{seed},abc,sim,ledbat,{goodput}", i + 1);
        }
    }
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn runs_with_the_same_seed_are_compared_in_pairs() {
    let folder = tempfile::tempdir().unwrap();
    // Seeds differ by far more than the sweeps do.
    let first =
        write_sweep(folder.path(), "a.csv", "link.rate_bit_s", &[(5, &[(1, 100.0), (2, 200.0), (3, 300.0)])]);
    let second =
        write_sweep(folder.path(), "b.csv", "link.rate_bit_s", &[(5, &[(3, 303.0), (1, 101.0), (2, 202.0)])]);
    let figures = ComparedSweeps::read(&[&first, &second]).unwrap().figures();
    assert_eq!(figures.len(), 1);
    let [figure] = &figures[..] else { unreachable!() };
    assert_eq!((figure.point.as_slice(), figure.figure.as_str()), (&["5".to_owned()][..], "goodput_bit_s"));
    assert_eq!((figure.means[0].0, figure.means[1].0), (200.0, 202.0));
    // Differences 1, 2, 3: s = 1, t(2) = 4.303.
    let (difference, width) = figure.differences[0];
    assert_eq!(difference, 2.0);
    assert!((width.unwrap() - 4.302_652_729_696_142 / 3f64.sqrt()).abs() < 1e-9);
    assert!(!figure.is_clear());
}

#[test]
fn runs_with_other_seeds_are_compared_by_their_means() {
    let folder = tempfile::tempdir().unwrap();
    let first =
        write_sweep(folder.path(), "a.csv", "link.rate_bit_s", &[(5, &[(1, 1.0), (2, 2.0), (3, 3.0)])]);
    let second =
        write_sweep(folder.path(), "b.csv", "link.rate_bit_s", &[(5, &[(7, 4.0), (8, 6.0), (9, 8.0)])]);
    let figures = ComparedSweeps::read(&[&first, &second]).unwrap().figures();
    // Welch: squared errors 1/3 and 4/3, so 50/17 degrees of freedom.
    let (difference, width) = figures[0].differences[0];
    assert_eq!(difference, 4.0);
    assert!((width.unwrap() - 3.218759 * (5.0f64 / 3.0).sqrt()).abs() < 1e-5);
}

#[test]
fn a_comparison_counts_intervals_that_exclude_zero_and_those_that_would_by_chance() {
    let folder = tempfile::tempdir().unwrap();
    // Forty points with noise of 0, 2, 1, and a true difference of 100 at three of them.
    let sweep = |name: &str, noise: [f64; 3], difference: f64| {
        let seeds = |point: u64| -> Vec<(u64, f64)> {
            let more = if point < 3 { difference } else { 0.0 };
            noise.iter().enumerate().map(|(i, noise)| (i as u64, 50.0 + noise + more)).collect()
        };
        let all: Vec<Vec<(u64, f64)>> = (0..40).map(seeds).collect();
        let points: Vec<Point> = (0..).zip(&all).map(|(rate, seeds)| (rate, &seeds[..])).collect();
        write_sweep(folder.path(), name, "link.rate_bit_s", &points)
    };
    let (first, second) = (sweep("old.csv", [0.0, 2.0, 1.0], 0.0), sweep("new.csv", [1.0, 0.0, 2.0], 100.0));
    let pair = ComparedSweeps::read(&[&first, &second]).unwrap();
    let text = pair.text(usize::MAX, false);
    assert!(text.contains("3 of 40 differences have a 95 % interval that excludes zero."), "{text}");
    assert!(text.contains("about 2 would, by chance"), "{text}");
    assert!(pair.html().unwrap().contains("about 2 would, by chance"));
    // The folder that both are in is no part of their names.
    assert!(!text.contains(&folder.path().display().to_string()), "{text}");
    assert!(text.contains("old.csv") && text.contains("new.csv"), "{text}");
}

#[test]
fn points_are_matched_by_their_settings_and_the_others_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_sweep(folder.path(), "a.csv", "link.rate_bit_s", &[(5, &[(1, 1.0)]), (9, &[(1, 5.0)])]);
    let second =
        write_sweep(folder.path(), "b.csv", "link.rate_bit_s", &[(9, &[(1, 7.0)]), (2, &[(1, 1.0)])]);
    let pair = ComparedSweeps::read(&[&first, &second]).unwrap();
    let figures = pair.figures();
    assert_eq!(
        (figures.len(), figures[0].point[0].as_str(), figures[0].differences[0]),
        (1, "9", (2.0, None))
    );
    let text = pair.text(usize::MAX, false);
    assert!(text.contains("Points without a counterpart are left out: 1 of "), "{text}");
    assert!(text.contains("+40.0 %"), "{text}");
    let page = pair.html().unwrap();
    assert!(page.contains("<svg") && page.contains("goodput_bit_s") && page.contains("a.csv"));
}

#[test]
fn further_sweeps_are_compared_with_the_first_and_only_where_all_have_a_point() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |name: &str, points: &[Point]| write_sweep(folder.path(), name, "link.rate_bit_s", points);
    let seeds = |values: [f64; 3]| [(1, values[0]), (2, values[1]), (3, values[2])];
    let first = sweep("a.csv", &[(5, &seeds([100.0, 200.0, 300.0])), (9, &[(1, 5.0)])]);
    let second = sweep("b.csv", &[(5, &seeds([101.0, 202.0, 303.0])), (9, &[(1, 5.0)])]);
    let third = sweep("c.csv", &[(5, &seeds([140.0, 241.0, 339.0]))]);
    let sweeps = ComparedSweeps::read(&[&first, &second, &third]).unwrap();
    let figures = sweeps.figures();
    let [figure] = &figures[..] else { panic!("{figures:?}") };
    assert_eq!(figure.means.iter().map(|mean| mean.0).collect::<Vec<_>>(), [200.0, 202.0, 240.0]);
    assert_eq!(figure.differences.iter().map(|difference| difference.0).collect::<Vec<_>>(), [2.0, 40.0]);
    // The first of the two is not clear.
    assert!(figure.is_clear() && figure.differences[0].1.unwrap() > 2.0, "{figure:?}");
    let text = sweeps.text(usize::MAX, false);
    assert!(text.contains("left out: 1 of a.csv, 1 of b.csv, 0 of c.csv."), "{text}");
    assert!(text.contains("b.csv − a.csv") && text.contains("c.csv − a.csv"), "{text}");
    assert!(sweeps.html().unwrap().contains("<svg"));
}

#[test]
fn only_chosen_figures_are_compared_and_an_unknown_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sweep = |name: &str| write_sweep(folder.path(), name, "link.rate_bit_s", &[(5, &[(1, 1.0)])]);
    let (first, second) = (sweep("a.csv"), sweep("b.csv"));
    let sweeps = ComparedSweeps::read(&[&first, &second]).unwrap();
    let chosen = sweeps.clone().choose(vec!["goodput_bit_s".to_owned()]).unwrap();
    assert_eq!(chosen.figures(), sweeps.figures());
    let refused = sweeps.choose(vec!["goodput".to_owned()]).unwrap_err();
    assert_eq!(refused, ("goodput".to_owned(), vec!["goodput_bit_s".to_owned()]));
}

#[test]
fn sweeps_that_cannot_be_compared_are_refused_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let rate = write_sweep(folder.path(), "rate.csv", "link.rate_bit_s", &[(5, &[(1, 1.0)])]);
    let rtt = write_sweep(folder.path(), "rtt.csv", "flow.a.rtt_s", &[(5, &[(1, 1.0)])]);
    let other = write_sweep(folder.path(), "other.csv", "link.rate_bit_s", &[(6, &[(1, 1.0)])]);
    let plain = folder.path().join("plain.csv");
    std::fs::write(&plain, "a,b\n1,2\n").unwrap();
    let refused = |second: &Path| ComparedSweeps::read(&[&rate, second]).unwrap_err().to_string();
    assert!(refused(&rtt).contains("varies link.rate_bit_s and"), "{}", refused(&rtt));
    assert!(refused(&other).contains("no figure at the same point"), "{}", refused(&other));
    assert!(refused(&plain).contains("no columns run and seed"), "{}", refused(&plain));
}
