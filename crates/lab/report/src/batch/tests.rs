use super::*;
use crate::table::Table;
use afteryou_scenario::outcome::{Comparison, FlowFigures, LinkFigures, Outcome, Run, Totals, WindowFigures};
use afteryou_scenario::{Buffer, Duration, Flow, Link, Rate, Role, Scenario, Size, Traffic, Window};

/// Returns a run at a point of a sweep without flows.
fn brief(point: &[(&str, &str)], utilisation: f64) -> Brief {
    let links = vec![LinkFigures { utilisation, ..LinkFigures::default() }];
    let window = WindowFigures { window: "all".to_owned(), links, ..WindowFigures::default() };
    at(point, scenario(Vec::new()), Run { windows: vec![window], ..Run::default() }, None)
}

fn at(point: &[(&str, &str)], scenario: Scenario, run: Run, baseline: Option<Run>) -> Brief {
    let mut outcome = Outcome::new("sim", "1", scenario, run, baseline);
    outcome.point = point.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Brief::of(&outcome, "")
}

fn scenario(flow: Vec<Flow>) -> Scenario {
    let second = Duration::from_millis(1000);
    let link = Link::new(Rate::from_mbit(10), Buffer::Time(second));
    let measure = vec![Window { name: "all".to_owned(), from: Duration::default(), to: second }];
    Scenario { flow, measure, ..Scenario::new("", second, link) }
}

fn flow(name: &str, role: Role) -> Flow {
    Flow::new(name, role, "cubic", Duration::from_millis(40))
}

/// Returns a run in which each flow has a goodput in Mbit/s, and a completion time in s if its transfer ended.
fn run(flows: &[(&Flow, f64, Option<f64>)]) -> Run {
    let figures = |(flow, mbit, _): &(&Flow, f64, _)| FlowFigures {
        flow: flow.name.clone(),
        role: flow.role,
        goodput_bit_s: mbit * 1e6,
        share_of_payload_capacity: mbit / 10.0,
        queuing_delay: None,
        sender: None,
    };
    let totals = |(flow, _, completed_in_s): &(&Flow, f64, Option<f64>)| Totals {
        flow: flow.name.clone(),
        completed_in_s: *completed_in_s,
        ..Totals::default()
    };
    let flows_of_window = flows.iter().map(figures).collect();
    let window =
        WindowFigures { window: "all".to_owned(), flows: flows_of_window, ..WindowFigures::default() };
    Run { windows: vec![window], totals: flows.iter().map(totals).collect(), ..Run::default() }
}

/// Returns the remarks about these runs alone.
fn said(briefs: &[Brief]) -> Vec<String> {
    remarks(briefs, briefs.len())
}

/// Returns the lines of the table called `title`, their cells between bars.
fn table(briefs: &[Brief], title: &str) -> Vec<String> {
    let table = tables(briefs).into_iter().find(|table| table.title == title);
    table.map(|table| told(&table)).unwrap_or_default()
}

fn told(table: &Table) -> Vec<String> {
    let heads = table.columns.iter().map(|column| column.name.as_ref()).collect::<Vec<_>>().join("|");
    let words = |row: &Vec<Cell>| row.iter().map(|cell| cell.text.as_str()).collect::<Vec<_>>().join("|");
    let lines = std::iter::once(heads).chain(table.rows.iter().map(words));
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
}

#[test]
fn settings_have_columns_of_their_own_the_slowest_first() {
    let at = |rtt, rate, utilisation| brief(&[("flow.a.rtt", rtt), ("link.rate", rate)], utilisation);
    let briefs = [at("1 ms", "5", 0.5), at("2 ms", "5", 0.6), at("1 ms", "9", 0.7), at("2 ms", "9", 0.8)];
    let expected = [
        "rate|rtt|runs|utilisation",
        "5|1 ms|1|50.0 %",
        "5|2 ms|1|60.0 %",
        "9|1 ms|1|70.0 %",
        "9|2 ms|1|80.0 %",
    ];
    assert_eq!(table(&briefs, "Runs"), expected);
    assert_eq!(tables(&briefs)[0].grouped, 2);
}

#[test]
fn settings_with_the_same_last_word_keep_the_whole_name() {
    let briefs = [brief(&[("flow.a.rtt", "1 ms"), ("flow.b.rtt", "1 ms")], 1.0)];
    assert_eq!(table(&briefs, "Runs")[0], "flow.a.rtt|flow.b.rtt|runs|utilisation");
}

#[test]
fn repetitions_have_an_interval_from_three_on() {
    let briefs = [brief(&[], 0.4), brief(&[], 0.5), brief(&[], 0.6)];
    assert_eq!(table(&briefs, "Runs"), ["runs|utilisation", "3|50.0 ± 24.8 %"]);
    assert_eq!(said(&briefs), ["± is the interval of the mean over the repetitions (95 %, n = 3)."]);
    assert_eq!(table(&briefs[..2], "Runs"), ["runs|utilisation", "2|45.0 %"]);
    assert!(said(&briefs[..2])[0].contains("repeat three times"), "{:?}", said(&briefs[..2]));
    assert!(table(&[], "Runs").len() == 1 && said(&[]).is_empty());
}

#[test]
fn repetitions_that_differ_in_nothing_are_called_identical() {
    let briefs = [brief(&[], 0.5), brief(&[], 0.5), brief(&[], 0.5)];
    assert_eq!(table(&briefs, "Runs"), ["runs|utilisation", "3 identical|50.0 %"]);
    assert_eq!(said(&briefs), ["All repetitions gave identical results: nothing random made a difference."]);
    let other = |utilisation| brief(&[("rtt", "1 ms")], utilisation);
    let mixed = [&briefs[..], &[other(0.1), other(0.2), other(0.3)]].concat();
    assert!(said(&mixed)[0].contains("1 of 2 points"), "{:?}", said(&mixed));
    assert!(table(&mixed, "Runs").iter().all(|line| !line.contains("± 0")));
}

#[test]
fn long_values_of_settings_that_differ_at_their_end_differ_in_the_table() {
    let values = [
        "{ controller = \"ledbat\", target = \"60 ms\" }",
        "{ controller = \"ledbat\", target = \"25 ms\" }",
    ];
    let briefs = values.map(|value| brief(&[("flow.backup", value)], 0.5));
    for width in [40, usize::MAX] {
        let text = crate::batch_text("", &briefs, briefs.len(), width, false);
        assert_eq!(text.matches("60 ms").count() + text.matches("25 ms").count(), 2, "{text}");
    }
}

#[test]
fn every_flow_has_a_row_and_one_that_is_absent_keeps_nothing() {
    let (upload, call) = (flow("upload", Role::Foreground), flow("call", Role::Foreground));
    let backup = flow("backup", Role::Background);
    let with = |flows: &[(&Flow, f64, Option<f64>)], alone: &[(&Flow, f64, Option<f64>)], point| {
        let written = flows.iter().map(|(flow, ..)| (*flow).clone()).collect();
        at(&[("flow.upload", point)], scenario(written), run(flows), Some(run(alone)))
    };
    let briefs = [
        with(&[(&call, 1.0, None), (&backup, 8.0, None)], &[(&call, 1.0, None)], "none"),
        with(
            &[(&upload, 4.0, None), (&call, 1.0, None), (&backup, 4.0, None)],
            &[(&upload, 8.0, None), (&call, 1.0, None)],
            "there",
        ),
    ];
    let expected = [
        "upload|flow|role|goodput|kept",
        "none|call|foreground|1.00 Mbit/s|100 %",
        "none|backup|background|8.00 Mbit/s|–",
        "none|upload|foreground|–|–",
        "there|call|foreground|1.00 Mbit/s|100 %",
        "there|backup|background|4.00 Mbit/s|–",
        "there|upload|foreground|4.00 Mbit/s|50.0 %",
    ];
    assert_eq!(table(&briefs, "Flows"), expected);
}

#[test]
fn downloads_that_end_have_completion_times_together_and_keep_no_rate() {
    let download = |i: usize| Flow {
        group: Some("download".to_owned()),
        traffic: Traffic::Size(Size::from_bytes(200_000)),
        ..flow(&format!("download-{i}"), Role::Foreground)
    };
    let downloads: Vec<Flow> = (0..4).map(download).collect();
    let backup = flow("backup", Role::Background);
    let taking = |times: [Option<f64>; 4]| -> Vec<(&Flow, f64, Option<f64>)> {
        downloads.iter().zip(times).map(|(flow, time)| (flow, 1.0, time)).collect()
    };
    let alone = taking([Some(0.2), Some(0.2), Some(0.3), Some(0.4)]);
    let with = [taking([Some(0.9), Some(1.5), Some(1.6), None]), vec![(&backup, 5.0, None)]].concat();
    let written = downloads.iter().chain([&backup]).cloned().collect();
    let briefs = [at(&[], scenario(written), run(&with), Some(run(&alone)))];
    assert_eq!(
        table(&briefs, "Completion times"),
        [
            "flow|complete|without|without|median|without|without",
            "download (4 flows)|75.0 %|0.275 s|0.400 s|1.500 s|0.200 s|0.400 s"
        ]
    );
    assert_eq!(table(&briefs, "Flows")[1], "download (4 flows)|foreground|4.00 Mbit/s");
}

#[test]
fn added_delays_have_a_column_where_they_are_measured() {
    let call = flow("call", Role::Foreground);
    let mut brief = at(&[], scenario(vec![call.clone()]), run(&[(&call, 1.0, None)]), None);
    let delayed = Comparison {
        window: "all".to_owned(),
        flow: "call".to_owned(),
        completion: Default::default(),
        kept: Some(1.0),
        added_delay_p95_ms: Some(60.0),
        added_delay_mean_ms: Some(50.0),
    };
    brief.flows[0].kept = delayed.kept;
    brief.flows[0].added_delay_mean_ms = delayed.added_delay_mean_ms;
    brief.flows[0].added_delay_p95_ms = delayed.added_delay_p95_ms;
    let expected = [
        "flow|role|goodput|kept|added delay, mean|p95",
        "call|foreground|1.00 Mbit/s|100 %|+50.0 ms|+60.0 ms",
    ];
    assert_eq!(table(&[brief], "Flows"), expected);
}

#[test]
fn the_page_draws_what_was_measured_over_the_longest_axis_of_numbers() {
    let backup = flow("backup", Role::Background);
    let brief = |rate: &str, controller: &str, goodput: f64| {
        let point = [("link.rate", rate), ("flow.backup.controller", controller)];
        at(&point, scenario(vec![backup.clone()]), run(&[(&backup, goodput, None)]), None)
    };
    let mut briefs = Vec::new();
    for (i, rate) in ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"].iter().enumerate() {
        briefs.extend(["ledbat", "cubic"].map(|controller| brief(rate, controller, i as f64)));
    }
    let page = index_html("", &briefs, briefs.len());
    assert!(page.contains("Background goodput over link.rate by flow.backup.controller"), "{page}");
    assert!(!page.contains("Kept by the foreground over"), "nothing in the foreground was measured");
    // More curves than can be distinguished are none.
    let many: Vec<Brief> = (0..13).map(|i| brief("5 Mbit/s", &format!("own-{i}"), 1.0)).collect();
    let two = many.iter().map(|brief| {
        let mut other = brief.clone();
        other.point.insert("link.rate".to_owned(), "6 Mbit/s".to_owned());
        other
    });
    let all: Vec<Brief> = two.chain(many.iter().cloned()).collect();
    assert!(!index_html("", &all, all.len()).contains("<svg"));
    assert!(!index_html("", &briefs[..1], 1).contains("Foreground goodput over"));
}

#[test]
fn a_page_that_shows_a_part_says_so() {
    let briefs = [brief(&[], 0.5)];
    assert!(
        remarks(&briefs, 3000)[0].starts_with("Shown are the first 1 of 3"),
        "{:?}",
        remarks(&briefs, 3000)
    );
    assert!(index_html("", &briefs, 3000).contains("3000 runs"));
}

#[test]
fn a_sweep_begins_with_the_points_where_the_foreground_kept_least_and_most() {
    let (backup, upload) = (flow("backup", Role::Background), flow("upload", Role::Foreground));
    let of = |buffer: &str, mbit: f64| {
        let with = run(&[(&backup, 1.0, None), (&upload, mbit, None)]);
        let without = run(&[(&upload, 9.0, None)]);
        at(&[("link.buffer", buffer)], scenario(vec![backup.clone(), upload.clone()]), with, Some(without))
    };
    let briefs = [of("20 ms", 4.5), of("50 ms", 6.0), of("300 ms", 8.1)];
    let expected = "The foreground kept least of its goodput, 50.0 %, with buffer 20 ms, and most, 90.0 %, with buffer 300 ms.";
    assert_eq!(headline(&briefs).unwrap().replace('\u{a0}', " "), expected);
    assert!(index_html("a", &briefs, 3).replace('\u{a0}', " ").contains(expected));
    assert_eq!(
        headline(&briefs[..1]).unwrap().replace('\u{a0}', " "),
        "The foreground kept 50.0 % of its goodput."
    );
    assert_eq!(headline(&[brief(&[], 0.5)]), None);
}

#[test]
fn a_sweep_of_transfers_begins_with_how_many_times_as_long_they_took() {
    let backup = flow("backup", Role::Background);
    let upload =
        Flow { traffic: Traffic::Size(Size::from_bytes(200_000)), ..flow("upload", Role::Foreground) };
    let of = |buffer: &str, took_s: f64| {
        let with = run(&[(&backup, 1.0, None), (&upload, 9.0, Some(took_s))]);
        let without = run(&[(&upload, 9.0, Some(0.5))]);
        at(&[("link.buffer", buffer)], scenario(vec![backup.clone(), upload.clone()]), with, Some(without))
    };
    let briefs = [of("20 ms", 0.5), of("50 ms", 0.64), of("300 ms", 1.0)];
    let expected = "Transfers of the foreground took longest, 2.00 times as long as alone, with buffer 300 ms, and shortest, 1.00 times, \
                    with buffer 20 ms.";
    assert_eq!(headline(&briefs).unwrap(), expected);
    assert_eq!(headline(&briefs[1..2]).unwrap(), "Transfers of the foreground took 1.28 times as long.");
    assert_eq!(tables(&briefs)[0].title, "Completion times");
    assert!(index_html("a", &briefs, 3).contains("Completion mean over link.buffer"));
}
