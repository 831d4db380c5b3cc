//! The name that was meant by one that does not exist.
//!
//! # Model
//! The edit distance of Damerau and Levenshtein (1966) where neighbouring letters may change places once ("optimal string
//! alignment"). A name is near enough if at most a third of its letters differ.
//!
//! It has its own few lines because crates with string distances need an allocator, which controllers do without.

/// Longest word that is compared; parameters have at most 24 letters.
const LONGEST: usize = 32;

/// Returns the name of `names` that is nearest to `word`, if one is near enough to be meant. Letters are compared without case.
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = |name: &'a str| {
        let edits = distance(word.as_bytes(), name.as_bytes())?;
        (3 * edits <= name.len().max(word.len())).then_some((edits, name))
    };
    names.into_iter().filter_map(near).min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Edits that make one word of the other. None for words that are too long to be names.
fn distance(from: &[u8], to: &[u8]) -> Option<usize> {
    if from.len() > LONGEST || to.len() > LONGEST {
        return None;
    }
    // Rows of the table: two before this one, the one before, this one.
    let mut rows = [[0; LONGEST + 1]; 3];
    rows[1] = core::array::from_fn(|column| column);
    for (row, one) in from.iter().enumerate() {
        rows[2][0] = row + 1;
        for (column, other) in to.iter().enumerate() {
            let replaced = rows[1][column] + usize::from(!one.eq_ignore_ascii_case(other));
            let mut edits = replaced.min(rows[1][column + 1] + 1).min(rows[2][column] + 1);
            if row > 0 && column > 0 && from[row - 1] == *other && *one == to[column - 1] {
                edits = edits.min(rows[0][column - 1] + 1);
            }
            rows[2][column + 1] = edits;
        }
        rows.rotate_left(1);
    }
    Some(rows[1][to.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbooks() {
        for (from, to, edits) in [
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("traget", "target", 1),
            ("ca", "abc", 3),
            ("ECN", "ecn", 0),
        ] {
            assert_eq!(distance(from.as_bytes(), to.as_bytes()), Some(edits), "{from} {to}");
            assert_eq!(distance(to.as_bytes(), from.as_bytes()), Some(edits), "{to} {from}");
        }
    }

    #[test]
    fn the_nearest_name_is_found_and_nonsense_has_none() {
        let names = ["target", "gain", "base_history"];
        assert_eq!(nearest("traget", names), Some("target"));
        assert_eq!(nearest("base-history", names), Some("base_history"));
        assert_eq!(nearest("zzz", names), None);
        assert_eq!(nearest(&"x".repeat(1000), names), None);
        assert_eq!(nearest("target", []), None);
    }
}
