//! A controller whose window and rate nothing changes, so that only the transport is measured.

use afteryou_cc::{Ack, Controller, Loss, Snapshot, Timeout};

/// A fixed window and pacing rate.
#[derive(Debug)]
pub struct Fixed {
    /// Congestion window, bytes.
    pub cwnd: u64,
    /// Pacing rate, bytes a second; none to send by the window alone.
    pub pacing_rate: Option<u64>,
}

impl Controller for Fixed {
    fn on_ack(&mut self, _: &Ack) {}
    fn on_loss(&mut self, _: &Loss) {}
    fn on_timeout(&mut self, _: &Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn cwnd(&self) -> u64 {
        self.cwnd
    }
    fn pacing_rate(&self) -> Option<u64> {
        self.pacing_rate
    }
    fn in_slow_start(&self) -> bool {
        false
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
