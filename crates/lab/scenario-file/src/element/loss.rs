//! Before the queue: losses and duplication.

use super::{Help, Words, Written};
use crate::error::Problem;
use crate::key::{key, Key, Takes};
use crate::read::{check_keys, count, needed, number, quantity, table, Result};
use crate::tree::{Node, Value};
use afteryou_notation::format::nth;
use afteryou_notation::Probability;
use afteryou_scenario::element::{GilbertElliott, LossLaw};

/// Longest mean burst, packets.
const LONGEST_BURST: f64 = 1e6;

/// `loss` of a link, if it is a table.
const LAW: &[Key] = &[
    key("gilbert_elliott", Takes::Table(GILBERT_ELLIOTT), "losses in bursts"),
    key("every", Takes::Count, "loses every n-th packet"),
];

/// `loss.gilbert_elliott`: `mean` and `burst`, or the others.
const GILBERT_ELLIOTT: &[Key] = &[
    key("mean", Takes::Probability, "mean loss rate"),
    key("burst", Takes::Number(1.0, 1e6), "mean number of consecutive losses"),
    key("p", Takes::Probability, "probability of a change from good to bad, before each packet"),
    key("r", Takes::Probability, "probability of a change from bad to good, before each packet"),
    key("good", Takes::Probability, "loss rate in the good state; 0 % by default"),
    key("bad", Takes::Probability, "loss rate in the bad state; 100 % by default"),
];

/// The elements before the queue.
pub(crate) const LOSS: &[Words] = &[
    Words {
        name: "loss",
        key: Some(Written {
            takes: Takes::Loss(LAW),
            help: Help {
                link: "probability that a packet is lost, or a law, in each direction; 0 % by default",
                named_link: "probability that a packet is lost, or a law; 0 % by default",
                reverse: "probability that a packet is lost, or a law",
                flow: Some(
                    "probability that one of its data packets is lost before its first link, or a law",
                ),
            },
            read: |node, of, _| {
                (of.loss, of.elements.loss) = losses(node)?;
                Ok(())
            },
        }),
        said: |elements| elements.loss.as_ref().map(said),
    },
    Words {
        name: "duplicate",
        key: Some(Written {
            takes: Takes::Probability,
            help: Help::of_links(DUPLICATE).and_of_flows(DUPLICATE),
            read: |node, of, _| {
                of.elements.duplicate = quantity(node)?;
                Ok(())
            },
        }),
        said: |elements| (elements.duplicate.ratio() > 0.0).then(|| elements.duplicate.to_string()),
    },
];

const DUPLICATE: &str = "probability that a packet which is not lost comes twice; 0 % by default";

/// Reads a probability, or a law.
fn losses(node: &Node) -> Result<(Probability, Option<LossLaw>)> {
    let Value::Table(fields) = &node.value else { return Ok((quantity(node)?, None)) };
    check_keys(fields, "loss", LAW)?;
    let law = match (fields.get("gilbert_elliott"), fields.get("every")) {
        (Some(chain), None) => LossLaw::GilbertElliott(gilbert_elliott(chain)?),
        (None, Some(every)) => LossLaw::Every(count(every, 1..=u64::MAX)?),
        _ => {
            let message =
                "write a probability, { gilbert_elliott = { mean = \"1 %\", burst = 5 } } or { every = 100 }";
            return Err(Problem::new(&node.place, message));
        }
    };
    Ok((Probability::default(), Some(law)))
}

fn gilbert_elliott(node: &Node) -> Result<GilbertElliott> {
    let fields = table(node)?;
    check_keys(fields, "gilbert_elliott", GILBERT_ELLIOTT)?;
    let classic = ["p", "r", "good", "bad"].into_iter().find(|name| fields.get(name).is_some());
    if classic.is_none() {
        let mean = quantity(needed(fields, "mean", node, "\"1 %\"")?)?;
        let burst = number(needed(fields, "burst", node, "5")?, 1.0..=LONGEST_BURST)?;
        let impossible =
            "no chain has a loss rate this high in bursts this short: use a longer burst or fewer losses";
        return GilbertElliott::of_mean(mean, burst).ok_or_else(|| Problem::new(&node.place, impossible));
    }
    if fields.get("mean").or(fields.get("burst")).is_some() {
        return Err(Problem::new(&node.place, "write either mean and burst, or p, r, good and bad"));
    }
    let of_state = |name: &str, otherwise: f64| {
        let otherwise = Probability::from_ratio(otherwise).unwrap_or_default();
        fields.get(name).map_or(Ok(otherwise), quantity)
    };
    Ok(GilbertElliott {
        p: quantity(needed(fields, "p", node, "\"0.1 %\"")?)?,
        r: quantity(needed(fields, "r", node, "\"20 %\"")?)?,
        good: of_state("good", 0.0)?,
        bad: of_state("bad", 1.0)?,
    })
}

fn said(law: &LossLaw) -> String {
    match law {
        LossLaw::Independent(probability) => format!("{probability}, independent"),
        LossLaw::GilbertElliott(GilbertElliott { p, r, good, bad }) => {
            format!("Gilbert-Elliott, p {p}, r {r}, loss {good} in the good state and {bad} in the bad one")
        }
        LossLaw::Every(n) => format!("every {}", nth(*n, "packet")),
    }
}
