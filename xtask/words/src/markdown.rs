//! Markdown as paragraphs of plain text.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Returns the paragraphs and list items of a text, without code blocks, tables and headings. Inline code becomes `code`.
pub fn paragraphs(text: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut current = String::new();
    let mut skipped = 0;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Table(_) | Tag::Heading { .. } | Tag::HtmlBlock) => {
                skipped += 1
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Table | TagEnd::Heading(_) | TagEnd::HtmlBlock) => {
                skipped -= 1;
            }
            Event::Start(Tag::Paragraph | Tag::Item | Tag::List(_))
            | Event::End(TagEnd::Paragraph | TagEnd::Item) => {
                keep(&mut paragraphs, &mut current);
            }
            _ if skipped > 0 => {}
            Event::Text(text) => current.push_str(&text),
            Event::Code(_) => current.push_str("`code`"),
            Event::SoftBreak | Event::HardBreak => current.push(' '),
            _ => {}
        }
    }
    keep(&mut paragraphs, &mut current);
    paragraphs
}

fn keep(paragraphs: &mut Vec<String>, current: &mut String) {
    let text = std::mem::take(current);
    if !text.trim().is_empty() {
        paragraphs.push(text.trim().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_kept_and_all_else_is_not() {
        let text = "# Head\n\nOne `x = 1`\n[two](a.md).\n\n- item\n  goes on\n\n| a | b |\n|---|---|\n| c | d |\n\n```\ncode\n```\nLast.";
        assert_eq!(paragraphs(text), ["One `code` two.", "item goes on", "Last."]);
    }
}
