//! Laws of loss beyond independent losses.

use afteryou_notation::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A law of loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LossLaw {
    /// Each packet is lost with this probability, independent of the others.
    Independent(Probability),
    /// Losses in bursts.
    GilbertElliott(GilbertElliott),
    /// Every packet whose number, from 1, is a multiple of this.
    Every(u64),
}

/// Two states, each with its own loss rate; before each packet the state may change.
///
/// Model: Gilbert 1960, Elliott 1963; names as in Hohlfeld, Haßlinger 2008 and `tc netem loss gemodel p r 1-h 1-k`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GilbertElliott {
    /// Probability of a change from good to bad.
    pub p: Probability,
    /// Probability of a change from bad to good.
    pub r: Probability,
    /// Loss rate in the good state.
    pub good: Probability,
    /// Loss rate in the bad state.
    pub bad: Probability,
}

impl GilbertElliott {
    /// Returns the law with this mean loss rate and this mean number of consecutive losses. Everything is lost in the bad
    /// state and nothing in the good one (Gilbert's simple model). Returns `None` if no chain has them: such bursts need a
    /// rate of change from good to bad above one.
    pub fn of_mean(mean: Probability, burst: f64) -> Option<GilbertElliott> {
        let r = 1.0 / burst;
        let p = r * mean.ratio() / (1.0 - mean.ratio());
        Some(GilbertElliott {
            p: Probability::from_ratio(p)?,
            r: Probability::from_ratio(r)?,
            good: Probability::default(),
            bad: Probability::from_ratio(1.0)?,
        })
    }

    /// Returns the share of packets that meet the bad state.
    pub fn share_of_bad(&self) -> f64 {
        let (p, r) = (self.p.ratio(), self.r.ratio());
        match p + r > 0.0 {
            true => p / (p + r),
            // The state never changes, and the first one is good.
            false => 0.0,
        }
    }

    /// Returns the mean loss rate.
    pub fn mean(&self) -> f64 {
        let bad = self.share_of_bad();
        (1.0 - bad) * self.good.ratio() + bad * self.bad.ratio()
    }
}

impl LossLaw {
    /// Returns whether it draws random numbers.
    pub fn is_random(&self) -> bool {
        !matches!(self, LossLaw::Every(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_and_a_burst_length_make_the_chain_that_has_them() {
        let mean = "2 %".parse().unwrap();
        let chain = GilbertElliott::of_mean(mean, 5.0).unwrap();
        assert!((chain.mean() - 0.02).abs() < 1e-12 && (1.0 / chain.r.ratio() - 5.0).abs() < 1e-12);
        // 60 % lost one at a time would need three losses after every two good packets.
        assert_eq!(GilbertElliott::of_mean("60 %".parse().unwrap(), 1.0), None);
        assert_eq!(GilbertElliott::of_mean(mean, 0.5), None);
    }
}
