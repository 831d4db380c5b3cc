//! Members' events, translated for the inner controller:
//!
//! | event of a member | event for the inner controller |
//! |---|---|
//! | FlightSize, in flight | the sums over all members as last reported |
//! | packet number | the time of sending in ns, the one order that all members share |
//! | round | begins with the first ack of a packet sent after the previous one began: one per round trip of the job |
//! | loss | as it is; send times compare across members, so losses of one round trip count once |
//! | state of the sender when a packet left, delivery rate | the job's, from a log of what all had delivered then |
//! | spurious loss | named; the reductions are undone since when this member alone had losses |
//! | timeout while later packets of others have arrived | a loss: that is what one sender would have seen |
//! | timeouts of several members in one silence | one timeout |
//! | timeout of a newcomer beside members that had an ack | none: the other host may not exist |
//! | persistent congestion | reported unless another member's later packet has arrived |
//! | application-limited | only if no member asks for more, newcomers aside |
//! | idle | only if no member has anything in flight, and since the latest event of all |
//! | packet size | the largest of all members |

use super::sums::State;
use super::{log, Group, MemberId};
use crate::event::{Ack, Delivered, DeliveryRate, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::rtt::INITIAL_RTO;
use afteryou_base::units::{Span, Time};

impl Group {
    /// Takes note of a packet that a member sent.
    pub fn on_sent(&mut self, id: MemberId, sent: &Sent) {
        let Some(state) = self.members.get(&id) else { return };
        let others_in_flight = self.sums.in_flight - state.in_flight;
        let is_first = state.last_sent.is_none();
        if is_first && others_in_flight == 0 {
            self.wake_from_idle(sent.now);
        }
        self.last_activity = Some(sent.now);
        self.update(id, |state| {
            state.in_flight = sent.in_flight;
            state.flightsize = state.flightsize.max(sent.in_flight);
            state.wants_more = !sent.app_limited;
            state.last_sent = Some(sent.now);
            state.last_event = sent.now;
        });
        let (in_flight, app_limited) = (self.sums.in_flight, self.counted().wanting == 0);
        if let Some(log) = &mut self.log {
            log.sent(
                sent.now,
                in_flight,
                app_limited,
                in_flight <= sent.bytes,
                self.smoothed_rtt.unwrap_or_default(),
            );
        }
        let totals = self.log.as_ref().map_or(sent.totals, |log| log.totals);
        let packet_number = sent.now.as_nanos();
        self.inner.on_sent(&Sent { packet_number, in_flight, app_limited, totals, ..*sent });
    }

    /// Returns a member's packet as the inner controller sees it: numbered by its time, with the job's state when it left.
    fn of_the_job(&self, sent: &Sent) -> Sent {
        let packet_number = sent.now.as_nanos();
        let Some(log) = &self.log else { return Sent { packet_number, ..*sent } };
        let moment = log.at(sent.now);
        let log::Moment { in_flight, app_limited, totals, .. } = moment;
        Sent { packet_number, in_flight, app_limited, totals, ..*sent }
    }

    /// Takes note of a member's packet that was delivered.
    pub fn on_delivered(&mut self, id: MemberId, delivered: &Delivered) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.delivered_since_ack = self.delivered_since_ack.saturating_add(delivered.sent.bytes);
        let total = self
            .log
            .as_ref()
            .map_or(delivered.delivered, |log| log.totals.delivered.saturating_add(self.delivered_since_ack));
        let sent = self.of_the_job(&delivered.sent);
        self.inner.on_delivered(&Delivered { sent, delivered: total, ..*delivered });
    }

    /// Counts the bytes that an ack delivered, and returns the job's delivery rate over the flight of its newest packet.
    fn job_rate(&mut self, ack: &Ack) -> Option<DeliveryRate> {
        self.delivered_since_ack = 0;
        let log = self.log.as_mut()?;
        let then = log.at(ack.sent_at);
        log.delivered(ack.now, ack.delivered(), ack.sent_at);
        // There is a sample of the job only where the member itself has one.
        let own = ack.delivery?;
        let send_elapsed = ack.sent_at.since(then.totals.first_sent_at);
        let ack_elapsed = ack.now.since(then.totals.delivered_at);
        Some(DeliveryRate {
            delivered: log.totals.delivered.saturating_sub(then.totals.delivered),
            interval: send_elapsed.max(ack_elapsed),
            in_flight_at_send: then.in_flight,
            app_limited: then.app_limited && own.app_limited,
        })
    }

    /// Reports the idle time to the inner controller: a newcomer's transport cannot notice that the group was idle before it
    /// came.
    fn wake_from_idle(&mut self, now: Time) {
        let idle_for = self.last_activity.map_or(Span::ZERO, |at| now.since(at));
        if idle_for > Span::ZERO {
            self.inner.on_idle(&Idle { now, idle_for, rto: INITIAL_RTO });
        }
    }

    /// Reacts to a member's ack that makes progress.
    pub fn on_ack(&mut self, id: MemberId, ack: &Ack) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.last_activity = Some(ack.now);
        self.timeouts = 0;
        self.smoothed_rtt = ack.smoothed_rtt.or(self.smoothed_rtt);
        self.update(id, |state| {
            state.in_flight = ack.in_flight;
            state.flightsize = ack.flightsize;
            state.wants_more = !ack.app_limited;
            state.newest_acked = state.newest_acked.max(Some(ack.sent_at));
            state.last_event = ack.now;
        });
        let round_start = self.round_began.is_none_or(|began| ack.sent_at >= began);
        if round_start {
            self.round_began = Some(ack.now);
            self.forget_the_silent(ack.now);
        }
        let is_alone = self.proven.members == 1 && self.sums.members == 1;
        let of_the_job = self.job_rate(ack);
        self.inner.on_ack(&Ack {
            flightsize: self.sums.flightsize,
            in_flight: self.sums.in_flight,
            packet_number: ack.sent_at.as_nanos(),
            smoothed_rtt: self.smoothed_rtt,
            delivery: if is_alone { ack.delivery } else { of_the_job },
            round_start,
            app_limited: self.counted().wanting == 0,
            ..*ack
        });
        self.update(id, |state| {
            state.in_flight = state.in_flight.saturating_sub(ack.delivered());
            state.flightsize = state.flightsize.saturating_sub(ack.newly_acked);
        });
        self.assign_train(id, !ack.app_limited);
    }

    /// Returns whether a packet that another member sent after `sent_at` has arrived.
    fn others_got_through_since(&self, id: MemberId, sent_at: Time) -> bool {
        let later = |state: &State| state.newest_acked.is_some_and(|acked| acked > sent_at);
        self.members.iter().any(|(other, state)| *other != id && later(state))
    }

    /// Reacts to a member's loss of a packet.
    pub fn on_loss(&mut self, id: MemberId, loss: &Loss) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| {
            state.flightsize = loss.flightsize;
            state.last_event = loss.now;
        });
        let persistent = loss.persistent && !self.others_got_through_since(id, loss.sent.now);
        self.report_loss(id, &Loss { persistent, ..*loss });
        self.update(id, |state| state.in_flight = state.in_flight.saturating_sub(loss.sent.bytes));
    }

    fn report_loss(&mut self, id: MemberId, loss: &Loss) {
        if let Some(log) = &mut self.log {
            log.totals.lost = log.totals.lost.saturating_add(loss.sent.bytes);
        }
        let (before, sent) = (self.inner.directive().cwnd, self.of_the_job(&loss.sent));
        self.inner.on_loss(&Loss { sent, flightsize: self.sums.flightsize, ..*loss });
        let reduced = self.inner.directive().cwnd < before;
        match self.reduced_by {
            Some((by, _)) if by == id => {}
            _ => self.reduced_by = reduced.then_some((id, loss.now)),
        }
    }

    /// Reacts to the arrival of a member's packet that was reported lost. Losses of others in that round trip may be real:
    /// reductions are taken back only if this member alone has caused them.
    pub fn on_spurious_loss(&mut self, id: MemberId, spurious: &SpuriousLoss) {
        let Some(state) = self.members.get(&id) else { return };
        let is_alone = self.others(state).members == 0;
        let by_it_since = match self.reduced_by {
            _ if is_alone => Some(Time::ZERO),
            Some((by, since)) if by == id => Some(since),
            _ => None,
        };
        let undo = spurious.undo && by_it_since.is_some();
        let since = spurious.since.max(by_it_since.unwrap_or_default());
        let sent = self.of_the_job(&spurious.sent);
        self.inner.on_spurious_loss(&SpuriousLoss { sent, undo, since, ..*spurious });
    }

    /// Reacts to the expiry of a member's retransmission timer.
    pub fn on_timeout(&mut self, id: MemberId, timeout: &Timeout) {
        let Some(state) = self.members.get(&id) else { return };
        let (in_flight, is_stranger) = (state.in_flight, state.is_newcomer() && self.proven.members > 0);
        let last_sent = state.last_sent.unwrap_or(Time::ZERO);
        self.update(id, |state| {
            state.flightsize = timeout.flightsize;
            state.last_event = timeout.now;
        });
        let is_others_timeout = self.timed_out.is_some_and(|(at, by)| by != id && last_sent <= at);
        if is_stranger {
            // The other host may not exist.
        } else if self.others_got_through_since(id, last_sent) {
            let (now, bytes) = (timeout.now, in_flight);
            let sent = Sent { now: last_sent, bytes, ..Sent::default() };
            let loss = Loss { now, sent, ..Loss::default() };
            self.report_loss(id, &loss);
        } else if is_others_timeout {
            self.reduced_by = None; // whose timeout was needless is no evidence about that of the other
        } else {
            self.report_timeout(id, timeout);
        }
        self.update(id, |state| state.in_flight = 0); // all of it is taken for lost
    }

    fn report_timeout(&mut self, id: MemberId, timeout: &Timeout) {
        self.timeouts = self.timeouts.saturating_add(1);
        self.timed_out = Some((timeout.now, id));
        if self.reduced_by.is_none_or(|(by, _)| by != id) {
            self.reduced_by = Some((id, timeout.now));
        }
        let (flightsize, consecutive) = (self.sums.flightsize, self.timeouts);
        self.inner.on_timeout(&Timeout { flightsize, consecutive, ..*timeout });
    }

    /// Takes note of a member that sends again after it had nothing in flight for a while.
    pub fn on_idle(&mut self, id: MemberId, idle: &Idle) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| {
            (state.in_flight, state.flightsize) = (0, 0);
            state.last_event = idle.now;
        });
        self.forget_the_silent(idle.now);
        if self.sums.in_flight > 0 {
            return;
        }
        let all_quiet_for = self.last_activity.map_or(idle.idle_for, |at| idle.now.since(at));
        self.last_activity = Some(idle.now);
        self.inner.on_idle(&Idle { idle_for: idle.idle_for.min(all_quiet_for), ..*idle });
    }

    /// Sets a member's largest payload to `mss` bytes.
    pub fn on_mtu(&mut self, id: MemberId, mss: u32) {
        self.update(id, |state| state.mss = mss.max(1));
        self.use_largest_packet();
    }

    /// Wakes the inner controller when the wake-up time of a member's directive has passed. The first member that is woken
    /// wakes the inner controller for all.
    pub fn on_wake(&mut self, id: MemberId, now: Time) {
        if !self.members.contains_key(&id) {
            return;
        }
        self.update(id, |state| state.last_event = now);
        if self.inner.directive().wake_at.is_some_and(|at| at <= now) {
            self.inner.on_wake(now);
        }
    }
}
