//! Settings that are valid and seldom meant: warnings, not errors.

mod names;
mod slow_links;

use crate::experiment::Planned;
use afteryou_base::param::{Settings, Value};
use afteryou_scenario::record::Record;
use afteryou_scenario::scenario::{Flow, Link, Scenario};
use afteryou_scenario::{discipline, named, runaway, Checked};
use std::collections::BTreeMap;

/// Queue disciplines that draw no random numbers.
const DETERMINISTIC: [&str; 2] = ["droptail", "codel"];

/// Returns a sentence for each trap in a scenario.
fn of_scenario(scenario: &Checked) -> Vec<String> {
    let of_paths = ecn_in_vain(scenario).into_iter().chain(runaway::before(scenario));
    let of_links = slow_links::slow_links(scenario).into_iter().chain(slow_links::short_jitter(scenario));
    let of_links = of_links.chain(names::collisions(scenario));
    of_paths.chain(of_links).chain(of_sets(scenario)).chain(beyond_the_source(scenario)).collect()
}

/// Reports ECN over queues that do not mark.
fn ecn_in_vain(scenario: &Checked) -> Option<String> {
    let network = scenario.network();
    let uses_ecn = |(flow, _): &(usize, &Flow)| {
        let protocol = scenario.flow[*flow].transport.protocol();
        let capable = protocol.is_ok_and(|protocol| protocol.uses_ecn());
        capable && !network.routes[*flow].forward.iter().any(|link| marks(&network.links[*link].link))
    };
    let flows: Vec<&str> =
        scenario.flow.iter().enumerate().filter(uses_ecn).map(|(_, flow)| flow.name.as_str()).collect();
    (!flows.is_empty()).then(|| {
        format!(
            "no queue on the path marks packets, so ECN changes nothing for {}: set ecn = true on the queue",
            named(&flows)
        )
    })
}

/// Sets without flows, and a record that no set takes up.
fn of_sets(scenario: &Scenario) -> Vec<String> {
    let empty = scenario.sets.iter().filter(|set| set.flows.is_empty()).map(|set| {
        format!(
            "no flow of this run is in the set of window {:?}: look at its role and controller",
            set.window
        )
    });
    let mut warnings: Vec<String> = empty.collect();
    if scenario.record.contains(&Record::Losses) && scenario.sets.is_empty() {
        let warning = "record = [\"losses\"] measures sets of flows, and there is none: write flows = \"all\" in [[measure]]";
        warnings.push(warning.to_owned());
    }
    warnings
}

/// Reports settings of controllers that their documents rule out.
fn beyond_the_source(scenario: &Scenario) -> Vec<String> {
    let mut flows: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for flow in &scenario.flow {
        for setting in settings_beyond_the_source(flow) {
            flows.entry(setting).or_default().push(&flow.name);
        }
    }
    flows.into_iter().map(|(setting, flows)| format!("{setting}; so set for {}", named(&flows))).collect()
}

fn settings_beyond_the_source(flow: &Flow) -> Vec<String> {
    let Some(Ok((entry, overrides))) = flow.controller.as_ref().map(|controller| controller.controller())
    else {
        return Vec::new();
    };
    let beyond = |(name, value): &(&'static str, _)| {
        let param = entry.params.iter().find(|param| param.name == *name)?;
        let advice = param.advice_on(*value)?;
        Some(format!("{name} = {value} of {} is above {} ({})", entry.name, advice.most, advice.reason))
    };
    overrides.iter().filter_map(beyond).collect()
}

/// The traps of all runs of an experiment. Each sentence is there once, however many points of a sweep it is about.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    found: Vec<Found>,
    points: usize,
    /// The first repetition at the present point.
    first: Option<Checked>,
}

/// A sentence, how many points it is about, and the settings at the first of them.
#[derive(Clone, Debug)]
struct Found {
    sentence: String,
    points: usize,
    settings: BTreeMap<String, String>,
}

impl Traps {
    /// Looks at the next run, in the order of the experiment.
    pub fn look(&mut self, run: &Planned) {
        match (run.repetition, self.first.take()) {
            (1, _) => {
                self.points += 1;
                of_scenario(&run.scenario).into_iter().for_each(|sentence| self.add(sentence, run));
                self.first = Some(run.scenario.clone());
            }
            // Further repetitions are as different as the second.
            (_, Some(first)) => {
                of_repetitions(&first, &run.scenario)
                    .into_iter()
                    .for_each(|sentence| self.add(sentence, run));
            }
            _ => {}
        }
    }

    fn add(&mut self, sentence: String, run: &Planned) {
        match self.found.iter_mut().find(|found| found.sentence == sentence) {
            Some(found) => found.points += 1,
            None => self.found.push(Found { sentence, points: 1, settings: run.point.clone() }),
        }
    }

    /// Returns each sentence, with the settings of a point if it is not about all.
    pub fn sentences(&self) -> Vec<String> {
        self.found.iter().map(|found| found.sentence(self.points)).collect()
    }
}

impl Found {
    fn sentence(&self, all: usize) -> String {
        let Found { sentence, points, settings } = self;
        if *points == all {
            return sentence.clone();
        }
        let settings: Vec<String> =
            settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        format!("{sentence} (at {points} of {all} points of the sweep, such as {})", settings.join(", "))
    }
}

/// Returns a sentence if two repetitions of a run cannot differ.
fn of_repetitions(first: &Scenario, second: &Scenario) -> Option<String> {
    let unseeded = |scenario: &Scenario| Scenario { seed: 0, ..scenario.clone() };
    (unseeded(first) == unseeded(second) && !is_random(first)).then(|| {
        "nothing in this file is random, so all repetitions are the same: write noise = \"testbed\", or leave repeat out"
            .to_owned()
    })
}

/// Returns whether the link's queue marks packets. One without such a setting does not.
fn marks(link: &Link) -> bool {
    let Ok((entry, overrides)) = discipline(&link.queue) else { return false };
    let marks = Some(Value::Flag(true));
    Settings::new(entry.params, &overrides).is_ok_and(|settings| settings.value("ecn") == marks)
}

fn is_random(scenario: &Scenario) -> bool {
    let link = |link: &Link| {
        let random_queue = !DETERMINISTIC.contains(&link.queue.kind.as_str());
        link.loss.ratio() > 0.0 || link.elements.is_random() || random_queue
    };
    let links = scenario.links().any(|both| link(both) || link(&both.back()));
    links || scenario.flow.iter().any(|flow| flow.elements.is_random() || flow.traffic.is_random())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn runs(queue: &str, top: &str) -> Vec<Checked> {
        let text = format!(
            "duration = \"9 s\"\nrepeat = 2\n{top}\n[link]\nrate = \"10 Mbit/s\"\nbuffer = \"9 packets\"\nqueue = {queue}\n\
             [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"9 ms\"\ntransport = {{ kind = \"tcp\", ecn = true }}\n"
        );
        let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
        runs.into_iter().map(|run| run.scenario).collect()
    }

    #[test]
    fn ecn_without_a_queue_that_marks_is_warned_about() {
        let warnings = |queue: &str| of_scenario(&runs(queue, "")[0]);
        assert!(warnings("\"droptail\"")[0].contains("ECN changes nothing for flow \"a\""));
        assert!(!warnings("{ kind = \"codel\", ecn = \"false\" }").is_empty());
        assert_eq!(warnings("{ kind = \"codel\", ecn = \"true\" }"), [""; 0]);
        assert_eq!(warnings("\"fq_codel\""), [""; 0]);
    }

    #[test]
    fn a_buffer_that_outlasts_the_run_is_warned_about_unless_something_else_limits_the_window() {
        let warnings = |link: &str, flow: &str| {
            let text = format!(
                "duration = \"9 s\"\n[link]\nrate = \"1 Mbit/s\"\n{link}\n[[flow]]\nname = \"a\"\nrtt = \"9 ms\"\n{flow}\n"
            );
            let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
            of_scenario(&runs[0].scenario)
        };
        let (endless, cubic) = ("buffer = \"9 s\"", "controller = \"cubic\"");
        let warning = &warnings(endless, cubic)[0];
        assert!(
            warning.contains("no loss ever stops flow \"a\"") && warning.contains("rwnd = "),
            "{warning}"
        );
        // 9 s at 1 Mbit/s are 750 packets of 1500 bytes.
        assert_eq!(warnings("buffer = \"750 packets\"", "controller = \"newreno\"").len(), 1);
        for (link, flow) in [
            ("buffer = \"749 packets\"", cubic),
            ("buffer = \"9 s\"\nloss = \"1 %\"", cubic),
            ("buffer = \"9 s\"\nqueue = { kind = \"codel\", target = \"20 ms\" }", cubic),
            (endless, "controller = \"vegas\""),
            (endless, "controller = \"cubic\"\ntraffic = { size = \"1 MB\" }"),
            (endless, "controller = \"cubic\"\ntransport = { kind = \"tcp\", rwnd = \"64 KiB\" }"),
        ] {
            assert_eq!(warnings(link, flow), [""; 0], "{link} {flow}");
        }
        assert_eq!(warnings("buffer = \"8 s\"", "controller = \"cubic\"\nstart = \"1 s\"").len(), 1);
    }

    #[test]
    fn every_point_of_a_sweep_is_looked_at_and_a_warning_about_some_names_one() {
        let warnings = |queue: &str, repeat| {
            let text = format!(
                "duration = \"9 s\"\nrepeat = {repeat}\n\
                 [link]\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\nqueue = {queue}\n[[flow]]\nname = \"a\"\n\
                 controller = \"cubic\"\nrtt = \"9 ms\"\ntransport = {{ kind = \"tcp\", ecn = true }}\n\
                 [sweep]\n\"link.queue.ecn\" = [true, false]\n\"link.rate\" = [\"10 Mbit/s\", \"20 Mbit/s\"]\n"
            );
            let experiment = Experiment::parse(&text, "test.toml", &[]).unwrap();
            let mut traps = Traps::default();
            experiment.runs(None, None).unwrap().iter().for_each(|run| traps.look(run));
            traps.sentences()
        };
        let warning = warnings("{ kind = \"codel\" }", 1).remove(0);
        let point = "(at 2 of 4 points of the sweep, such as link.queue.ecn = false, link.rate = 10 Mbit/s)";
        assert!(warning.contains("ECN changes nothing") && warning.ends_with(point), "{warning}");
        let warnings = warnings("{ kind = \"codel\" }", 3);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert!(warnings[0].starts_with("nothing in this file is random") && !warnings[0].contains("(at"));
    }

    #[test]
    fn sets_without_flows_and_losses_without_sets_are_warned_about() {
        let queue = "{ kind = \"codel\", ecn = \"true\", target = \"20 ms\" }";
        let warnings = |top: &str| of_scenario(&runs(queue, top)[0]);
        let losses = "record = [\"losses\"]";
        assert!(warnings(losses)[0].contains("write flows = \"all\""));
        let set = "measure = { from = \"1 s\", flows = \"all\" }";
        assert_eq!(warnings(&format!("{losses}\n{set}")), [""; 0]);
        let empty = "measure = { from = \"1 s\", role = \"background\" }";
        assert!(warnings(empty)[0].contains("no flow of this run"));
    }

    #[test]
    fn a_target_that_rfc_6817_rules_out_is_warned_about_once_for_all_its_flows() {
        let warnings = |controller: &str| {
            let text = format!(
                "duration = \"9 s\"\n[link]\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n\
                 [[flow]]\nname = \"a\"\ncount = 2\ncontroller = \"{controller}\"\nrtt = \"9 ms\"\n"
            );
            let runs = Experiment::parse(&text, "test.toml", &[]).unwrap().runs(None, None).unwrap();
            of_scenario(&runs[0].scenario)
        };
        for kind in ["ledbat", "fledbat"] {
            assert_eq!(warnings(&format!("{kind},target=100ms")), [""; 0]);
            let warning = format!(
                "target = 101 ms of {kind} is above 100 ms (RFC 6817 §2.5: it MUST be 100 ms or less); \
                 so set for flows \"a 1\", \"a 2\""
            );
            assert_eq!(warnings(&format!("{kind},target=101ms")), [warning]);
        }
        assert_eq!(warnings("libutp,target=200ms"), [""; 0]);
    }

    #[test]
    fn repetitions_that_cannot_differ_are_warned_about() {
        let warning = |queue: &str, top: &str| {
            let runs = runs(queue, top);
            of_repetitions(&runs[0], &runs[1])
        };
        assert!(warning("\"droptail\"", "").is_some());
        assert_eq!(warning("\"droptail\"", "noise = \"testbed\""), None);
        assert_eq!(warning("\"pie\"", ""), None);
    }
}
