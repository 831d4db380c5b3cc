//! Losses in bursts: the model of Gilbert and Elliott.
//!
//! A chain of two states, good and bad. Before each packet it goes from good to bad with probability p, from bad to good with
//! probability r; then the packet is lost with the loss rate of the state. The first packet meets the stationary chain.
//!
//! Closed forms: a share of p/(p + r) of the packets meets the bad state; the loss rate is the states' mean; with losses of
//! 0 % and 100 % the number of consecutive losses is geometric with mean 1/r.
//!
//! Source: Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, "Estimates of error rates for codes on burst-noise
//! channels", 1963. The chain counts packets, as `tc netem` does, and not time: a burst is as many packets at any load.

use afteryou_scenario::element::GilbertElliott;
use afteryou_scenario::random;
use rand_pcg::Pcg64;

/// The chain and its state.
pub struct Chain {
    /// Probabilities of leaving the good and the bad state.
    leave: [f64; 2],
    /// Loss rates of the good and the bad state.
    loss: [f64; 2],
    is_bad: bool,
    random: Pcg64,
}

impl Chain {
    /// Creates the chain in its stationary state.
    pub fn new(spec: &GilbertElliott, mut random: Pcg64) -> Chain {
        let is_bad = random::happens(&mut random, spec.share_of_bad());
        Chain {
            leave: [spec.p.ratio(), spec.r.ratio()],
            loss: [spec.good.ratio(), spec.bad.ratio()],
            is_bad,
            random,
        }
    }

    /// Returns whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        self.is_bad ^= random::happens(&mut self.random, self.leave[usize::from(self.is_bad)]);
        random::happens(&mut self.random, self.loss[usize::from(self.is_bad)])
    }
}

/// Returns the loss rate and the mean number of consecutive losses among `packets` packets.
#[cfg(test)]
pub fn measured(packets: u32, mut loses: impl FnMut() -> bool) -> (f64, f64) {
    let (mut lost, mut bursts, mut last) = (0u32, 0u32, false);
    for _ in 0..packets {
        let is_lost = loses();
        lost += u32::from(is_lost);
        bursts += u32::from(is_lost && !last);
        last = is_lost;
    }
    (f64::from(lost) / f64::from(packets), f64::from(lost) / f64::from(bursts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::Probability;

    const PACKETS: u32 = 1_000_000;

    #[test]
    fn the_loss_rate_and_the_burst_length_are_those_of_the_chain() {
        for (mean, burst) in [(0.01, 5.0), (0.05, 20.0), (0.3, 2.0)] {
            let spec = GilbertElliott::of_mean(Probability::from_ratio(mean).unwrap(), burst).unwrap();
            let (p, r) = (spec.p.ratio(), spec.r.ratio());
            let mut chain = Chain::new(&spec, random::stream(3, "test"));
            let (rate, length) = measured(PACKETS, || chain.loses());
            // Autocorrelation 1 − p − r: the variance of the mean is that of independent losses times (2 − p − r)/(p + r).
            let n = f64::from(PACKETS);
            let of_rate = (mean * (1.0 - mean) / n * (2.0 - p - r) / (p + r)).sqrt();
            // A geometric burst of mean L has variance L(L − 1).
            let of_length = (burst * (burst - 1.0) / (n * mean / burst)).sqrt();
            assert!((rate - mean).abs() < 4.0 * of_rate, "{rate} of {mean} ± {of_rate}");
            assert!((length - burst).abs() < 4.0 * of_length, "{length} of {burst} ± {of_length}");
        }
    }

    #[test]
    fn each_state_has_its_own_loss_rate() {
        let ratio = |ratio| Probability::from_ratio(ratio).unwrap();
        let spec = GilbertElliott { p: ratio(0.02), r: ratio(0.1), good: ratio(0.01), bad: ratio(0.4) };
        let mut chain = Chain::new(&spec, random::stream(4, "test"));
        let (rate, _) = measured(PACKETS, || chain.loses());
        let share = 0.02 / 0.12;
        let (between, n) = (0.39 * 0.39 * share * (1.0 - share), f64::from(PACKETS));
        let error = ((between * (2.0 - 0.12) / 0.12 + 0.25) / n).sqrt();
        assert!((rate - spec.mean()).abs() < 4.0 * error, "{rate} of {} ± {error}", spec.mean());
    }
}
