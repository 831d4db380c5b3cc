//! A little noise in one word. Identical flows lock phases in short queues. Every seed then gives the same numbers, and
//! the order of flows in the file decides who gets more.
//!
//! The words are those of the published experiments. A testbed has starts that differ by up to a round trip and 0.1 ms
//! of jitter in its hosts. Scripts of ns-2 give each packet up to 1 ms (its `overhead_`).

use crate::read::{at, text, Result};
use crate::tree::Node;
use afteryou_base::Span;
use afteryou_notation::{unknown, Duration};
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::Jitter;
use rand_pcg::Pcg64;

/// The words.
pub(crate) const WORDS: &[&str] = &["none", "testbed", "ns2"];

/// The settings of flows that have none themselves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noise {
    /// Starts are anywhere in the first round trip.
    starts: bool,
    /// Data packets are up to this late, in order.
    jitter: Option<Duration>,
}

/// Reads one of the words.
pub(crate) fn noise(node: &Node) -> Result<Noise> {
    match text(node)? {
        "none" => Ok(Noise::default()),
        "testbed" => Ok(Noise { starts: true, jitter: Some(Duration(Span::from_micros(100))) }),
        "ns2" => Ok(Noise { starts: false, jitter: Some(Duration::from_millis(1)) }),
        other => at(node, Err(unknown("noise", other, WORDS))),
    }
}

impl Noise {
    /// Returns when a flow with this round-trip time starts.
    pub(crate) fn start(&self, rtt: Duration, random: &mut Pcg64) -> Duration {
        match self.starts {
            true => Distribution::Uniform(Duration::default(), rtt).draw(random),
            false => Duration::default(),
        }
    }

    /// Returns the jitter of a flow's data.
    pub(crate) fn jitter(&self) -> Option<Jitter> {
        let most = self.jitter?;
        Some(Jitter { law: Distribution::Uniform(Duration::default(), most), reorder: false })
    }
}
