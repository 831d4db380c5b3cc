//! Prints how the project's prose keeps its rules, one line for each group, and with the name of a group its sentences.
//!
//! ```sh
//! cargo run -p afteryou-words --features spelling --example words -- [README | book | error | doc]
//! ```

use afteryou_words::{check, Error, GROUPS};
use std::path::Path;

fn main() -> Result<(), Error> {
    let shown = std::env::args().nth(1);
    println!("{:<20} {:>9} {:>12} {:>8} {:>8}", "group", "sentences", "long", "excluded", "misspelt");
    for group in GROUPS {
        let report = check(Path::new("."), *group)?;
        let (long, excluded) = (report.long.len(), report.excluded.len());
        let percent = report.long_percent();
        println!(
            "{:<20} {:>9} {long:>5} {percent:>4.1} % {excluded:>8} {:>8}",
            group.name(),
            report.sentences,
            report.misspelt.len()
        );
        if shown.as_ref().is_none_or(|shown| !group.name().contains(shown.as_str())) {
            continue;
        }
        for finding in &report.long {
            println!("  {} words, {}: {}", finding.words, finding.file, finding.sentence);
        }
        for error in &report.misspelt {
            println!("  {} for {}, {}", error.correction, error.word, error.file);
        }
        for finding in &report.excluded {
            println!("  {:?}, {}: {}", finding.phrase.unwrap_or_default(), finding.file, finding.sentence);
        }
    }
    Ok(())
}
