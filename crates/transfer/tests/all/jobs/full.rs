//! A disk that is full. The test goes on in a process with a small disk of its own.

use super::support::{options, Events, Far};
use crate::alone;
use crate::disk::common::{content, Pair};
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{send, JobOptions, ListenOptions, Service};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::Error;
use std::path::PathBuf;

async fn send_to_a_small_disk(small: PathBuf) {
    let pair = Pair::new();
    for i in 0..10 {
        pair.write(&format!("{i}"), &content(500_000, i));
    }
    let store = || Store::open(&small.join("disk"), StoreOptions::default()).unwrap();
    let options_there = || ListenOptions { groups_in_events: true, ..ListenOptions::default() };
    let far = Far::start_with(Service::Receive(store()), options_there());
    let result = send(far.dialer(), pair.source(), options().1).await;
    assert!(matches!(result, Err(Error::DiskFull)), "{result:?}");
    let before = far.events.group_bytes();
    far.stop().await;
    // The user makes room.
    std::fs::remove_file(small.join("disk/ballast")).unwrap();
    let far = Far::start_with(Service::Receive(store()), options_there());
    let summary = send(far.dialer(), pair.source(), options().1).await.unwrap();
    assert_eq!((summary.failed, summary.stored + summary.had), (0, 10));
    let events: &Events = &far.events;
    let again = before + events.group_bytes() - 5_000_000;
    // A group of each file that was open, and what was on its way past the full disk.
    assert!(again <= 16 * 16 * 1024, "{again} bytes came twice");
    // No last message of either side reads as something else.
    for i in 10..20 {
        pair.write(&format!("{i}"), &content(500_000, i));
    }
    let mut others = Vec::new();
    for connections in [1, 4].repeat(100) {
        let options = JobOptions { connections, ..options().1 };
        match send(far.dialer(), pair.source(), options).await {
            Err(Error::DiskFull) => {}
            other => others.push(format!("{other:?}")),
        }
    }
    assert!(others.is_empty(), "{} of 200: {}", others.len(), others[0]);
    let there: Vec<_> = events
        .all()
        .into_iter()
        .filter(|event| matches!(event, Event::Disconnected { reason, .. } if reason.contains("protocol")))
        .collect();
    assert!(there.is_empty(), "{} on the receiving side: {:?}", there.len(), there[0]);
    std::fs::write(small.join("done"), b"").unwrap();
}

/// The part in a process of its own has a small disk, mounted for it alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_ends_the_job_and_what_arrived_is_kept() {
    if let Some(small) = alone::part() {
        return send_to_a_small_disk(small.into()).await;
    }
    let base = tempfile::tempdir().unwrap();
    std::fs::create_dir(base.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o size=7m none \"$BASE/disk\" && head -c 4000000 /dev/zero >\"$BASE/disk/ballast\" || exit 99\n\
                  exec \"$0\" \"$@\"";
    let test = "jobs::full::a_full_disk_ends_the_job_and_what_arrived_is_kept";
    alone::on_a_mount_of_its_own(script, test, base.path());
}
