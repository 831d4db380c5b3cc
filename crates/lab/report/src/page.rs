//! Pages of tables, words, figures and links, put together by the caller. They need no network and no script.

use crate::html::{markup, CSS};
use crate::table::Table;
use afteryou_plot::escape;
use std::fmt::Write;

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
        let title = escape::html(&self.title);
        let links = links(&self.links);
        let parts: String = self.parts.iter().map(Part::html).collect();
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <title>{title}</title>\n<style>\n{CSS}\nfigure {{ margin: 1rem 0; overflow-x: auto }}\n</style>\n</head>\n\
             <body>\n<main>\n<header>\n{links}<h1>{title}</h1>\n<p class=\"subtitle\">{}</p>\n</header>\n{parts}</main>\n\
             </body>\n</html>\n",
            escape::html(&self.subtitle),
        )
    }
}

impl Part {
    fn html(&self) -> String {
        match self {
            Part::Head(id, words) => {
                format!("<h2 id=\"{}\">{}</h2>\n", escape::html(id), escape::html(words))
            }
            Part::Words(words) => format!("<p>{}</p>\n", escape::html(words)),
            Part::Table(table) => markup(table),
            Part::Figure(svg) => format!("<figure>{}</figure>\n", without_declaration(svg)),
            Part::Links(all) => links(all),
            Part::Text(text) => format!("<pre>{}</pre>\n", escape::html(text)),
        }
    }
}

fn links(links: &[(String, String)]) -> String {
    let mut list = String::new();
    for (address, words) in links {
        let separator = if list.is_empty() { "" } else { " · " };
        let _ = write!(list, "{separator}<a href=\"{}\">{}</a>", escape::html(address), escape::html(words));
    }
    if list.is_empty() {
        return list;
    }
    format!("<p>{list}</p>\n")
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
        let parts = vec![Part::Words("a < b".to_owned()), Part::Figure("<?xml?><svg></svg>".to_owned())];
        let links = vec![("index.html".to_owned(), "all".to_owned())];
        let html = Page { title: "x & y".to_owned(), links, parts, ..Page::default() }.html();
        assert!(html.contains("a &lt; b") && html.contains("<figure><svg></svg></figure>"), "{html}");
        assert!(html.contains("<a href=\"index.html\">all</a>") && html.contains("x &amp; y"));
    }
}
