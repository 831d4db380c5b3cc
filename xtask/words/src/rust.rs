//! The prose of Rust source: doc comments and error messages.

use crate::{markdown, rules, verbs};
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

/// The first paragraph of a function's doc comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    /// The paragraph.
    pub text: String,
    /// True if it begins with a verb. A test's name is a sentence already, and a property of Python is a noun.
    pub has_verb: bool,
}

impl Description {
    /// Returns the fault of its first words, if they have one.
    pub fn fault(&self) -> Option<&'static str> {
        match self.has_verb {
            true => verbs::without_verb(&self.text),
            false => rules::imperative(&self.text),
        }
    }
}

/// Attributes of functions whose comment need not begin with a verb.
const WITHOUT_VERB: &[&str] = &["test]", "test(", "getter]"];

/// Returns the descriptions of functions. The help of options is on fields and variants, and is imperative.
pub fn descriptions(source: &str) -> Vec<Description> {
    let mut descriptions = Vec::new();
    let (mut comment, mut has_verb) = (String::new(), true);
    for line in source.lines().map(str::trim_start) {
        if let Some(text) = line.strip_prefix("///") {
            comment.extend([text.strip_prefix(' ').unwrap_or(text), "\n"]);
            continue;
        }
        // Attributes are between a comment and its item.
        if line.starts_with("#[") {
            has_verb &= !WITHOUT_VERB.iter().any(|attribute| line.contains(attribute));
            continue;
        }
        let (comment, has_verb) = (std::mem::take(&mut comment), std::mem::replace(&mut has_verb, true));
        if is_function(line) {
            let text = markdown::paragraphs(&comment).into_iter().next();
            descriptions.extend(text.map(|text| Description { text, has_verb }));
        }
    }
    descriptions
}

fn is_function(line: &str) -> bool {
    let item = line.strip_prefix("pub(").and_then(|line| line.split_once(')')).map_or(line, |(_, item)| item);
    let mut words = item.split('(').next().unwrap_or_default().split_whitespace();
    // The type of a field has no name behind it.
    words.any(|word| word == "fn") && words.next().is_some()
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
                      /// Write it.\npub write: fn(),\n/// Reads.\nconst fn y(a: fn()) {}\n";
        let texts: Vec<_> = descriptions(source).into_iter().map(|description| description.text).collect();
        assert_eq!(texts, ["Return it.", "Reads."]);
    }

    #[test]
    fn tests_and_properties_of_python_need_no_verb() {
        let has_verb = |attribute: &str| {
            descriptions(&format!("/// A reason.\n#[{attribute}]\nfn x() {{}}\n"))[0].has_verb
        };
        assert!(has_verb("must_use") && has_verb("cfg(testbed)"));
        assert!(!has_verb("test") && !has_verb("tokio::test(start_paused = true)") && !has_verb("getter"));
    }

    #[test]
    fn messages_are_found_with_and_without_arguments() {
        let source =
            "enum E { #[error(\"no {name}\")] A, #[error(\"no {}\", x.y())] B, #[error(transparent)] C }";
        assert_eq!(error_messages(source).unwrap(), ["no {name}", "no {}"]);
    }
}
