//! Network elements in files.

use super::*;
use crate::element::{GilbertElliott, LossLaw};
use crate::Probability;

fn ratio(ratio: f64) -> Probability {
    Probability::from_ratio(ratio).unwrap()
}

fn scenario(link: &str) -> Scenario {
    runs("", &format!("{link}\n{}", flow(""))).remove(0).scenario
}

/// The error of a file with these lines in its link, the first of them in line 6.
fn refused(link: &str, words: &str, line: usize) {
    let text = error("", &format!("{link}\n{}", flow("")));
    assert!(text.contains(words) && text.contains(&format!("test.toml:{line}:")), "{link}:\n{text}");
}

#[test]
fn losses_are_a_probability_or_a_law() {
    assert_eq!(scenario("loss = \"1 %\"").link.loss, ratio(0.01));
    let by_mean = scenario("loss = { gilbert_elliott = { mean = \"2 %\", burst = 4 } }");
    let LossLaw::GilbertElliott(chain) = by_mean.link.elements.loss.unwrap() else { panic!("a chain") };
    assert_eq!((chain.r, by_mean.link.loss), (ratio(0.25), ratio(0.0)));
    assert!((chain.mean() - 0.02).abs() < 1e-12);
    let classic = scenario("loss.gilbert_elliott = { p = \"1 %\", r = \"20 %\", good = \"0.1 %\" }");
    let chain = GilbertElliott { p: ratio(0.01), r: ratio(0.2), good: ratio(0.001), bad: ratio(1.0) };
    assert_eq!(classic.link.elements.loss, Some(LossLaw::GilbertElliott(chain)));
    assert_eq!(scenario("loss = { every = 100 }").link.elements.loss, Some(LossLaw::Every(100)));
}

#[test]
fn the_reverse_direction_has_the_elements_of_the_forward_one_unless_it_says_its_own() {
    let link = scenario("loss = { every = 9 }\nduplicate = \"1 %\"\nreverse = { loss = \"3 %\" }").link;
    assert_eq!(link.elements.loss, Some(LossLaw::Every(9)));
    let back = link.back();
    assert_eq!((back.loss, back.elements.loss, back.elements.duplicate), (ratio(0.03), None, ratio(0.01)));
    let same = scenario("duplicate = \"1 %\"\nreverse = { rate = \"1 Mbit/s\" }").link;
    assert_eq!(same.back().elements, same.elements);
}

#[test]
fn impossible_losses_are_refused_where_they_are_written() {
    refused("loss = { gilbert_elliott = { mean = \"120 %\", burst = 4 } }", "between 0% and 100%", 6);
    refused("loss = { gilbert_elliott = { mean = \"70 %\", burst = 1 } }", "use a longer burst", 6);
    refused("loss = { gilbert_elliott = { mean = \"1 %\", burst = 0.5 } }", "from 1 to 1000000", 6);
    refused("loss = { gilbert_elliott = { mean = \"1 %\", p = \"1 %\" } }", "either mean and burst", 6);
    refused("loss = { gilbert_elliott = { p = \"1 %\" } }", "r is missing", 6);
    refused("loss = { every = 0 }", "whole number from 1", 6);
    refused("loss = { evry = 3 }", "did you mean \"every\"", 6);
    refused("loss = { }", "write a probability", 6);
    refused("duplicate = \"1.2\"", "is not a probability", 6);
}

#[test]
fn laws_are_swept_like_any_other_setting() {
    let sweep = "[sweep]\n\"link.loss.gilbert_elliott.burst\" = [1, 10]\n";
    let link = "loss = { gilbert_elliott = { mean = \"1 %\", burst = 1 } }\n";
    let planned = runs("", &format!("{link}{}{sweep}", flow("")));
    assert_eq!(planned.len(), 2);
    assert_ne!(planned[0].scenario.link.elements, planned[1].scenario.link.elements);
}
