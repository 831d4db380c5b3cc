//! A league is the same to the last bit however it was made, and continues where it ended.

use crate::support::{cells, played_with};
use afteryou_engines::{find, Cache};
use afteryou_league::{
    directly, entrants, page, play, Draw, Error, Kept, Scores, Season, Setting, GOALS, PATIENCE,
};
use afteryou_scenario::content::ContentHash;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const NAMES: [&str; 2] = ["ledbat++", "vegas"];

fn open(dir: &Path) -> Cache<Kept> {
    Cache::open(dir, &ContentHash::of_text("test")).unwrap()
}

fn files(season: &Season) -> Vec<page::File> {
    let scores = Scores::of(season, &[1.0; GOALS.len()]);
    let draw = Draw { name: "train, seed 1".to_owned(), season, scores: &scores, slices: None };
    page::files(&[draw], "afteryou league").unwrap()
}

#[test]
fn one_thread_and_three_make_the_same_files() {
    let played = |threads| played_with(&NAMES, cells(25), PATIENCE, threads, &mut Cache::in_memory());
    let (one, three) = (files(&played(1)), files(&played(3)));
    assert_eq!(one, three);
    for name in
        ["index.html", "summary.md", "standings.csv", "cells.csv", "cells.parquet", "league.svg", "front.svg"]
    {
        assert!(one.iter().any(|file| file.name == name && !file.bytes.is_empty()), "{name}");
    }
    // Each worst cell of the page is a file beside it.
    let text = String::from_utf8(one[0].bytes.clone()).unwrap();
    let scenarios: Vec<&page::File> = one.iter().filter(|file| file.name.ends_with(".toml")).collect();
    assert!(
        scenarios.len() >= 8
            && scenarios.iter().all(|file| text.contains(&format!("href=\"{}\"", file.name)))
    );
}

#[test]
fn where_nobody_else_is_there_no_front_is_drawn_and_the_league_is_whole() {
    let is_empty = |cell: &afteryou_league::Cell| cell.file(None).contains("; nobody; ");
    let cells: Vec<_> = cells(1).into_iter().filter(is_empty).take(2).collect();
    assert_eq!(cells.len(), 2);
    let files = files(&played_with(&["ledbat++"], cells, PATIENCE, 2, &mut Cache::in_memory()));
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert!(names.contains(&"index.html") && !names.contains(&"front.svg"), "{names:?}");
}

#[test]
fn an_interrupted_league_continues_and_a_damaged_cache_costs_its_lines_alone() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let setting = Setting {
        engine: find("sim").unwrap(),
        threads: 2,
        build: ContentHash::of_text("test"),
        patience: PATIENCE,
        around: directly,
        failure: || None,
        stop: &stop,
    };
    let both = || entrants(&NAMES.map(str::to_owned)).unwrap();
    let interrupted = play(cells(25), both(), &setting, &mut open(dir.path()), &mut |progress| {
        if progress.done == 10 {
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert!(matches!(interrupted, Err(Error::Lab(afteryou_engines::Error::Interrupted))));
    // A line in the middle is damaged, the last one is torn.
    let path = fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
    assert!(lines >= 10);
    let (middle, end) = (bytes.len() / 2, bytes.len() - 5);
    bytes[middle] ^= 1;
    fs::write(&path, &bytes[..end]).unwrap();
    stop.store(false, Ordering::Relaxed);
    let mut there = 0;
    let season =
        play(cells(25), both(), &setting, &mut open(dir.path()), &mut |progress| there = progress.there);
    assert_eq!(there, lines - 2);
    let fresh = played_with(&NAMES, cells(25), PATIENCE, 2, &mut Cache::in_memory());
    assert_eq!(season.unwrap(), fresh);
}
