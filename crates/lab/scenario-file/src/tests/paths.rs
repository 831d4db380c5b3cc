//! Named links, paths and directions.

use super::*;
use afteryou_base::Span;
use afteryou_scenario::network::Route;
use afteryou_scenario::path::Direction;
use afteryou_scenario::Path as LinkPath;

const NAMED: &str = "duration = \"60 s\"
[[link]]
name = \"up\"
rate = \"5 Mbit/s\"
buffer = \"100 packets\"
[[link]]
name = \"core\"
rate = \"4 Mbit/s\"
buffer = \"100 packets\"
[[link]]
name = \"down\"
rate = \"50 Mbit/s\"
buffer = \"100 packets\"
[[flow]]
controller = \"cubic\"
";

/// Returns the scenario of a file with three named links and a flow with these lines.
fn named(lines: &str) -> Checked {
    let experiment = parse(&format!("{NAMED}{lines}\n")).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

/// Returns the error of such a file.
fn refused(lines: &str) -> String {
    parse(&format!("{NAMED}{lines}\n")).unwrap_err().to_string()
}

#[test]
fn a_path_of_named_links_is_a_route_over_them() {
    let scenario = named("path = { forward = [\"up\", \"core\"], reverse = [\"down\"], delay = \"20 ms\" }");
    let network = scenario.network();
    let names: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["up", "core", "down"]);
    let (forward_delay, reverse_delay) = (Span::from_millis(20), Span::from_millis(20));
    let expected = Route { forward: vec![0, 1], reverse: vec![2], forward_delay, reverse_delay };
    assert_eq!(network.routes, [expected]);
    assert_eq!(scenario.flow[0].rtt, "40 ms".parse().unwrap());
    assert_eq!(network.rate_of_flow(0), 4_000_000, "the slowest link that data cross");
}

#[test]
fn the_forward_delay_may_be_another_part_of_the_round_trip_time() {
    let both =
        named("rtt = \"100 ms\"\npath = { forward = [\"up\"], reverse = [\"down\"], delay = \"20 ms\" }");
    let half = named("rtt = \"100 ms\"\npath = { forward = [\"up\"], reverse = [\"up\"] }");
    let delays = |scenario: &Checked| {
        let route = scenario.network().routes[0].clone();
        (route.forward_delay, route.reverse_delay)
    };
    assert_eq!(delays(&both), (Span::from_millis(20), Span::from_millis(80)));
    assert_eq!(delays(&half), (Span::from_millis(50), Span::from_millis(50)));
}

#[test]
fn the_direction_of_a_flow_decides_which_way_its_data_cross_the_link() {
    let lines = flow("name = \"upload\"") + &flow("name = \"download\"\ndirection = \"down\"");
    let scenario = runs("", &lines).remove(0).scenario;
    assert_eq!(scenario.flow[1].direction, Direction::Down);
    let network = scenario.network();
    let names: Vec<&str> = network.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "reverse path"]);
    let crossed = |flow: usize| (network.routes[flow].forward.clone(), network.routes[flow].reverse.clone());
    assert_eq!((crossed(0), crossed(1)), ((vec![0], vec![1]), (vec![1], vec![0])));
}

#[test]
fn a_wrong_path_is_shown_where_it_is_written() {
    for (lines, words, position) in [
        (
            "path = { forward = [\"upp\"], reverse = [\"down\"], delay = \"1 ms\" }",
            "did you mean \"up\"?",
            "16:21",
        ),
        ("path = { forward = [], reverse = [\"down\"], delay = \"1 ms\" }", "a path without links", "16:20"),
        ("path = { forward = [\"up\"], delay = \"1 ms\" }", "reverse is missing", "16:8"),
        (
            "path = { forward = [\"up\", \"up\"], reverse = [\"down\"], delay = \"1 ms\" }",
            "there twice",
            "16:27",
        ),
        ("path = { forward = [\"up\"], reverse = [\"down\"], dely = \"1 ms\" }", "\"delay\"?", "16:48"),
        ("path = { forward = [\"up\"], reverse = [\"down\"] }", "rtt is missing", "14:1"),
        (
            "rtt = \"9 ms\"\npath = { forward = [\"up\"], reverse = [\"down\"], delay = \"10 ms\" }",
            "longer than its rtt",
            "14:1",
        ),
        ("rtt = \"9 ms\"", "path is missing", "14:1"),
        (
            "name = \"core\"\npath = { forward = [\"up\"], reverse = [\"down\"], delay = \"1 ms\" }",
            "has the name of a link",
            "14:1",
        ),
        ("rtt = \"9 ms\"\ndirection = \"down\"", "direction is for", "17:13"),
        (
            "rtt = \"9 ms\"\ndirection = \"up\"\npath = { forward = [\"up\"], reverse = [\"down\"] }",
            "direction is for",
            "17:13",
        ),
    ] {
        let text = refused(lines);
        assert!(text.contains(words) && text.contains(&format!("test.toml:{position}")), "{words}:\n{text}");
    }
    let text = error("", &flow("path = { forward = [\"up\"], reverse = [\"up\"] }"));
    assert!(text.contains("[link] has no name") && text.contains("test.toml:9:8"), "{text}");
    let text = error("", &flow("direction = \"dwn\""));
    assert!(text.contains("did you mean \"down\"?") && text.contains("test.toml:9:13"), "{text}");
}

#[test]
fn a_wrong_link_is_shown_where_it_is_written() {
    let link = |lines: &str| format!("[[link]]\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n{lines}\n");
    for (links, words, line) in [
        (link(""), "name is missing", 2),
        (link("name = \"\""), "a link needs a name", 5),
        (link("name = \"link\""), "is the name of [link]", 5),
        (link("name = \"a\"") + &link("name = \"a\""), "two links are named \"a\"", 9),
        (
            link("name = \"a\"\nreverse = { rate = \"1 Mbit/s\" }"),
            "no setting of a named link \"reverse\"",
            6,
        ),
        (link("name = \"a\"\nqueue = \"cubik\""), "there is no queue", 6),
        ("link = []\n".to_owned(), "there is no link", 2),
        ("link = [3]\n".to_owned(), "write a table", 2),
    ] {
        let text = parse(&format!("duration = \"60 s\"\n{links}")).unwrap_err().to_string();
        assert!(text.contains(words) && text.contains(&format!("test.toml:{line}:")), "{words}:\n{text}");
    }
    // The middle link's buffer holds acks only: the error points at it.
    let small = NAMED.replacen(
        "rate = \"4 Mbit/s\"\nbuffer = \"100 packets\"",
        "rate = \"4 Mbit/s\"\nbuffer = \"100 B\"",
        1,
    );
    let crossing = |path: &str| parse(&format!("{small}path = {{ {path}, delay = \"1 ms\" }}\n"));
    let text = crossing("forward = [\"up\", \"core\"], reverse = [\"down\"]").unwrap_err().to_string();
    assert!(text.contains("link.core.buffer = 100 B") && text.contains("test.toml:9:10"), "{text}");
    crossing("forward = [\"up\"], reverse = [\"core\"]").unwrap();
}

#[test]
fn a_sweep_and_an_assignment_find_a_link_by_its_name() {
    let text = format!(
        "{NAMED}path = {{ forward = [\"up\"], reverse = [\"down\"], delay = \"1 ms\" }}\n[sweep]\n\"link.up.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]\n"
    );
    let experiment = |set: &str| Experiment::parse(&text, "test.toml", &[set.to_owned()]);
    let rates = |set: &str| -> Vec<Vec<u64>> {
        let runs = experiment(set).unwrap().runs(None, None).unwrap();
        let of_run = |run: &Planned| {
            run.scenario.links().map(|link| link.rate.bits_per_second() / 1_000_000).collect()
        };
        runs.iter().map(of_run).collect()
    };
    assert_eq!(rates("link.core.queue=codel"), [[1, 4, 50], [2, 4, 50]]);
    assert_eq!(rates("link.*.rate=7 Mbit/s"), [[1, 7, 7], [2, 7, 7]]);
    let text = experiment("link.cor.rate=1 Mbit/s").unwrap_err().to_string();
    assert!(text.contains("there is no link \"cor\": did you mean \"core\"?"), "{text}");
}

#[test]
fn a_scenario_that_a_program_makes_is_checked_too() {
    let good = named("path = { forward = [\"up\"], reverse = [\"down\"], delay = \"1 ms\" }").into_scenario();
    good.clone().checked().unwrap();
    let path = |forward: &str| {
        let names = |name: &str| vec![name.to_owned()];
        Some(LinkPath { forward: names(forward), reverse: names("down"), delay: None })
    };
    type Change = fn(&mut Scenario);
    let wrong: [(Change, &str); 7] = [
        (|scenario| scenario.link.name = None, "a link has no name"),
        (|scenario| scenario.further_links[0].name = Some("up".to_owned()), "two links are named \"up\""),
        (
            |scenario| scenario.link.reverse = Some(afteryou_scenario::scenario::Reverse::default()),
            "a named link goes one way",
        ),
        (|scenario| scenario.flow[0].path = None, "has no path"),
        (|scenario| scenario.flow[0].direction = Direction::Down, "a path and a direction"),
        (|scenario| scenario.flow[0].path.as_mut().unwrap().reverse.clear(), "a path without links"),
        (
            |scenario| scenario.flow[0].path.as_mut().unwrap().delay = Some(Duration::from_millis(9)),
            "longer than its rtt",
        ),
    ];
    for (change, words) in wrong {
        let mut scenario = good.clone();
        change(&mut scenario);
        let text = scenario.checked().unwrap_err().to_string();
        assert!(text.contains(words), "{words}: {text}");
    }
    let mut scenario = good.clone();
    scenario.flow[0].path = path("dwn");
    assert!(scenario.checked().unwrap_err().to_string().contains("did you mean \"down\"?"));
}

#[test]
fn a_scenario_without_the_new_words_is_written_as_before() {
    let scenario = runs("", &flow("")).remove(0).scenario;
    let text = serde_json::to_string(&scenario).unwrap();
    for word in ["further_links", "direction", "path", "\"name\":null"] {
        assert!(!text.contains(word), "{text}");
    }
    let back: Checked = serde_json::from_str(&text).unwrap();
    assert_eq!(back, scenario);
    let named = named("path = { forward = [\"up\", \"core\"], reverse = [\"down\"], delay = \"20 ms\" }");
    let back: Checked = serde_json::from_str(&serde_json::to_string(&named).unwrap()).unwrap();
    assert_eq!(back, named);
}
