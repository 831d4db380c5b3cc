//! A book of studies: a summary, a page for each paper, and the scenario files.

use crate::entry::Paper;
use crate::papers;
use crate::tables;
use crate::verdict::{EntryVerdict, Verdict};
use crate::Result;
use afteryou_report::page::{Page, Part};
use afteryou_report::table::{Cell, Column, Table};

/// A file of the book: its name and its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative to the book's folder.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// Returns the files of the book, the summary first.
///
/// # Errors
/// Wrong data of a paper.
pub fn files(verdicts: &[EntryVerdict]) -> Result<Vec<File>> {
    let mut files = vec![File { name: "index.html".to_owned(), text: summary(verdicts) }];
    for paper in papers::all()? {
        let ours: Vec<&EntryVerdict> = verdicts.iter().filter(|verdict| verdict.paper == paper.id).collect();
        if !ours.is_empty() {
            files.push(File { name: format!("{}.html", paper.id), text: of_paper(paper, &ours) });
        }
    }
    let used = |name: &&str| verdicts.iter().any(|verdict| scenarios(verdict).contains(&(*name).to_owned()));
    files.extend(papers::scenarios().filter(used).map(|name| File {
        name: format!("scenarios/{name}"),
        text: papers::scenario(name).unwrap_or_default().to_owned(),
    }));
    Ok(files)
}

fn summary(verdicts: &[EntryVerdict]) -> String {
    let mut parts = vec![Part::Table(tables::summary(verdicts))];
    for verdict in [Verdict::Missed, Verdict::Explained, Verdict::Met, Verdict::Reported] {
        let ours = verdicts.iter().filter(|of| of.verdict() == verdict);
        let links: Vec<(String, String)> = ours.map(|of| (address(of), of.name())).collect();
        if !links.is_empty() {
            parts.push(Part::Head(verdict.word().replace(", ", "-"), capital(verdict.word())));
            parts.push(Part::Links(links));
        }
    }
    parts.push(Part::Table(costs(verdicts)));
    let subtitle = format!("{} experiments · afteryou {}", verdicts.len(), env!("CARGO_PKG_VERSION"));
    Page { title: "Studies".to_owned(), subtitle, parts, ..Page::default() }.html()
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn address(verdict: &EntryVerdict) -> String {
    format!("{}.html#{}", verdict.paper, verdict.entry.id)
}

/// Returns the processor time of each entry's runs; those that an earlier entry needs, too, count there.
fn costs(verdicts: &[EntryVerdict]) -> Table {
    let columns = vec![
        Column::words("study"),
        Column::words("kind"),
        Column::words("verdict"),
        Column::numbers("CPU time"),
    ];
    let row = |verdict: &EntryVerdict| {
        let time = (verdict.cpu_s > 0.0).then_some(verdict.cpu_s);
        vec![
            Cell::new(verdict.name()),
            Cell::new(verdict.entry.kind.word()),
            Cell::new(verdict.verdict().word()),
            Cell::maybe(time, |time| format!("{time:.1} s")),
        ]
    };
    let note = "Runs that several entries need count where they are needed first.";
    let rows = verdicts.iter().map(row).collect();
    Table { title: "Every entry".to_owned(), note, grouped: 0, columns, rows }
}

fn of_paper(paper: &Paper, verdicts: &[&EntryVerdict]) -> String {
    let mut parts = Vec::new();
    for verdict in verdicts {
        let entry = verdict.entry;
        parts.push(Part::Head(entry.id.clone(), format!("{}: {}", entry.id, verdict.verdict().word())));
        parts.push(Part::Words(format!("{} ({})", entry.claim, entry.place)));
        for figure in &verdict.figures {
            parts.push(match figure {
                Ok(svg) => Part::Figure(svg.clone()),
                Err(error) => Part::Words(format!("No figure: {error}")),
            });
        }
        if !verdict.findings.is_empty() {
            parts.push(Part::Table(Table { title: "Findings".to_owned(), ..tables::findings(verdict) }));
        }
        parts.extend(tables::remarks(verdict).into_iter().map(Part::Words));
        let link = |name: String| (format!("scenarios/{name}"), name);
        parts.push(Part::Links(scenarios(verdict).into_iter().map(link).collect()));
    }
    let title = format!("{}, {}", paper.authors, paper.title);
    let links = vec![("index.html".to_owned(), "All studies".to_owned())];
    Page { title, subtitle: format!("{} experiments", verdicts.len()), links, parts, ..Page::default() }
        .html()
}

/// Returns the scenario files of an entry's checks.
fn scenarios(verdict: &EntryVerdict) -> Vec<String> {
    let Ok(all) = papers::all() else { return Vec::new() };
    let paper = all.iter().find(|paper| paper.id == verdict.paper);
    let grids: Vec<&str> = verdict.entry.checks.iter().map(|check| &*check.grid).collect();
    let used = paper.into_iter().flat_map(|paper| &paper.grids).filter(|grid| grids.contains(&&*grid.id));
    let mut names: Vec<String> = used.map(|grid| grid.scenario.clone()).collect();
    names.sort();
    names.dedup();
    names
}
