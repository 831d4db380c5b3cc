//! Statements about a scenario without running it: every closed form that applies to it, by name.
//!
//! Flows of one rule, one round trip and one packet size are a group. The closed forms take a group to be alone on the link;
//! a note mentions where it is not.

mod expect;
mod groups;
mod says;
mod together;
mod transfers;

use crate::closed::Link;
use crate::error::Error;
use crate::network::{Network, Sender};
use crate::options::Options;
use crate::plan;
use afteryou_scenario::{Checked, Scenario};
use groups::Group;

/// A number that follows from a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// Its subject: "link", or flows of one kind as "fledbat × 2, 50 ms".
    pub of: String,
    /// The quantity, in a few words.
    pub what: &'static str,
    /// The quantity's value.
    pub value: f64,
    /// Unit; empty for ratios.
    pub unit: &'static str,
    /// How it was computed, in symbols.
    pub formula: &'static str,
}

/// Statements about a scenario without running it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Numbers, in the order in which they should be read.
    pub quantities: Vec<Quantity>,
    /// Sentences: what follows from the numbers, and which assumptions of a closed form the scenario does not meet.
    pub notes: Vec<String>,
}

impl Analysis {
    /// Returns the value of a quantity by what it is about and what it is.
    pub fn value(&self, of: &str, what: &str) -> Option<f64> {
        let found = self.quantities.iter().find(|quantity| quantity.of == of && quantity.what == what);
        found.map(|quantity| quantity.value)
    }

    fn add(&mut self, of: &str, what: &'static str, value: f64, unit: &'static str, formula: &'static str) {
        self.quantities.push(Quantity { of: of.to_owned(), what, value, unit, formula });
    }
}

/// Computes every closed form that applies to `scenario`.
///
/// # Errors
/// As [`crate::run`], but for what only a run can show.
pub fn explain(scenario: &Checked, options: &Options) -> Result<Analysis, Error> {
    let network = plan::network(scenario, options)?;
    let mut analysis = Analysis::default();
    let groups = groups(scenario, &network);
    let packet_bytes = network.senders.iter().map(|sender| sender.size).fold(1.0, f64::max);
    let link = |packet_bytes: f64, rtt_s: f64| Link {
        bits_per_second: scenario.link.rate.bits_per_second() as f64,
        packet_bytes,
        buffer: network.buffer / packet_bytes,
        rtt_s,
    };
    let all = link(packet_bytes, 0.0);
    let mut add = |what, value, unit, formula| analysis.add("link", what, value, unit, formula);
    add("capacity", all.capacity(), "packets/s", "C = rate / packet");
    add("buffer", all.buffer, "packets", "B");
    add("buffer as a delay", all.buffer_s() * 1e3, "ms", "B/C");
    let load = together::constant_load(&groups, &network);
    if load > 0.0 {
        let left_over = (1.0 - load).max(0.0) * all.bits_per_second / 1e6;
        add("left over by constant rates", left_over, "Mbit/s", "C less constant rates");
    }
    for group in &groups {
        group.explain(&link(group.sender.size, group.sender.rtt_s), options, &mut analysis);
    }
    let of = |group: &groups::Group| link(group.sender.size, group.sender.rtt_s);
    if load >= 1.0 {
        together::nothing_left(&groups, load, &network, &mut analysis);
    } else {
        analysis.notes.extend(expect::expect(&groups, network.loss, of));
        if groups.iter().all(|group| group.passing_load(&of(group)).is_none()) {
            together::explain(&groups, &network, &mut analysis);
        }
    }
    if network.loss > 0.0 {
        analysis.notes.push(format!(
            "the numbers leave random loss out: by itself it keeps a window that halves at some {:.0} packets",
            groups::reno_window(network.loss)
        ));
    }
    if groups.len() > 1 {
        analysis.notes.push(
            "there are flows of several kinds: but for what is said of them together, the numbers of each hold for it alone on \
             the link"
                .to_owned(),
        );
    }
    Ok(analysis)
}

/// Groups flows of one rule, one round trip and one packet size, in the order of their first.
fn groups(scenario: &Scenario, network: &Network) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (flow, sender) in scenario.flow.iter().zip(&network.senders) {
        let same = |other: &Sender| {
            (&other.model, other.rtt_s, other.size) == (&sender.model, sender.rtt_s, sender.size)
        };
        match groups.iter_mut().find(|group| same(&group.sender)) {
            Some(group) => group.join(flow),
            None => groups.push(Group::new(flow, sender.clone(), network.options)),
        }
    }
    let names: Vec<String> = groups.iter().map(Group::name).collect();
    for (group, name) in groups.iter_mut().zip(&names) {
        group.has_namesake = names.iter().filter(|other| *other == name).count() > 1;
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Feedback, RoundTrip};
    use afteryou_scenario::{Duration, Flow, Role, Size, Traffic};

    /// Analyses a scenario that has no fault.
    fn explain(scenario: &Scenario, options: &Options) -> Result<Analysis, Error> {
        super::explain(&scenario.clone().checked().unwrap(), options)
    }

    fn scenario(controllers: &[&str], buffer: &str) -> Scenario {
        let link = afteryou_scenario::Link::new("10 Mbit/s".parse().unwrap(), buffer.parse().unwrap());
        let format = afteryou_scenario::scenario::PacketFormat {
            payload: Size::from_bytes(1448),
            overhead: Size::from_bytes(52),
        };
        let flow = |(i, controller): (usize, &&str)| Flow {
            controller: Some(controller.parse().unwrap()),
            packet: Some(format),
            ..Flow::new(format!("f{i}"), Role::Background, "", Duration::from_millis(50))
        };
        let flow = controllers.iter().enumerate().map(flow).collect();
        Scenario { flow, ..Scenario::new("", Duration::from_millis(1000), link) }
    }

    fn explained(controllers: &[&str], buffer: &str) -> Analysis {
        explain(&scenario(controllers, buffer), &Options::default()).unwrap()
    }

    fn near(value: Option<f64>, expected: f64) {
        assert!(value.is_some_and(|value| (value / expected - 1.0).abs() < 1e-4), "{value:?}, {expected}");
    }

    #[test]
    fn a_group_of_fledbats_is_explained_with_the_numbers_of_the_paper() {
        let analysis = explained(&["fledbat", "fledbat"], "100 packets");
        let of = |what: &str| analysis.value("fledbat × 2, 50 ms", what);
        near(analysis.value("link", "capacity"), 833.333333);
        near(analysis.value("link", "buffer as a delay"), 120.0);
        near(of("queue at rest, constant round trips"), 30.833333);
        near(of("period"), 0.70350);
        near(of("slowest rate of approach"), 0.48);
        near(of("ζ*"), 2.88e-4);
        assert!(of("phase margin with delay").unwrap() < 0.0);
    }

    #[test]
    fn an_equilibrium_above_the_buffer_is_said_to_be_out_of_reach() {
        let analysis = explained(&["fledbat,zeta=0.01"; 10], "100 packets");
        assert!(analysis.notes.iter().any(|note| note.contains("losses rule")), "{:?}", analysis.notes);
        let analysis = explained(&["fledbat"; 2], "100 packets");
        assert!(!analysis.notes.iter().any(|note| note.contains("losses rule")), "{:?}", analysis.notes);
    }

    #[test]
    fn every_controller_with_a_model_has_something_to_explain() {
        for entry in crate::CONTROLLERS {
            let analysis = explained(&[entry.name], "100 packets");
            let of = format!("{} × 1, 50 ms", entry.name);
            let about = analysis.quantities.iter().filter(|quantity| quantity.of == of);
            assert!(about.count() >= 3, "{}", entry.name);
            assert!(analysis.quantities.iter().all(|quantity| quantity.value.is_finite()));
        }
    }

    #[test]
    fn groups_that_only_a_setting_tells_apart_have_names_of_their_own() {
        let analysis = explained(&["fledbat,zeta=0.1", "fledbat,zeta=0.5"], "100 packets");
        near(analysis.value("fledbat × 1, 50 ms (f0)", "queue at rest, constant round trips"), 25.833333);
        near(analysis.value("fledbat × 1, 50 ms (f1)", "queue at rest, constant round trips"), 21.833333);
    }

    #[test]
    fn latecomers_are_mistaken_only_where_they_have_to_measure_the_path() {
        let mut late = scenario(&["ledbat,target=25ms"; 2], "100 packets");
        late.flow[1].start = Duration::from_millis(500);
        let warned = |options: &Options| {
            explain(&late, options).unwrap().notes.iter().any(|note| note.contains("latecomers"))
        };
        assert!(warned(&Options::default()) && !warned(&Options::PAPERS));
    }

    #[test]
    fn more_flows_than_smallest_windows_fit_are_said_not_to_come_to_rest() {
        let analysis = explained(&["ledbat"; 100], "500 packets");
        let says = |words: &str| analysis.notes.iter().any(|note| note.contains(words));
        // 200 packets on a path of 41.7 leave 158.3 in the queue, 190 ms.
        assert!(says("smallest windows") && says("about 190 ms of delay"), "{:?}", analysis.notes);
        assert!(!says("limit cycle"), "{:?}", analysis.notes);
    }

    #[test]
    fn on_a_path_that_is_too_long_ledbatpp_is_not_promised_its_nine_tenths() {
        let notes = |rtt_ms: u64, controller: &str| {
            let mut long = scenario(&[controller], "500 packets");
            long.link.rate = "20 Mbit/s".parse().unwrap();
            long.flow[0].rtt = Duration::from_millis(rtt_ms);
            explain(&long, &Options::default()).unwrap().notes.join("\n")
        };
        assert!(notes(150, "ledbat++").contains("92 % of the link"));
        for rtt_ms in [250, 300, 400, 600, 1000] {
            let beyond = notes(rtt_ms, "ledbat++");
            assert!(beyond.contains("unused") && !beyond.contains("% of the link"), "{rtt_ms} ms: {beyond}");
        }
        assert!(!notes(400, "ledbat++,slowdowns=false").contains("unused"));
    }

    #[test]
    fn on_a_path_that_is_too_long_the_least_that_ledbatpp_uses_is_named_in_place_of_nine_tenths() {
        // The simulator over TCP without pacing, 300 s to 900 s of a lone flow.
        for (mbit, rtt_ms, simulated) in [
            (20, 250, 0.827),
            (20, 300, 0.686),
            (20, 400, 0.515),
            (20, 600, 0.347),
            (20, 1000, 0.207),
            (100, 300, 0.574),
            (100, 500, 0.346),
        ] {
            let mut long = scenario(&["ledbat++"], "500 ms");
            long.link.rate = format!("{mbit} Mbit/s").parse().unwrap();
            long.flow[0].rtt = Duration::from_millis(rtt_ms);
            let analysis = explain(&long, &Options::default()).unwrap();
            let of = |what: &str| analysis.value(&format!("ledbat++ × 1, {}", long.flow[0].rtt), what);
            assert_eq!((of("utilisation alone"), of("utilisation alone, the 9/10 model")), (None, None));
            let least = of("least utilisation alone").unwrap();
            assert!((0.8..=1.0).contains(&(least / simulated)), "{mbit} Mbit/s, {rtt_ms} ms: {least}");
        }
    }

    #[test]
    fn constant_round_trips_are_promised_what_their_equations_do() {
        let notes = |controller: &str, feedback: Feedback, round_trip: RoundTrip| {
            let mut one = scenario(&[controller], "500 ms");
            one.link.rate = "20 Mbit/s".parse().unwrap();
            let options = Options { feedback, round_trip, ..Options::default() };
            explain(&one, &options).unwrap().notes.join("\n")
        };
        let with_queue = |controller| notes(controller, Feedback::Delayed, RoundTrip::WithQueue);
        assert!(with_queue("fledbat").contains("about 27 ms"), "{}", with_queue("fledbat"));
        assert!(with_queue("ledbat++").contains("94 % of the link"), "{}", with_queue("ledbat++"));
        // The engine: 28 ms to the digit at once; between nothing and 46 ms with its delay.
        let at_once = |controller| notes(controller, Feedback::AtOnce, RoundTrip::Constant);
        assert!(at_once("fledbat").contains("about 28 ms"), "{}", at_once("fledbat"));
        assert!(!at_once("fledbat").contains("limit cycle"), "{}", at_once("fledbat"));
        let delayed = notes("fledbat", Feedback::Delayed, RoundTrip::Constant);
        assert!(
            delayed.contains("limit cycle") && delayed.contains("swing from little to 28 ms"),
            "{delayed}"
        );
        // Nothing damps LEDBAT, and LEDBAT++ uses 82 % of the link at a mean of 7 ms.
        assert!(at_once("ledbat").contains("swing from little to 100 ms"), "{}", at_once("ledbat"));
        let ledbatpp = notes("ledbat++", Feedback::Delayed, RoundTrip::Constant);
        assert!(!ledbatpp.contains("% of the link") && !ledbatpp.contains("about 60 ms"), "{ledbatpp}");
    }

    #[test]
    fn short_transfers_are_not_said_to_fill_the_buffer() {
        let transfers = |n: u64, bytes: u64, every_ms: u64| {
            let mut some = scenario(&vec!["cubic"; n as usize], "500 ms");
            some.link.rate = "20 Mbit/s".parse().unwrap();
            for (flow, i) in some.flow.iter_mut().zip(0..) {
                flow.start = Duration::from_millis(i * every_ms);
                flow.traffic = Traffic::Size(Size::from_bytes(bytes));
            }
            some
        };
        let says = |scenario: &Scenario, words: &str| {
            explain(scenario, &Options::default()).unwrap().notes.iter().any(|note| note.contains(words))
        };
        let few = transfers(100, 200_000, 560);
        assert!(
            says(&few, "15 % of the link") && says(&few, "not modelled") && !says(&few, "fill the buffer")
        );
        // A load beyond the link, and transfers that are no short ones, fill it.
        assert!(says(&transfers(100, 200_000, 10), "fill the buffer"));
        assert!(says(&transfers(2, 100_000_000, 50_000), "fill the buffer"));
        let mut beside = few;
        beside.flow.push(scenario(&["ledbat++"], "500 ms").flow.remove(0));
        beside.flow[100].name = "backup".to_owned();
        assert!(!says(&beside, "step aside") && says(&beside, "while nobody else sends"));
    }

    #[test]
    fn where_the_nine_tenths_model_says_nonsense_it_is_left_out() {
        let of = |rate: &str| {
            let mut slow = scenario(&["ledbat++"], "500 packets");
            slow.link.rate = rate.parse().unwrap();
            slow.flow[0].rtt = Duration::from_millis(10);
            let analysis = explain(&slow, &Options::default()).unwrap();
            analysis.value("ledbat++ × 1, 10 ms", "utilisation alone, the 9/10 model")
        };
        assert!(of("20 Mbit/s").is_some_and(|used| used > 0.9 && used < 1.0), "{:?}", of("20 Mbit/s"));
        assert_eq!(of("64 kbit/s"), None);
    }

    #[test]
    fn random_loss_that_keeps_a_flow_small_keeps_it_from_filling_the_buffer() {
        for (controller, loss, fills) in [
            ("newreno", "0 %", true),
            ("newreno", "1 %", false),
            ("cubic", "0.0001 %", true),
            ("cubic", "1 %", false),
        ] {
            let mut lossy = scenario(&[controller], "100 packets");
            lossy.link.loss = loss.parse().unwrap();
            let notes = explain(&lossy, &Options::default()).unwrap().notes;
            let says = notes.iter().any(|note| note.contains("fill the buffer"));
            assert_eq!(says, fills, "{controller}, {loss}: {notes:?}");
        }
    }

    #[test]
    fn flows_of_several_kinds_are_groups_of_their_own() {
        let analysis = explained(&["ledbat", "fledbat", "ledbat"], "100 packets");
        near(analysis.value("ledbat × 2, 50 ms", "period, constant round trips"), 4.0 * 0.50695);
        assert!(analysis.value("fledbat × 1, 50 ms", "period").is_some());
        assert!(analysis.notes.iter().any(|note| note.contains("several kinds")));
    }
}
