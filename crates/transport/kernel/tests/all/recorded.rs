//! The vectors that afteryou-cc has recorded.

use std::path::Path;

/// A rule's file.
pub struct Recorded {
    /// The parameters, as `name=value` with spaces between them.
    pub params: String,
    pub lines: Vec<Line>,
}

/// An event with the answer to it.
pub struct Line {
    /// Name of the event's kind.
    pub kind: String,
    /// The event's numbers.
    pub event: Vec<u64>,
    /// Columns of the answer.
    pub answer: Vec<u64>,
}

/// Reads the file of a rule whose events have so many cells, the kind among them.
pub fn recorded(rule: &str, cells: usize) -> Recorded {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cc/vectors").join(format!("{rule}.csv"));
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut rest = text.lines();
    let params = rest.next().expect("the parameters").trim_start_matches("# ").to_owned();
    let lines: Vec<Line> = rest.skip(1).map(|text| line(text, cells)).collect();
    assert!(lines.len() >= 1000, "{} has {} events", file.display(), lines.len());
    Recorded { params, lines }
}

fn line(text: &str, cells: usize) -> Line {
    let (kind, numbers) = text.split_once(',').expect("a kind and numbers");
    let mut event: Vec<u64> = numbers
        .split(',')
        .map(|cell| cell.parse().unwrap_or_else(|_| panic!("{cell:?} in {text}")))
        .collect();
    let answer = event.split_off(cells - 1);
    Line { kind: kind.to_owned(), event, answer }
}

/// Returns the first event after which there is another answer than the one recorded. Columns beyond those are not compared.
pub fn first_other(lines: &[Line], answers: &[Vec<u64>]) -> Option<String> {
    assert_eq!(lines.len(), answers.len());
    let is_other = |(line, answer): &(&Line, &Vec<u64>)| answer[..line.answer.len()] != line.answer[..];
    let (i, (line, answer)) = lines.iter().zip(answers).enumerate().find(|(_, pair)| is_other(pair))?;
    Some(format!("event {i}: {answer:?} after {} {:?}, not {:?}", line.kind, line.event, line.answer))
}
