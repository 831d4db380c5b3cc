//! Rows for other programs.

use crate::common;
use afteryou_report::rows::{Columns, Csv, Identity, JsonLines, Rows, Value};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::{
    AfterLoss, Quantiles, SetAtLink, SetFigures, SetTransfers, ShortTerm, SizeClass,
};
use std::collections::BTreeSet;

fn rows() -> Rows {
    let mut outcome = common::full();
    outcome.point = [("link.rate", "20 Mbit/s"), ("flow.backup.controller", "ledbat++")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    Rows::of(&outcome, Identity { run: 7, key: ContentHash::of_text("key") })
}

#[test]
fn a_run_is_one_row_and_each_flow_one_in_each_window() {
    let (rows, outcome) = (rows(), common::full());
    let windows = &outcome.run.windows;
    assert_eq!(rows.flows.len(), windows.iter().map(|window| window.flows.len()).sum::<usize>());
    let first = &rows.flows[0];
    assert_eq!(first.get("link.rate_bit_s"), &Value::Whole(20_000_000));
    assert_eq!(first.get("flow.backup.controller"), &Value::from("ledbat++"));
    assert_eq!((first.get("run"), first.get("repetition")), (&Value::Whole(7), &Value::Whole(1)));
    assert_eq!(first.get("window"), &Value::from(windows[0].window.as_str()));
    let flow = &windows[0].flows[0];
    assert_eq!(first.get("goodput_bit_s"), &Value::Number(flow.goodput_bit_s));
    let delay = flow.queuing_delay.map(|delay| delay.p95_ms);
    assert_eq!(first.get("queuing_delay_p95_ms"), &Value::from(delay));
    let prefix = if windows.len() > 1 { format!("{}.", windows[0].window) } else { String::new() };
    let utilisation = windows[0].links[0].utilisation;
    assert_eq!(rows.run.get(&format!("{prefix}utilisation")), &Value::Number(utilisation));
}

#[test]
fn no_row_has_two_values_under_one_name_and_all_formats_have_the_same_ones() {
    let rows = rows();
    for row in [&rows.run].into_iter().chain(&rows.flows).chain(&rows.links) {
        let names: BTreeSet<&str> = row.cells().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names.len(), row.cells().len(), "{row:?}");
    }
    let mut columns = Columns::default();
    rows.flows.iter().for_each(|row| columns.add(row));
    let (mut csv, mut lines) =
        (Csv::new(&columns, Vec::new()).unwrap(), JsonLines::new(&columns, Vec::new()));
    for row in &rows.flows {
        csv.write(row).unwrap();
        lines.write(row).unwrap();
    }
    let csv = String::from_utf8(csv.finish().unwrap()).unwrap();
    let lines = String::from_utf8(lines.finish()).unwrap();
    assert_eq!((csv.lines().count(), lines.lines().count()), (rows.flows.len() + 1, rows.flows.len()));
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(object.len(), csv.lines().next().unwrap().split(',').count());
}

#[test]
fn rows_that_are_read_back_are_the_same() {
    let rows = rows();
    let text = serde_json::to_string(&rows).unwrap();
    assert_eq!(serde_json::from_str::<Rows>(&text).unwrap(), rows);
}

/// Returns two flows as a set, with everything that a set may have.
fn with_a_set() -> Rows {
    let mut outcome = common::full();
    let quantiles = Quantiles { samples: 3, p50_ms: 80.0, ..Quantiles::default() };
    outcome.run.sets = vec![SetFigures {
        window: "shared".to_owned(),
        from_s: 45.0,
        to_s: 80.0,
        flows: vec!["photo upload".to_owned(), "backup".to_owned()],
        goodput_bit_s: 16.72e6,
        short_term: Some(ShortTerm { step_s: 1.0, steps: 35, skipped: 0, mean: 0.52, p5: 0.5 }),
        links: vec![SetAtLink {
            link: "bottleneck".to_owned(),
            bytes: 9_000,
            share: 0.75,
            queue_packets: 4.5,
        }],
        transfers: Some(SetTransfers {
            completed: 3,
            time: Some(quantiles),
            goodput_kbit_s: None,
            classes: vec![SizeClass {
                from_bytes: 10_000,
                to_bytes: Some(100_000),
                time: quantiles,
                times_ms: Vec::new(),
            }],
        }),
        after_loss: Some(AfterLoss { lost: 2, dropped: vec![0.0, 0.5], retransmitted: vec![1.0, 0.0] }),
        ..SetFigures::default()
    }];
    Rows::of(&outcome, Identity { run: 7, key: ContentHash::of_text("key") })
}

#[test]
fn a_set_of_flows_is_one_row_in_its_window() {
    let rows = with_a_set();
    let [row] = &rows.sets[..] else { panic!("{:?}", rows.sets) };
    for (name, value) in [
        ("window", Value::from("shared")),
        ("flows", Value::Whole(2)),
        ("goodput_bit_s", Value::Number(16.72e6)),
        ("short_term_mean", Value::Number(0.52)),
        ("bottleneck.share", Value::Number(0.75)),
        ("bottleneck.queue_packets", Value::Number(4.5)),
        ("transfers_completed", Value::Whole(3)),
        ("transfers_from_10000_B_p50_ms", Value::Number(80.0)),
        ("after_loss_lost", Value::Whole(2)),
        ("after_loss_dropped_2", Value::Number(0.5)),
        ("after_loss_retransmitted_1", Value::Number(1.0)),
    ] {
        assert_eq!(row.get(name), &value, "{name}: {row:?}");
    }
    let names: BTreeSet<&str> = row.cells().iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names.len(), row.cells().len(), "{row:?}");
}

#[test]
fn completion_times_of_the_foreground_come_before_other_figures_with_their_flow_where_there_are_several() {
    use afteryou_scenario::outcome::{Outcome, Totals};
    use afteryou_scenario::{Size, Traffic};
    let took = |flows: &[&str]| {
        let made = common::full();
        let (mut scenario, mut run, mut baseline) = (made.scenario, made.run, made.baseline.unwrap());
        for flow in scenario.flow.iter_mut().filter(|flow| flows.contains(&flow.name.as_str())) {
            flow.traffic = Traffic::Size(Size::from_bytes(1_000_000));
        }
        let totals = |completed_in_s| {
            let of = |flow: &&str| Totals { flow: (*flow).to_owned(), completed_in_s, ..Totals::default() };
            flows.iter().map(of).collect()
        };
        (run.totals, baseline.totals) = (totals(Some(15.0)), totals(Some(12.0)));
        let outcome = Outcome::new("sim", "1", scenario, run, Some(baseline));
        Rows::of(&outcome, Identity { run: 1, key: ContentHash::of_text("key") })
    };
    let rows = took(&["photo upload"]);
    assert_eq!(rows.run.get("completion_mean_ratio"), &Value::Number(1.25));
    assert_eq!(rows.run.get("baseline_completion_p95_s"), &Value::Number(12.0));
    let place = |name: &str| rows.run.cells().iter().position(|(known, _)| known.contains(name)).unwrap();
    assert!(place("completion_mean_s") < place("goodput") && place("completion_mean_s") < place("kept"));
    let upload = rows.flows.iter().find(|row| row.get("flow") == &Value::from("photo upload")).unwrap();
    assert_eq!(upload.get("completion_mean_s"), &Value::Number(15.0));
    let both = took(&["photo upload", "video call"]).run;
    for flow in ["photo upload", "video call"] {
        assert_eq!(both.get(&format!("{flow}.completion_mean_ratio")), &Value::Number(1.25));
    }
    assert_eq!(took(&["backup"]).run.get("completion_mean_s"), &Value::Missing, "background alone");
}
