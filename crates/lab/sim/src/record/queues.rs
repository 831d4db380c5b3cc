//! Curves of the time in queues.

use crate::net::Net;
use afteryou_base::Span;
use afteryou_scenario::outcome::Series;
use afteryou_scenario::{Network, Scenario};

/// The queues that have a curve: those of links that data cross, and the first link's.
pub struct QueueTracks {
    tracks: Vec<Track>,
}

/// Time in the queue of a link.
struct Track {
    link: usize,
    name: String,
    delay: Vec<Option<f64>>,
}

impl QueueTracks {
    /// Creates no curves, where no packet passes.
    pub fn none() -> QueueTracks {
        QueueTracks { tracks: Vec::new() }
    }

    /// Creates curves without a point yet.
    pub fn new(scenario: &Scenario, network: &Network) -> QueueTracks {
        let has_curve = |link: &usize| *link == 0 || network.flows_with_data_on(*link).next().is_some();
        let name = |link: usize| match (link, scenario.has_named_links()) {
            (0, false) => "link".to_owned(),
            _ => network.links[link].name.clone(),
        };
        let track = |link: usize| Track { link, name: name(link), delay: Vec::new() };
        QueueTracks { tracks: (0..network.links.len()).filter(has_curve).map(track).collect() }
    }

    /// Ends a step.
    pub fn step(&mut self, net: &mut Net) {
        for track in &mut self.tracks {
            track.delay.push(net.take_step_delay_ms(track.link));
        }
    }

    /// Returns the curves, whose steps were so long.
    pub fn series(self, step: Span) -> impl Iterator<Item = Series> {
        let curve = move |track: Track| {
            Series::from_start(&track.name, "queuing_delay", "ms", step.as_secs_f64(), track.delay)
        };
        self.tracks.into_iter().map(curve)
    }
}
