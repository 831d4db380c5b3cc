//! Pages of tables, words, figures and links, put together by the caller. They need no network, and no script to be read.

use crate::document::{markup, Document};
use crate::table::Table;
use afteryou_plot::escape::json_in_script;
use afteryou_plot::palette::{self, heat};
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
    /// A script that makes more of the page, and its data.
    pub script: Option<Script>,
}

/// A script of a page.
#[derive(Clone, Debug)]
pub struct Script {
    /// JSON, which the script finds in the element `data`.
    pub data: String,
    /// The script: ours, never from outside.
    pub code: &'static str,
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
    /// Numbers from 0 to 1 as colours.
    Heat(Heat),
    /// A place for the page's script, by its name; nothing without scripts.
    Place(&'static str),
}

/// A table of numbers from 0 to 1 with a colour behind each.
#[derive(Clone, Debug, Default)]
pub struct Heat {
    /// The table's title.
    pub title: String,
    /// Names of the columns, after that of the rows.
    pub columns: Vec<String>,
    /// Names and numbers of the rows.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
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
        let Some(script) = &self.script else {
            return Document { title: &self.title, style, body, ..Document::default() }.html();
        };
        let scripts = html! {
            script type="application/json" id="data" { (PreEscaped(json_in_script(&script.data))) }
            script { (PreEscaped(script.code)) }
        };
        let policy = "; script-src 'unsafe-inline'";
        Document { title: &self.title, policy, style, body, scripts }.html()
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
                Part::Heat(heat) => (heat.html()),
                Part::Place(id) => div id=(id) {},
            }
        }
    }
}

impl Heat {
    fn html(&self) -> Markup {
        let (first, columns) =
            self.columns.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let style = |value: f64| {
            let ink = if heat::is_dark(value) { "#ffffff" } else { palette::INK.light };
            format!("background:{};color:{ink}", heat::colour(value))
        };
        html! {
            section.table {
                h2 { (self.title) }
                div.scroll tabindex="0" role="region" aria-label=(self.title) {
                    table.heat {
                        thead { tr { th scope="col" { (first) } @for name in columns { th.n scope="col" { (name) } } } }
                        tbody {
                            @for (name, values) in &self.rows {
                                tr {
                                    th scope="row" { (name) }
                                    @for value in values {
                                        @match value {
                                            Some(value) => td.n style=(style(*value)) { (format!("{value:.2}")) },
                                            None => td.n {},
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
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
    fn numbers_have_colours_and_a_script_has_its_data() {
        let rows = vec![("a < b".to_owned(), vec![Some(1.0), None])];
        let heat = Heat { title: "t".to_owned(), columns: ["", "x", "y"].map(str::to_owned).to_vec(), rows };
        let script = Script { data: "{\"a\":\"</script>\"}".to_owned(), code: "let a;" };
        let parts = vec![Part::Heat(heat), Part::Place("weights")];
        let html = Page { parts, script: Some(script), ..Page::default() }.html();
        assert!(
            html.contains("a &lt; b") && html.contains("background:#fde725") && html.contains(">1.00</td>"),
            "{html}"
        );
        assert!(html.contains("<div id=\"weights\">") && !html.contains("\"</script>"), "{html}");
    }

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
