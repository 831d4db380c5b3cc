//! The kernel's own queues at the bottleneck, where the user may make namespaces.

use super::common::{beside_others, judged, spoiled, within};
use crate::testbed::{scenario, skipped, started, CUBIC};
use afteryou_bed::run::{Options, QueueBy};
use afteryou_bed::{testbed, Error};
use afteryou_scenario::outcome::{LinkFigures, Outcome};
use afteryou_scenario::{Record, Scenario};
use std::ops::ControlFlow;

const KERNEL: QueueBy = QueueBy::Kernel;

fn by_kernel(scenario: &Scenario) -> Result<Outcome, Error> {
    let scenario = scenario.clone().checked().unwrap();
    testbed::run(&scenario, &Options { queue_by: KERNEL, ..Options::default() }, &mut |_| {
        ControlFlow::Continue(())
    })
}

/// A run with the kernel's queue and one with ours.
type Both = Option<(Outcome, Outcome)>;

/// Runs a scenario with both queues. The kernel's TCP is in both, so that the queue alone differs.
fn both(scenario: &Scenario) -> Both {
    let by_kernel = by_kernel(scenario).map_or_else(skipped, Some)?;
    Some((by_kernel, started(scenario)?))
}

/// Returns whether the kernel or the relay stopped for a while, in words. A packet that waits longer than a full buffer of
/// `buffer_ms` takes is the trace that the kernel's queue keeps of that.
fn stopped(both: &Both, buffer_ms: f64) -> Option<String> {
    let (by_kernel, by_us) = both.as_ref()?;
    let longest_ms = link_of(by_kernel).queuing_delay.as_ref()?.max_ms;
    let over = longest_ms > buffer_ms + 5.0;
    let over = over.then(|| format!("a packet waited {longest_ms} ms for a buffer of {buffer_ms} ms"));
    over.or_else(|| spoiled(by_us.run.lateness))
}

fn link_of(outcome: &Outcome) -> &LinkFigures {
    &outcome.run.windows[0].links[0]
}

/// Compares the two queues, which should be the same. The kernel names its own by `words`.
fn compare(both: &Both, words: &str) -> Result<(), String> {
    let Some((by_kernel, by_us)) = both else { return Ok(()) };
    let (is, should) = (link_of(by_kernel), link_of(by_us));
    let mean_ms = |link: &LinkFigures| link.queuing_delay.as_ref().map_or(f64::NAN, |delay| delay.mean_ms);
    within("utilisation", is.utilisation, should.utilisation, 0.03)?;
    within("mean delay, ms", mean_ms(is), mean_ms(should), 0.1 * mean_ms(should))?;
    // A packet takes 1.2 ms on the link.
    within("mean delay by packets, ms", is.queue_packets.unwrap() * 1.2, mean_ms(is), 0.1 * mean_ms(is))?;
    let link = &by_kernel.run.links[0];
    let queued_by = link.queued_by.as_deref().unwrap();
    assert!(queued_by.starts_with("Linux ") && queued_by.ends_with(words), "{queued_by}");
    let packets = link.packets.unwrap();
    assert!(packets.dropped > 0 && packets.unfinished <= 80, "{packets:?}");
    assert_eq!(link.ledger, None, "the kernel does not say how large the packets were that it dropped");
    assert_eq!(by_kernel.run.links[1].queued_by, None, "the link of acknowledgements is ours");
    Ok(())
}

#[test]
fn the_kernels_fifo_has_the_queue_that_ours_has() {
    for (buffer, buffer_ms, words) in
        [("60 packets", 72.0, "pfifo limit 60"), ("60 ms", 60.0, "bfifo limit 75000")]
    {
        let mut scenario = scenario(CUBIC);
        scenario.link.buffer = buffer.parse().unwrap();
        let measure = || {
            let both = both(&scenario);
            let trouble = stopped(&both, buffer_ms);
            (both, trouble)
        };
        judged(measure, |both| compare(both, words));
    }
}

#[test]
fn a_queue_is_the_kernels_or_refused_with_those_that_it_has() {
    let mut scenario = scenario(CUBIC);
    scenario.link.queue = "fq_codel".parse().unwrap();
    let _beside_others = beside_others();
    match by_kernel(&scenario) {
        Ok(outcome) => {
            let queued_by = outcome.run.links[0].queued_by.as_deref().unwrap();
            assert!(queued_by.contains("fq_codel limit 100 "), "{queued_by}");
        }
        Err(error @ Error::NoQdisc { .. }) => {
            let text = error.to_string();
            let begin =
                "link \"bottleneck\": this kernel has no queue discipline fq_codel: it has pfifo, bfifo";
            assert!(text.starts_with(begin) && text.lines().count() == 1, "{text}");
        }
        Err(error) => skipped(error).unwrap_or_default(),
    }
}

#[test]
fn what_the_kernels_queues_cannot_do_is_listed_with_its_key() {
    let mut scenario = scenario(CUBIC);
    scenario.record = vec![Record::Losses];
    scenario.link.queue = "drr".parse().unwrap();
    let reasons = testbed::by_kernel_queues(&scenario.clone().checked().unwrap()).unwrap_err();
    let keys: Vec<_> = reasons.iter().map(|reason| reason.key.as_str()).collect();
    assert_eq!(keys, ["record", "link.queue"]);
    let error = by_kernel(&scenario).unwrap_err().to_string();
    assert!(error.starts_with("of its own queue the kernel reports neither"), "{error}");
}
