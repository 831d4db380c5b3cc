//! The observer of a sender that is recorded.

use super::SenderLog;
use afteryou_cc::script::Event;
use afteryou_cc::{Controller, Observed, Observer};

/// Notes the state of a sender after each event.
#[derive(Debug)]
struct Watch {
    log: SenderLog,
    /// The number of its connection.
    connection: usize,
}

/// Records what happens to `controller`, which the connection with this number has.
pub fn watched(controller: Box<dyn Controller>, log: SenderLog, connection: usize) -> Box<dyn Controller> {
    log.opened(connection, controller.snapshot());
    Box::new(Observed::new(controller, Box::new(Watch { log, connection })))
}

impl Observer for Watch {
    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        let Watch { log, connection } = self;
        // A loss is noted with the window that it met.
        match event {
            Event::Sent(sent) => return log.sent(*connection, sent),
            Event::Delivered(_) | Event::Mtu { .. } => return,
            Event::Loss(loss) => log.lost(*connection, loss.now),
            Event::Timeout(timeout) => log.timed_out(*connection, timeout.now),
            Event::SpuriousLoss(spurious) => log.noted(*connection, spurious.now, "spurious loss"),
            Event::Ack(_) | Event::Idle(_) | Event::Until(_) => {}
        }
        log.state(*connection, event.at(), controller.snapshot());
        if let Event::Ack(ack) = event {
            log.ack(*connection, ack);
        }
    }
}
