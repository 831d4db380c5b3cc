//! A receiving directory that is in what is sent, on one machine.

use super::support::{options, Far};
use crate::disk::common::{names, Pair};
use afteryou_transfer::job::{get, send, JobOptions, Service};
use afteryou_transfer::source::{Source, SourceOptions, Symlinks};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::Error;
use std::fs;

fn options_of(exclude: &str, symlinks: Symlinks) -> SourceOptions {
    let mut options = SourceOptions::default();
    options.exclude = super::mirror::filter(&[exclude]);
    options.symlinks = symlinks;
    options
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copy_inside_its_own_source_is_refused_and_named_unless_it_is_left_out() {
    for (to, exclude, refused) in [
        ("photos/copies/b", "*.tmp", Some("\"photos/copies/b\"")),
        ("photos", "*.tmp", Some("\"photos\"")),
        ("photos/copies/b", "/photos/copies", None),
        ("photos/copies/b", "b/", None),
        ("beside", "*.tmp", None),
        (".", "*.tmp", None),
    ] {
        for symlinks in [Symlinks::Keep, Symlinks::Follow] {
            let pair = Pair::new();
            pair.write("photos/a", b"a");
            pair.write("photos/copies/c", b"c");
            let to = pair.from().join(to);
            fs::create_dir_all(&to).unwrap();
            let far = Far::start(Service::Receive(Store::open(&to, StoreOptions::default()).unwrap()));
            for connections in [1, 3] {
                let source =
                    Source::of(&[pair.from().join("photos")], options_of(exclude, symlinks)).unwrap();
                let job = JobOptions { connections, ..options().1 };
                match (refused, send(far.dialer(), source, job).await) {
                    (None, Ok(summary)) => assert_eq!(summary.failed, 0),
                    (Some(name), Err(error @ Error::SinkInside { .. })) => {
                        assert!(error.to_string().contains(name), "{error}");
                        assert!(!to.join("photos").exists(), "nothing was stored");
                    }
                    (_, other) => panic!("{}: {other:?}", to.display()),
                }
            }
            far.stop().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_get_into_what_is_served_is_refused_too() {
    for (what, to, exclude, refused) in [
        ("", "photos/copy", "*.tmp", true),
        ("photos", "photos/copy", "*.tmp", true),
        ("photos", "photos", "*.tmp", true),
        ("", "photos/copy", "/photos/copy", false),
        ("other", "photos/copy", "*.tmp", false),
        // Everything is there already.
        ("", ".", "*.tmp", false),
    ] {
        let pair = Pair::new();
        pair.write("photos/a", b"a");
        pair.write("other/b", b"b");
        let to = pair.from().join(to);
        fs::create_dir_all(&to).unwrap();
        let options_here = options_of(exclude, Symlinks::Keep);
        let far = Far::start(Service::Serve { dir: pair.served(), options: options_here });
        let before = names(&to);
        let store = Store::open(&to, StoreOptions::default()).unwrap();
        match get(far.dialer(), what.into(), store, options().1).await {
            Ok(_) => assert!(!refused, "{what} into {}", to.display()),
            Err(error) => {
                assert!(refused && error.to_string().contains("in what is sent"), "{what}: {error}");
                assert_eq!(names(&to), before);
            }
        }
        far.stop().await;
    }
}
