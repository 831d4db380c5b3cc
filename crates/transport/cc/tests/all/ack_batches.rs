//! A busy host reads many acks before it sends again: no controller's goodput may depend on that.

use crate::path::{Path, BASE, MSS, TRANSMISSION};
use afteryou_cc::list::{find, CONTROLLERS};

/// Acks that the host reads before it sends.
const BATCHES: [u64; 3] = [1, 8, 64];
/// How far the goodput may fall below that with single acks, as a part of it. 64 packets take the link 3 ms, so what a batch
/// adds to the delays is small against every target.
const BAND: f64 = 0.02;
/// From this part of the link's rate on, a controller fills the link.
const FULL: f64 = 0.9;

/// Part of a full link that CDG keeps after a backoff. It takes a batch's waiting for a change of the queue, and backs off at random.
const CDG: f64 = 0.707;

/// Copa steers to two packets in the queue. A larger batch than this is a jitter of many times that, of which the smallest round-trip time of
/// half a round trip hides the most: it keeps this part.
const COPA: (u64, f64) = (8, 0.5);

/// Returns the goodput that batches of `batch` must leave of `single`. A window that does not fill the link, say a fixed
/// one, comes round less often by the time that an ack may wait; one that fills it makes up for that.
fn least(name: &str, batch: u64, single: f64) -> f64 {
    match name {
        "cdg" => return CDG,
        "copa" if batch > COPA.0 => return COPA.1,
        _ => {}
    }
    let waiting = if single >= FULL { 0.0 } else { batch as f64 * TRANSMISSION.as_secs_f64() };
    (1.0 - BAND) * single * BASE.as_secs_f64() / (BASE.as_secs_f64() + waiting)
}

#[test]
fn batches_of_8_and_64_acks_leave_every_controller_its_goodput() {
    for entry in CONTROLLERS {
        let [single, by_8, by_64] = BATCHES.map(|batch| Path::new(entry, batch).goodput(12, 32));
        println!("{}: {single:.3}, {by_8:.3}, {by_64:.3}", entry.name);
        for (batch, goodput) in [(8, by_8), (64, by_64)] {
            assert!(
                goodput >= least(entry.name, batch, single),
                "{}: {goodput:.3} with batches of {batch}, {single:.3} with single acks",
                entry.name
            );
        }
    }
}

#[test]
fn a_chunk_begins_with_the_window_that_the_one_before_it_left() {
    // 4000 packets take the link 200 ms, and the last acks 20 ms in which nothing is sent: ten elevenths of the time.
    let ledbat = find("ledbat").expect("in the list");
    for batch in BATCHES {
        let goodput = Path::new(ledbat, batch).in_chunks_of(4000 * MSS).goodput(12, 32);
        println!("batches of {batch}: {goodput:.3}");
        assert!(goodput >= (1.0 - BAND) * 10.0 / 11.0, "batches of {batch}: {goodput:.3}");
    }
}

#[test]
fn chunks_that_fit_the_window_do_not_widen_it() {
    // RFC 6817 §2.4.2: the flight and ALLOWED_INCREASE, one packet.
    let ledbat = find("ledbat").expect("in the list");
    for batch in BATCHES {
        let mut path = Path::new(ledbat, batch).in_chunks_of(30 * MSS);
        path.goodput(0, 10);
        assert_eq!(path.packets(), 31, "batches of {batch}");
    }
}
