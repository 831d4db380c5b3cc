//! Adaptive video as a foreground: a segment of constant size after each interval, over one connection. A segment is late if
//! its last byte has not arrived when the next one is due. A late segment delays those behind it: none is given up, and the size
//! does not follow the rate.

use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::Flow as Spec;
use std::collections::VecDeque;

/// Such an application.
pub(super) struct Bursts {
    every: Span,
    size: u64,
    stop: Time,
    /// Segments that have not arrived, with the bytes of the connection that have by then.
    under_way: VecDeque<(Transfer, u64)>,
}

impl Bursts {
    pub(super) fn new(spec: &Spec, end: Time, every: Span, size: u64) -> Bursts {
        let stop = spec.stop.map_or(end, |stop| Time(stop.0 .0));
        Bursts { every, size, stop, under_way: VecDeque::new() }
    }

    /// Begins a segment; returns when the next one does.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        let now = stage.now;
        // One segment is due now: each one before that has not arrived is late, once.
        let newest = self.under_way.back().map(|(transfer, _)| transfer.began);
        if newest.is_some_and(|began| began + self.every <= now) {
            *dialer.transfers.late.get_or_insert(0) += 1;
        }
        if now >= self.stop {
            dialer.stop(stage);
            return None;
        }
        dialer.transfers.late.get_or_insert(0);
        let segment = dialer.transfers.begin(now, self.size);
        match dialer.open.first() {
            Some(connection) => dialer.send(stage, *connection, self.size),
            None => {
                dialer.dial_with(stage, self.size);
            }
        }
        let connection = stage.connections.get_mut(dialer.open[0]);
        self.under_way.push_back((segment, connection.given()));
        self.expect_oldest(dialer, stage);
        Some((now + self.every).min(self.stop))
    }

    fn expect_oldest(&self, dialer: &Dialer, stage: &mut Stage<'_, '_>) {
        if let Some((_, bytes)) = self.under_way.front() {
            stage.connections.get_mut(dialer.open[0]).expect(*bytes);
        }
    }

    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) {
        if news != News::Arrived {
            return;
        }
        let received = stage.connections.get(connection).received();
        while self.under_way.front().is_some_and(|(_, bytes)| *bytes <= received) {
            if let Some((segment, _)) = self.under_way.pop_front() {
                dialer.transfers.complete(stage.now, segment);
            }
        }
        self.expect_oldest(dialer, stage);
    }
}
