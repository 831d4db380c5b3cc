//! A controller's page and the overview: made from the list of controllers.

use super::bad_cases::BadCase;
use super::header;
use super::page::{in_file, lab_link, notes, parameters, parameters_follow, Chapter};
use super::words::{cell, class, page, sentence, transport};
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_engines::coverage;
use std::fmt::Write;
use std::path::Path;

/// Returns the chapter in the list of pages.
pub fn chapter() -> Chapter {
    Chapter {
        line: "- [Controllers](controllers/README.md)",
        folder: "controllers",
        names: CONTROLLERS.iter().map(|entry| entry.name).collect(),
        more: &[
            ("Gallery", "gallery.md"),
            ("Goodput on lossy paths", "goodput.md"),
            ("Alone on slow links", "alone.md"),
            ("Beside BBR", "beside-bbr.md"),
        ],
    }
}

/// Returns a controller's page. `by_hand` is what somebody wrote about it; `line` describes its picture.
pub fn controller_page(
    entry: &Entry,
    sources: &Path,
    by_hand: Option<&str>,
    bad_case: &BadCase,
    line: &str,
) -> String {
    let (name, page) = (entry.name, page(entry.name));
    format!(
        "# {name}\n\n{}\n\n\
         | class | over | engines | source |\n|---|---|---|---|\n| {} | {} | {} | {} |\n\n\
         ## How to use it\n\n{}\n## Parameters\n\n{}\n## The algorithm\n\n{}\n{}{}\
         \n## Window per round trip\n\n\
         ![Windows of {name}](gallery/{page}.svg)\n\n{line}\n\n\
         The same [as numbers](gallery/{page}.txt). The path is that of the [gallery](gallery.md); there is a table of \
         [goodput on lossy paths](goodput.md), too.\n",
        sentence(entry.summary),
        class(entry),
        transport(entry),
        coverage::of_controller(name).join(", "),
        cell(entry.source),
        usage(entry),
        parameters(entry.params),
        header::of_controller(sources, name).trim_end(),
        bad_case.section(),
        notes(by_hand),
    )
}

fn usage(entry: &Entry) -> String {
    let name = entry.name;
    let with_parameter = entry.params.first().map(|param| {
        let line = format!("controller = {}", in_file(name, param));
        parameters_follow("--controller", name, &line, param)
    });
    format!(
        "```sh\nafteryou demo --controller {name}\nafteryou sim backup.toml\n```\n\n\
         with, for the second, a `backup.toml` such as\n\n```toml\n{}```\n\n{}{}",
        scenario(entry),
        lab_link(&scenario(entry)),
        with_parameter.unwrap_or_default(),
    )
}

/// Returns a scenario file with this controller.
pub fn scenario(entry: &Entry) -> String {
    let (name, class, transport) = (entry.name, class(entry), transport(entry));
    let backup = format!("role       = \"{class}\"\ncontroller = \"{name}\"\ntransport  = \"{transport}\"\n");
    super::page::scenario(&format!("{name} and an upload"), "", &backup)
}

/// Returns the overview of all controllers.
pub fn overview() -> String {
    let mut text = "# Controllers\n\n\
                    A background controller yields to all other traffic. A foreground controller takes its fair share, \
         and is included as a reference for background traffic. The [gallery](gallery.md) shows the window of \
         each one, and [a table](goodput.md) its goodput on lossy paths. [Another table](alone.md) has its \
         utilisation of a slow link without other traffic, and [a third](beside-bbr.md) what BBR keeps beside each.\n\n\
                    | name | class | what it is | source |\n|---|---|---|---|\n"
        .to_owned();
    for entry in CONTROLLERS {
        let (name, page) = (entry.name, page(entry.name));
        let (what, source) = (cell(&sentence(entry.summary)), cell(entry.source));
        let _ = writeln!(text, "| [{name}]({page}.md) | {} | {what} | {source} |", class(entry));
    }
    text
}
