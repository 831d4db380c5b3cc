//! Figures of saved results, two results beside each other, pages drawn again.

use crate::common;
use afteryou_plot::{png, stacked_svg, Figure, Scale};
use afteryou_report::{redraw, write_folder, Comparison};
use afteryou_scenario::outcome::{Completions, PhaseSpan, Quantiles, SizeClass, Totals};
use afteryou_scenario::Outcome;
use std::path::Path;

/// Returns the words of a drawing, in order.
fn words(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).expect("a drawing");
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts.map(|node| node.text().unwrap_or_default().trim().to_owned()).collect()
}

#[test]
fn a_figure_of_windows_names_the_phases_that_senders_recorded() {
    let mut outcome = common::full();
    let drawn = |outcome: &Outcome, quantity: &str| {
        let folder = tempfile::tempdir().unwrap();
        write_folder(outcome, folder.path()).unwrap();
        words(&Figure { y: quantity.to_owned(), ..Figure::default() }.draw(folder.path()).unwrap())
    };
    let has = |words: &[String], phase: &str| words.iter().any(|word| word == phase);
    assert!(!has(&drawn(&outcome, "cwnd"), "slow start"));
    let span = |phase: &str, from_s, to_s| PhaseSpan {
        flow: "backup".to_owned(),
        phase: phase.to_owned(),
        from_s,
        to_s,
    };
    outcome.run.phases = vec![span("slow start", 0.0, 2.0), span("congestion avoidance", 2.0, 120.0)];
    let windows = drawn(&outcome, "cwnd");
    assert!(has(&windows, "slow start") && has(&windows, "congestion avoidance"), "{windows:?}");
    assert!(!has(&drawn(&outcome, "goodput"), "slow start"), "phases are those of windows");
    let strangers = outcome.run.phases.iter_mut();
    strangers.for_each(|span| span.flow = "nobody".to_owned());
    assert!(!has(&drawn(&outcome, "cwnd"), "slow start"), "a flow without a curve has no strip");
}

#[test]
fn completion_times_of_one_run_are_a_distribution_by_flow_or_by_size() {
    let quantiles = Quantiles::of(&[100.0, 200.0]).unwrap();
    let class = |from_bytes, to_bytes, samples, times_ms: &[f64]| SizeClass {
        from_bytes,
        to_bytes,
        time: Quantiles { samples, ..quantiles },
        times_ms: times_ms.to_vec(),
    };
    let mut outcome = common::full();
    let name = outcome.scenario.flow[1].name.clone();
    let completions = Completions {
        classes: vec![
            class(0, Some(10_000), 900, &[100.0, 200.0, 300.0]),
            class(10_000, Some(100_000), 100, &[5000.0]),
        ],
        ..Completions::default()
    };
    outcome.run.totals =
        vec![Totals { flow: name.clone(), completions: Some(completions), ..Totals::default() }];
    outcome.baseline = None;
    let folder = tempfile::tempdir().unwrap();
    write_folder(&outcome, folder.path()).unwrap();
    let drawn = |by: &[&str]| {
        let by = by.iter().map(|name| (*name).to_owned()).collect();
        Figure { y: "completion".to_owned(), by, ..Figure::default() }.draw(folder.path()).unwrap()
    };
    let has = |svg: &str, word: &str| words(svg).iter().any(|known| known == word);
    let by_flow = drawn(&[]);
    assert!(has(&by_flow, "completion (s)") && has(&by_flow, "part of all") && has(&by_flow, &name));
    let by_size = drawn(&["size"]);
    assert!(has(&by_size, "below 10.0\u{a0}kB") && has(&by_size, "10.0\u{a0}kB to 100\u{a0}kB"));
    assert!(has(&drawn(&["controller"]), "cubic"));
    let unknown = Figure { y: "completed".to_owned(), ..Figure::default() }.draw(folder.path());
    assert!(unknown.unwrap_err().to_string().contains("did you mean \"completion\"?"));
}

#[test]
fn a_figure_of_a_result_has_its_title_and_its_flows() {
    let outcome = common::full();
    let folder = tempfile::tempdir().unwrap();
    write_folder(&outcome, folder.path()).unwrap();
    let figure = Figure { y: "goodput".to_owned(), ..Figure::default() };
    let svg = figure.draw(folder.path()).unwrap();
    let words = words(&svg);
    for expected in [outcome.scenario.name.as_str(), "backup", "photo upload", "goodput (Mbit/s)", "time (s)"]
    {
        assert!(words.iter().any(|word| word == expected), "{expected} in {words:?}");
    }
    assert!(png(&svg).unwrap().starts_with(b"\x89PNG"));
    let empty = tempfile::tempdir().unwrap();
    let said = figure.draw(empty.path()).unwrap_err().to_string();
    assert!(said.contains("flows.csv") && said.contains("result.json"), "{said}");
}

#[test]
fn two_results_are_compared_figure_by_figure() {
    let first = common::full();
    let mut second = first.clone();
    second.run.windows[0].flows[0].goodput_bit_s *= 1.5;
    let pair = Comparison { names: vec!["old", "new"], outcomes: vec![&first, &second], chosen: Vec::new() };
    let figures = pair.figures();
    let differing: Vec<_> =
        figures.iter().filter(|figure| figure.difference().is_some_and(|value| value != 0.0)).collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
    assert_eq!(differing[0].figure, "goodput_bit_s");
    assert!((differing[0].relative().unwrap() - 0.5).abs() < 1e-9);
    let text = pair.text(120, false);
    assert!(text.contains("+50.0 %") && text.contains("old") && text.contains("new"), "{text}");
    let page = pair.html().unwrap();
    assert!(page.matches("<svg").count() >= 2 && page.contains("+50.0 %"));
}

#[test]
fn three_results_have_a_column_each_and_the_spread() {
    let first = common::full();
    let (mut second, mut third) = (first.clone(), first.clone());
    let goodput = first.run.windows[0].flows[0].goodput_bit_s;
    second.run.windows[0].flows[0].goodput_bit_s = goodput * 0.75;
    third.run.windows[0].flows[0].goodput_bit_s = goodput * 0.5;
    let chosen = vec!["goodput_bit_s".to_owned()];
    let all = Comparison {
        names: vec!["fluid", "sim", "bed"],
        outcomes: vec![&first, &second, &third],
        chosen: chosen.clone(),
    };
    let figures = all.figures();
    assert!(figures.iter().all(|figure| figure.figure == "goodput_bit_s" && figure.values.len() == 3));
    assert_eq!((figures[0].difference(), figures[0].relative()), (Some(goodput * 0.5), Some(0.5)));
    assert!(all.names_of_figures().len() > 3, "{:?}", all.names_of_figures());
    let text = all.text(160, false);
    for word in ["fluid, sim and bed", "spread", "50.0 %"] {
        assert!(text.contains(word), "{word} in {text}");
    }
    let page = all.html().unwrap();
    let panels = |name: &str| page.matches(&format!(">\n{name}\n</text>")).count();
    assert!(page.matches("<svg").count() >= 2 && panels("bed") >= 2, "{}", panels("bed"));
}

#[test]
fn no_name_of_a_result_steers_a_terminal_or_becomes_markup() {
    let outcome = common::full();
    let names = vec!["<b>\u{1b}[2J\u{202e}", "new"];
    let pair = Comparison { names, outcomes: vec![&outcome, &outcome], chosen: Vec::new() };
    for shown in [pair.text(120, false), pair.html().unwrap()] {
        assert!(!shown.contains(['\u{1b}', '\u{202e}']) && shown.contains("\\u{1b}[2J\\u{202e}"), "{shown}");
    }
    assert!(!pair.html().unwrap().contains("<b>"));
}

#[test]
fn the_name_of_a_folder_is_part_of_an_address_and_no_script() {
    let folder = tempfile::tempdir().unwrap();
    let name = "javascript:alert(1)?a=%41#b";
    std::fs::create_dir(folder.path().join(name)).unwrap();
    let json = serde_json::to_string(&common::full()).unwrap();
    std::fs::write(folder.path().join(name).join("result.json"), json).unwrap();
    let page = std::fs::read_to_string(redraw(folder.path(), false).unwrap()).unwrap();
    assert!(page.contains("href=\"javascript%3Aalert%281%29%3Fa%3D%2541%23b/report.html\""), "{page}");
}

#[test]
fn pages_are_drawn_again_and_a_run_of_a_sweep_leads_back_to_the_page_of_all() {
    let outcome = common::full();
    let folder = tempfile::tempdir().unwrap();
    for name in ["1-a", "2-b"] {
        let json = serde_json::to_string(&outcome).unwrap();
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("result.json"), json).unwrap();
    }
    let page = redraw(folder.path(), true).unwrap();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(read(&page).contains("href=\"2-b/report.html\""));
    assert!(read(&folder.path().join("1-a/report.html")).contains("href=\"../report.html\""));
    assert!(folder.path().join("1-a/figure.png").is_file());
    let alone = redraw(&folder.path().join("1-a"), false).unwrap();
    assert!(!read(&alone).contains("All runs"));
    let empty = tempfile::tempdir().unwrap();
    assert!(redraw(empty.path(), false).unwrap_err().to_string().contains("result.json"));
}

#[test]
fn a_flow_with_another_controller_in_another_run_is_named_with_both() {
    let first = common::full();
    let mut second = first.clone();
    let backup = second.scenario.flow.iter_mut().find(|flow| flow.name == "backup").unwrap();
    let other = if backup.controller.as_ref().unwrap().kind == "cubic" { "ledbat" } else { "cubic" };
    backup.controller = Some(afteryou_scenario::Algorithm::named(other));
    let runs = [("one", &first), ("other", &second)];
    let legend = words(&stacked_svg("both", "goodput", &runs, Scale::Common).unwrap());
    assert!(legend.iter().any(|word| *word == format!("backup ({other})")), "{legend:?}");
    let same =
        words(&stacked_svg("both", "goodput", &[("one", &first), ("other", &first)], Scale::Common).unwrap());
    assert!(same.iter().any(|word| word == "backup"), "{same:?}");
}
