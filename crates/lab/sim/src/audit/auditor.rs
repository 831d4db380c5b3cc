//! A controller with a fixed window that keeps books.

use afteryou_cc::{
    Ack, Controller, Delivered, DeliveryRate, Directive, Idle, Loss, Needs, Pacing, RecoveryWindow, Sent,
    Snapshot, Span, SpuriousLoss, Time, Timeout,
};
use std::sync::{Arc, Mutex};

/// Window in bytes, and how it is paced.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub cwnd: u64,
    pub pacing: Pacing,
    /// Window from the first loss on.
    pub after_loss: Option<u64>,
    pub recovery: RecoveryWindow,
}

impl Rule {
    /// Returns a rule with a window that the transport paces.
    pub fn window(cwnd: u64) -> Rule {
        Rule { cwnd, pacing: Pacing::Window, after_loss: None, recovery: RecoveryWindow::Transport }
    }
}

/// The reports so far.
#[derive(Debug, Default)]
pub struct Account {
    pub sent: Vec<Sent>,
    lost: std::collections::BTreeSet<u64>,
    pub delivered: u64,
    /// Packets delivered, as reported one by one, and their bytes.
    pub packets: Vec<Delivered>,
    pub packet_bytes: u64,
    /// Bytes found lost.
    lost_bytes: u64,
    pub queuing_at_loss: Vec<Span>,
    pub losses: u64,
    pub spurious: u64,
    /// Numbers of the losses that were none, as reported.
    pub named: Vec<u64>,
    pub timeouts: u64,
    pub rates: Vec<DeliveryRate>,
    pub rounds: Vec<Time>,
    pub idles: Vec<Idle>,
    /// Reports that contradict earlier ones.
    pub errors: Vec<String>,
}

/// The account, shared with the test.
#[derive(Clone, Debug, Default)]
pub struct Books(Arc<Mutex<Account>>);

impl Books {
    pub fn lock<R>(&self, read: impl FnOnce(&mut Account) -> R) -> R {
        read(&mut self.0.lock().unwrap())
    }
}

/// The controller.
#[derive(Debug)]
pub struct Auditor {
    pub rule: Rule,
    pub books: Books,
}

impl Account {
    fn check(&mut self, holds: bool, error: impl FnOnce() -> String) {
        if !holds && self.errors.len() < 10 {
            self.errors.push(error());
        }
    }

    /// Returns the report on transmission `number` when it left.
    fn departure(&mut self, number: u64) -> Sent {
        let sent = self.sent.get(number as usize).copied();
        self.check(sent.is_some(), || format!("transmission {number} never left"));
        sent.unwrap_or_default()
    }
}

impl Controller for Auditor {
    fn needs(&self) -> Needs {
        Needs { delivery_rates: true, per_packet: true }
    }

    fn on_sent(&mut self, sent: &Sent) {
        self.books.lock(|books| {
            let expected = books.sent.len() as u64;
            books.check(sent.packet_number == expected, || format!("{sent:?} is not number {expected}"));
            let (delivered, lost) = (books.packet_bytes, books.lost_bytes);
            // A timeout is reported once, for all the packets that it takes for lost.
            let counts_lost = sent.totals.lost == lost || books.timeouts > 0 && sent.totals.lost > lost;
            let counts = sent.totals.delivered == delivered && counts_lost;
            books.check(counts, || format!("{sent:?} after {delivered} B and {lost} B"));
            books.sent.push(*sent);
        });
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.books.lock(|books| {
            books.delivered += ack.delivered();
            let sent = books.departure(ack.packet_number);
            books.check(sent.now == ack.sent_at, || format!("{ack:?} of {sent:?}"));
            let rtt = ack.rtt.is_none_or(|rtt| rtt == ack.now.since(sent.now));
            books.check(rtt, || format!("{ack:?}: a round trip of {sent:?}"));
            books.rates.extend(ack.delivery);
            if ack.round_start {
                books.rounds.push(ack.now);
            }
        });
    }

    fn on_delivered(&mut self, delivered: &Delivered) {
        self.books.lock(|books| {
            let sent = books.departure(delivered.sent.packet_number);
            books.check(sent == delivered.sent, || format!("{delivered:?} of {sent:?}"));
            let rtt = delivered.rtt.is_none_or(|rtt| rtt == delivered.now.since(sent.now));
            books.check(rtt, || format!("{delivered:?}: a round trip of {sent:?}"));
            books.packet_bytes += sent.bytes;
            let total = delivered.delivered;
            books.check(total == books.packet_bytes, || format!("{delivered:?}: {total} B"));
            books.packets.push(*delivered);
        });
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.rule.cwnd = self.rule.after_loss.unwrap_or(self.rule.cwnd);
        self.books.lock(|books| {
            books.losses += 1;
            books.lost_bytes += loss.sent.bytes;
            books.queuing_at_loss.extend(loss.queuing_delay);
            let sent = books.departure(loss.sent.packet_number);
            books.check(sent == loss.sent, || format!("{loss:?} of {sent:?}"));
            let is_first = books.lost.insert(loss.sent.packet_number);
            books.check(is_first, || format!("{loss:?} was lost before"));
        });
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.books.lock(|books| {
            let sent = books.departure(spurious.sent.packet_number);
            books.check(sent == spurious.sent, || format!("{spurious:?} of {sent:?}"));
            let was_lost = books.lost.contains(&spurious.sent.packet_number);
            books.check(was_lost, || format!("{spurious:?} was not lost"));
            books.named.push(spurious.sent.packet_number);
            books.spurious += u64::from(spurious.undo);
        });
    }

    fn on_timeout(&mut self, _: &Timeout) {
        self.books.lock(|books| books.timeouts += 1);
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.books.lock(|books| books.idles.push(*idle));
    }

    fn on_mtu(&mut self, _: u32) {}

    fn directive(&self) -> Directive {
        let Rule { cwnd, pacing, recovery, .. } = self.rule;
        Directive { pacing, recovery, ..Directive::window(cwnd) }
    }
    fn snapshot(&self) -> Snapshot {
        Snapshot::default()
    }
}
