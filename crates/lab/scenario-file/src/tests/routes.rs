//! Changes of routes.

use super::*;
use afteryou_base::{Span, Time};

const NAMED: &str = "duration = \"60 s\"
[[link]]
name = \"cable\"
rate = \"5 Mbit/s\"
buffer = \"100 packets\"
[[link]]
name = \"radio\"
rate = \"4 Mbit/s\"
buffer = \"100 packets\"
[[flow]]
name = \"a\"
controller = \"cubic\"
path = { forward = [\"cable\"], reverse = [\"cable\"], delay = \"20 ms\" }
[[flow]]
name = \"b\"
count = 2
controller = \"cubic\"
path = { forward = [\"cable\"], reverse = [\"cable\"], delay = \"20 ms\" }
[[route_change]]
";

/// Returns the scenario of a file with two named links and a change of routes with these lines.
fn named(lines: &str) -> Checked {
    let experiment = parse(&format!("{NAMED}{lines}\n")).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

/// Asserts that the error of such a file contains `words` and points at this line, counted from that of the change.
fn refused(lines: &str, words: &str, line: usize) {
    let text = parse(&format!("{NAMED}{lines}\n")).unwrap_err().to_string();
    assert!(text.contains(words) && text.contains(&format!("test.toml:{}:", 19 + line)), "{lines}:\n{text}");
}

#[test]
fn flows_take_another_path_with_another_delay_from_a_time_on() {
    let new = "path = { forward = [\"radio\"], reverse = [\"cable\"], delay = \"5 ms\" }";
    let scenario = named(&format!("at = \"30 s\"\nflow = \"b\"\n{new}"));
    let network = scenario.network();
    assert_eq!(network.rerouted[0], []);
    for rerouted in &network.rerouted[1..] {
        let [afteryou_scenario::network::Rerouted { at, route }] = rerouted.as_slice() else {
            panic!("{rerouted:?}")
        };
        assert_eq!(
            (*at, &route.forward[..], &route.reverse[..]),
            (Time::from_millis(30_000), &[1][..], &[0][..])
        );
        assert_eq!((route.forward_delay, route.reverse_delay), (Span::from_millis(5), Span::from_millis(5)));
    }
    assert_eq!(network.flows_with_data_on(1).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_change_without_a_flow_is_for_all_and_builds_on_the_one_before() {
    let path = "path = { forward = [\"radio\"], reverse = [\"cable\"] }";
    let scenario = named(&format!(
        "at = \"40 s\"\nrtt = \"90 ms\"\n[[route_change]]\nat = \"10 s\"\nflow = \"a\"\n{path}"
    ));
    let network = scenario.network();
    let routes: Vec<_> = network.routes_of(0).map(|route| (route.forward[0], route.reverse_delay)).collect();
    let ms = Span::from_millis;
    // The written forward delay applies to its path only: the new path has half of the round trip each way.
    assert_eq!(routes, [(0, ms(20)), (1, ms(20)), (1, ms(45))]);
    assert_eq!(network.routes_of(1).count(), 2);
}

#[test]
fn a_change_of_routes_that_cannot_be_is_refused_where_it_is_written() {
    let path = |link: &str, delay: &str| {
        format!("at = \"30 s\"\npath = {{ forward = [\"{link}\"], reverse = [\"cable\"]{delay} }}")
    };
    refused(&path("radoi", ""), "did you mean \"radio\"?", 2);
    refused("at = \"70 s\"\nrtt = \"10 ms\"", "use a time below 60 s", 1);
    refused("rtt = \"10 ms\"", "at is missing", 0);
    refused("at = \"30 s\"", "changes nothing", 0);
    refused("at = \"30 s\"\nflow = \"c\"\nrtt = \"10 ms\"", "\"c\"", 0);
    refused(&format!("{}\nrtt = \"10 ms\"", path("radio", ", delay = \"20 ms\"")), "longer than its rtt", 0);
    refused("at = \"30 s\"\nvia = \"radio\"", "via", 2);
    let many = "at = \"30 s\"\nrtt = \"50 ms\"\n[[route_change]]\n".repeat(80);
    refused(&format!("{many}at = \"30 s\"\nrtt = \"50 ms\""), "more than 63", 0);
}

#[test]
fn the_short_form_changes_its_round_trip_time_alone() {
    let change = "[[route_change]]\nat = \"30 s\"\n";
    let text = error("", &format!("{}{change}path = {{ forward = [\"x\"], reverse = [\"y\"] }}", flow("")));
    assert!(text.contains("write rtt = … alone"), "{text}");
    let file = format!("duration = \"60 s\"\n{LINK}{}{change}rtt = \"10 ms\"\n", flow(""));
    let scenario = parse(&file).unwrap().runs(None, None).unwrap().remove(0).scenario;
    let delays = scenario.network().rerouted[0][0].route.clone();
    assert_eq!(delays.forward_delay + delays.reverse_delay, Span::from_millis(10));
}
