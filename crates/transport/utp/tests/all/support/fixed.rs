//! A controller whose window and rate nothing changes, so that only the transport is measured.

use afteryou_cc::{Ack, Controller, Directive, Loss, Pacing, Snapshot, Timeout};

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
    fn directive(&self) -> Directive {
        let pacing = self.pacing_rate.map_or(Pacing::Window, Pacing::Rate);
        Directive { pacing, ..Directive::window(self.cwnd) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
