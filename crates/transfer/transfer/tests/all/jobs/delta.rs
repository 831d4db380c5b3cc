//! Files of which the receiver has an older version.

use super::support::{options, Far};
use crate::disk::common::{content, Pair};
use afteryou_transfer::job::{get, send, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use std::os::unix::fs::symlink;

const MB: usize = 1_000_000;

async fn push(pair: &Pair) -> Summary {
    let far = Far::receive(pair);
    let summary = send(far.dialer(), pair.source(), options().1).await.unwrap();
    far.stop().await;
    pair.assert_same();
    assert_eq!(pair.leftovers(), Vec::<String>::new());
    summary
}

fn there(pair: &Pair, name: &str, bytes: &[u8]) {
    std::fs::write(pair.to().join(name), bytes).unwrap();
}

fn old() -> Vec<u8> {
    content(10 * MB, 1)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_appended_travels_alone() {
    let pair = Pair::new();
    there(&pair, "log", &old());
    pair.write("log", &[old(), content(MB / 2, 2)].concat());
    let moved = push(&pair).await.bytes_moved;
    assert!((500_000..=500_000 + 2 * 16_384).contains(&moved), "{moved}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_inserted_travels_alone_and_what_follows_is_found_where_it_was() {
    let pair = Pair::new();
    there(&pair, "file", &old());
    let (before, after) = (&old()[..3 * MB + 7], &old()[3 * MB + 7..]);
    pair.write("file", &[before, &content(MB / 2, 2), after].concat());
    let moved = push(&pair).await.bytes_moved;
    assert!((500_000..=500_000 + 10 * 16_384).contains(&moved), "{moved}");

    // And taken out again: nothing is new but the groups around the place.
    pair.write("file", &old());
    let moved = push(&pair).await.bytes_moved;
    assert!(moved <= 10 * 16_384, "{moved}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_scattered_changes_the_groups_around_them_travel() {
    let pair = Pair::new();
    there(&pair, "image", &old());
    let mut new = old();
    for block in 0..20 {
        let at = block * 499_712;
        new[at..at + 4096].copy_from_slice(&content(4096, block as u64));
    }
    pair.write("image", &new);
    assert_eq!(push(&pair).await.bytes_moved, 20 * 16_384);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_has_another_name_by_now_does_not_travel() {
    let pair = Pair::new();
    std::fs::create_dir(pair.to().join("a")).unwrap();
    there(&pair, "a/decoy", &content(10 * MB, 9));
    there(&pair, "a/old name", &old());
    for name in ["a/decoy", "a/old name", "b/new name"] {
        let bytes = if name == "a/decoy" { content(10 * MB, 9) } else { old() };
        pair.write(name, &bytes);
    }
    assert_eq!(push(&pair).await.bytes_moved, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_has_another_name_by_now_does_not_travel_however_many_have_its_size() {
    let pair = Pair::new();
    for number in 0..40 {
        pair.write(&format!("before/{number}"), &content(MB + MB / 10, number));
    }
    assert!(push(&pair).await.bytes_moved > 40 * MB as u64);
    for number in [0, 7, 39] {
        let [old, new] = ["before", "after"].map(|dir| pair.from().join(dir).join(number.to_string()));
        std::fs::create_dir_all(new.parent().unwrap()).unwrap();
        std::fs::rename(old, new).unwrap();
    }
    let far = Far::receive(&pair);
    let some = send(far.dialer(), pair.source(), options().1).await.unwrap();
    assert_eq!((some.failed, some.bytes_moved), (0, 0), "three of them");
    std::fs::rename(pair.from().join("before"), pair.from().join("others")).unwrap();
    let all = send(far.dialer(), pair.source(), options().1).await.unwrap();
    far.stop().await;
    assert_eq!((all.failed, all.bytes_moved), (0, 0), "all the others");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_with_nothing_in_common_and_shorter_and_small_ones_arrive_whole() {
    let pair = Pair::new();
    for (name, before, after) in [
        ("other", content(3 * MB, 1), content(3 * MB, 2)),
        ("shorter", old(), old()[..70_000].to_vec()),
        ("empty", old(), Vec::new()),
        ("small", content(5000, 1), content(5000, 2)),
        ("from nothing", Vec::new(), content(200_000, 1)),
        ("zeros", vec![0; 3 * MB], vec![0; 4 * MB]),
    ] {
        there(&pair, name, &before);
        pair.write(name, &after);
    }
    let summary = push(&pair).await;
    assert_eq!(summary.failed, 0);
    assert!(summary.bytes_moved < 3 * MB as u64 + 300_000, "{summary:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_get_takes_what_changed() {
    let pair = Pair::new();
    there(&pair, "log", &old());
    pair.write("log", &[old(), content(MB / 2, 2)].concat());
    let far = Far::start(Service::Serve { dir: pair.served(), options: SourceOptions::default() });
    let summary = get(far.dialer(), Vec::new(), pair.store(), options().1).await.unwrap();
    far.stop().await;
    pair.assert_same();
    assert!(summary.bytes_moved < 540_000, "{summary:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_outside_the_receiving_directory_is_not_compared_with() {
    let pair = Pair::new();
    std::fs::write(pair.base.path().join("beside/secret"), old()).unwrap();
    // Links of the receiver's own, at the place of the file and beside it.
    symlink("../beside/secret", pair.to().join("file")).unwrap();
    symlink("../beside", pair.to().join("way out")).unwrap();
    pair.write("file", &old());
    let far = Far::receive(&pair);
    let source = Source::of(&[pair.from().join("file")], SourceOptions::default()).unwrap();
    let summary = send(far.dialer(), source, options().1).await.unwrap();
    far.stop().await;
    assert_eq!((summary.stored_files, summary.bytes_moved), (1, 10 * MB as u64));
    assert_eq!(std::fs::read(pair.base.path().join("beside/secret")).unwrap(), old());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delta_that_was_cut_short_goes_on() {
    let pair = Pair::new();
    there(&pair, "file", &old());
    let new = [&old()[..MB], &content(4 * MB, 2), &old()[MB..]].concat();
    pair.write("file", &new);
    let far = Far::receive(&pair);
    let (events, job) = options();
    let limit = afteryou_transfer::pace::Limit { max_rate: Some(2 * MB as u64), paused: false };
    job.pace.set(afteryou_transfer::pace::Owner::User, limit);
    let sender = tokio::spawn(send(far.dialer(), pair.source(), job));
    events.until_moved(2 * MB as u64).await;
    sender.abort();
    far.abort().await;
    assert_eq!(
        std::fs::read(pair.to().join("file")).unwrap(),
        old(),
        "the old file until the new one is whole"
    );
    let moved = push(&pair).await.bytes_moved;
    assert!(moved < 3 * MB as u64, "{moved} bytes again: what came before the end was kept");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holes_take_no_room_at_the_receiver_either() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let pair = Pair::new();
    let file = std::fs::File::create(pair.from().join("image")).unwrap();
    file.set_len(20_000_000).unwrap();
    file.write_all_at(&content(100_000, 1), 9_000_000).unwrap();
    assert_eq!(push(&pair).await.failed, 0);
    let there = std::fs::metadata(pair.to().join("image")).unwrap();
    assert!(there.blocks() * 512 < 500_000, "{} blocks", there.blocks());
    // What was a hole is none any more, and what was none is one.
    file.write_all_at(&content(100_000, 2), 3_000_000).unwrap();
    file.write_all_at(&vec![0; 100_000], 9_000_000).unwrap();
    assert!(push(&pair).await.bytes_moved < 300_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holes_stay_holes_in_a_changed_file_and_in_one_that_has_another_name() {
    use std::os::unix::fs::MetadataExt;
    let pair = Pair::new();
    let part = |seed| content(MB, seed);
    let sparse = |last| [part(1), vec![0; 8 * MB], part(2), vec![0; 8 * MB], part(last)].concat();
    let blocks = |name: &str| std::fs::metadata(pair.to().join(name)).unwrap().blocks();
    pair.write("image", &sparse(3));
    push(&pair).await;
    assert!(blocks("image") * 512 < 4 * MB as u64, "{}", blocks("image"));

    // At the same place, and moved by an insertion.
    pair.write("image", &sparse(4));
    let moved = push(&pair).await.bytes_moved;
    assert!(moved < 2 * MB as u64, "{moved}");
    assert!(blocks("image") * 512 < 4 * MB as u64, "{}", blocks("image"));
    pair.write("image", &[part(9), sparse(4)].concat());
    push(&pair).await;
    assert!(blocks("image") * 512 < 6 * MB as u64, "{}", blocks("image"));

    std::fs::rename(pair.from().join("image"), pair.from().join("renamed")).unwrap();
    let far = Far::receive(&pair);
    let summary = send(far.dialer(), pair.source(), options().1).await.unwrap();
    far.stop().await;
    assert_eq!((summary.failed, summary.bytes_moved), (0, 0));
    assert!(blocks("renamed") * 512 < 6 * MB as u64, "{}", blocks("renamed"));
}
