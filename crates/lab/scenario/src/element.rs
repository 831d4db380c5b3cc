//! Network elements of a link beside its queue: laws of loss, duplication, jitter, delays and rates that change.
//!
//! A link without elements has none of these fields in its JSON, so the hashes of such scenarios do not change.
//!
//! | module | holds |
//! |---|---|
//! | `loss` | losses in bursts and at every n-th packet |
//! | `delay` | propagation that changes, jitter, aggregation of acknowledgements |
//! | `markov` | chains of states, repeat requests of the link layer |
//! | `rate` | rates that change |
//! | `steps` | values that change at given times |

mod delay;
mod loss;
mod markov;
mod rate;
mod steps;

pub use delay::{Aggregate, Jitter, Propagation};
pub use loss::{GilbertElliott, LossLaw};
pub use markov::MOST_STATES;
pub use markov::{Arq, ChannelState, Markov};
pub use rate::{RateLaw, OPPORTUNITY_BYTES};
pub use steps::Steps;

use afteryou_notation::{Probability, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The effects of a link on packets beside its queue, its rate and independent losses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Elements {
    /// Losses that are not independent; they replace the link's probability.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss: Option<LossLaw>,
    /// Probability that a packet which is not lost comes twice.
    #[serde(skip_serializing_if = "is_never", default)]
    pub duplicate: Probability,
    /// Propagation delay, beside that of paths.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay: Option<Propagation>,
    /// Delay that differs from packet to packet.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub jitter: Option<Jitter>,
    /// How the link's rate changes; `rate` is then its mean over the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<RateLaw>,
    /// Transmissions that fail, and their repetition by the link layer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arq: Option<Arq>,
    /// Acknowledgements wait before the link for others.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub aggregate: Option<Aggregate>,
    /// The link is a token bucket of this size, as htb of Linux: after a pause packets leave together.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub burst: Option<Size>,
}

fn is_never(probability: &Probability) -> bool {
    probability.ratio() == 0.0
}

impl Elements {
    /// Returns whether there is none.
    pub fn is_plain(&self) -> bool {
        *self == Elements::default()
    }

    /// Returns each element: its name as keys of a link call it, whether it is there, and whether it draws random numbers.
    fn each(&self) -> Vec<(&'static str, bool, bool)> {
        let Elements { loss, duplicate, delay, jitter, rate, arq, aggregate, burst } = self;
        let has_jitter = jitter.as_ref().map(|jitter| jitter.law.is_random());
        vec![
            ("loss", loss.is_some(), loss.as_ref().is_some_and(LossLaw::is_random)),
            ("duplicate", !is_never(duplicate), !is_never(duplicate)),
            ("delay", delay.is_some(), false),
            ("jitter", has_jitter.is_some(), has_jitter == Some(true)),
            ("aggregate", aggregate.is_some(), false),
            ("burst", burst.is_some(), false),
            ("rate", rate.is_some() || arq.is_some(), arq.is_some()),
        ]
    }

    /// Returns the name of the first element; engines refuse by it.
    pub fn first(&self) -> Option<&'static str> {
        self.each().into_iter().find_map(|(name, is_there, _)| is_there.then_some(name))
    }

    /// Returns whether any element draws random numbers.
    pub fn is_random(&self) -> bool {
        self.each().into_iter().any(|(_, _, is_random)| is_random)
    }

    /// Returns the first element that is wrong by itself, and the reason.
    ///
    /// # Errors
    /// Steps that do not begin at 0 or do not ascend. A bucket of nothing or at a rate that varies, and a rate that is none.
    pub fn check(&self) -> Result<(), (&'static str, String)> {
        if let Some(Err((at, why))) = self.delay.as_ref().map(|delay| delay.steps.check()) {
            return Err(("delay", format!("step {}: {why}", at + 1)));
        }
        if self.burst.is_some() && (self.rate.is_some() || self.arq.is_some()) {
            return Err((
                "burst",
                "a bucket fills at one rate: leave it out, or use a constant rate".to_owned(),
            ));
        }
        if self.burst.is_some_and(|burst| burst.bytes() == 0) {
            return Err((
                "burst",
                "a bucket holds at least 1 B: leave it out for a link without one".to_owned(),
            ));
        }
        if let Some(Err((at, why))) = self.arq.as_ref().map(|arq| arq.error.check()) {
            return Err(("arq", format!("step {}: {why}", at + 1)));
        }
        match self.rate.as_ref().map(RateLaw::check) {
            Some(Err(why)) => Err(("rate", why)),
            _ => Ok(()),
        }
    }
}
