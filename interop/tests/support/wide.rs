//! A controller that never holds back, to see what else does.

use std::sync::Arc;

use afteryou_base::Dscp;
use afteryou_cc::{Ack, Controller, Directive, Loss, Pacing, Snapshot, Timeout};
use afteryou_utp::EndpointConfig;

#[derive(Debug)]
struct Wide(u64);

impl Controller for Wide {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}

    fn directive(&self) -> Directive {
        // No burst is larger than what the socket of libutp can buffer.
        Directive { pacing: Pacing::Rate(50_000_000), ..Directive::window(self.0) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot { phase: "wide", cwnd: self.0, ..Snapshot::default() }
    }
}

/// Returns the settings of an endpoint whose window is always this many bytes.
pub fn window(bytes: u64) -> EndpointConfig {
    EndpointConfig::new(Arc::new(move |_| Box::new(Wide(bytes))), Dscp::DEFAULT)
}
