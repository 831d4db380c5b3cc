//! Pages of tables, words, figures and links, put together by the caller. They need no network and no script.

use crate::document::{markup, Document};
use crate::table::Table;
use maud::{html, Markup, PreEscaped};

/// A page.
#[derive(Clone, Debug, Default)]
pub struct Page {
    /// The page's title.
    pub title: String,
    /// Below the title, and fainter.
    pub subtitle: String,
    /// Links above everything: address and words.
    pub links: Vec<(String, String)>,
    /// Its contents, in order.
    pub parts: Vec<Part>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub enum Part {
    /// The head of a section, and the name by which links find it.
    Head(String, String),
    /// A paragraph.
    Words(String),
    /// A table.
    Table(Table),
    /// A figure: an SVG document.
    Figure(String),
    /// Links: address and words.
    Links(Vec<(String, String)>),
    /// Text as it is, such as a scenario file.
    Text(String),
}

impl Page {
    /// Returns the page as one HTML document.
    pub fn html(&self) -> String {
        let body = html! {
            header {
                (links(&self.links))
                h1 { (self.title) }
                p.subtitle { (self.subtitle) }
            }
            @for part in &self.parts { (part.html()) }
        };
        let style = "figure { margin: 1rem 0; overflow-x: auto }\n";
        Document { title: &self.title, style, body, ..Document::default() }.html()
    }
}

impl Part {
    fn html(&self) -> Markup {
        html! {
            @match self {
                Part::Head(id, words) => h2 id=(id) { (words) },
                Part::Words(words) => p { (words) },
                Part::Table(table) => (markup(table)),
                Part::Figure(svg) => figure { (PreEscaped(without_declaration(svg))) },
                Part::Links(all) => (links(all)),
                Part::Text(text) => pre { (text) },
            }
        }
    }
}

fn links(links: &[(String, String)]) -> Markup {
    html! {
        @if !links.is_empty() {
            p {
                @for (i, (address, words)) in links.iter().enumerate() {
                    @if i > 0 { " · " }
                    a href=(address) { (words) }
                }
            }
        }
    }
}

/// Returns an SVG document without what may be only at the beginning of a file.
fn without_declaration(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |start| &svg[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_figures_are_not() {
        let parts = vec![
            Part::Words("a < b".to_owned()),
            Part::Figure("<?xml?><svg></svg>".to_owned()),
            Part::Text("a\n\u{7}b".to_owned()),
        ];
        let links = vec![("index.html".to_owned(), "all".to_owned())];
        let html = Page { title: "x & y".to_owned(), links, parts, ..Page::default() }.html();
        assert!(html.contains("a &lt; b") && html.contains("<figure><svg></svg></figure>"), "{html}");
        assert!(html.contains("<pre>a\n\\u{7}b</pre>"), "{html}");
        assert!(html.contains("<a href=\"index.html\">all</a>") && html.contains("x &amp; y"));
    }
}
