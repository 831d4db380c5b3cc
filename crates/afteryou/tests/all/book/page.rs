//! What the pages of controllers and of queues have in common: parameters, notes, a scenario, the list of pages.

use super::header;
use super::words::{cell, page};
use afteryou::list::{default_in_words, range_in_words};
use afteryou_base::param::{Kind, Param};
use percent_encoding::{utf8_percent_encode, NON_ALPHANUMERIC};
use std::fmt::Write;

/// Returns a parameter's default as scenarios write it.
pub fn default_value(param: &Param) -> String {
    match param.kind {
        Kind::Time | Kind::Bytes => default_in_words(param),
        _ => param.default.to_string(),
    }
}

/// Returns how one writes parameters: the option, what follows the name there, and the line of a scenario file.
pub fn parameters_follow(option: &str, name: &str, line: &str, param: &Param) -> String {
    format!("Parameters follow the name: `{option} {}`, and in the file `{line}`.\n", in_option(name, param))
}

/// Returns an algorithm with a parameter, as options write it.
pub fn in_option(name: &str, param: &Param) -> String {
    format!("{name},{}={}", param.name, default_value(param).replace(' ', ""))
}

/// Returns an algorithm with a parameter, as scenario files write it.
pub fn in_file(name: &str, param: &Param) -> String {
    format!("{{ kind = \"{name}\", {} = \"{}\" }}", param.name, default_value(param))
}

/// Returns a link that opens a scenario in the lab page: `.ci/book` points it there, and in a checkout it leads to the page
/// about the lab.
pub fn lab_link(toml: &str) -> String {
    let text = utf8_percent_encode(toml, NON_ALPHANUMERIC);
    format!("[Open this scenario in the lab page](../lab.md#toml={text}).\n\n")
}

/// Returns a table of parameters.
pub fn parameters(table: &[Param]) -> String {
    if table.is_empty() {
        return "It has no parameters.\n".to_owned();
    }
    let mut text =
        "| parameter | unit or kind | default | range | meaning | source |\n|---|---|---|---|---|---|\n"
            .to_owned();
    for param in table {
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

/// Returns the notes by hand, as a section.
pub fn notes(notes: Option<&str>) -> String {
    let section = |notes| {
        let notes = header::demoted(notes, 2, str::to_owned);
        format!("\n## Where sources differ\n\n{}\n", notes.trim_end())
    };
    notes.map(section).unwrap_or_default()
}

/// Returns a scenario file: a backup meets an upload. `link` has more lines for the link, `backup` those that say how the
/// backup is sent.
pub fn scenario(name: &str, link: &str, backup: &str) -> String {
    format!(
        "name     = \"{name}\"\n\
         duration = \"60 s\"\n\n\
         [link]\n\
         rate   = \"20 Mbit/s\"\n\
         buffer = \"200 ms\"\n\
         {link}\n\
         [[flow]]\n\
         name       = \"backup\"\n\
         {backup}\
         rtt        = \"40 ms\"\n\n\
         [[flow]]\n\
         name       = \"upload\"\n\
         controller = \"cubic\"\n\
         rtt        = \"40 ms\"\n\
         start      = \"20 s\"\n\
         stop       = \"40 s\"\n",
    )
}

/// A chapter with a page for each algorithm.
pub struct Chapter {
    /// The chapter's line in SUMMARY.md.
    pub line: &'static str,
    /// The chapter's folder.
    pub folder: &'static str,
    /// Names of the algorithms.
    pub names: Vec<&'static str>,
    /// Pages after those: title and file.
    pub more: &'static [(&'static str, &'static str)],
}

impl Chapter {
    /// Returns SUMMARY.md with this chapter's pages in the place of those that it lists now.
    pub fn listed_in(&self, list_of_pages: &str) -> String {
        let Chapter { line, folder, names, more } = self;
        let (before, after) = list_of_pages.split_once(&format!("{line}\n")).unwrap_or_else(|| {
            panic!("SUMMARY.md has no line {line:?} below which the pages of {folder} go: put it back")
        });
        let mut text = format!("{before}{line}\n");
        for name in names {
            let _ = writeln!(text, "  - [{name}]({folder}/{}.md)", page(name));
        }
        for (title, file) in *more {
            let _ = writeln!(text, "  - [{title}]({folder}/{file})");
        }
        let after = after.lines().skip_while(|line| line.starts_with(' '));
        after.for_each(|line| text += &format!("{line}\n"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chapters_pages_take_the_place_of_the_old_ones_and_nothing_else_moves() {
        let (line, folder) = ("- [Things](things/README.md)", "things");
        let chapter = Chapter { line, folder, names: vec!["a++", "b"], more: &[("More", "more.md")] };
        let old = "# Summary\n\n- [Things](things/README.md)\n  - [old](things/old.md)\n- [Next](next.md)\n";
        let new =
            "# Summary\n\n- [Things](things/README.md)\n  - [a++](things/app.md)\n  - [b](things/b.md)\n  \
                   - [More](things/more.md)\n- [Next](next.md)\n";
        assert_eq!(chapter.listed_in(old), new);
    }
}
