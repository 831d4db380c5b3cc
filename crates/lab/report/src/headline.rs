//! The headline of a run: a sentence or two about its outcome.
//!
//! How long the transfers of the foreground took comes first, where it has any: goodput hides how long a user waits. With a background
//! and a run without it follow the flow that kept least, and where the background made packets wait longest. Without the comparison:
//! how much of the link was used, how long its queue was, and each flow's share.

use crate::completions::{completions, Completion, Times};
use crate::groups;
use afteryou_notation::format::{count, ms, number, percent, seconds};
use afteryou_plot::names::are_several;
use afteryou_scenario::outcome::{Comparison, FlowFigures, Outcome, WindowFigures};
use afteryou_scenario::{Role, Scenario};

/// More flows than this are not named one by one.
const MOST_NAMED: usize = 3;
/// The headline begins with unfinished transfers if the background adds at least this part of all.
const WORTH_SAYING: f64 = 0.05;

/// Returns the headline, one sentence in each place; nothing of a run without a window.
pub fn headline(outcome: &Outcome) -> Vec<String> {
    let mut sentences = took(outcome);
    let cost: Vec<String> = [kept(outcome), delayed(outcome)].into_iter().flatten().collect();
    if !cost.is_empty() {
        sentences.extend(cost);
        return sentences;
    }
    if let Some(window) = longest_window(outcome) {
        sentences.extend([carried(outcome, window), shared(outcome, window)].into_iter().flatten());
    }
    sentences
}

/// Reports how long the transfers of the foreground took: of those that suffered most, with the background and without.
fn took(outcome: &Outcome) -> Vec<String> {
    let together = outcome.scenario.flow.len() > groups::MOST_ROWS;
    let completions = completions(outcome, together);
    let of_foreground = completions.iter().filter(|completion| completion.role == Role::Foreground);
    // Of several that suffered as much the first.
    let worst = of_foreground.rev().max_by(|a, b| harm(a).total_cmp(&harm(b)));
    let Some(completion) = worst else { return Vec::new() };
    let window = completion.window.as_deref().map(|window| within(outcome, window)).unwrap_or_default();
    let sentences = [ended(completion, &window), mean(completion, &window), longest(completion)];
    sentences.into_iter().flatten().map(|sentence| capitalised(&sentence)).collect()
}

/// Returns how much longer transfers took; without a baseline how long.
fn harm(completion: &Completion) -> f64 {
    let cost = completion.cost();
    match &completion.baseline {
        Some(baseline) if lacks_ends(&completion.run, baseline) => f64::INFINITY,
        Some(_) => cost.completion_mean_ratio.unwrap_or_default(),
        None => cost.completion_mean_s.unwrap_or_default(),
    }
}

/// Returns whether the background kept transfers from their end.
fn lacks_ends(with: &Times, without: &Times) -> bool {
    without.completed_part() - with.completed_part() > WORTH_SAYING
}

/// Returns the sentence's subject: "the photo upload", "the pages of the users", "the downloads".
fn subject(completion: &Completion) -> String {
    let flow = the(&completion.flow);
    match completion.called.as_deref() {
        Some(called) if called == completion.flow => flow,
        Some(called) => format!("the {called} of {flow}"),
        None if completion.is_one() => flow,
        None => format!("the transfers of {flow}"),
    }
}

/// Reports the transfers that did not end because of the background.
fn ended(completion: &Completion, window: &str) -> Option<String> {
    let (with, subject) = (&completion.run, subject(completion));
    let without = completion.baseline.as_ref().filter(|without| lacks_ends(with, without));
    let Some(without) = without else {
        let none = with.complete == 0 && with.transfers > 0;
        return none.then(|| match completion.is_one() {
            true => format!("{subject} did not end within the run."),
            false => format!("none of {subject} ended within the run{window}."),
        });
    };
    if completion.is_one() {
        let took = without.mean_s.map(seconds).unwrap_or_default();
        return Some(format!("{subject} did not end within the run; without the background it took {took}."));
    }
    Some(format!(
        "of {subject} {} of {} came to their end, and without the background {} of {}{window}.",
        count(with.complete),
        count(with.transfers),
        count(without.complete),
        count(without.transfers),
    ))
}

fn mean(completion: &Completion, window: &str) -> Option<String> {
    let (cost, subject) = (completion.cost(), subject(completion));
    let on_average = if completion.is_one() { "" } else { " on average" };
    let with = seconds(cost.completion_mean_s?);
    let without = cost.baseline_completion_mean_s.zip(cost.completion_mean_ratio);
    let instead = without
        .map(|(without, ratio)| format!(" instead of {}, {} times as long", seconds(without), number(ratio)));
    Some(format!("{subject} took {with}{on_average}{}{window}.", instead.unwrap_or_default()))
}

fn longest(completion: &Completion) -> Option<String> {
    let cost = completion.cost();
    let with = cost.completion_p95_s.filter(|_| !completion.is_one())?;
    let without = cost.baseline_completion_p95_s.zip(cost.completion_p95_ratio);
    let instead = without
        .map(|(without, ratio)| format!(" instead of {}, {} times as long", seconds(without), number(ratio)));
    Some(format!("95 % of them took at most {}{}.", seconds(with), instead.unwrap_or_default()))
}

/// Reports the flow that kept least of its goodput.
fn kept(outcome: &Outcome) -> Option<String> {
    let compared = groups::comparison(outcome);
    let kept = compared.iter().filter_map(|one| Some((one, one.kept?)));
    let (least, kept) = kept.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let window = outcome.run.windows.iter().find(|window| window.window == least.window)?;
    let taken: f64 = background(window).map(|flow| flow.share_of_payload_capacity).sum();
    let (flow, background) = (the(&least.flow), the_background(&outcome.scenario));
    let sentence = format!(
        "{flow} kept {}, and {background} took {} of the link{}.",
        percent(kept),
        percent(taken),
        within(outcome, &least.window)
    );
    Some(capitalised(&sentence))
}

/// Reports where the background added most to a delay: that of a flow which measures it, or else that of a link's queue.
fn delayed(outcome: &Outcome) -> Option<String> {
    let compared = groups::comparison(outcome);
    let of_flows = compared.iter().filter_map(|one: &Comparison| {
        Some((one.added_delay_mean_ms?, one.window.as_str(), format!("{}'s mean delay", the(&one.flow))))
    });
    let of_links = outcome.link_comparison.iter().filter_map(|one| {
        let queue = match has_one_link(outcome) {
            true => "the mean time in the queue".to_owned(),
            false => format!("the mean time in the queue of “{}”", one.link),
        };
        Some((one.added_delay_mean_ms?, one.window.as_str(), queue))
    });
    let longest = |a: &(f64, &str, String), b: &(f64, &str, String)| a.0.total_cmp(&b.0);
    let (added, window, what) = of_flows.max_by(longest).or_else(|| of_links.max_by(longest))?;
    let background = the_background(&outcome.scenario);
    let sentence = match added > 0.0 {
        true => format!("{background} added {} to {what}{}.", ms(added), within(outcome, window)),
        false => format!("{background} added nothing to {what}."),
    };
    Some(capitalised(&sentence))
}

/// Reports the traffic of the first link.
fn carried(outcome: &Outcome, window: &WindowFigures) -> Option<String> {
    let link = window.links.first()?;
    let name = match has_one_link(outcome) {
        true => "the link".to_owned(),
        false => format!("“{}”", link.link),
    };
    let queue = match link.queuing_delay {
        Some(delay) => format!(", and packets waited {} on average", ms(delay.mean_ms)),
        None => String::new(),
    };
    let sentence = format!(
        "{name} carried {} of its rate{queue}{}.",
        percent(link.utilisation),
        within(outcome, &window.window)
    );
    Some(capitalised(&sentence))
}

/// Reports each flow's share of the only link.
fn shared(outcome: &Outcome, window: &WindowFigures) -> Option<String> {
    if !has_one_link(outcome) {
        return None;
    }
    let shown = groups::figures(&outcome.scenario, &window.flows);
    if (2..=MOST_NAMED).contains(&shown.len()) {
        let part = |flow: &FlowFigures| {
            format!("{} had {}", the(&flow.flow), percent(flow.share_of_payload_capacity))
        };
        let parts: Vec<String> = shown.iter().map(part).collect();
        let (last, before) = parts.split_last()?;
        return Some(capitalised(&format!("{}, and {last} of the payload rate.", before.join(", "))));
    }
    let fairness = window.links.first()?.foreground_fairness.or(window.links.first()?.fairness)?;
    Some(format!("Jain's index of the goodputs is {fairness:.2}."))
}

/// Returns whether the data of all flows cross the same link, and no other.
fn has_one_link(outcome: &Outcome) -> bool {
    !are_several(outcome) && outcome.scenario.hosts.is_empty()
}

fn background(window: &WindowFigures) -> impl Iterator<Item = &FlowFigures> {
    window.flows.iter().filter(|flow| flow.role == Role::Background)
}

fn the_background(scenario: &Scenario) -> String {
    let mut flows = scenario.flow.iter().filter(|flow| flow.role == Role::Background);
    match (flows.next(), flows.next()) {
        (Some(one), None) => the(&one.name),
        _ => "the background".to_owned(),
    }
}

/// Returns a flow in a sentence: plain words with their article, any other name in quotation marks.
fn the(name: &str) -> String {
    match name.chars().all(|c| c.is_lowercase() || c == ' ') {
        true => format!("the {name}"),
        false => format!("“{name}”"),
    }
}

/// Returns the window in a sentence; nothing where the run has only one.
fn within(outcome: &Outcome, window: &str) -> String {
    match outcome.run.windows.len() {
        0 | 1 => String::new(),
        _ => format!(" in the window “{window}”"),
    }
}

fn longest_window(outcome: &Outcome) -> Option<&WindowFigures> {
    let length = |window: &WindowFigures| window.to_s - window.from_s;
    // Of several as long as each other the first.
    outcome.run.windows.iter().rev().max_by(|a, b| length(a).total_cmp(&length(b)))
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_named_with_its_article_if_it_is_a_word() {
        assert_eq!((the("first flow"), the("b 12")), ("the first flow".to_owned(), "“b 12”".to_owned()));
        assert_eq!(capitalised("the link"), "The link");
    }
}
