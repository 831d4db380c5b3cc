//! The kernel's own queues at the bottleneck, where the user may make namespaces.

use super::common::{alone, beside_others};
use crate::testbed::{run_alone, scenario, skipped, CUBIC};
use afteryou_bed::run::{Options, QueueBy};
use afteryou_bed::{testbed, Error};
use afteryou_scenario::outcome::{Outcome, Quantiles};
use afteryou_scenario::{Record, Scenario};

const KERNEL: QueueBy = QueueBy::Kernel;

fn by_kernel(scenario: &Scenario) -> Result<Outcome, Error> {
    testbed::run(scenario, &Options { queue_by: KERNEL, ..Options::default() }, &mut |_| true)
}

/// The same with the machine to itself.
fn by_kernel_alone(scenario: &Scenario) -> Result<Outcome, Error> {
    let _alone = alone();
    by_kernel(scenario)
}

#[test]
fn the_kernels_fifo_has_the_queue_that_ours_has() {
    for (buffer, words) in [("60 packets", "pfifo limit 60"), ("60 ms", "bfifo limit 75000")] {
        let mut scenario = scenario(CUBIC);
        scenario.link.buffer = buffer.parse().unwrap();
        let real = match by_kernel_alone(&scenario) {
            Ok(outcome) => outcome,
            Err(error) => return skipped(error).unwrap_or_default(),
        };
        // The kernel's TCP in both, so that the queue alone differs.
        let Some(ours) = run_alone(&scenario) else { return };
        let (is, should) = (&real.run.windows[0].links[0], &ours.run.windows[0].links[0]);
        println!("{is:?}\n{should:?}\n{:?}", real.run.links[0]);
        assert!((is.utilisation - should.utilisation).abs() < 0.03, "{is:?} beside {should:?}");
        let mean_ms = |delay: Option<Quantiles>| delay.unwrap().mean_ms;
        let (is_ms, should_ms) = (mean_ms(is.queuing_delay), mean_ms(should.queuing_delay));
        assert!((is_ms / should_ms - 1.0).abs() < 0.1, "{is_ms} ms beside {should_ms} ms");
        // A packet takes 1.2 ms on the link.
        let packets = is.queue_packets.unwrap();
        assert!((packets * 1.2 / is_ms - 1.0).abs() < 0.1, "{packets} packets, {is_ms} ms");
        let link = &real.run.links[0];
        let queued_by = link.queued_by.as_deref().unwrap();
        assert!(queued_by.starts_with("Linux ") && queued_by.ends_with(words), "{queued_by}");
        let packets = link.packets.unwrap();
        assert!(packets.dropped > 0 && packets.unfinished <= 80, "{packets:?}");
        assert_eq!(link.ledger, None, "the kernel does not say how large the packets were that it dropped");
        assert_eq!(real.run.links[1].queued_by, None, "the link of acknowledgements is ours");
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
    let reasons = testbed::by_kernel_queues(&scenario).unwrap_err();
    let keys: Vec<_> = reasons.iter().map(|reason| reason.key.as_str()).collect();
    assert_eq!(keys, ["record", "link.queue"]);
    let error = by_kernel(&scenario).unwrap_err().to_string();
    assert!(error.starts_with("of its own queue the kernel reports neither"), "{error}");
}
