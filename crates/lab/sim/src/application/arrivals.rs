//! Open loop: transfers begin at times of their own, whether or not earlier ones have ended.
//!
//! Times between arrivals and sizes are drawn independently from two streams, so another law of sizes moves no arrival. Each
//! transfer has a connection of its own, which closes when its last byte is acknowledged. When the flow stops, no more transfers
//! begin; those under way continue.

use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::{Duration, Flow as Spec, Law, Scenario, Size, Traffic};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

/// Such an application.
pub(super) struct Arrivals {
    gaps: Law<Duration>,
    sizes: Law<Size>,
    gap: Pcg64,
    size: Pcg64,
    stop: Time,
    has_begun: bool,
    /// By connection.
    under_way: BTreeMap<usize, Transfer>,
}

impl Arrivals {
    pub(super) fn new(scenario: &Scenario, spec: &Spec) -> Arrivals {
        let (gaps, sizes) = match &spec.traffic {
            Traffic::Arrivals { arrivals, size } => (arrivals.clone(), size.clone()),
            other => unreachable!("bug: {other:?} has no arrivals"),
        };
        Arrivals {
            gaps,
            sizes,
            gap: Dialer::random(scenario, spec, "arrivals"),
            size: Dialer::random(scenario, spec, "sizes"),
            stop: Time(spec.stop.unwrap_or(scenario.duration).0 .0),
            has_begun: false,
            under_way: BTreeMap::new(),
        }
    }

    /// Begins a transfer, the first one a gap after the start; returns when the next one does.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        let now = stage.now;
        if now >= self.stop {
            dialer.stopped.get_or_insert(now);
            return None;
        }
        if std::mem::replace(&mut self.has_begun, true) {
            let bytes = self.sizes.draw(&mut self.size).bytes().max(1);
            let transfer = dialer.transfers.begin(now, bytes);
            let connection = dialer.dial_with(stage, bytes);
            self.under_way.insert(connection, transfer);
        }
        // Never no time at all, or a run might not get on.
        let gap = self.gaps.draw(&mut self.gap).0.max(Span(1));
        Some((now + gap).min(self.stop))
    }

    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) {
        match news {
            News::Arrived => {
                if let Some(transfer) = self.under_way.remove(&connection) {
                    dialer.transfers.complete(stage.now, transfer);
                }
            }
            News::Flushed => dialer.hang_up(stage, connection),
        }
    }
}
