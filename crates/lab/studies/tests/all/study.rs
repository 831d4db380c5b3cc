//! A study as a whole: the same whatever the number of threads, and after an interruption.

use afteryou_engines::Pool;
use afteryou_scenario::content::ContentHash;
use afteryou_studies::{choice, run, Cache, Error, Extent, Setting};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns the findings of a small study as JSON. It stops after `stop_after` runs, if that is not zero.
fn findings(pool: Pool, cache: &Path, stop_after: usize) -> Result<String, Error> {
    let chosen = choice::named(&["gong2012/s2-no-extra-delay".to_owned(), "gong2012/s4-one-tcp".to_owned()])?;
    let (stop, build) = (AtomicBool::new(false), ContentHash::of_text("test"));
    let setting = Setting { extent: Extent::Quick, pool, build, figures: false, stop: &stop, cpu_s: || 0.0 };
    let mut cache = Cache::open(cache, &build)?;
    let verdicts = run(&chosen, &setting, &mut cache, &mut |_, _, progress| {
        stop.store(stop_after > 0 && progress.done >= stop_after, Ordering::Relaxed);
    })?;
    let findings: Vec<_> = verdicts.iter().map(|verdict| &verdict.findings).collect();
    Ok(serde_json::to_string(&findings).unwrap())
}

#[test]
fn one_thread_and_two_give_the_same_bytes() {
    let [one, two] = [1, 2].map(|threads| {
        let dir = tempfile::tempdir().unwrap();
        findings(Pool::of(threads), dir.path(), 0).unwrap()
    });
    assert_eq!(one, two);
}

#[test]
fn an_interrupted_study_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let interrupted = findings(Pool::of(1), dir.path(), 1);
    assert!(matches!(interrupted, Err(Error::Lab(afteryou_engines::Error::Interrupted))), "{interrupted:?}");
    let path = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path();
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!((1..3).contains(&kept.lines().count()), "{kept}");
    let whole = findings(Pool::of(1), dir.path(), 0).unwrap();
    let after = std::fs::read_to_string(&path).unwrap();
    assert!(after.starts_with(&kept) && after.lines().count() == 3, "nothing is run twice");
    let fresh = tempfile::tempdir().unwrap();
    assert_eq!(whole, findings(Pool::of(1), fresh.path(), 0).unwrap());
}
