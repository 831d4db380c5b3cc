//! The league in the book: the recorded order as a table in README and on its page, and as a picture.

use super::{docs, root, text};
use afteryou_league::table::markdown;
use afteryou_league::Recorded;
use afteryou_report::table::Table;

/// The part of a page between these is the table.
const BEGIN: &str = "<!-- league -->\n";
const END: &str = "<!-- /league -->";
/// The columns that README has.
const BRIEF: [&str; 10] =
    ["controller", "score", "kept", "kept¹⁰", "time", "delay", "harvest", "recover", "alone", "fair"];

/// Returns the files, by their path below `docs/src`.
pub fn files() -> Vec<(String, String)> {
    let order = Recorded::Whole.order();
    let mut brief = order.table();
    for place in (0..brief.columns.len()).rev() {
        if !BRIEF.contains(&&*brief.columns[place].name) {
            brief.remove_column(place);
        }
    }
    let with_table = |name: &str, table: &Table| {
        let page = text(&docs().join("src").join(name)).expect("the page is there");
        let (before, rest) = page.split_once(BEGIN).expect("a place for the table");
        let (_, after) = rest.split_once(END).expect("an end of the table");
        (name.to_owned(), format!("{before}{BEGIN}{}{END}{after}", markdown(table)))
    };
    let picture = order.picture().expect("a picture");
    vec![
        with_table("../../README.md", &brief),
        with_table("league.md", &order.table()),
        ("../league.svg".to_owned(), picture),
    ]
}

#[test]
fn each_question_of_the_league_has_a_page_with_its_command() {
    let page = text(&docs().join("src/league.md")).expect("the page is there");
    let questions: Vec<&str> =
        page.split("](league/").skip(1).filter_map(|rest| rest.split(".md)").next()).collect();
    assert_eq!(questions.len(), 6);
    for question in questions {
        let answer = text(&docs().join(format!("src/league/{question}.md"))).expect("an answer");
        assert!(answer.contains("```sh\nafteryou league"), "{question}");
        assert!(answer.lines().filter(|line| line.starts_with("| ")).count() >= 6, "{question}");
    }
    assert!(root().join("docs/league.svg").is_file());
}
