//! A controller under observation: an [`Observer`] sees every event and the state after it. Logs are made of this, and they work
//! in each transport that takes a controller.
//!
//! A controller that is not observed pays nothing. With an observer it receives the same events and gives the same answers.

use crate::controller::{Controller, Directive, Needs, Snapshot};
use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::script::Event;
use afteryou_base::Time;
use alloc::boxed::Box;
use core::fmt::Debug;

/// Sees the events of one controller.
pub trait Observer: Debug + Send {
    /// Returns whether it needs [packets one by one](Needs::per_packet).
    fn needs_packets(&self) -> bool {
        false
    }

    /// Takes note of `event`, which `controller` has taken in; a wake-up is [`Event::Until`].
    fn see(&mut self, event: &Event, controller: &dyn Controller);
}

/// A controller and its observer.
#[derive(Debug)]
pub struct Observed {
    inner: Box<dyn Controller>,
    observer: Box<dyn Observer>,
}

impl Observed {
    /// Shows `observer` what happens to `inner`.
    pub fn new(inner: Box<dyn Controller>, observer: Box<dyn Observer>) -> Observed {
        Observed { inner, observer }
    }

    fn show(&mut self, event: Event) {
        self.observer.see(&event, &*self.inner);
    }
}

impl Controller for Observed {
    fn needs(&self) -> Needs {
        let needs = self.inner.needs();
        Needs { per_packet: needs.per_packet || self.observer.needs_packets(), ..needs }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.inner.on_sent(sent);
        self.show(Event::Sent(*sent));
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        if self.inner.needs().per_packet {
            self.inner.on_delivered(delivered);
        }
        self.show(Event::Delivered(*delivered));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.inner.on_ack(ack);
        self.show(Event::Ack(*ack));
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.inner.on_loss(loss);
        self.show(Event::Loss(*loss));
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.inner.on_spurious_loss(spurious);
        self.show(Event::SpuriousLoss(*spurious));
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.inner.on_timeout(timeout);
        self.show(Event::Timeout(*timeout));
    }

    fn on_handshake_timeout(&mut self, now: Time) {
        self.inner.on_handshake_timeout(now);
        self.show(Event::HandshakeTimeout(now));
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.inner.on_idle(idle);
        self.show(Event::Idle(*idle));
    }

    fn on_mtu(&mut self, mss: u32) {
        self.inner.on_mtu(mss);
    }

    fn on_wake(&mut self, now: Time) {
        self.inner.on_wake(now);
        self.show(Event::Until(now));
    }

    fn directive(&self) -> Directive {
        self.inner.directive()
    }

    fn snapshot(&self) -> Snapshot {
        self.inner.snapshot()
    }
}
