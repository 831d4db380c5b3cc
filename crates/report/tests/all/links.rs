//! Several links: tables and CSV files name them, and with one link nothing does. What is written is enough to draw it all
//! again.

use crate::common;
use afteryou_report::{html, links_csv, read, runs_csv, series_csv, svg, text, write_folder, Brief};
use afteryou_scenario::outcome::Outcome;
use std::fs;

/// The lines of the table called `title`, with ordinary spaces.
fn table(page: &str, title: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != title).skip(1).take_while(|line| !line.is_empty());
    lines.map(|line| line.replace('\u{a0}', " ")).collect()
}

/// A field of a line of CSV by the name of its column.
fn field<'a>(csv: &'a str, line: &'a str, column: &str) -> &'a str {
    let place = csv.lines().next().unwrap().split(',').position(|name| name == column);
    line.split(',').nth(place.unwrap_or_else(|| panic!("no column {column}"))).unwrap()
}

#[test]
fn one_link_needs_no_name() {
    let outcome = common::full();
    let page = text(&outcome, 120, false);
    assert!(!page.contains("bottleneck") && !page.contains("Links"), "{page}");
    assert!(!table(&page, "The link in each window").is_empty());
    let briefs = [Brief::of(&outcome, "")];
    assert_eq!(links_csv(&briefs), None);
    assert!(!runs_csv(&briefs).lines().next().unwrap().split(',').any(|column| column == "link"));
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
fn a_line_of_runs_csv_has_the_figures_of_the_link_that_the_flow_crosses() {
    let csv = runs_csv(&[Brief::of(&common::both_directions(), "")]);
    let line = |flow: &str| csv.lines().find(|line| field(&csv, line, "flow") == flow).unwrap();
    let (call, download) = (line("video call"), line("photo upload"));
    assert_eq!((field(&csv, call, "link"), field(&csv, call, "utilisation")), ("bottleneck", "0.964"));
    assert_eq!(
        (field(&csv, download, "link"), field(&csv, download, "utilisation")),
        ("reverse path", "0.163")
    );
    let links = links_csv(&[Brief::of(&common::both_directions(), "")]).unwrap();
    let names: Vec<&str> = links.lines().skip(1).map(|line| field(&links, line, "link")).collect();
    assert_eq!(names, ["bottleneck", "reverse path"].repeat(3));
    let rates: Vec<&str> = links.lines().skip(1).map(|line| field(&links, line, "capacity_bit_s")).collect();
    assert_eq!(rates, ["20000000", "100000000"].repeat(3));
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

/// Everything that is drawn of an outcome.
fn drawn(outcome: &Outcome) -> [String; 5] {
    let briefs = [Brief::of(outcome, "")];
    [
        html(outcome).unwrap(),
        svg(outcome).unwrap(),
        series_csv(outcome),
        runs_csv(&briefs),
        links_csv(&briefs).unwrap_or_default(),
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
