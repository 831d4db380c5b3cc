//! Quantities of which only changes are written.

use afteryou_cc::{Controller, Pacing, Snapshot, Span};
use serde::Serialize;
use std::collections::BTreeMap;

/// `recovery:metrics_updated`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// Smallest round-trip time of the path so far, ms: never above `smoothed_rtt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt: Option<f64>,
    /// Smoothed round-trip time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smoothed_rtt: Option<f64>,
    /// Latest round-trip time, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest_rtt: Option<f64>,
    /// Retransmission timeouts in a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pto_count: Option<u32>,
    /// Window, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_window: Option<u64>,
    /// Bytes in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_in_flight: Option<u64>,
    /// Slow-start threshold, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssthresh: Option<u64>,
    /// Rate that the controller sets, bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_rate: Option<u64>,
}

impl Metrics {
    /// Takes in what `controller` answers now.
    pub fn take(&mut self, controller: &dyn Controller, snapshot: &Snapshot) {
        let directive = controller.directive();
        self.congestion_window = Some(directive.cwnd);
        self.ssthresh = snapshot.ssthresh;
        if let Pacing::Rate(bytes) = directive.pacing {
            self.pacing_rate = Some(bytes.saturating_mul(8));
        }
    }

    /// Returns the quantities that have changed since `before`.
    pub fn changes(&self, before: &Metrics) -> Metrics {
        Metrics {
            min_rtt: changed(self.min_rtt, before.min_rtt),
            smoothed_rtt: changed(self.smoothed_rtt, before.smoothed_rtt),
            latest_rtt: changed(self.latest_rtt, before.latest_rtt),
            pto_count: changed(self.pto_count, before.pto_count),
            congestion_window: changed(self.congestion_window, before.congestion_window),
            bytes_in_flight: changed(self.bytes_in_flight, before.bytes_in_flight),
            ssthresh: changed(self.ssthresh, before.ssthresh),
            pacing_rate: changed(self.pacing_rate, before.pacing_rate),
        }
    }
}

/// `afteryou:controller_updated`: quantities of our controllers that qlog has no name for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Own {
    /// Delay that queues add now, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queuing_delay: Option<f64>,
    /// Base delay, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_delay: Option<f64>,
    /// Queuing delay that the controller steers to, ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<f64>,
    /// Packets that the window grows by in a round trip at zero queuing delay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
    /// Slowdowns begun so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slowdowns: Option<u32>,
    /// Quantities of this controller alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub extra: BTreeMap<&'static str, f64>,
}

impl Own {
    /// Returns the quantities that have changed from `before` to `now`.
    pub fn changes(now: &Snapshot, before: &Snapshot) -> Own {
        let span = |now: Option<Span>, before| changed(now, before).map(Span::as_millis_f64);
        let extra = now.extra.iter().zip(&before.extra).filter(|(now, before)| now != before);
        Own {
            queuing_delay: span(now.queuing_delay, before.queuing_delay),
            base_delay: span(now.base_delay, before.base_delay),
            target: span(now.target, before.target),
            gain: changed(now.gain, before.gain),
            slowdowns: changed(now.slowdowns, before.slowdowns),
            extra: extra.filter_map(|(now, _)| *now).filter(|(_, value)| value.is_finite()).collect(),
        }
    }
}

fn changed<T: PartialEq>(now: Option<T>, before: Option<T>) -> Option<T> {
    if now == before {
        return None;
    }
    now
}
