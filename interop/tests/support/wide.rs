//! A controller that never holds back, to see what else does.

use std::sync::Arc;

use afteryou_cc::{Ack, Controller, Loss, Snapshot, Timeout};
use afteryou_utp::EndpointConfig;

#[derive(Debug)]
struct Wide(u64);

impl Controller for Wide {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}

    fn cwnd(&self) -> u64 {
        self.0
    }

    /// No burst is larger than what the socket of libutp can buffer.
    fn pacing_rate(&self) -> Option<u64> {
        Some(50_000_000)
    }

    fn in_slow_start(&self) -> bool {
        false
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "wide", cwnd: self.0, ..Snapshot::default() }
    }
}

/// Settings of an endpoint whose window is always this many bytes.
pub fn window(bytes: u64) -> EndpointConfig {
    EndpointConfig::new(Arc::new(move |_| Box::new(Wide(bytes))), 0)
}
