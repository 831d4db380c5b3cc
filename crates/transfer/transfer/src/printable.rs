//! Words of a peer.

use afteryou_base::shown::Shown;

/// Returns a peer's words, fit for a terminal: `longest` characters of them.
pub(crate) fn printable(words: &str, longest: usize) -> String {
    let end = words.char_indices().nth(longest).map_or(words.len(), |(at, _)| at);
    Shown(&words[..end]).to_string()
}
