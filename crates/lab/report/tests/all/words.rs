//! The text for a terminal: aligned, fitting, plain when asked.

use crate::common;
use afteryou_report::text;
use afteryou_scenario::outcome::{Comparison, Quantiles};

/// Returns the lines of the table called `title`.
fn table<'a>(page: &'a str, title: &str) -> Vec<&'a str> {
    page.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty()).collect()
}

/// Returns where `part` starts in `line`, in columns.
fn column(line: &str, part: &str) -> usize {
    let at = line.find(part).unwrap_or_else(|| panic!("{part:?} in {line:?}"));
    line[..at].chars().count()
}

#[test]
fn words_stand_on_the_left_of_their_column_and_numbers_on_the_right() {
    let page = text(&common::full(), 100, false);
    let checks = table(&page, "Checks");
    let bound = column(checks[0], "bound");
    assert_eq!(column(checks[1], "at least"), bound);
    assert_eq!(column(checks[2], "at most"), bound);
    let end = column(checks[0], "value") + "value".len();
    assert_eq!(column(checks[1], "98.4\u{a0}%") + "98.4 %".len(), end);
    assert_eq!(column(checks[3], "91.996\u{a0}%") + "91.996 %".len(), end);
    assert_eq!(column(checks[4], "–") + 1, end);
}

#[test]
fn what_repeats_the_row_above_is_left_out() {
    let page = text(&common::full(), 100, false);
    let flows = table(&page, "Flows in each window");
    assert_eq!(flows.iter().filter(|line| line.starts_with("  alone")).count(), 1);
    assert_eq!(flows.iter().filter(|line| line.contains("○ video call")).count(), 3);
}

#[test]
fn no_line_is_longer_than_the_terminal() {
    for width in [40, 60, 80, 100, 200] {
        for outcome in [common::full(), common::empty()] {
            let page = text(&outcome, width, false);
            // Six columns of numbers and names need 60; below, they are kept whole.
            let longest = page.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            assert!(longest <= width.max(60), "{width}: {longest}");
        }
    }
}

#[test]
fn without_colour_there_is_no_control_character_and_with_it_the_words_are_the_same() {
    for outcome in [common::full(), common::named("\u{1b}[2J\u{7}\r\n\u{9b}31m")] {
        let plain = text(&outcome, 100, false);
        assert!(plain.chars().all(|c| c == '\n' || !c.is_control()));
        let mut coloured = text(&outcome, 100, true);
        assert!(coloured.contains("\u{1b}[32m") && coloured.contains("\u{1b}[0m"));
        for code in ["0", "1", "2", "32", "1;31"] {
            coloured = coloured.replace(&format!("\u{1b}[{code}m"), "");
        }
        let trimmed = |page: &str| page.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
        assert_eq!(trimmed(&coloured), trimmed(&plain));
    }
}

#[test]
fn the_verdict_comes_first_and_every_outcome_has_a_name() {
    let page = text(&common::full(), 100, false);
    assert!(page.find("✓ The upload and the call").unwrap() < page.find("Checks").unwrap());
    assert!(text(&common::empty(), 100, false).starts_with("Unnamed scenario\n"));
}

#[test]
fn a_run_that_the_machine_spoiled_says_so_before_any_figure() {
    let mut outcome = common::full();
    let late = outcome.baseline.as_mut().and_then(|run| run.lateness.as_mut()).unwrap();
    late.departures = Quantiles { p99_ms: 9.0, ..late.departures };
    let page = text(&outcome, 100, false);
    let warning = page.find("This machine was too slow for the emulation.").unwrap();
    assert!(warning < page.find("Checks").unwrap());
    assert!(page.contains("✗ too late"));
}

#[test]
fn sets_of_flows_are_listed_with_what_was_measured_of_them() {
    use afteryou_scenario::outcome::{SetFigures, ShortTerm};
    let mut outcome = crate::common::full();
    assert!(!text(&outcome, usize::MAX, false).contains("Sets of flows"));
    let flows = |number: usize| (1..=number).map(|i| format!("upload {i}")).collect();
    let set = |window: &str, number| SetFigures {
        window: window.to_owned(),
        to_s: 60.0,
        flows: flows(number),
        goodput_bit_s: 4_200_000.0,
        fairness: Some(0.875),
        ..SetFigures::default()
    };
    let short_term = Some(ShortTerm { mean: 0.75, p5: 0.5, ..ShortTerm::default() });
    outcome.run.sets = vec![SetFigures { short_term, ..set("uploads", 2) }, set("many", 9)];
    let page = afteryou_report::html(&outcome).unwrap();
    let text = text(&outcome, usize::MAX, false);
    for shown in ["Sets of flows", "upload 1, upload 2", "9 flows", "0.8750", "0.7500", "0.5000"] {
        assert!(text.contains(shown) && page.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("starved") && !text.contains("start-up"), "nothing was measured of it");
}

#[test]
fn transfers_are_listed_by_size_with_late_segments() {
    use afteryou_scenario::outcome::{Completions, Quantiles, SizeClass, Totals};
    let time = Quantiles::of(&[10.0, 20.0, 400.0]).unwrap();
    let class =
        SizeClass { from_bytes: 10_000, to_bytes: Some(100_000), time, times_ms: vec![10.0, 20.0, 400.0] };
    let completions =
        Completions { time: Some(time), classes: vec![class], late: Some(7), ..Completions::default() };
    let mut outcome = crate::common::full();
    let flow = outcome.scenario.flow[0].name.clone();
    outcome.run.totals = vec![Totals { flow, completions: Some(completions), ..Totals::default() }];
    let text = afteryou_report::text(&outcome, usize::MAX, false);
    let page = afteryou_report::html(&outcome).unwrap();
    for shown in ["Completion times by size", "late segments", "10.0\u{a0}kB to 100\u{a0}kB"] {
        assert!(text.contains(shown) && page.contains(shown), "{shown}: {text}");
    }
}

#[test]
fn the_brief_text_is_a_dozen_lines_with_the_verdict_or_the_headline() {
    let mut outcome = common::full();
    let brief = afteryou_report::brief_text(&outcome, 100, false);
    let verdict = outcome.verdict.take().unwrap();
    assert!(brief.contains(&verdict.headline) && !brief.contains("Checks"), "{brief}");
    let brief = afteryou_report::brief_text(&outcome, 100, false);
    let headline = afteryou_report::headline(&outcome);
    assert!(brief.lines().count() <= 12, "{brief}");
    assert_eq!(headline.len(), 2, "{headline:?}");
    let page = afteryou_report::html(&outcome).unwrap();
    for sentence in &headline {
        assert!(brief.contains(sentence.as_str()) && text(&outcome, 100, false).contains(sentence.as_str()));
        assert!(page.contains("class=\"lead\"") && page.contains("and the backup took"), "{sentence}");
    }
}

#[test]
fn the_headline_names_the_flow_that_kept_least_and_the_longest_added_delay() {
    let mut outcome = common::full();
    let compared = |window: &str, flow: &str, kept, added| Comparison {
        window: window.to_owned(),
        flow: flow.to_owned(),
        completion: Default::default(),
        kept,
        added_delay_mean_ms: added,
        added_delay_p95_ms: None,
    };
    outcome.comparison = vec![
        compared("alone", "video call", Some(1.0), Some(58.25)),
        compared("shared", "video call", Some(0.99), Some(12.0)),
        compared("shared", "photo upload", Some(0.9432), None),
    ];
    let [kept, delayed] = &afteryou_report::headline(&outcome)[..] else { panic!("two sentences") };
    assert!(kept.starts_with("The photo upload kept 94.3\u{a0}%, and the backup took "), "{kept}");
    assert!(kept.ends_with(" of the link in the window “shared”."), "{kept}");
    assert_eq!(
        delayed,
        "The backup added 58.2\u{a0}ms to the video call's mean delay in the window “alone”."
    );
    outcome.comparison.clear();
    outcome.link_comparison.clear();
    let without = afteryou_report::headline(&outcome);
    assert!(without[0].starts_with("The link carried "), "{without:?}");
    outcome.run.windows.clear();
    assert!(afteryou_report::headline(&outcome).is_empty());
}

#[test]
fn completion_times_lead_where_the_foreground_has_any_and_the_kept_goodput_follows() {
    use afteryou_scenario::outcome::{Completions, Outcome, Run, Totals, WindowCompletions};
    use afteryou_scenario::{Duration, Flow, Law, Role, Size, Traffic};
    let made = common::full();
    let mut scenario = made.scenario.clone();
    let web = afteryou_scenario::traffic::Web {
        users: 5,
        think: Law::Fixed(Duration::from_millis(4000)),
        objects: 10,
        size: Law::Fixed(Size::from_bytes(20_000)),
        connections: 6,
    };
    scenario.flow[1] =
        Flow { name: "photo upload".to_owned(), traffic: Traffic::Web(web), ..scenario.flow[1].clone() };
    let run = |run: &Run, times_ms: &[f64], begun| {
        let time = Quantiles::of(times_ms);
        let completed = times_ms.len() as u64;
        let in_window = WindowCompletions { window: "shared".to_owned(), begun, completed, time };
        let completions =
            Completions { begun, completed, time, windows: vec![in_window], ..Completions::default() };
        let totals = Totals {
            flow: "photo upload".to_owned(),
            packets: 9,
            received_bytes: 9,
            completions: Some(completions),
            ..Totals::default()
        };
        let windows = run.windows.iter().filter(|window| window.window == "shared").cloned().collect();
        Run { totals: vec![totals], windows, ..run.clone() }
    };
    let outcome = |with: &[f64], begun| {
        let baseline = run(made.baseline.as_ref().unwrap(), &[1000.0, 1000.0, 1000.0, 2000.0], 4);
        let with = run(&made.run, with, begun);
        Outcome::new("sim", "1", scenario.clone(), with, Some(baseline))
    };
    let harmed = outcome(&[1280.0, 1280.0, 1280.0, 2560.0], 4);
    let plain = |text: &str| text.replace('\u{a0}', " ");
    let headline: Vec<String> = afteryou_report::headline(&harmed).iter().map(|said| plain(said)).collect();
    assert_eq!(
        headline[..2],
        [
            "The pages of the photo upload took 1.600 s on average instead of 1.250 s, 1.28 times as long.",
            "95 % of them took at most 2.560 s instead of 2.000 s, 1.28 times as long.",
        ]
    );
    assert!(headline[2].starts_with("The photo upload kept 98.4 %, and the backup took"), "{headline:?}");
    let brief = plain(&afteryou_report::brief_text(&harmed, 100, false));
    assert!(brief.contains(&headline[0]) && brief.contains("1.250 s → 1.600 s (×1.28)"), "{brief}");
    let page = plain(&afteryou_report::html(&harmed).unwrap());
    for text in [plain(&text(&harmed, usize::MAX, false)), page] {
        let places = [&headline[0][..], "Completion times", "What the background cost"];
        let places = places.map(|part| text.find(part).unwrap_or_else(|| panic!("{part}: {text}")));
        assert!(places.is_sorted(), "{places:?}");
    }
    let fewer = afteryou_report::headline(&outcome(&[1280.0, 1280.0], 4));
    let expected =
        "Of the pages of the photo upload 2 of 4 came to their end, and without the background 4 of 4.";
    assert_eq!(fewer[0], expected);
    let alone =
        Outcome { baseline: None, comparison: Vec::new(), link_comparison: Vec::new(), ..harmed.clone() };
    let alone = afteryou_report::headline(&alone);
    assert_eq!(plain(&alone[0]), "The pages of the photo upload took 1.600 s on average.");
    assert!(alone[2].starts_with("The link carried"), "{alone:?}");
    // A file of which no byte is missing without the background.
    let mut file = harmed.clone();
    file.scenario.flow[1].traffic = Traffic::Size(Size::from_bytes(1));
    let baseline = file.baseline.as_mut().unwrap();
    baseline.totals[0].completed_in_s = Some(12.6);
    let expected = "The photo upload did not end within the run; without the background it took 12.600 s.";
    assert_eq!(plain(&afteryou_report::headline(&file)[0]), expected);
    file.run.totals[0].completed_in_s = Some(25.2);
    let expected = "The photo upload took 25.200 s instead of 12.600 s, 2.00 times as long.";
    assert_eq!(plain(&afteryou_report::headline(&file)[0]), expected);
    assert_eq!(file.scenario.flow[1].role, Role::Foreground);
}
