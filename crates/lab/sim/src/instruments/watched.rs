//! The observer of a sender that is recorded.

use super::SenderLog;
use afteryou_base::Time;
use afteryou_cc::script::Event;
use afteryou_cc::{Ack, Controller, Observed, Observer, Sent};

/// Notes the state of a sender after each event.
#[derive(Debug)]
struct Watch {
    log: SenderLog,
    /// The number of its connection.
    connection: usize,
    /// The scenario's time zero on the sender's clock.
    zero: Time,
}

/// Records what happens to `controller`, which the connection with this number has.
pub fn watched(controller: Box<dyn Controller>, log: SenderLog, connection: usize) -> Box<dyn Controller> {
    log.opened(connection, controller.snapshot());
    Box::new(Observed::new(controller, log.observer(connection, Time::ZERO)))
}

impl SenderLog {
    /// Returns the observer of a sender, whose connection has this number. `zero` is the scenario's time zero on its clock.
    pub fn observer(&self, connection: usize, zero: Time) -> Box<dyn Observer> {
        Box::new(Watch { log: self.clone(), connection, zero })
    }
}

impl Observer for Watch {
    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        let Watch { log, connection, zero } = self;
        let now = Time(event.at().0.saturating_sub(zero.0));
        // A loss is noted with the window that it met.
        match event {
            Event::Sent(sent) => return log.sent(*connection, &Sent { now, ..*sent }),
            Event::Delivered(_) | Event::Mtu { .. } => return,
            Event::Loss(_) => log.lost(*connection, now),
            Event::Timeout(_) => log.timed_out(*connection, now),
            Event::HandshakeTimeout(_) => log.noted(*connection, now, "handshake timeout"),
            Event::SpuriousLoss(_) => log.noted(*connection, now, "spurious loss"),
            Event::Ack(_) | Event::Idle(_) | Event::Until(_) => {}
        }
        log.state(*connection, now, controller.snapshot());
        if let Event::Ack(ack) = event {
            log.ack(*connection, &Ack { now, ..*ack });
        }
    }
}
