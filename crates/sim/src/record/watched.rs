//! A controller whose sender is recorded.

use super::SenderLog;
use afteryou_base::Time;
use afteryou_cc::{
    Ack, Controller, Delivered, Directive, Idle, Loss, Needs, Sent, Snapshot, SpuriousLoss, Timeout,
};

/// Passes every event on to the controller that it holds, and notes the state after each.
#[derive(Debug)]
pub struct Watched {
    inner: Box<dyn Controller>,
    log: SenderLog,
    /// The number of its connection.
    connection: usize,
}

impl Watched {
    /// Records what happens to `inner`, the controller of the connection with this number.
    pub fn new(inner: Box<dyn Controller>, log: SenderLog, connection: usize) -> Watched {
        log.opened(connection, inner.snapshot());
        Watched { inner, log, connection }
    }

    fn state(&self, now: Time) {
        self.log.state(self.connection, now, self.inner.snapshot());
    }
}

impl Controller for Watched {
    fn needs(&self) -> Needs {
        self.inner.needs()
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.inner.on_sent(sent);
        self.log.sent(self.connection, sent);
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.inner.on_delivered(delivered);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.inner.on_ack(ack);
        self.state(ack.now);
        self.log.ack(self.connection, ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.log.lost(self.connection, loss.now, "loss");
        self.inner.on_loss(loss);
        self.state(loss.now);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.log.noted(self.connection, spurious.now, "spurious loss");
        self.inner.on_spurious_loss(spurious);
        self.state(spurious.now);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.log.lost(self.connection, timeout.now, "timeout");
        self.inner.on_timeout(timeout);
        self.state(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.inner.on_idle(idle);
        self.state(idle.now);
    }

    fn on_mtu(&mut self, mss: u32) {
        self.inner.on_mtu(mss);
    }

    fn on_wake(&mut self, now: Time) {
        self.inner.on_wake(now);
        self.state(now);
    }

    fn directive(&self) -> Directive {
        self.inner.directive()
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}
