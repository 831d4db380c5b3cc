//! Flows in sentences.

/// Most flows that a warning names.
const MOST_NAMED: usize = 5;

/// Names flows in a sentence: the first ones, and how many more there are.
pub fn named(flows: &[&str]) -> String {
    let shown: Vec<String> = flows.iter().take(MOST_NAMED).map(|flow| format!("{flow:?}")).collect();
    let more = match flows.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let noun = if flows.len() == 1 { "flow" } else { "flows" };
    format!("{noun} {}{more}", shown.join(", "))
}
