//! The engines' lists of supported algorithms against the scenarios that they refuse.

use afteryou_engines::{coverage, ENGINES};
use afteryou_notation::catalogue;
use afteryou_scenario::TransportKind;

#[test]
fn every_algorithm_is_known_by_the_simulator_and_those_with_equations_by_the_fluid() {
    let has_equations =
        |models: &[afteryou_fluid::Entry], name| models.iter().any(|model| model.name == name);
    for entry in catalogue::controllers() {
        let engines = coverage::of_controller(entry.name);
        assert!(engines.contains(&"sim") && engines.contains(&"bed"), "{}: {engines:?}", entry.name);
        let expected = has_equations(afteryou_fluid::CONTROLLERS, entry.name);
        assert_eq!(engines.contains(&"fluid"), expected, "{}", entry.name);
    }
    for entry in afteryou_aqm::list::QUEUES {
        let engines = coverage::of_queue(entry.name);
        assert!(engines.contains(&"sim") && engines.contains(&"bed"), "{}: {engines:?}", entry.name);
        assert_eq!(
            engines.contains(&"fluid"),
            has_equations(afteryou_fluid::QUEUES, entry.name),
            "{}",
            entry.name
        );
    }
}

#[test]
fn the_bed_knows_every_transport_and_tcp_where_it_has_namespaces() {
    let known =
        TransportKind::ALL.map(|kind| (kind.name(), coverage::of_transport(kind.name()).contains(&"bed")));
    assert_eq!(known, [("tcp", cfg!(target_os = "linux")), ("utp", true), ("quic", true), ("udp", true)]);
    assert_eq!(coverage::of_transport("quic"), ["fluid", "bed"]);
    for kind in [TransportKind::Tcp, TransportKind::Utp, TransportKind::Udp] {
        assert_eq!(coverage::of_transport(kind.name())[..2], ["sim", "fluid"], "{kind:?}");
    }
}

#[test]
fn only_the_simulator_has_receivers_with_rules_of_their_own_and_the_testbed_has_that_from_outside() {
    for about in afteryou_scenario::end_rule::RECEIVERS {
        let engines = if about.name == "outside" { &["sim", "bed"][..] } else { &["sim"] };
        assert_eq!(coverage::of_receiver(about.name), engines, "{}", about.name);
    }
    for about in afteryou_scenario::end_rule::SENDERS {
        assert_eq!(coverage::of_sender(about.name), ["sim", "bed"], "{}", about.name);
    }
    assert_eq!(coverage::of_receiver("cubic"), [""; 0]);
}

#[test]
fn engines_have_names_and_sentences_of_their_own() {
    let mut names: Vec<_> = ENGINES.iter().map(|engine| engine.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENGINES.len());
    assert!(ENGINES.iter().all(|engine| engine.summary().len() > 20 && engine.description().ends_with('.')));
}
