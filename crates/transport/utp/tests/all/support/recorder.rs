//! A controller that needs everything, writes down all reports in their order, and nothing changes its window.

use afteryou_base::{Span, Time};
use afteryou_cc::{
    Ack, Controller, Delivered, Directive, Idle, Loss, Needs, Pacing, Sent, Snapshot, SpuriousLoss, Timeout,
};
use std::sync::{Arc, Mutex};

/// One report.
#[derive(Clone, Copy, Debug)]
pub enum Report {
    Sent(Sent),
    Delivered(Delivered),
    Ack(Ack),
    Loss(Loss),
    Spurious(SpuriousLoss),
    Timeout(Timeout),
    Idle(Idle),
    /// When the controller was called, and when it had asked for that.
    Wake(Time, Time),
}

/// The reports to one controller.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<Report>>>);

impl Log {
    pub fn reports(&self) -> Vec<Report> {
        self.0.lock().unwrap().clone()
    }

    fn add(&self, report: Report) {
        self.0.lock().unwrap().push(report);
    }
}

/// The controller.
#[derive(Debug)]
pub struct Recorder {
    pub cwnd: u64,
    pub pacing: Pacing,
    /// It asks to be called so long after each call.
    pub wakes_every: Span,
    pub wake_at: Option<Time>,
    pub log: Log,
}

impl Controller for Recorder {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: true, per_packet: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.log.add(Report::Sent(*sent));
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.log.add(Report::Delivered(*delivered));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.wake_at.get_or_insert(ack.now + self.wakes_every);
        self.log.add(Report::Ack(*ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.log.add(Report::Loss(*loss));
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.log.add(Report::Spurious(*spurious));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.log.add(Report::Timeout(*timeout));
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.log.add(Report::Idle(*idle));
    }

    fn on_mtu(&mut self, _: u32) {}

    fn on_wake(&mut self, now: Time) {
        let asked_for = self.wake_at.replace(now + self.wakes_every);
        self.log.add(Report::Wake(now, asked_for.expect("nobody asked for it")));
    }

    fn directive(&self) -> Directive {
        Directive { pacing: self.pacing, wake_at: self.wake_at, ..Directive::window(self.cwnd) }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
