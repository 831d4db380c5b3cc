//! Several links: tables and CSV files name them, and with one link nothing does. What is written is enough to draw it all
//! again.

use crate::common;
use afteryou_plot::{read, svg};
use afteryou_report::rows::{Identity, Rows, Value};
use afteryou_report::{html, series_csv, text, write_folder};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::Outcome;
use std::fs;

/// Returns the lines of the table called `title`, with ordinary spaces.
fn table(page: &str, title: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty());
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
}

fn rows(outcome: &Outcome) -> Rows {
    Rows::of(outcome, Identity { run: 1, key: ContentHash::of_text("") })
}

#[test]
fn one_link_needs_no_name() {
    let outcome = common::full();
    let page = text(&outcome, 120, false);
    assert!(!page.contains("bottleneck") && !page.contains("Links"), "{page}");
    assert!(!table(&page, "The link in each window").is_empty());
    let links = rows(&outcome).links;
    assert!(links.iter().all(|row| row.get("link") == &Value::from("bottleneck")) && links.len() == 3);
}

#[test]
fn each_link_has_its_figures_with_the_background_and_without() {
    let page = text(&common::both_directions(), 120, false);
    assert!(page.contains("20 Mbit/s up, 100 Mbit/s down"), "{page}");
    let links = table(&page, "Links in each window");
    assert_eq!(links.len(), 1 + 3 * 2 * 2, "a head, windows, links, runs: {links:?}");
    let alone: Vec<&str> = links[1..5].iter().map(|line| line.trim()).collect();
    assert!(alone[0].starts_with("alone") && alone[0].contains("bottleneck"), "{alone:?}");
    assert!(alone[0].contains("96.4 %") && alone[1].starts_with("without") && alone[1].contains("62.0 %"));
    assert!(alone[2].starts_with("reverse path") && alone[2].contains("16.3 %"), "{alone:?}");
    assert!(alone[3].starts_with("without") && alone[3].contains("16.6 %"), "{alone:?}");
}

#[test]
fn shares_and_what_was_kept_are_those_of_the_flows_whose_data_cross_the_link() {
    let outcome = common::both_directions();
    let page = text(&outcome, 120, false);
    let shared = outcome.run.windows.iter().find(|window| window.window == "shared").unwrap();
    // The call and the backup go up: 1.4987 and 0.41 of 19.2 Mbit/s. The download alone comes down.
    let bottleneck = shared.link("bottleneck").unwrap();
    assert_eq!(bottleneck.harvest, Some(0.0232));
    assert_eq!(bottleneck.foreground_share, Some(0.7852));
    let back = shared.link("reverse path").unwrap();
    assert_eq!((back.harvest, back.foreground_share), (None, Some(1.0)));
    let cost = table(&page, "What the background cost on each link");
    let of_shared = cost.iter().position(|line| line.contains("shared")).unwrap();
    assert!(cost[of_shared].contains("bottleneck") && cost[of_shared].contains("100 %"), "{cost:?}");
    assert!(
        cost[of_shared + 1].contains("reverse path") && cost[of_shared + 1].contains("98.4 %"),
        "{cost:?}"
    );
}

#[test]
fn a_row_of_a_flow_names_the_link_that_it_crosses_and_each_link_has_rows() {
    let rows = rows(&common::both_directions());
    let link =
        |flow: &str| rows.flows.iter().find(|row| row.get("flow") == &Value::from(flow)).unwrap().get("link");
    assert_eq!(
        [link("video call"), link("photo upload")],
        [&Value::from("bottleneck"), &Value::from("reverse path")]
    );
    let of = |column: &str| rows.links.iter().map(|row| row.get(column).clone()).collect::<Vec<_>>();
    assert_eq!(
        of("link"),
        ["bottleneck", "reverse path"].repeat(3).into_iter().map(Value::from).collect::<Vec<_>>()
    );
    assert_eq!(
        of("capacity_bit_s"),
        [20e6, 100e6].repeat(3).into_iter().map(Value::Number).collect::<Vec<_>>()
    );
    assert_eq!(
        (&of("utilisation")[0], &of("utilisation")[1]),
        (&Value::Number(0.964), &Value::Number(0.163))
    );
    // The run's own row has the first of them.
    let first = rows.run.cells().iter().find(|(name, _)| name.ends_with("utilisation"));
    assert_eq!(first.map(|(_, value)| value), Some(&Value::Number(0.964)));
}

#[test]
fn a_page_of_several_links_lists_them_and_the_figure_names_their_curves() {
    let outcome = common::both_directions();
    let (page, figure) = (html(&outcome).unwrap(), svg(&outcome).unwrap());
    for title in ["Links", "Links in each window", "Packets at each link that data cross"] {
        assert!(page.contains(&format!("{title}</")), "{title}");
    }
    assert!(page.contains("path of its data"));
    assert!(!html(&common::full()).unwrap().contains("path of its data"));
    for name in ["bottleneck", "reverse path"] {
        assert!(figure.contains(name), "{name}");
    }
    roxmltree::Document::parse(&figure).unwrap();
}

/// Returns everything that is drawn of an outcome.
fn drawn(outcome: &Outcome) -> [String; 4] {
    [
        html(outcome).unwrap(),
        svg(outcome).unwrap(),
        series_csv(outcome),
        serde_json::to_string(&rows(outcome)).unwrap(),
    ]
}

#[test]
fn what_was_written_is_enough_to_draw_every_figure_again() {
    for outcome in [common::full(), common::both_directions(), common::empty()] {
        let folder = tempfile::tempdir().unwrap();
        let written = write_folder(&outcome, folder.path()).unwrap();
        let again = read(&written.result).unwrap();
        assert!(again == outcome && drawn(&again) == drawn(&outcome));
        assert_eq!(text(&again, 100, true), text(&outcome, 100, true));
        let copy = write_folder(&again, &folder.path().join("again")).unwrap();
        for (one, other) in
            [(written.result, copy.result), (written.report, copy.report), (written.figure, copy.figure)]
        {
            assert!(fs::read(&one).unwrap() == fs::read(other).unwrap(), "{}", one.display());
        }
    }
}
