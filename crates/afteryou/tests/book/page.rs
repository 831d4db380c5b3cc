//! A controller's page, the overview, and the list of pages: made from the list of controllers.

use crate::header;
use crate::words::{cell, class, page, summary, transport};
use afteryou::list::{default_in_words, range_in_words};
use afteryou_cc::list::{Entry, CONTROLLERS};
use afteryou_cc::param::{Kind, Param};
use std::fmt::Write;
use std::path::Path;

/// The line of SUMMARY.md below which the generated part is.
const SUMMARY_LINE: &str = "- [Controllers](controllers/README.md)";

/// A controller's page. `notes` is what somebody wrote about it by hand; `line` says what its picture shows.
pub fn controller_page(entry: &Entry, sources: &Path, notes: Option<&str>, line: &str) -> String {
    let (name, page) = (entry.name, page(entry));
    let mut text = format!(
        "# {name}\n\n{}\n\n\
         | class | over | source |\n|---|---|---|\n| {} | {} | {} |\n\n\
         ## How to use it\n\n{}\n## Parameters\n\n{}\n## The algorithm\n\n{}\n",
        summary(entry),
        class(entry),
        transport(entry),
        cell(entry.source),
        usage(entry),
        parameters(entry),
        header::of_controller(sources, name).trim_end(),
    );
    if let Some(notes) = notes {
        let notes = header::demoted(notes, 2, str::to_owned);
        let _ = write!(text, "\n## Where sources differ\n\n{}\n", notes.trim_end());
    }
    let _ = write!(
        text,
        "\n## Window per round trip\n\n\
         ![Windows of {name}](gallery/{page}.svg)\n\n{line}\n\n\
         The same [as numbers](gallery/{page}.txt). The path is that of the [gallery](gallery.md); there is a table of \
         [goodput on lossy paths](goodput.md), too.\n",
    );
    text
}

fn usage(entry: &Entry) -> String {
    let name = entry.name;
    let with_parameter = entry.params.first().map(|param| {
        let value = default_value(param);
        let in_file = format!("controller = {{ kind = \"{name}\", {} = \"{value}\" }}", param.name);
        let option = format!("{name},{}={}", param.name, value.replace(' ', ""));
        format!("Parameters follow the name: `--controller {option}`, and in the file `{in_file}`.\n",)
    });
    format!(
        "```sh\nafteryou demo --controller {name}\nafteryou sim backup.toml\n```\n\n\
         with, for the second, a `backup.toml` such as\n\n```toml\n{}```\n\n{}",
        scenario(entry),
        with_parameter.unwrap_or_default(),
    )
}

/// A scenario file with this controller.
pub fn scenario(entry: &Entry) -> String {
    format!(
        "name     = \"{name} and an upload\"\n\
         duration = \"60 s\"\n\n\
         [link]\n\
         rate   = \"20 Mbit/s\"\n\
         buffer = \"200 ms\"\n\n\
         [[flow]]\n\
         name       = \"backup\"\n\
         role       = \"{class}\"\n\
         controller = \"{name}\"\n\
         transport  = \"{transport}\"\n\
         rtt        = \"40 ms\"\n\n\
         [[flow]]\n\
         name       = \"upload\"\n\
         controller = \"cubic\"\n\
         rtt        = \"40 ms\"\n\
         start      = \"20 s\"\n\
         stop       = \"40 s\"\n",
        name = entry.name,
        class = class(entry),
        transport = transport(entry),
    )
}

/// A parameter's default as scenarios write it.
fn default_value(param: &Param) -> String {
    match param.kind {
        Kind::Time | Kind::Bytes => default_in_words(param),
        _ => param.default.to_string(),
    }
}

fn parameters(entry: &Entry) -> String {
    if entry.params.is_empty() {
        return "It has no parameters.\n".to_owned();
    }
    let mut text =
        "| parameter | unit or kind | default | range | meaning | source |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for param in entry.params {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} |",
            param.name,
            cell(unit_or_kind(param)),
            cell(&default_in_words(param)),
            cell(&range_in_words(param)),
            cell(param.help),
            cell(param.source),
        );
    }
    text
}

fn unit_or_kind(param: &Param) -> &'static str {
    match param.kind {
        _ if !param.unit.is_empty() => param.unit,
        Kind::Time => "time",
        Kind::Bytes => "size",
        Kind::Number => "number",
        Kind::Count => "whole number",
        Kind::Flag => "yes or no",
        Kind::Choice(_) => "word",
    }
}

/// The overview of all controllers.
pub fn overview() -> String {
    let mut text = "# Controllers\n\n\
                    A background controller steps aside for everybody else; a foreground controller takes its fair share, and is \
                    here because background traffic must be measured against it. The [gallery](gallery.md) shows how the window of \
                    each one moves, and [a table](goodput.md) what each one gets on lossy paths.\n\n\
                    | name | class | what it is | source |\n|---|---|---|---|\n"
        .to_owned();
    for entry in CONTROLLERS {
        let (name, page) = (entry.name, page(entry));
        let (what, source) = (cell(&summary(entry)), cell(entry.source));
        let _ = writeln!(text, "| [{name}]({page}.md) | {} | {what} | {source} |", class(entry));
    }
    text
}

/// SUMMARY.md with the pages of all controllers in the place of those that it lists now.
pub fn with_controllers(list_of_pages: &str) -> String {
    let (before, after) = list_of_pages.split_once(&format!("{SUMMARY_LINE}\n")).unwrap_or_else(|| {
        panic!("SUMMARY.md has no line {SUMMARY_LINE:?} below which controllers go: put it back")
    });
    let after: Vec<&str> = after.lines().skip_while(|line| line.starts_with(' ')).collect();
    let mut text = format!("{before}{SUMMARY_LINE}\n");
    for entry in CONTROLLERS {
        let _ = writeln!(text, "  - [{}](controllers/{}.md)", entry.name, page(entry));
    }
    text += "  - [Gallery](controllers/gallery.md)\n  - [Goodput on lossy paths](controllers/goodput.md)\n";
    after.iter().for_each(|line| text += &format!("{line}\n"));
    text
}
