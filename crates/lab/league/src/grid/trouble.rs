//! Troubles of paths: losses, jitter, radio, satellites, routes and rates that change, traffic in the reverse direction, clocks that differ.

use super::file::{millis, rate, seconds};
use super::lots::log_between;
use super::stratum::Phases;
use afteryou_scenario::random::{self, uniform};
use std::fmt::Write;

/// A trouble of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// None.
    Plain,
    /// Random losses, 0.1 to 5 %.
    Loss,
    /// Losses in bursts.
    Bursts,
    /// Delays that differ from packet to packet, in order.
    Jitter,
    /// The same, and packets overtake.
    Reordering,
    /// Wi-Fi: acknowledgements come together, and data wait for their turn.
    Wifi,
    /// A radio link whose rate fades, as LTE's does.
    Radio,
    /// A low satellite: the delay jumps every 15 s.
    Leo,
    /// Packets that come twice.
    Duplicates,
    /// A transfer of CUBIC fills the reverse direction.
    ReverseLoad,
    /// The route changes in the first phase and in the second.
    RouteChange,
    /// The rate changes in the first phase and in the second.
    RateChange,
    /// The receiver's clock runs faster or slower.
    Skew,
}

/// Every trouble with its share of the grid.
pub const SHARES: &[(Trouble, f64)] = &[
    (Trouble::Plain, 42.0),
    (Trouble::Loss, 12.0),
    (Trouble::Bursts, 6.0),
    (Trouble::Jitter, 5.0),
    (Trouble::Reordering, 4.0),
    (Trouble::Wifi, 7.0),
    (Trouble::Radio, 5.0),
    (Trouble::Leo, 4.0),
    (Trouble::Duplicates, 3.0),
    (Trouble::ReverseLoad, 4.0),
    (Trouble::RouteChange, 3.0),
    (Trouble::RateChange, 3.0),
    (Trouble::Skew, 2.0),
];

/// Loss in a burst. The chain counts packets and not time: were all lost, a sender whose timeouts back off would send one packet after
/// another into the same burst, for minutes.
const BAD: f64 = 0.5;
/// Time between two steps of a fading rate.
const FADE_S: f64 = 0.5;
/// Correlation of the logarithm of the rate between two steps, and its standard deviation.
const FADE_CORRELATION: f64 = 0.8;
const FADE_SIGMA: f64 = 0.5;
/// Time between two jumps of a low satellite's delay, as Starlink reconfigures its links.
const LEO_S: f64 = 15.0;

/// The parts of a scenario file that a trouble changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// The link's rate, in place of a constant one.
    pub rate: Option<String>,
    /// Further keys of the link; the reverse direction inherits none of them.
    pub link: String,
    /// Further keys of the reverse direction.
    pub reverse: String,
    /// Further tables of the file.
    pub tables: String,
    /// A further setting of the background's transport.
    pub transport: String,
    /// Part of the packets that arrive.
    pub arrives: f64,
}

/// The facts of a cell that its trouble depends on.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The link's rate, bit/s.
    pub rate_bit_s: f64,
    /// The background's base round-trip time, ms.
    pub rtt_ms: f64,
    /// The phases.
    pub phases: Phases,
    /// The cell's seed.
    pub seed: u64,
    /// A drawn number in [0, 1): how much of the trouble there is.
    pub amount: f64,
}

impl Trouble {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Trouble::Plain => "none",
            Trouble::Loss => "random loss",
            Trouble::Bursts => "bursty loss",
            Trouble::Jitter => "jitter",
            Trouble::Reordering => "reordering",
            Trouble::Wifi => "Wi-Fi",
            Trouble::Radio => "fading radio",
            Trouble::Leo => "low satellite",
            Trouble::Duplicates => "duplicates",
            Trouble::ReverseLoad => "reverse traffic",
            Trouble::RouteChange => "route change",
            Trouble::RateChange => "rate change",
            Trouble::Skew => "clock skew",
        }
    }

    /// Returns what it changes in a cell's file.
    pub fn changes(self, place: &Place) -> Changes {
        let Place { rate_bit_s, rtt_ms, phases, seed, amount } = *place;
        let mut changes = Changes { arrives: 1.0, ..Changes::default() };
        match self {
            Trouble::Plain => {}
            Trouble::Loss => {
                let percent = log_between(0.1, 5.0, amount);
                changes.link = format!("loss    = \"{percent:.3} %\"\n");
                changes.arrives = 1.0 - percent / 100.0;
            }
            Trouble::Bursts => {
                let percent = log_between(0.1, 3.0, amount);
                let (p, r) = chain(percent / 100.0, 6.0 + 10.0 * amount);
                changes.link = format!(
                    "loss    = {{ gilbert_elliott = {{ p = \"{:.5} %\", r = \"{:.3} %\", good = \"0 %\", bad = \"{} %\" }} }}\n",
                    p * 100.0,
                    r * 100.0,
                    BAD * 100.0
                );
                changes.arrives = 1.0 - percent / 100.0;
            }
            Trouble::Jitter | Trouble::Reordering => {
                let ms = millis(log_between(2.0, 20.0, amount));
                let reorder = if self == Trouble::Reordering { ", reorder = true" } else { "" };
                changes.link = format!("jitter  = {{ uniform = \"{ms}\"{reorder} }}\n");
            }
            Trouble::Wifi => {
                changes.link = format!("jitter  = {{ uniform = \"{}\" }}\n", millis(1.0 + 2.0 * amount));
                changes.reverse = format!(", aggregate = {{ time = \"{}\" }}", millis(2.0 + 6.0 * amount));
            }
            Trouble::Radio => changes.rate = Some(fading(rate_bit_s, phases.length_s(), seed)),
            Trouble::Leo => {
                changes.link = format!("delay   = {{ steps = {} }}\n", jumps(phases.length_s(), amount, seed))
            }
            Trouble::Duplicates => {
                changes.link = format!("duplicate = \"{:.3} %\"\n", log_between(0.1, 2.0, amount));
            }
            Trouble::ReverseLoad => {
                let rtt = millis(rtt_ms);
                changes.tables = format!(
                    "\n[[flow]]\nname       = \"reverse\"\ncontroller = \"cubic\"\nrtt        = \"{rtt}\"\ndirection  = \"down\"\nstart      = {{ uniform = [\"0 s\", \"{rtt}\"] }}\n"
                );
            }
            Trouble::RouteChange => {
                let longer = millis(rtt_ms + log_between(10.0, 100.0, amount));
                for (at_s, rtt) in [
                    (phases.alone_s * 0.5, longer),
                    (phases.alone_s + phases.together_s * 0.5, millis(rtt_ms)),
                ] {
                    let _ = write!(
                        changes.tables,
                        "\n[[route_change]]\nat  = \"{}\"\nrtt = \"{rtt}\"\n",
                        seconds(at_s)
                    );
                }
            }
            Trouble::RateChange => {
                let other = rate(rate_bit_s * log_between(0.3, 0.9, amount));
                let usual = rate(rate_bit_s);
                changes.rate = Some(format!(
                    "{{ steps = [[\"0 s\", \"{usual}\"], [\"{}\", \"{other}\"], [\"{}\", \"{usual}\"]] }}",
                    seconds(phases.alone_s * 0.5),
                    seconds(phases.alone_s + phases.together_s * 0.5)
                ));
            }
            Trouble::Skew => {
                let ppm = (log_between(50.0, 500.0, (amount * 2.0).fract())).round();
                let sign = if amount < 0.5 { "" } else { "-" };
                changes.transport = format!(", skew = \"{sign}{ppm}\"");
            }
        }
        changes
    }
}

/// Returns the probabilities that a burst begins and ends before a packet, for this mean loss rate and this mean length in packets.
fn chain(mean: f64, packets: f64) -> (f64, f64) {
    let (share, r) = (mean / BAD, 1.0 / packets);
    (r * share / (1.0 - share), r)
}

/// Returns the steps of a rate whose logarithm is a first-order autoregressive process, with this mean.
fn fading(rate_bit_s: f64, length_s: f64, seed: u64) -> String {
    let mut random = random::stream(seed, "league fading");
    let steps = (length_s / FADE_S).ceil() as usize;
    let (mut level, mut levels) = (0.0, Vec::with_capacity(steps));
    for _ in 0..steps {
        // The sum of twelve uniform numbers is close to normal, with a variance of one.
        let normal = (0..12).map(|_| uniform(&mut random)).sum::<f64>() - 6.0;
        level = FADE_CORRELATION * level + libm::sqrt(1.0 - FADE_CORRELATION * FADE_CORRELATION) * normal;
        levels.push(libm::exp(FADE_SIGMA * level));
    }
    let mean = levels.iter().sum::<f64>() / steps as f64;
    let step = |(i, level): (usize, &f64)| {
        format!("[\"{}\", \"{}\"]", seconds(i as f64 * FADE_S), rate(level / mean * rate_bit_s))
    };
    let steps: Vec<String> = levels.iter().enumerate().map(step).collect();
    format!("{{ steps = [{}] }}", steps.join(", "))
}

/// Returns the steps of a low satellite's delay: up to 10 to 30 ms, anew every 15 s.
fn jumps(length_s: f64, amount: f64, seed: u64) -> String {
    let mut random = random::stream(seed, "league jumps");
    let most_ms = 10.0 + 20.0 * amount;
    let steps: Vec<String> = (0..(length_s / LEO_S).ceil() as usize)
        .map(|i| {
            format!("[\"{}\", \"{}\"]", seconds(i as f64 * LEO_S), millis(uniform(&mut random) * most_ms))
        })
        .collect();
    format!("[{}]", steps.join(", "))
}

impl Phases {
    /// Returns how long a cell lasts, s.
    pub fn length_s(&self) -> f64 {
        self.alone_s + self.together_s + self.after_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_of_bursts_has_the_mean_loss_that_it_was_made_for() {
        let (p, r) = chain(0.02, 8.0);
        assert!((p / (p + r) * BAD - 0.02).abs() < 1e-12 && (1.0 / r - 8.0).abs() < 1e-12);
    }

    #[test]
    fn a_fading_rate_has_its_mean_and_another_seed_another_course() {
        let text = fading(1e7, 60.0, 3);
        let rates = text.split(" bit/s").filter_map(|part| part.rsplit('"').next()?.parse::<f64>().ok());
        let rates: Vec<f64> = rates.collect();
        assert_eq!(rates.len(), 120);
        let mean = rates.iter().sum::<f64>() / 120.0;
        assert!((mean - 1e7).abs() < 1.0, "{mean}");
        assert_ne!(text, fading(1e7, 60.0, 4));
    }
}
