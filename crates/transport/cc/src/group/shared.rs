//! A group that several owners hold: a lock around the rule, and a controller for each connection.

use super::{Group, MemberId};
use crate::controller::{Controller, Directive, Needs, Snapshot};
use crate::event::{Ack, Delivered, Idle, Loss, Sent, SpuriousLoss, Timeout};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::units::Time;
use alloc::boxed::Box;
use std::sync::{Arc, Mutex, MutexGuard};

/// One window for the connections of a job, from wherever they are made. Clones are the same group.
///
/// ```
/// use afteryou_cc::{group::Shared, list, Controller, Setup};
///
/// let inner = list::find("ledbat++").unwrap().build(&[], Setup::of(1400))?;
/// let group = Shared::new(inner, 1400);
/// // What a transport takes that needs a controller for each of its connections:
/// let job = group.clone();
/// let make = move |mss: u32| -> Box<dyn Controller> { job.member(mss) };
/// let connections = [make(1400), make(1400)];
/// assert_eq!((group.members(), group.cwnd()), (2, 2 * 1400), "LEDBAT++ begins with two packets for all");
/// drop(connections);
/// assert_eq!(group.members(), 0);
/// # Ok::<(), afteryou_base::param::ParamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shared(Arc<Mutex<Group>>);

impl Shared {
    /// Creates a group without members whose window `inner` decides; `inner` was made for packets of `mss` bytes.
    pub fn new(inner: Box<dyn Controller>, mss: u32) -> Shared {
        Shared(Arc::new(Mutex::new(Group::new(inner, mss))))
    }

    /// Returns the controller of a new connection that sends packets of `mss` bytes of payload. Dropped, it leaves the
    /// group.
    #[must_use = "a member that is dropped leaves its group"]
    pub fn member(&self, mss: u32) -> Box<dyn Controller> {
        let id = self.lock().join(mss);
        Box::new(Member { group: self.clone(), id })
    }

    /// Returns the number of members.
    pub fn members(&self) -> usize {
        self.lock().members()
    }

    /// Returns the bytes in flight of all members together.
    pub fn in_flight(&self) -> u64 {
        self.lock().in_flight()
    }

    /// Returns the window of all members together, bytes.
    pub fn cwnd(&self) -> u64 {
        self.lock().inner().directive().cwnd
    }

    /// Returns the inner controller's state.
    pub fn snapshot(&self) -> Snapshot {
        self.lock().inner().snapshot()
    }

    fn lock(&self) -> MutexGuard<'_, Group> {
        self.0.lock().even_poisoned()
    }
}

/// A connection's controller that shares one window with the other members of its group.
///
/// Its window changes with the others' events, too, so a transport asks anew whenever it may send.
#[derive(Debug)]
pub struct Member {
    group: Shared,
    id: MemberId,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.group.lock().leave(self.id);
    }
}

impl Controller for Member {
    fn needs(&self) -> Needs {
        self.group.lock().needs()
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.group.lock().on_delivered(self.id, delivered);
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.group.lock().on_sent(self.id, sent);
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.group.lock().on_ack(self.id, ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.group.lock().on_loss(self.id, loss);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.group.lock().on_spurious_loss(self.id, spurious);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.group.lock().on_timeout(self.id, timeout);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.group.lock().on_idle(self.id, idle);
    }

    fn on_mtu(&mut self, mss: u32) {
        self.group.lock().on_mtu(self.id, mss);
    }

    fn on_wake(&mut self, now: Time) {
        self.group.lock().on_wake(self.id, now);
    }

    fn directive(&self) -> Directive {
        self.group.lock().directive(self.id)
    }

    fn snapshot(&self) -> Snapshot {
        self.group.lock().snapshot(self.id)
    }
}
