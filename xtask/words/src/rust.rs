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

/// Returns the first paragraphs of the doc comments of functions. The help of options is on fields and variants, and is imperative.
pub fn descriptions(source: &str) -> Vec<String> {
    let mut descriptions = Vec::new();
    let mut comment = String::new();
    for line in source.lines().map(str::trim_start) {
        if let Some(text) = line.strip_prefix("///") {
            comment.extend([text.strip_prefix(' ').unwrap_or(text), "\n"]);
            continue;
        }
        // Attributes stand between a comment and its item.
        if line.starts_with("#[") {
            continue;
        }
        let comment = std::mem::take(&mut comment);
        if is_function(line) {
            descriptions.extend(markdown::paragraphs(&comment).into_iter().next());
        }
    }
    descriptions
}

fn is_function(line: &str) -> bool {
    let head = line.split('(').next().unwrap_or_default();
    head.split_whitespace().any(|word| word == "fn")
        || line.starts_with("pub(") && line.split_whitespace().take(4).any(|word| word == "fn")
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
    fn descriptions_are_the_first_paragraphs_of_functions() {
        let source = "/// Return it.\n///\n/// More.\n#[must_use]\npub(crate) fn x() {}\n/// Write a file\nout: PathBuf,\n\
                      /// Reads.\nconst fn y(a: fn()) {}\n";
        assert_eq!(descriptions(source), ["Return it.", "Reads."]);
    }

    #[test]
    fn messages_are_found_with_and_without_arguments() {
        let source =
            "enum E { #[error(\"no {name}\")] A, #[error(\"no {}\", x.y())] B, #[error(transparent)] C }";
        assert_eq!(error_messages(source).unwrap(), ["no {name}", "no {}"]);
    }
}
