//! Which packets a link loses: each at random, in bursts, or every n-th.

use super::gilbert_elliott::Chain;
use afteryou_scenario::element::LossLaw;
use afteryou_scenario::{random, Probability};
use rand_pcg::Pcg64;

/// A law of loss with its state.
pub enum Loss {
    /// Nothing is lost.
    None,
    /// Each packet is lost with this probability, whatever became of the others.
    Independent(f64, Pcg64),
    /// Losses in bursts.
    Bursts(Chain),
    /// Every packet whose number is a multiple of the first; the second counts.
    Every(u64, u64),
}

impl Loss {
    /// Creates the law of a link, or independent losses where it has none.
    pub fn new(law: Option<&LossLaw>, independent: Probability, random: Pcg64) -> Loss {
        match law {
            Some(LossLaw::GilbertElliott(chain)) => Loss::Bursts(Chain::new(chain, random)),
            Some(LossLaw::Every(every)) => Loss::Every((*every).max(1), 0),
            Some(LossLaw::Independent(probability)) => Loss::Independent(probability.ratio(), random),
            None if independent.ratio() > 0.0 => Loss::Independent(independent.ratio(), random),
            None => Loss::None,
        }
    }

    /// Returns whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        match self {
            Loss::None => false,
            Loss::Independent(probability, random) => random::happens(random, *probability),
            Loss::Bursts(chain) => chain.loses(),
            Loss::Every(every, count) => {
                *count += 1;
                count.is_multiple_of(*every)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_third_packet_is_lost_and_no_other() {
        let random = random::stream(1, "test");
        let mut loss = Loss::new(Some(&LossLaw::Every(3)), Probability::default(), random);
        let lost: Vec<u64> = (1..=10).filter(|_| loss.loses()).collect();
        assert_eq!(lost, [3, 6, 9]);
    }

    #[test]
    fn independent_losses_have_their_rate_and_bursts_of_one_over_one_minus_it() {
        let random = random::stream(2, "test");
        let mut loss = Loss::new(None, Probability::from_ratio(0.2).unwrap(), random);
        let (rate, burst) = super::super::gilbert_elliott::measured(500_000, || loss.loses());
        // Standard errors: √(0.2·0.8/5e5) = 0.00057; a burst has deviation √0.2/0.8 = 0.56, 80 000 of them 0.002.
        assert!((rate - 0.2).abs() < 4.0 * 0.00057, "{rate}");
        assert!((burst - 1.25).abs() < 4.0 * 0.002, "{burst}");
    }
}
