//! Network elements in files.

use super::*;
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::{GilbertElliott, LossLaw, RateLaw};
use afteryou_scenario::{Probability, Rate, Size};

fn ratio(ratio: f64) -> Probability {
    Probability::from_ratio(ratio).unwrap()
}

fn scenario(link: &str) -> Scenario {
    runs("", &format!("{link}\n{}", flow(""))).remove(0).scenario.into_scenario()
}

/// Asserts the error of a file with these lines in its link, the first of them in line 6.
fn refused(link: &str, words: &str, line: usize) {
    let text = error("", &format!("{link}\n{}", flow("")));
    assert!(text.contains(words) && text.contains(&format!("test.toml:{line}:")), "{link}:\n{text}");
}

#[test]
fn losses_are_a_probability_or_a_law() {
    assert_eq!(scenario("loss = \"1 %\"").link.loss, ratio(0.01));
    let by_mean = scenario("loss = { gilbert_elliott = { mean = \"2 %\", burst = 4 } }");
    let LossLaw::GilbertElliott(chain) = by_mean.link.elements.loss.unwrap() else { panic!("a chain") };
    assert_eq!((chain.r, by_mean.link.loss), (ratio(0.25), ratio(0.0)));
    assert!((chain.mean() - 0.02).abs() < 1e-12);
    let classic = scenario("loss.gilbert_elliott = { p = \"1 %\", r = \"20 %\", good = \"0.1 %\" }");
    let chain = GilbertElliott { p: ratio(0.01), r: ratio(0.2), good: ratio(0.001), bad: ratio(1.0) };
    assert_eq!(classic.link.elements.loss, Some(LossLaw::GilbertElliott(chain)));
    assert_eq!(scenario("loss = { every = 100 }").link.elements.loss, Some(LossLaw::Every(100)));
}

#[test]
fn the_reverse_direction_has_the_elements_of_the_forward_one_unless_it_says_its_own() {
    let link = scenario("loss = { every = 9 }\nduplicate = \"1 %\"\nreverse = { loss = \"3 %\" }").link;
    assert_eq!(link.elements.loss, Some(LossLaw::Every(9)));
    let back = link.back();
    assert_eq!((back.loss, back.elements.loss, back.elements.duplicate), (ratio(0.03), None, ratio(0.01)));
    let same = scenario("duplicate = \"1 %\"\nreverse = { rate = \"1 Mbit/s\" }").link;
    assert_eq!(same.back().elements, same.elements);
}

#[test]
fn a_bucket_has_a_size_and_goes_with_one_rate() {
    assert_eq!(scenario("burst = \"1600 B\"").link.elements.burst, Some(Size::from_bytes(1600)));
    refused("burst = \"0 B\"", "a bucket holds at least 1 B", 6);
    let link = with_rate("{ steps = [[\"0 s\", \"1 Mbit/s\"], [\"3 s\", \"2 Mbit/s\"]] }\nburst = \"2 kB\"");
    let refused = link.unwrap_err();
    assert!(refused.contains("link.burst: a bucket fills at one rate"), "{refused}");
}

#[test]
fn impossible_losses_are_refused_where_they_are_written() {
    refused("loss = { gilbert_elliott = { mean = \"120 %\", burst = 4 } }", "a probability of 0% to 100%", 6);
    refused("loss = { gilbert_elliott = { mean = \"70 %\", burst = 1 } }", "use a longer burst", 6);
    refused("loss = { gilbert_elliott = { mean = \"1 %\", burst = 0.5 } }", "from 1 to 1000000", 6);
    refused("loss = { gilbert_elliott = { mean = \"1 %\", p = \"1 %\" } }", "either mean and burst", 6);
    refused("loss = { gilbert_elliott = { p = \"1 %\" } }", "r is missing", 6);
    refused("loss = { every = 0 }", "whole number from 1", 6);
    refused("loss = { evry = 3 }", "did you mean \"every\"", 6);
    refused("loss = { }", "write a probability", 6);
    refused("duplicate = \"1.2\"", "is not a probability", 6);
}

#[test]
fn laws_are_swept_like_any_other_setting() {
    let sweep = "[sweep]\n\"link.loss.gilbert_elliott.burst\" = [1, 10]\n";
    let link = "loss = { gilbert_elliott = { mean = \"1 %\", burst = 1 } }\n";
    let planned = runs("", &format!("{link}{}{sweep}", flow("")));
    assert_eq!(planned.len(), 2);
    assert_ne!(planned[0].scenario.link.elements, planned[1].scenario.link.elements);
}

fn law(jitter: &str) -> Distribution {
    scenario(&format!("jitter = {jitter}")).link.elements.jitter.unwrap().law
}

#[test]
fn jitter_has_a_law_and_keeps_the_order_unless_it_says_otherwise() {
    let ms = Duration::from_millis;
    assert_eq!(law("{ uniform = \"1 ms\" }"), Distribution::Uniform(ms(0), ms(1)));
    assert_eq!(law("{ uniform = [\"1 ms\", \"3 ms\"] }"), Distribution::Uniform(ms(1), ms(3)));
    let normal = Distribution::Normal { mean: ms(5), deviation: ms(1) };
    assert_eq!(law("{ normal = { mean = \"5 ms\", deviation = \"1 ms\" } }"), normal);
    let clipped = "{ lognormal = { median = \"5 ms\", sigma = 0.5, clip = [\"1 ms\", \"9 ms\"] } }";
    let expected = Distribution::Lognormal { median: ms(5), sigma: 0.5, clip: Some([ms(1), ms(9)]) };
    assert_eq!(law(clipped), expected);
    let Distribution::Samples(samples) = law("{ samples = [[\"1 ms\", 3], \"2 ms\"] }") else {
        panic!("samples")
    };
    assert_eq!(Vec::from(samples), [(ms(1), 3), (ms(2), 1)]);
    let reorders =
        |jitter: &str| scenario(&format!("jitter = {jitter}")).link.elements.jitter.unwrap().reorder;
    assert!(!reorders("{ uniform = \"1 ms\" }") && reorders("{ uniform = \"1 ms\", reorder = true }"));
    assert_eq!(
        scenario("jitter = { uniform = \"1 ms\" }\nreverse = { jitter = \"none\" }")
            .link
            .back()
            .elements
            .jitter,
        None
    );
}

#[test]
fn a_flow_has_elements_of_its_own() {
    let text = flow("jitter = { uniform = \"1 ms\" }\nloss = \"1 %\"\nduplicate = \"2 %\"");
    let elements = runs("", &text).remove(0).scenario.flow[0].elements.clone();
    assert_eq!(elements.loss, Some(LossLaw::Independent(ratio(0.01))));
    assert_eq!(elements.duplicate, ratio(0.02));
    assert!(elements.jitter.is_some());
}

#[test]
fn impossible_delays_are_refused_where_they_are_written() {
    refused("jitter = \"1 ms\"", "write { uniform", 6);
    refused("jitter = { uniform = [\"3 ms\", \"1 ms\"] }", "swap them", 6);
    refused("jitter = { uniform = \"1 ms\", normal = 3 }", "write a time, { uniform", 6);
    refused("jitter = { reorder = true }", "write a time, { uniform", 6);
    refused("jitter = { lognormal = { sigma = 0.5 } }", "either median", 6);
    refused("jitter = { lognormal = { median = \"1 ms\", sigma = 9 } }", "from 0 to 5", 6);
    refused("jitter = { samples = [] }", "nothing to draw", 6);
    refused("jitter = { samples = [[\"1 ms\", -3]] }", "whole number", 6);
    refused("jitter = { samples = \"file.csv\" }", "only a scenario that is a file itself", 6);
    refused("delay = { steps = [[\"1 s\", \"1 ms\"]] }", "first step is at 0 s", 6);
    refused("delay = { steps = [[\"0 s\", \"1 ms\"],\n[\"0 s\", \"2 ms\"]] }", "times ascend", 7);
    refused("delay = { steps = [[\"-1 s\", \"1 ms\"]] }", "use a time of 0 s to", 6);
    refused("delay = { steps = [] }", "write one at least", 6);
}

#[test]
fn a_text_has_the_files_that_come_with_it_and_no_other() {
    let text = "duration = \"1 s\"\n[link]\nrate = { trace = \"../a.trace\" }\nbuffer = \"9 packets\"\n\
                [[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"20 ms\"\n";
    let files = |name: &str| [(name.to_owned(), "1\n2\n".to_owned())].into();
    let there = Experiment::parse_beside(text, "f", &[], files("../a.trace")).unwrap();
    let link = &there.runs(None, None).unwrap()[0].scenario.link;
    assert_eq!(link.elements.rate, Some(RateLaw::Opportunities { at_ms: vec![1, 2].into(), repeat: false }));
    let missing = Experiment::parse_beside(text, "f", &[], files("a.trace")).unwrap_err().to_string();
    assert!(missing.contains("no such file beside the scenario"), "{missing}");
}

/// Writes files into a folder of its own and reads the scenario that is among them.
fn read(files: &[(&str, &str)], link: &str) -> std::result::Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, format!("duration = \"60 s\"\n\n{LINK}{link}\n{}", flow(""))).unwrap();
    let experiment = Experiment::read(&path, &[]).map_err(|error| error.to_string())?;
    Ok(experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario())
}

#[test]
fn samples_come_from_a_file_beside_the_scenario_and_are_in_the_scenario_itself() {
    let ms = Duration::from_millis;
    let jitter = "jitter = { samples = \"delays.csv\" }";
    let samples = |text: &str| read(&[("delays.csv", text)], jitter);
    let scenario = samples("# delay, weight\n20 ms, 3\n\n0.05\n").unwrap();
    let Distribution::Samples(read) = scenario.link.elements.jitter.unwrap().law else { panic!("samples") };
    assert_eq!(Vec::from(read), [(ms(20), 3), (ms(50), 1)]);
    for (text, words) in [
        ("", "there is nothing in it"),
        ("20 ms\n-3\n", "delays.csv: line 2: this time is out of range"),
        ("20 ms, many", "line 1: this is no weight"),
        ("fast", "line 1: this is not a time"),
        ("1,2,3", "line 1: write a time, or a time and a weight"),
        ("1,0", "every weight is 0"),
    ] {
        let error = samples(text).unwrap_err();
        assert!(error.contains(words) && error.contains("scenario.toml:6:"), "{error}");
    }
    assert!(read_error(jitter).contains("delays.csv: "));
}

/// Returns the error of a scenario whose files are missing.
fn read_error(link: &str) -> String {
    read(&[], link).unwrap_err()
}

#[test]
fn a_rate_may_change_by_steps_and_its_mean_over_the_run_is_the_rate_of_the_rest() {
    let text = format!(
        "duration = \"60 s\"\n[link]\nbuffer = \"100 ms\"\nrate = {{ steps = [[\"0 s\", \"10 Mbit/s\"], [\"30 s\", \"0 bit/s\"], \
         [\"45 s\", \"4 Mbit/s\"]] }}\nreverse = {{ rate = \"9 Mbit/s\" }}\n{}",
        flow("")
    );
    let link = parse(&text).unwrap().runs(None, None).unwrap().remove(0).scenario.into_scenario().link;
    assert_eq!((link.rate, link.back().rate), (Rate::from_mbit(6), Rate::from_mbit(9)));
    assert!(matches!(link.elements.rate, Some(RateLaw::Steps { .. })));
    assert_eq!(link.back().elements.rate, None);
}

/// Returns the link of a scenario file with this rate, with a trace of that text beside it.
fn traced(trace: &str, rate: &str) -> std::result::Result<afteryou_scenario::Link, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("lte.trace"), trace).unwrap();
    let path = folder.path().join("scenario.toml");
    let text = format!("duration = \"60 s\"\n[link]\nbuffer = \"100 packets\"\nrate = {rate}\n{}", flow(""));
    std::fs::write(&path, text).unwrap();
    let experiment = Experiment::read(&path, &[]).map_err(|error| error.to_string())?;
    Ok(experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario().link)
}

#[test]
fn a_trace_has_opportunities_or_rates_and_the_scenario_carries_its_points() {
    let looped = "{ trace = \"lte.trace\", loop = true }";
    let link = traced("0\n2\n2\n10\n", looped).unwrap();
    assert_eq!(
        link.elements.rate,
        Some(RateLaw::Opportunities { at_ms: vec![0, 2, 2, 10].into(), repeat: true })
    );
    assert_eq!(link.rate, Rate::from_bits(4_800_000), "four packets of 1500 B in each 10 ms");
    let csv = "time,rate\n0,5e6\n500 ms,1 Mbit/s\n1.0,0\n";
    let Some(RateLaw::Steps { steps, period }) = traced(csv, looped).unwrap().elements.rate else {
        panic!("steps")
    };
    assert_eq!((steps.points().len(), period), (2, Some(Duration::from_millis(1000))));
    let once = traced(csv, "{ trace = \"lte.trace\" }").unwrap();
    assert_eq!(once.rate, Rate::from_bits(50_000), "3 Mbit in 60 s");
}

#[test]
fn an_impossible_rate_is_refused_with_the_line_of_the_scenario_and_of_the_trace() {
    for (trace, words) in [
        ("", "lte.trace: there is nothing in it"),
        ("0\n0\n", "an opportunity after 0 ms"),
        ("5\n3\n", "lte.trace: line 2: this comes after a later time"),
        ("5\n-3\n", "lte.trace: line 2: this is no whole number"),
        ("5\n99999999999\n", "lte.trace: line 2: "),
        ("0,1e6\n-2,1e6\n", "lte.trace: line 2: this time is out of range"),
        ("0,1e6\n1,fast\n", "lte.trace: line 2: this is not a rate"),
        ("0,1e6\n1,1e99\n", "line 2: this rate is out of range"),
        ("0,1e6\n2,1e6\n1,1e6\n", "line 3: times ascend"),
        ("1,1e6\n2,1e6\n", "line 1: the first step is at 0 s"),
        ("0,1e6\n", "too few lines"),
        ("time,rate\n", "too few lines"),
        ("0,0\n1,0\n", "carries nothing"),
    ] {
        let error = traced(trace, "{ trace = \"lte.trace\", loop = true }").unwrap_err();
        assert!(error.contains(words) && error.contains("scenario.toml:4:"), "{trace}: {error}");
    }
    // A scenario from elsewhere may name any file of the machine.
    let error = traced("secret-word\n", "{ trace = \"lte.trace\" }").unwrap_err();
    assert!(!error.contains("secret"), "{error}");
    for (rate, words) in [
        ("{ trace = \"no such file\" }", "no such file: "),
        ("{ trace = \"/dev/zero\" }", "this is no regular file"),
        ("{ trace = \"..\" }", ".."),
        ("{ steps = [[\"0 s\", \"1 Mbit/s\"]], loop = true }", "write a rate, {"),
        ("{ steps = [[\"0 s\", \"0 bit/s\"]] }", "carries nothing"),
        ("{ steps = [[\"0 s\", \"1 Mbit/s\"], [\"0 s\", \"2 Mbit/s\"]] }", "times ascend"),
        ("{ steps = [[\"0 s\", \"-1 Mbit/s\"]] }", "use a rate of 0 bit/s to"),
        ("{ markow = 3 }", "no setting of rate"),
        ("\"0 bit/s\"", "carries nothing"),
    ] {
        let error = traced("1\n", rate).unwrap_err();
        assert!(error.contains(words) && error.contains("scenario.toml:4:"), "{rate}: {error}");
    }
}

#[test]
fn a_text_that_is_no_file_reads_no_file() {
    refused("reverse = { rate = { trace = \"/etc/passwd\" } }", "only a scenario that is a file itself", 6);
}

#[test]
fn elements_of_a_results_scenario_read_back_as_themselves() {
    let link = "loss = { gilbert_elliott = { mean = \"2 %\", burst = 4 } }\nduplicate = \"1 %\"\n\
        delay = { steps = [[\"0 s\", \"1 ms\"], [\"1.000000001 s\", \"2 ms\"]], reorder = true }\n\
        jitter = { samples = [[\"1 ms\", 3], \"2 ms\"] }\n\
        reverse = { rate = { steps = [[\"0 s\", \"1 Mbit/s\"], [\"30 s\", \"0 bit/s\"]] } }";
    let first = scenario(link);
    let text = toml::to_string(&first).unwrap();
    let second = Experiment::parse(&text, "result.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(second.runs(None, None).unwrap().remove(0).scenario.into_scenario(), first);
    refused("elements = { loss = { every = \"x\" } }", "these are no elements", 6);
}

/// Returns the link of a short form with this rate.
fn with_rate(rate: &str) -> std::result::Result<afteryou_scenario::Link, String> {
    let text = format!(
        "duration = \"600 s\"\n[link]\nbuffer = \"500 packets\"\nrate = {rate}\n{}",
        flow("transport = \"utp\"")
    );
    let experiment = parse(&text).map_err(|error| error.to_string())?;
    Ok(experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario().link)
}

#[test]
fn a_channel_is_drawn_for_each_run_and_its_capacity_can_be_replayed_from_the_result() {
    let text = format!(
        "duration = \"600 s\"\nrepeat = 2\n[link]\nbuffer = \"500 packets\"\nrate = {{ markov = \"satellite\" }}\n{}",
        flow("")
    );
    let runs = parse(&text).unwrap().runs(None, None).unwrap();
    assert_ne!(
        runs[0].scenario.link.elements.rate, runs[1].scenario.link.elements.rate,
        "each seed has its own"
    );
    let link = &runs[0].scenario.link;
    let arq = link.elements.arq.as_ref().expect("repeat requests");
    assert_eq!((arq.transmissions, arq.round), (3, Duration::from_millis(572)));
    assert_eq!(link.elements.delay.as_ref().map(|delay| delay.least()), Some(Duration::from_millis(286)));
    // Both ways are the same channel.
    assert_eq!(link.back().elements, link.elements);
    let Some(RateLaw::Steps { steps, .. }) = &link.elements.rate else { panic!("steps") };
    let lines: Vec<String> = steps.points().iter().map(|(at, rate)| format!("{at},{rate}\n")).collect();
    let replayed = traced(&lines.concat(), "{ trace = \"lte.trace\" }").unwrap();
    assert_eq!(replayed.elements.rate, link.elements.rate);
}

#[test]
fn a_chain_has_states_and_repeat_requests_or_none() {
    let states = "[{ name = \"on\", rate = \"9 Mbit/s\", dwell = \"2 s\", error = \"1 %\" }, \
        { name = \"off\", rate = \"0 bit/s\", dwell = \"1 s\" }]";
    let link = with_rate(&format!("{{ markov = {{ states = {states} }} }}")).unwrap();
    assert_eq!(link.elements.arq.as_ref().map(|arq| arq.transmissions), Some(1));
    let arq = "arq = { transmissions = 4, round = \"20 ms\" }";
    let link = with_rate(&format!("{{ markov = {{ states = {states}, {arq} }} }}")).unwrap();
    assert_eq!(link.elements.arq.map(|arq| arq.transmissions), Some(4));
    // 200 cycles of 3 s: the mean rate is 6 Mbit/s within some per cent.
    assert!((5e6..7e6).contains(&(link.rate.bits_per_second() as f64)), "{}", link.rate);
    for (rate, words) in [
        ("{ markov = \"satelite\" }", "did you mean \"satellite\""),
        ("{ markov = { states = [] } }", "write 2 to 16 states"),
        ("{ markov = { states = [{ name = \"a\", rate = \"1 Mbit/s\", dwell = \"1 s\" }, { name = \"a\", rate = \"1 Mbit/s\", dwell = \"1 s\" }] } }", "two states"),
        ("{ markov = { states = [{ name = \"a\", rate = \"1 Mbit/s\", dwell = \"1 s\", next = { c = 1 } }, { name = \"b\", rate = \"1 Mbit/s\", dwell = \"1 s\" }] } }", "there is no state \"c\""),
        ("{ markov = { states = [{ name = \"a\", rate = \"1 Mbit/s\", dwell = \"1 us\" }, { name = \"b\", rate = \"1 Mbit/s\", dwell = \"1 s\" }] } }", "too short"),
        ("{ markov = 3 }", "write \"satellite\" or"),
    ] {
        let error = with_rate(rate).unwrap_err();
        assert!(error.contains(words), "{rate}: {error}");
    }
}

/// Returns the scenario of a file with a flow called "a" and these rules of the script.
fn script(rules: &str) -> std::result::Result<Scenario, String> {
    let text = format!("duration = \"60 s\"\n\n{LINK}{}{rules}", flow("name = \"a\""));
    let experiment = parse(&text).map_err(|error| error.to_string())?;
    Ok(experiment.runs(None, None).unwrap().remove(0).scenario.into_scenario())
}

#[test]
fn rules_of_the_script_repeat_by_number_or_by_time() {
    use afteryou_scenario::scenario::Every;
    let ms = Duration::from_millis;
    let rules = "[[drop]]\nat = \"5 s\"\nuntil = \"9 s\"\nevery = \"20 ms\"\n[[delay]]\nflow = \"a\"\nevery = 100\nby = \"30 ms\"\n";
    let scenario = script(rules).unwrap();
    assert_eq!(scenario.drop[0].every, Some(Every::Time(ms(20))));
    assert_eq!((scenario.delay[0].every, scenario.delay[0].at), (Some(Every::Packets(100)), Some(ms(0))));
    for (rules, words) in [
        ("[[drop]]\nevery = 0\n", "whole number from 1"),
        ("[[drop]]\nevery = \"0 s\"\n", "repeats without a pause"),
        ("[[drop]]\nflow = \"a\"\npacket = 3\nevery = 2\n", "one of them"),
        ("[[delay]]\nflow = \"a\"\nby = \"1 ms\"\n", "a delay says neither a packet nor a time"),
        (
            "[[delay]]\nflow = \"a\"\nat = \"3 s\"\nuntil = \"2 s\"\nby = \"1 ms\"\n",
            "a delay ends before it begins",
        ),
    ] {
        let error = script(rules).unwrap_err();
        assert!(error.contains(words) && error.contains("test.toml:"), "{rules}: {error}");
    }
}

#[test]
fn acknowledgements_wait_for_a_number_or_a_time() {
    let back = scenario("reverse = { aggregate = { acks = 8, time = \"5 ms\" } }").link.back();
    assert_eq!(back.elements.aggregate.map(|aggregate| aggregate.acks), Some(8));
    assert_eq!(
        scenario("aggregate = { time = \"5 ms\" }\nreverse = { aggregate = \"none\" }")
            .link
            .back()
            .elements
            .aggregate,
        None
    );
    refused("aggregate = { acks = 8 }", "time is missing", 6);
    refused("aggregate = { acks = 0, time = \"5 ms\" }", "whole number from 1", 6);
}

fn flows_of(top: &str, rest: &str) -> Vec<afteryou_scenario::Flow> {
    runs(top, rest).remove(0).scenario.into_scenario().flow
}

#[test]
fn noise_is_one_word_for_flows_that_say_nothing_themselves() {
    let ms = Duration::from_millis;
    let own = flow("name = \"own\"\nstart = \"3 s\"\njitter = \"none\"");
    let text = format!("{}{own}", flow("name = \"a\"\ncount = 40"));
    let testbed = flows_of("noise = \"testbed\"", &text);
    let (own, group) = testbed.split_last().unwrap();
    assert_eq!((own.start, &own.elements.jitter), (ms(3000), &None));
    let least = group.iter().map(|flow| flow.start).min().unwrap();
    let most = group.iter().map(|flow| flow.start).max().unwrap();
    // Forty draws from [0, 40 ms).
    assert!(least < ms(8) && most > ms(32) && most < ms(40), "{least} {most}");
    let jitter = |flow: &afteryou_scenario::Flow| {
        flow.elements.jitter.clone().map(|jitter| (jitter.law, jitter.reorder))
    };
    assert_eq!(jitter(&group[0]), Some((Distribution::Uniform(ms(0), "100 us".parse().unwrap()), false)));
    let ns2 = flows_of("noise = \"ns2\"", &text);
    assert_eq!((ns2[0].start, jitter(&ns2[0])), (ms(0), Some((Distribution::Uniform(ms(0), ms(1)), false))));
    assert_eq!(flows_of("noise = \"none\"", &text), flows_of("", &text));
    assert!(error("noise = \"testbet\"", &text).contains("did you mean \"testbed\""));
}

#[test]
fn a_start_may_be_drawn_from_round_trips() {
    let ms = Duration::from_millis;
    let drawn = flows_of("", &flow("count = 30\nstart = { uniform = [\"1 rtt\", \"2 rtt\"] }"));
    assert!(drawn.iter().all(|flow| (ms(40)..ms(80)).contains(&flow.start)));
    assert!(error("", &flow("start = { uniform = [\"2 rtt\", \"1 rtt\"] }")).contains("swap them"));
}

#[test]
fn a_group_of_no_flows_is_absent() {
    let text = format!("{}{}", flow("name = \"a\""), flow("name = \"b\"\ncount = 0"));
    assert_eq!(flows_of("", &text).len(), 1);
    let swept = runs("", &format!("{text}[sweep]\n\"flow.b.count\" = [0, 1, 3]\n"));
    let counts: Vec<usize> = swept.iter().map(|run| run.scenario.flow.len()).collect();
    assert_eq!(counts, [1, 2, 4]);
}

#[test]
fn none_for_one_setting_of_a_flow_is_refused() {
    let text = format!("{}[sweep]\n\"flow.a.controller\" = [\"cubic\", \"none\"]\n", flow("name = \"a\""));
    let message = error("", &text);
    assert!(
        message.contains("takes a whole flow away, not its controller") && message.contains("test.toml:11:"),
        "{message}"
    );
    let swept = runs(
        "",
        &format!(
            "{}[sweep]\n\"flow.a.jitter\" = [{{ uniform = \"1 ms\" }}, \"none\"]\n",
            flow("name = \"a\"")
        ),
    );
    assert_eq!(swept[1].scenario.flow[0].elements.jitter, None);
}
