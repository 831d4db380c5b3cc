//! Patterns that match nothing are named, wherever they could have matched.

use super::mirror::{allowing, excluding, filter, push, DELETE};
use super::support::{options, Events, Far};
use crate::disk::common::{names, Pair};
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{get, JobOptions, Service};
use afteryou_transfer::store::Allow;
use afteryou_transfer::wire::Wishes;

/// The first matches at the source, the second at the receiver only, the third in neither place.
const PATTERNS: [&str; 3] = ["*.tmp", "#recycle", "{x}"];

fn pair() -> Pair {
    let pair = Pair::new();
    pair.write("photos/a.jpg", b"a");
    pair.write("photos/b.tmp", b"b");
    for kept in ["photos/#recycle/old", "photos/x"] {
        let kept = pair.to().join(kept);
        std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
        std::fs::write(kept, b"old").unwrap();
    }
    pair
}

fn unmatched(events: &Events) -> Vec<String> {
    let pattern = |event| match event {
        Event::Unmatched { pattern } => Some(pattern),
        _ => None,
    };
    events.all().into_iter().filter_map(pattern).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_push_names_the_patterns_that_matched_on_neither_side() {
    let pair = pair();
    let (events, result) = push(&pair, Wishes::default(), excluding(&PATTERNS)).await;
    result.unwrap();
    assert_eq!(unmatched(&events), ["#recycle", "{x}"], "nothing is looked for at the receiver");
    let (events, result) = push(&pair, DELETE, excluding(&PATTERNS)).await;
    result.unwrap();
    assert_eq!(unmatched(&events), ["{x}"]);
    assert_eq!(names(&pair.to().join("photos")), ["#recycle", "a.jpg"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_names_the_patterns_that_matched_on_neither_side() {
    let pair = pair();
    pair.write("photos/{x}", b"not served, so a peer must not learn that it matches");
    let far = Far::start(Service::Serve {
        dir: pair.served(),
        options: excluding(&["/photos/c.tmp", "/photos/{x}"]),
    });
    for (wishes, expected) in [(Wishes::default(), &["#recycle", "{x}"][..]), (DELETE, &["{x}"])] {
        let (events, job) = options();
        let wishes = JobOptions { wishes, exclude: filter(&PATTERNS), connections: 2, ..job };
        let store = allowing(&pair, Allow::all());
        get(far.dialer(), b"photos".to_vec(), store, wishes).await.unwrap();
        assert_eq!(unmatched(&events), expected);
    }
    assert_eq!(names(&pair.to().join("photos")), ["#recycle", "a.jpg"]);
    far.stop().await;
}
