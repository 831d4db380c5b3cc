//! The rows of a table that a program measures.

/// Options that such programs have; a number follows `--runs`.
const OPTIONS: [&str; 3] = ["--check", "--brief", "--runs"];

/// Returns the rows that are named, or all.
///
/// # Errors
/// A word that is neither an option nor the name of a row.
pub fn named<'a, R>(
    words: &[String],
    rows: &'a [R],
    name: impl Fn(&R) -> &'static str,
) -> Result<Vec<&'a R>, String> {
    let known: Vec<&str> = rows.iter().map(&name).collect();
    let is_known =
        |word: &str| OPTIONS.contains(&word) || known.contains(&word) || word.parse::<u32>().is_ok();
    if let Some(word) = words.iter().find(|word| !is_known(word)) {
        return Err(format!("no row is called \"{word}\"; the rows are {}", known.join(", ")));
    }
    let has = |row: &&R| words.iter().any(|word| word == name(row));
    let named: Vec<&R> = rows.iter().filter(has).collect();
    Ok(if named.is_empty() { rows.iter().collect() } else { named })
}
