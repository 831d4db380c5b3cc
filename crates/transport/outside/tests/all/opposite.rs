//! Beside traffic of the own host in the other direction.

use crate::path::Path;
use afteryou_outside::rule::Direction::{self, Down, Up};

/// Returns the mean of `measure` over three round trips and two numbers of connections.
fn mean(direction: Direction, measure: impl Fn(&mut Path) -> f64) -> f64 {
    let rows: Vec<f64> = [20, 40, 80]
        .into_iter()
        .flat_map(|base_ms| [1, 4].map(|connections| (base_ms, connections)))
        .map(|(base_ms, connections)| measure(&mut Path::new(direction, 20.0, base_ms, 500.0, connections)))
        .collect();
    println!("{direction:?}: {rows:.2?}");
    rows.iter().sum::<f64>() / rows.len() as f64
}

#[test]
fn an_upload_of_the_own_host_leaves_a_download_a_third_of_the_link() {
    for direction in [Down, Up] {
        let beside = mean(direction, |path| {
            path.run(20_000);
            path.upload(true);
            path.run(10_000);
            path.run(60_000).0
        });
        assert!(beside >= 0.33, "{direction:?}: {beside}");
    }
}

#[test]
fn when_the_upload_is_over_the_download_has_the_link_again() {
    for direction in [Down, Up] {
        let after = mean(direction, |path| {
            path.run(20_000);
            path.upload(true);
            path.run(30_000);
            path.upload(false);
            path.run(4_000);
            path.run(10_000).0
        });
        assert!(after >= 0.9, "{direction:?}: {after}");
    }
}

#[test]
fn beside_an_own_upload_it_yields_to_a_download_of_another_host() {
    for direction in [Down, Up] {
        let beside = mean(direction, |path| {
            path.run(20_000);
            path.upload(true);
            path.run(20_000);
            path.start_reno();
            path.run(5_000);
            path.run(60_000).0
        });
        assert!(beside <= 0.1, "{direction:?}: {beside}");
    }
}
