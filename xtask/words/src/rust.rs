//! The prose of Rust source: doc comments and error messages.

use crate::markdown;
use syn::visit::Visit;

/// Returns the paragraphs of all doc comments.
pub fn doc_comments(source: &str) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let mut comment = String::new();
    for line in source.lines() {
        let line = line.trim_start();
        match line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) {
            Some(text) => comment.extend([text.strip_prefix(' ').unwrap_or(text), "\n"]),
            None => paragraphs.extend(markdown::paragraphs(&std::mem::take(&mut comment))),
        }
    }
    paragraphs.extend(markdown::paragraphs(&comment));
    paragraphs
}

/// Returns the messages of `#[error("…")]` attributes.
///
/// # Errors
/// No Rust source.
pub fn error_messages(source: &str) -> Result<Vec<String>, syn::Error> {
    let mut messages = Messages::default();
    messages.visit_file(&syn::parse_file(source)?);
    Ok(messages.0)
}

#[derive(Default)]
struct Messages(Vec<String>);

impl Visit<'_> for Messages {
    fn visit_attribute(&mut self, attribute: &syn::Attribute) {
        if !attribute.path().is_ident("error") {
            return;
        }
        // The arguments of the format follow the text; `transparent` has none.
        let text = attribute.parse_args_with(|input: syn::parse::ParseStream| {
            let text: syn::LitStr = input.parse()?;
            input.parse::<proc_macro2::TokenStream>()?;
            Ok(text)
        });
        self.0.extend(text.ok().map(|text| text.value()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doc_comment_is_prose_of_its_own() {
        let source = "//! The module.\n\n/// Returns `x`,\n/// in s.\nfn x() {} // not this\n";
        assert_eq!(doc_comments(source), ["The module.", "Returns `code`, in s."]);
    }

    #[test]
    fn messages_are_found_with_and_without_arguments() {
        let source =
            "enum E { #[error(\"no {name}\")] A, #[error(\"no {}\", x.y())] B, #[error(transparent)] C }";
        assert_eq!(error_messages(source).unwrap(), ["no {name}", "no {}"]);
    }
}
