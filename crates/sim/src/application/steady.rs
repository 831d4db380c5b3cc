//! Applications with one connection at a time, which sends whenever the time table says so: bulk, a given size, chunks, on
//! and off, a constant rate.

use super::schedule::Schedule;
use super::{Dialer, Stage};
use crate::connection::Connections;
use afteryou_base::Time;
use afteryou_scenario::{Flow as Spec, Traffic};

/// Such an application.
pub(super) struct Steady {
    schedule: Schedule,
    is_on: bool,
    /// What was left of a transfer of a given size when it paused.
    unsent: u64,
}

impl Steady {
    /// That of `spec` in a run that ends at `end`.
    pub(super) fn new(spec: &Spec, end: Time) -> Steady {
        Steady { schedule: Schedule::new(spec, end), is_on: false, unsent: 0 }
    }

    /// Starts, stops or sends; returns when it acts next.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        let now = stage.now;
        let next = self.schedule.next_change(now);
        if now >= self.schedule.stop() {
            self.stop(dialer, stage);
            return None;
        }
        let is_on = self.schedule.is_on(now);
        if is_on != self.is_on {
            self.is_on = is_on;
            match is_on {
                true => self.turn_on(dialer, stage),
                false => self.turn_off(dialer, stage.connections),
            }
        }
        let connection = stage.connections.get_mut(dialer.open[0]);
        let packet = is_on.then(|| connection.send_datagram(stage.net, now)).flatten();
        [next, packet].into_iter().flatten().min()
    }

    fn turn_on(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        let now = stage.now;
        let again = dialer.started.is_some();
        dialer.started.get_or_insert(now);
        let traffic = dialer.spec.traffic.clone();
        if again && dialer.spec.reconnect && !traffic.is_cbr() {
            dialer.hang_up(stage, dialer.open[0]);
            dialer.dial(stage.net, stage.connections);
        }
        let Stage { net, connections, .. } = stage;
        let first = !again || dialer.spec.reconnect;
        let connection = connections.get_mut(dialer.open[0]);
        if first {
            connection.connect(now);
        }
        match traffic {
            Traffic::Size(size) if first => {
                connection.give(size.bytes());
                connection.expect(size.bytes().saturating_sub(dialer.earlier.received_bytes));
            }
            Traffic::Size(_) => connection.give(self.unsent),
            Traffic::Chunk(size) => connection.refill(size.bytes()),
            _ => connection.give(u64::MAX),
        }
        connection.pump(net, now);
    }

    fn turn_off(&mut self, dialer: &Dialer, connections: &mut Connections) {
        self.unsent = connections.get_mut(dialer.open[0]).take_back();
    }

    fn stop(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        self.turn_off(dialer, stage.connections);
        if dialer.started.is_some() {
            dialer.stopped.get_or_insert(stage.now);
            dialer.shut(stage);
        }
        self.is_on = false;
    }
}
