//! Links on which a packet takes longer than a setting supposes: the target of their queue, or their jitter.

use afteryou_base::param::{Settings, Value};
use afteryou_base::Span;
use afteryou_scenario::network::Network;
use afteryou_scenario::{discipline, random, Checked, Scenario};

/// The parameter of CoDel and PIE, and of the disciplines made of them.
const TARGET: &str = "target";
/// A queue that raises its target by itself.
const SLOW_LINK: &str = "slow_link";

/// Draws of a link's jitter from which its span is taken.
const DRAWS: usize = 200;

/// Returns a sentence for each link on which a packet takes longer than the jitter spans.
pub(super) fn short_jitter(scenario: &Checked) -> Vec<String> {
    let network = scenario.network();
    let of_link = |index: usize| {
        let link = &network.links[index];
        let jitter = link.link.elements.jitter.as_ref().filter(|jitter| jitter.law.is_random())?;
        let mut random = random::stream(0, "span of jitter");
        let draws: Vec<Span> = (0..DRAWS).map(|_| jitter.law.draw(&mut random).0).collect();
        let spans = Span(draws.iter().max()?.0 - draws.iter().min()?.0);
        let (_, takes) = largest_packet(scenario, network, index)?;
        (spans < takes).then(|| {
            format!(
                "the jitter on the link {:?} spans {} ms, less than the {} ms that a packet takes there: no packet overtakes another, \
                 and the gaps between packets hardly change; use a longer one, or a faster link",
                link.name,
                ms(spans),
                ms(takes)
            )
        })
    };
    (0..network.links.len()).filter_map(of_link).collect()
}

/// Returns the largest packet of data that a link carries, bytes, and the time that it takes; `None` where there are no
/// data.
fn largest_packet(scenario: &Scenario, network: &Network, index: usize) -> Option<(u64, Span)> {
    let sends = |flow: &usize| network.routes_of(*flow).any(|route| route.forward.contains(&index));
    let size = |flow: usize| {
        let format = scenario.flow[flow].packet_format();
        format.payload.bytes() + format.overhead.bytes()
    };
    let bytes = network.flows_on(index).filter(sends).map(size).max()?;
    Some((bytes, Span::of_bytes(8 * bytes, network.links[index].link.rate.bits_per_second())))
}

fn ms(span: Span) -> f64 {
    (span.as_millis_f64() * 10.0).round() / 10.0
}

/// Returns a sentence for each link on which a packet takes longer than the target of the link's queue.
pub(super) fn slow_links(scenario: &Checked) -> Vec<String> {
    let network = scenario.network();
    let of_link = |index: usize| {
        let link = &network.links[index];
        let (entry, overrides) = discipline(&link.link.queue).ok()?;
        let settings = Settings::new(entry.params, &overrides).ok()?;
        let Some(Value::Time(target)) = settings.value(TARGET) else { return None };
        if settings.value(SLOW_LINK) == Some(Value::Flag(true)) {
            return None;
        }
        let (bytes, takes) = largest_packet(scenario, network, index)?;
        (target < takes).then(|| sentence(&link.name, entry.name, bytes, target, takes))
    };
    (0..network.links.len()).filter_map(of_link).collect()
}

fn sentence(link: &str, queue: &str, bytes: u64, target: Span, takes: Span) -> String {
    format!(
        "a packet of {bytes} B takes {} ms on the link {link:?}, longer than the {} ms target of its {queue}, which then drops SYNs, \
         too; real networks raise it (CAKE: one and a half packets' time, sqm-scripts: one): set target = \"{} ms\"",
        ms(takes),
        ms(target),
        (takes.as_millis_f64() * 1.5).ceil()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn warnings(rate: &str, queue: &str) -> Vec<String> {
        let text = format!(
            "duration = \"9 s\"\n[link]\nrate = \"{rate}\"\nbuffer = \"200 ms\"\nqueue = {queue}\n\
             [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n"
        );
        let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
        slow_links(&runs[0].scenario)
    }

    #[test]
    fn a_target_below_a_packets_time_is_warned_about_with_what_real_networks_set() {
        for queue in ["codel", "fq_codel", "le_fq_codel", "le_threshold", "le_two_queues"] {
            let [warning] = &warnings("2 Mbit/s", &format!("\"{queue}\""))[..] else { panic!("{queue}") };
            assert!(warning.contains("takes 6 ms") && warning.contains("the 5 ms target"), "{warning}");
            assert!(warning.contains("CAKE") && warning.ends_with("set target = \"9 ms\""), "{warning}");
        }
        for queue in ["pie", "fq_pie", "le_pie"] {
            assert!(warnings("2 Mbit/s", &format!("\"{queue}\"")).is_empty(), "{queue}: 15 ms");
            assert_eq!(warnings("500 kbit/s", &format!("\"{queue}\"")).len(), 1, "{queue}");
        }
        assert_eq!(warnings("2.5 Mbit/s", "\"fq_codel\""), [""; 0]);
        assert_eq!(warnings("2 Mbit/s", "\"droptail\""), [""; 0]);
        assert_eq!(warnings("2 Mbit/s", "{ kind = \"fq_codel\", target = \"9 ms\" }"), [""; 0]);
        assert_eq!(warnings("2 Mbit/s", "{ kind = \"codel\", slow_link = \"true\" }"), [""; 0]);
    }

    #[test]
    fn jitter_shorter_than_a_packets_time_is_warned_about() {
        let warnings = |rate: &str, jitter: &str| {
            let text = format!(
                "duration = \"9 s\"\n[link]\nrate = \"{rate}\"\nbuffer = \"200 ms\"\njitter = {jitter}\n\
                 [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"40 ms\"\n"
            );
            let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
            short_jitter(&runs[0].scenario)
        };
        let [warning] = &warnings("1 Mbit/s", "{ uniform = \"2 ms\", reorder = true }")[..] else {
            panic!("one link carries data")
        };
        assert!(warning.contains("less than the 12 ms that a packet takes"), "{warning}");
        assert_eq!(warnings("1 Mbit/s", "{ uniform = \"20 ms\", reorder = true }"), [""; 0]);
        assert_eq!(warnings("100 Mbit/s", "{ uniform = \"2 ms\" }"), [""; 0]);
    }
}
