use super::*;

const LINE: usize = 8;

fn sweep(range: &str) -> std::result::Result<Vec<String>, String> {
    with("link.rate", range)
}

fn with(setting: &str, range: &str) -> std::result::Result<Vec<String>, String> {
    let text =
        format!("duration = \"60 s\"\n\n{LINK}\n[sweep]\n\"{setting}\" = {range}\n{}", flow("name = \"a\""));
    let experiment = parse(&text).map_err(|error| error.to_string())?;
    Ok(experiment.axes[0].labels.clone())
}

#[test]
fn a_range_has_equal_steps_in_the_unit_of_its_first_value_and_its_end_if_a_step_comes_there() {
    assert_eq!(
        sweep("{ from = \"1 Mbit/s\", to = \"2 Mbit/s\", step = \"250 kbit/s\" }").unwrap(),
        ["1 Mbit/s", "1.25 Mbit/s", "1.5 Mbit/s", "1.75 Mbit/s", "2 Mbit/s"]
    );
    assert_eq!(
        with("flow.a.rtt", "{ from = \"10 ms\", to = \"0.1 s\", step = \"40 ms\" }").unwrap(),
        ["10 ms", "50 ms", "90 ms"]
    );
    // 0.1 + 0.2 is written 0.3.
    assert_eq!(
        with("link.loss", "{ from = \"0 %\", to = \"0.5 %\", step = \"0.1 %\" }").unwrap(),
        ["0 %", "0.1 %", "0.2 %", "0.3 %", "0.4 %", "0.5 %"]
    );
    assert_eq!(with("flow.a.count", "{ from = 1, to = 10, step = 3 }").unwrap(), ["1", "4", "7", "10"]);
}

#[test]
fn a_logarithmic_range_has_equal_ratios() {
    assert_eq!(
        sweep("{ log = [\"1 Mbit/s\", \"100 Mbit/s\"], per_decade = 3 }").unwrap(),
        [
            "1 Mbit/s",
            "2.154 Mbit/s",
            "4.642 Mbit/s",
            "10 Mbit/s",
            "21.54 Mbit/s",
            "46.42 Mbit/s",
            "100 Mbit/s"
        ]
    );
    assert_eq!(
        with("link.buffer", "{ log = [\"10 packets\", \"100 packets\"], per_decade = 2 }").unwrap(),
        ["10 packets", "32 packets", "100 packets"]
    );
    // Counts are whole, and none is there twice.
    assert_eq!(
        with("flow.a.count", "{ log = [1, 10], per_decade = 8 }").unwrap(),
        ["1", "2", "3", "4", "6", "7", "10"]
    );
    // The end lies between two values.
    assert_eq!(
        sweep("{ log = [\"1 Mbit/s\", \"50 Mbit/s\"], per_decade = 1 }").unwrap(),
        ["1 Mbit/s", "10 Mbit/s"]
    );
}

#[test]
fn settings_in_bare_dotted_keys_take_ranges_too_and_keys_of_settings_are_none() {
    let text = format!(
        "duration = \"60 s\"\n{LINK}[measure]\nfrom = \"1 s\"\n[sweep]\nlink.rate = {{ from = \"1 Mbit/s\", to = \"2 Mbit/s\", step = \"1 Mbit/s\" }}\n\
         measure.from = [\"1 s\", \"2 s\"]\n"
    );
    assert_eq!(parse(&text).unwrap().runs(None, None).unwrap().len(), 4);
    let set = |assignment: &str| Experiment::parse(&text, "test.toml", &[assignment.to_owned()]);
    let three =
        set("sweep.link.rate={ from = \"1 Mbit/s\", to = \"3 Mbit/s\", step = \"1 Mbit/s\" }").unwrap();
    assert_eq!(three.runs(None, None).unwrap().len(), 6);
}

#[test]
fn a_range_that_makes_no_sense_is_refused_at_its_place() {
    for (range, words) in [
        ("{ from = \"1 Mbit/s\", to = \"2 Mbit/s\" }", "step is missing"),
        ("{ from = \"1 Mbit/s\", to = \"2 ms\", step = \"1 ms\" }", "no common unit"),
        ("{ from = \"2 Mbit/s\", to = \"1 Mbit/s\", step = \"1 kbit/s\" }", "from the smaller value"),
        ("{ from = \"1 Mbit/s\", to = \"2 Mbit/s\", step = \"0 kbit/s\" }", "a step lies above zero"),
        ("{ from = \"fast\", to = \"2 Mbit/s\", step = \"1 kbit/s\" }", "\"fast\" has no place in a range"),
        ("{ from = \"1 Mbit/s\", to = \"2 Mbit/s\", stepp = \"1 kbit/s\" }", "did you mean \"step\"?"),
        ("{ log = [\"1 Mbit/s\", \"9 Mbit/s\"] }", "per_decade is missing"),
        ("{ log = [\"1 Mbit/s\"], per_decade = 2 }", "write two values"),
        ("{ log = [\"0 bit/s\", \"9 Mbit/s\"], per_decade = 2 }", "begin above zero"),
        ("{ log = [\"1 Mbit/s\", \"9 Mbit/s\"], per_decade = 0 }", "whole number from 1 to 1000"),
        ("\"1 Mbit/s\"", "a list in [ ] or a range"),
    ] {
        let text = sweep(range).unwrap_err();
        assert!(text.contains(words), "{words}:\n{text}");
        assert!(text.contains(&format!("test.toml:{LINE}:")), "{text}");
    }
}

#[test]
fn a_thousand_million_runs_are_refused_with_the_line_the_number_and_the_range() {
    let text = sweep("{ from = \"1 bit/s\", to = \"1 Gbit/s\", step = \"1 bit/s\" }").unwrap_err();
    assert!(text.contains("1000000000 values") && text.contains("1 to 100000 runs"), "{text}");
    assert!(text.contains(&format!("test.toml:{LINE}:")), "{text}");
    // Three settings of a thousand values each.
    let range = "{ from = 1, to = 1000, step = 1 }";
    let rates = "{ from = \"1 Mbit/s\", to = \"1000 Mbit/s\", step = \"1 Mbit/s\" }";
    let rest = format!(
        "[sweep]\n\"link.rate\" = {rates}\n\"flow.a.count\" = {range}\nseconds = {range}\n{}",
        flow("name = \"a\"")
    );
    let text = error("", &rest);
    assert!(text.contains("1000000000 runs, repetitions included: 1 to 100000 can be made"), "{text}");
    assert!(text.contains("test.toml:"), "{text}");
}

#[test]
fn hosts_have_settings_under_their_name() {
    let text = "duration = \"9 s\"\n\
                [[hosts]]\nname = \"peers\"\nup = \"1 Mbit/s\"\ndown = \"8 Mbit/s\"\nqueue = \"9 packets\"\nrtt = \"50 ms\"\n\
                [[flow]]\ncontroller = \"ledbat\"\nhosts = \"peers\"\ntraffic = { swarm = { chunk = \"250 kB\", persist = 0.5 } }\n";
    let swept = format!("{text}[sweep]\n\"hosts.peers.rtt\" = [\"20 ms\", \"80 ms\"]\n");
    let runs = parse(&swept).unwrap().runs(None, None).unwrap();
    let rtts: Vec<_> = runs.iter().map(|run| run.scenario.hosts[0].host[0].rtt).collect();
    assert_eq!(rtts, [Duration::from_millis(20), Duration::from_millis(80)]);

    let nobody = format!("{text}[sweep]\n\"hosts.pears.rtt\" = [\"20 ms\"]\n");
    let message = parse(&nobody).unwrap_err().to_string();
    assert!(message.contains("peers") && message.contains("13"), "{message}");
}
