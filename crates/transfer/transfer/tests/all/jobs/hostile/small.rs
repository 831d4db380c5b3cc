//! Bundles of small files, and files that are offered by size and time.

use super::{FromSink, FromSource, Victim, Why};
use crate::disk::common::file;
use afteryou_transfer::entry::{EntryPath, Mtime};
use afteryou_transfer::wire::{Glance, BUNDLE, MAX_BUNDLE, MAX_UNSETTLED};

/// Returns a bundle of these files.
fn bundle(files: &[(u64, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (id, encoded) in files {
        bytes.extend(id.to_be_bytes());
        bytes.extend((encoded.len() as u32).to_be_bytes());
        bytes.extend(*encoded);
    }
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_has_what_was_requested_and_a_bad_file_in_it_fails_alone() {
    let victim = Victim::new();
    for (name, bad, reason) in [
        (b"a", bundle(&[(7, b"not offered")]), "not requested"),
        (b"b", bundle(&[(0, b"b"), (0, b"b")]), "not requested"),
        (b"c", bundle(&[(0, b"c")])[..12].to_vec(), "ends inside"),
        (b"d", vec![0; MAX_BUNDLE + 1], "too long"),
    ] {
        let mut raw = victim.raw().await;
        raw.offer(0, file(name, name).0).await;
        assert!(matches!(raw.answer().await, FromSink::Want { id: 0, .. }));
        raw.data(BUNDLE, &bad).await;
        let closed = raw.closed().await;
        assert!(closed.contains(reason), "{reason}: {closed}");
    }

    let mut raw = victim.raw().await;
    let (good, other) = (file(b"good", b"good"), file(b"bad", b"bad"));
    raw.offer(0, good.0).await;
    raw.offer(1, other.0).await;
    for _ in 0..2 {
        assert!(matches!(raw.answer().await, FromSink::Want { .. }));
    }
    raw.data(BUNDLE, &bundle(&[(1, b"BAD"), (0, &good.1)])).await;
    let mut answers = [raw.answer().await, raw.answer().await];
    answers.sort_by_key(|answer| matches!(answer, FromSink::Failed { .. }));
    assert_eq!(answers, [FromSink::Stored { id: 0 }, FromSink::Failed { id: 1, why: Why::Mismatch }]);
    raw.connection.close(0u32.into(), b"");
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn offers_by_size_and_time_are_bounded_and_name_nothing_outside() {
    let victim = Victim::new();
    let glance = |path: &[u8]| Glance {
        path: EntryPath(path.to_vec()),
        size: 6,
        mode: None,
        mtime: Mtime::default(),
        extras: None,
    };
    let mut raw = victim.raw().await;
    raw.say(&FromSource::Glance { id: 0, files: Vec::new() }).await;
    assert!(raw.closed().await.contains("no files"));

    let mut raw = victim.raw().await;
    raw.say(&FromSource::Glance { id: u64::MAX, files: vec![glance(b"a"), glance(b"b")] }).await;
    assert!(raw.closed().await.contains("no files"));

    let mut raw = victim.raw().await;
    raw.say(&FromSource::Glance { id: 0, files: vec![glance(b"a"); MAX_UNSETTLED + 1] }).await;
    assert!(raw.closed().await.contains("too many"));

    let mut raw = victim.raw().await;
    let outside = [&b"../beside/canary"[..], b"/etc/passwd", b".afteryou/x", b""];
    raw.say(&FromSource::Glance { id: 0, files: outside.map(glance).to_vec() }).await;
    assert_eq!(raw.answer().await, FromSink::Glanced { id: 0, differing: vec![0, 1, 2, 3] });
    raw.connection.close(0u32.into(), b"");
    victim.still_serves().await;
}
