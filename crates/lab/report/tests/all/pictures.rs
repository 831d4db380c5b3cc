//! The page and the figure: complete, well-formed, the same every time, and deaf to what names say.

use crate::common;
use afteryou_plot::{stacked_svg, svg, Scale};
use afteryou_report::html;
use afteryou_scenario::outcome::{Mark, Outcome, PhaseSpan};

const HOSTILE: [&str; 5] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "' style='x' {{outcome}} {{js}} --> ]]> </svg></noscript>",
    "\u{0}\u{1b}[31m\u{7}\u{202e}\u{200b}\u{2028}\u{e0041}\u{fffe}\n\r\t&amp;",
];

/// Returns the contents of the script element with `opening`.
fn script<'a>(page: &'a str, opening: &str) -> &'a str {
    let start = page.find(opening).expect("the script is there") + opening.len();
    let end = page[start..].find("</script>").expect("the script ends");
    &page[start..start + end]
}

fn embedded(page: &str) -> Outcome {
    serde_json::from_str(script(page, "<script type=\"application/json\" id=\"outcome\">"))
        .expect("it is JSON")
}

/// Returns the page without what is within scripts and styles.
fn markup(page: &str) -> String {
    let mut rest = page;
    let mut kept = String::new();
    while let Some(start) = ["<script", "<style"].iter().filter_map(|tag| rest.find(tag)).min() {
        let body = start + rest[start..].find('>').unwrap() + 1;
        let closing = if rest[start..].starts_with("<script") { "</script>" } else { "</style>" };
        let end = body + rest[body..].find(closing).expect("scripts and styles end");
        kept.push_str(&rest[..body]);
        rest = &rest[end..];
    }
    kept + rest
}

/// Checks that tags are known, closed in order, and have no handler; returns how many scripts there are.
fn check_tags(page: &str) -> usize {
    const EMPTY: [&str; 2] = ["meta", "!doctype"];
    const KNOWN: &str = "!doctype html head meta title style body main header h1 h2 p span section ul li div table thead \
                         tbody tr th td strong noscript details summary pre footer a script svg rect line polyline \
                         polygon circle text";
    let markup = markup(page);
    let mut open: Vec<String> = Vec::new();
    let mut scripts = 0;
    for piece in markup.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("every tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        assert!(KNOWN.split_whitespace().any(|known| known == name), "unknown tag <{tag}>");
        // Every other piece between quotes is a value.
        assert!(!tag.split('"').step_by(2).any(|outside| outside.contains(" on")), "a handler in <{tag}>");
        scripts += usize::from(tag.starts_with("script"));
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "<{tag}> closes something else");
        } else if !tag.ends_with('/') && !EMPTY.contains(&name) {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    scripts
}

#[test]
fn the_page_holds_the_whole_outcome_and_needs_no_network() {
    let outcome = common::full();
    let page = html(&outcome).unwrap();
    assert_eq!(embedded(&page), outcome);
    assert_eq!(check_tags(&page), 4);
    let markup = markup(&page);
    for loader in [" src=", "<link", "@import", "url("] {
        assert!(!markup.contains(loader), "{loader}");
    }
    assert!(page.contains("Copyright (c)"), "the licence of uPlot travels with it");
}

#[test]
fn the_page_shows_verdict_checks_windows_transfers_and_scenario() {
    let page = markup(&html(&common::full()).unwrap());
    for words in [
        "hardly noticed the backup",
        "✗ not met",
        "at most 35\u{a0}ms",
        "whole run",
        "16.3\u{a0}Mbit/s",
        "98.4\u{a0}%",
        "+32.3\u{a0}ms",
        "✓ identical",
        "201\u{202f}344",
        "✓ in time",
        "ledbat++ (target 60 ms)",
        "The scenario as JSON",
        "18446744073709551615",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn an_empty_outcome_has_a_page_and_a_figure() {
    let page = html(&common::empty()).unwrap();
    check_tags(&page);
    assert_eq!(embedded(&page), common::empty());
    let figure = svg(&common::empty()).unwrap();
    roxmltree::Document::parse(&figure).unwrap();
    assert_eq!(figure.matches("nothing was measured").count(), 2);
}

#[test]
fn no_name_becomes_markup_or_script_in_the_page() {
    for name in HOSTILE {
        let outcome = common::named(name);
        let page = html(&outcome).unwrap();
        assert_eq!(check_tags(&page), 4, "{name:?}");
        assert_eq!(embedded(&page), outcome, "{name:?}");
    }
}

#[test]
fn no_name_breaks_the_figure() {
    for name in HOSTILE {
        let figure = svg(&common::named(name)).unwrap();
        let document =
            roxmltree::Document::parse(&figure).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        let tags = ["svg", "title", "rect", "line", "polyline", "polygon", "circle", "text"];
        let known = |node: &roxmltree::Node<'_, '_>| tags.contains(&node.tag_name().name());
        assert!(
            document.descendants().filter(roxmltree::Node::is_element).all(|node| known(&node)),
            "{name:?}"
        );
    }
}

#[test]
fn the_figure_is_the_same_every_time_and_has_both_panels() {
    let figure = svg(&common::full()).unwrap();
    assert_eq!(figure, svg(&common::full()).unwrap());
    let document = roxmltree::Document::parse(&figure).unwrap();
    let root = document.root_element();
    assert_eq!((root.attribute("width"), root.attribute("height")), (Some("900"), Some("520")));
    let texts: Vec<_> = document.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for words in ["Goodput (Mbit/s)", "Queuing delay (ms)", "slowdown (8×)", "without background", "time (s)"]
    {
        assert!(texts.contains(&words), "{words}");
    }
    assert!(document
        .descendants()
        .all(|node| node.attribute("font-family").is_none_or(|f| f == "sans-serif")));
}

#[test]
fn two_runs_are_drawn_on_one_time_axis_with_one_legend() {
    let (mut first, second) = (common::full(), common::full());
    first.run.duration_s /= 2.0;
    first.run.series.retain(|series| series.of == "backup");
    let figure =
        stacked_svg("windows <of> a run", "cwnd", &[("alone", &first), ("together", &second)], Scale::Own)
            .unwrap();
    let document = roxmltree::Document::parse(&figure).unwrap();
    let texts: Vec<_> = document
        .descendants()
        .filter(|node| node.is_text())
        .filter_map(|node| node.text())
        .map(str::trim)
        .collect();
    let times = |words: &str| texts.iter().filter(|text| **text == words).count();
    assert_eq!(["alone", "together", "time (s)", "backup", "slowdown"].map(times), [1; 5], "{texts:?}");
    for outcome in [common::empty(), common::named(HOSTILE[4])] {
        let figure = stacked_svg(
            HOSTILE[0],
            HOSTILE[1],
            &[(HOSTILE[2], &outcome), (HOSTILE[3], &outcome)],
            Scale::Common,
        )
        .unwrap();
        roxmltree::Document::parse(&figure).unwrap();
    }
}

#[test]
fn runs_of_two_engines_are_drawn_to_one_scale_and_each_panel_names_its_own() {
    let texts = |scale: Scale| -> Vec<String> {
        let (first, mut second) = (common::full(), common::full());
        second.engine = "fluid".to_owned();
        // Curves are in another order in each.
        second.run.series.reverse();
        for series in second.run.series.iter_mut().filter(|series| series.quantity == "cwnd") {
            series.values.iter_mut().flatten().for_each(|value| *value *= 10.0);
        }
        let figure = stacked_svg("windows", "cwnd", &[("one", &first), ("other", &second)], scale).unwrap();
        let document = roxmltree::Document::parse(&figure).unwrap();
        let texts = document.descendants().filter(|node| node.is_text()).filter_map(|node| node.text());
        texts.map(|text| text.trim().to_owned()).collect()
    };
    let (own, common) = (texts(Scale::Own), texts(Scale::Common));
    let with = |texts: &[String], words: &str| texts.iter().filter(|text| text.contains(words)).count();
    assert_eq!((with(&common, "one: "), with(&common, "fluid model"), with(&common, "link")), (1, 1, 0));
    // Numbers at the axes are there twice if they are the same at both.
    let numbers = |texts: &[String]| {
        let numbers = texts.iter().filter(|text| text.parse::<f64>().is_ok_and(|number| number > 0.0));
        numbers.filter(|number| texts.iter().filter(|text| text == number).count() == 2).count()
    };
    assert!(numbers(&common) > numbers(&own), "{own:?} {common:?}");
}

#[test]
fn a_long_table_waits_to_be_opened() {
    let mut outcome = common::full();
    let folded = "rows</summary>";
    assert!(!html(&outcome).unwrap().contains(folded));
    let windows = outcome.run.windows.clone();
    outcome.run.windows = windows.iter().cycle().take(90).cloned().collect();
    let page = html(&outcome).unwrap();
    assert!(page.contains(folded));
    check_tags(&page);
}

#[test]
fn long_and_dense_outcomes_make_a_figure_of_bounded_size() {
    let mut outcome = common::full();
    for run in [Some(&mut outcome.run), outcome.baseline.as_mut()].into_iter().flatten() {
        for series in &mut run.series {
            series.values = series.values.iter().cycle().take(200_000).copied().collect();
        }
        let mark =
            |i| Mark { at_s: f64::from(i) * 0.4, of: "backup".to_owned(), what: "slowdown".to_owned() };
        run.marks.extend((0..100_000).map(mark));
    }
    let figure = svg(&outcome).unwrap();
    assert!(figure.len() < 700_000, "{} bytes", figure.len());
}

#[test]
fn numbers_that_are_none_are_drawn_without_a_panic() {
    for value in
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -1.0, 0.0, f64::MIN_POSITIVE]
    {
        let mut outcome = common::full();
        let run = &mut outcome.run;
        (run.duration_s, run.marks[0].at_s, run.series[0].start_s, run.series[1].step_s) =
            (value, value, value, value);
        run.series[2].values = vec![Some(value); 7];
        (run.windows[0].from_s, run.windows[1].to_s) = (value, value);
        run.windows[2].links[0].utilisation = value;
        run.windows[0].flows[0].goodput_bit_s = value;
        (outcome.checks[0].value, outcome.checks[1].at_most) = (Some(value), Some(value));
        check_tags(&html(&outcome).unwrap());
        roxmltree::Document::parse(&svg(&outcome).unwrap()).unwrap();
        afteryou_report::text(&outcome, 80, true);
    }
}

#[test]
fn the_page_and_the_figure_have_a_strip_of_phases_for_each_of_a_few_flows_that_recorded_them() {
    let mut outcome = common::full();
    let plan = |outcome: &Outcome| -> serde_json::Value {
        let page = html(outcome).unwrap();
        serde_json::from_str(script(&page, "<script type=\"application/json\" id=\"plan\">")).unwrap()
    };
    assert!(plan(&outcome)["phases"].is_null());
    let span = |flow: &str, phase: &str, from_s, to_s| {
        let (flow, phase) = (flow.to_owned(), phase.to_owned());
        PhaseSpan { flow, phase, from_s, to_s }
    };
    outcome.run.phases = vec![
        span("backup", "slow start", 0.0, 2.0),
        span("backup", "slowdown <ramp>", 2.0, 5.0),
        span("backup", "congestion avoidance", 5.0, 120.0),
        span("photo upload", "slow start", 40.0, 41.0),
        span("stranger", "slow start", 0.0, 120.0),
    ];
    let phases = plan(&outcome)["phases"].clone();
    let names = |list: &serde_json::Value, key: &str| -> Vec<String> {
        list.as_array().unwrap().iter().map(|entry| entry[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&phases["strips"], "flow"), ["photo upload", "backup"]);
    // The longest first, over both flows.
    let kinds = &phases["kinds"];
    assert_eq!(names(kinds, "name"), ["congestion avoidance", "slow start", "slowdown <ramp>"]);
    assert!(kinds[0]["height"].as_f64() < kinds[1]["height"].as_f64(), "{kinds}");
    let figure = svg(&outcome).unwrap();
    assert!(figure.contains("congestion avoidance") && figure.contains("slowdown &lt;ramp&gt;"));
    check_tags(&html(&outcome).unwrap());
    let flow = outcome.scenario.flow[2].clone();
    for i in 0..4 {
        let name = format!("peer {i}");
        outcome.run.phases.push(span(&name, "slow start", 0.0, 1.0));
        outcome.scenario.flow.push(afteryou_scenario::Flow { name, ..flow.clone() });
    }
    assert!(plan(&outcome)["phases"].is_null(), "six strips would leave no room for curves");
}
