//! A peer that uploads chunk after chunk (Carofiglio et al. 2013, §8): when a chunk is acknowledged, the next one goes with
//! probability `persist` to the same peer after a pause, over the same connection, whose window and base delay are kept.
//! Otherwise it goes to another peer: at once, over a new connection, which begins with the controller's initial window.

use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::{random, Flow as Spec, Scenario, Traffic};
use rand_pcg::Pcg64;

/// Such an application.
pub(super) struct Peers {
    chunk: u64,
    pause: Span,
    persist: f64,
    random: Pcg64,
    stop: Time,
    chunk_under_way: Option<Transfer>,
}

impl Peers {
    pub(super) fn new(scenario: &Scenario, spec: &Spec) -> Peers {
        let (chunk, pause, persist) = match spec.traffic {
            Traffic::Peers { chunk, pause, persist } => (chunk.bytes(), pause.0, persist.ratio()),
            ref other => unreachable!("bug: {other:?} has no peers"),
        };
        Peers {
            chunk,
            pause,
            persist,
            random: Dialer::random(scenario, spec, "peers"),
            stop: Time(spec.stop.unwrap_or(scenario.duration).0 .0),
            chunk_under_way: None,
        }
    }

    /// Begins the first chunk, or one after a pause; returns when it stops.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        if stage.now >= self.stop {
            dialer.stop(stage);
            return None;
        }
        if self.chunk_under_way.is_none() {
            self.begin(dialer, stage);
        }
        Some(self.stop)
    }

    /// Begins a chunk, over the connection that there is or over a new one.
    fn begin(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        self.chunk_under_way = Some(dialer.transfers.begin(stage.now, self.chunk));
        match dialer.open.first() {
            Some(connection) => dialer.send(stage, *connection, self.chunk),
            None => {
                dialer.dial_with(stage, self.chunk);
            }
        }
    }

    /// Returns when the next chunk begins, if that is later.
    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) -> Option<Time> {
        match (news, self.chunk_under_way) {
            (News::Arrived, Some(chunk)) => {
                dialer.transfers.complete(stage.now, chunk);
                None
            }
            (News::Flushed, _) => {
                self.chunk_under_way = None;
                if random::happens(&mut self.random, self.persist) {
                    return Some(stage.now + self.pause);
                }
                dialer.hang_up(stage, connection);
                self.begin(dialer, stage);
                None
            }
            _ => None,
        }
    }
}
