//! The names that figures and pages give to an outcome, its links, its flows and its transfers.

use afteryou_notation::format::size;
use afteryou_scenario::outcome::{SizeClass, BOTTLENECK};
use afteryou_scenario::{Flow, Outcome};

/// Returns the outcome's name.
pub fn title(outcome: &Outcome) -> &str {
    match outcome.scenario.name.trim() {
        "" => "Unnamed scenario",
        name => name,
    }
}

/// Returns the link in a few words, or how many there are.
pub fn link_in_words(outcome: &Outcome) -> String {
    let (scenario, link) = (&outcome.scenario, &outcome.scenario.link);
    if scenario.has_named_links() {
        let rates = || scenario.links().map(|link| link.rate).collect::<Vec<_>>();
        let slowest = rates().into_iter().min_by_key(|rate| rate.bits_per_second());
        let fastest = rates().into_iter().max_by_key(|rate| rate.bits_per_second());
        return match (slowest, fastest) {
            (Some(slowest), Some(fastest)) if slowest != fastest => {
                format!("{} links of {slowest} to {fastest}", scenario.links().count())
            }
            _ => format!("{} links of {}", scenario.links().count(), link.rate),
        };
    }
    let loss = match link.loss.ratio() {
        ratio if ratio > 0.0 => format!(", {} random loss", link.loss),
        _ => String::new(),
    };
    let rate = match are_several(outcome) {
        true => format!("{} up, {} down", link.rate, link.back().rate),
        false => link.rate.to_string(),
    };
    format!("{rate}, {} buffer, {}{loss}", link.buffer, link.queue.kind)
}

/// Returns the engine in words.
pub fn engine_in_words(outcome: &Outcome) -> &str {
    match outcome.engine.as_str() {
        "bed" => "real packets",
        "sim" => "packet simulation",
        "fluid" => "fluid model",
        other => other,
    }
}

/// Returns whether there are several links to show, so that they must be named.
pub fn are_several(outcome: &Outcome) -> bool {
    outcome.data_links().len() > 1
}

/// Returns the name of a curve's flow or link as in the tables: where there are several links, "link" is the first.
pub fn shown_name<'a>(outcome: &'a Outcome, of: &'a str) -> &'a str {
    match of == "link" && are_several(outcome) {
        true => BOTTLENECK,
        false => of,
    }
}

/// Returns the name of `flow`, or of the table that it was written in together with others.
pub fn shown_as(flow: &Flow, together: bool) -> &str {
    flow.group.as_deref().filter(|_| together).unwrap_or(&flow.name)
}

/// Returns "10.0 kB to 100 kB", "10.0 MB and more".
pub fn sizes(class: &SizeClass) -> String {
    match class.to_bytes {
        Some(to) if class.from_bytes == 0 => format!("below {}", size(to)),
        Some(to) => format!("{} to {}", size(class.from_bytes), size(to)),
        None => format!("{} and more", size(class.from_bytes)),
    }
}
