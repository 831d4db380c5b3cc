//! The common parts of all pages: the head, safe text, and tables.
//!
//! Names come from files that others wrote. `html!` escapes every value that is not [`Markup`], so that none becomes markup.
//! [`Document`] escapes characters that hide or change the direction of text.

use crate::table::{Cell, Column, Table, Tone};
use afteryou_plot::escape::{plain, plain_lines};
use afteryou_plot::palette::{Colour, Style};
use maud::{html, Markup, PreEscaped};
use percent_encoding::{utf8_percent_encode, AsciiSet, NON_ALPHANUMERIC};

const CSS: &str = include_str!("../assets/report.css");

/// A document that works offline.
#[derive(Default)]
pub(crate) struct Document<'a> {
    pub title: &'a str,
    /// The directives of the content security policy beyond styles.
    pub policy: &'static str,
    /// Rules before or beyond those of all pages.
    pub style: &'static str,
    /// The visible part.
    pub body: Markup,
    /// Script elements. Their text stays as it is.
    pub scripts: Markup,
}

impl Document<'_> {
    /// Returns the document's text.
    pub fn html(&self) -> String {
        let policy = format!("default-src 'none'; style-src 'unsafe-inline'{}", self.policy);
        let page = html! {
            (PreEscaped("<!doctype html>\n"))
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="generator" content={ "afteryou " (env!("CARGO_PKG_VERSION")) };
                    title { (plain(self.title)) }
                    style { (PreEscaped(self.style)) (PreEscaped(CSS)) }
                }
                body {
                    main { (PreEscaped(plain_lines(&self.body.0))) }
                    (self.scripts)
                }
            }
        };
        page.into_string()
    }
}

/// Returns figures as they are: our own SVG documents.
pub(crate) fn figures(svgs: impl IntoIterator<Item = String>) -> Markup {
    html! { @for svg in svgs { figure { (PreEscaped(svg)) } } }
}

/// Returns the address of `path`, a folder below the page or a file in it. Whatever its name, the address is no scheme, query or fragment.
pub(crate) fn address(path: &str) -> String {
    const KEPT: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/').remove(b'+');
    utf8_percent_encode(path, KEPT).to_string()
}

pub(crate) fn markup(table: &Table) -> Markup {
    html! {
        section.table {
            h2 { (&table.title) }
            div.scroll tabindex="0" role="region" aria-label=(&table.title) {
                table class=[(table.grouped > 0).then_some("figures")] {
                    thead {
                        tr {
                            @for column in &table.columns {
                                th scope="col" class=[kind(column)] { (&column.name) }
                            }
                        }
                    }
                    tbody {
                        @for (row, cells) in table.rows.iter().enumerate() {
                            tr {
                                @for (i, (cell, column)) in cells.iter().zip(&table.columns).enumerate() {
                                    (cell_markup(cell, column, table.repeats(row, i)))
                                }
                            }
                        }
                    }
                }
            }
            @if !table.note.is_empty() {
                p.note { (table.note) }
            }
        }
    }
}

/// Returns the style sheet's information about a column.
fn kind(column: &Column) -> Option<&'static str> {
    match (column.number, column.spare) {
        (true, _) => Some("n"),
        (false, true) => Some("spare"),
        (false, false) => None,
    }
}

/// Returns a cell. One that repeats the one above is invisible, but stays in the text for programs and for copies of the
/// table.
fn cell_markup(cell: &Cell, column: &Column, repeats: bool) -> Markup {
    let classes: Vec<&str> = kind(column).into_iter().chain(repeats.then_some("repeat")).collect();
    let classes = (!classes.is_empty()).then(|| classes.join(" "));
    html! {
        td class=[classes] title=[&cell.whole] {
            @if let Some(style) = cell.style { (swatch(style)) " " }
            @match cell.tone {
                Tone::Plain => (&cell.text),
                Tone::Good => span.good { (&cell.text) },
                Tone::Bad => span.bad { (&cell.text) },
                Tone::Faint => span.faint { (&cell.text) },
            }
        }
    }
}

fn swatch(style: Style) -> Markup {
    let Colour { light, dark } = style.colour;
    html! {
        span.swatch aria-hidden="true" style={ "--light:" (light) ";--dark:" (dark) } { (style.shape.glyph()) }
    }
}
