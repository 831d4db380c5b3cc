//! Cruise: keep a short queue; reduce a longer one by exactly its excess, and see whether it obeys.

use super::burst::{is_fair_queue, may_be_fair, Burst, Question};
use super::losses::Verdict;
use super::round::Seen;
use super::units::{bytes_in, part, rate_of, ratio, saturated, Ratio16};
use super::{switches, AckEvent, Params, Phase, State, MAX_RATE, MAX_WINDOW};

/// A reduction leaves at least this part of the window; later ones and congested ones at most those.
const LEAST_LEFT: Ratio16 = ratio(0.3);
const AFTER_FIRST: Ratio16 = ratio(0.7);
const AFTER_SECOND: Ratio16 = ratio(0.5);
const AFTER_CONGESTED: Ratio16 = ratio(0.8);
/// Largest change of the window by the law in a round.
const MOST_CHANGE: Ratio16 = ratio(0.3);
/// Below this part of the target the queue is low, and above that part it is used.
const IS_LOW: Ratio16 = ratio(0.4);
const IS_USED: Ratio16 = ratio(0.3);
/// Rounds of low queue before growth accelerates, and rounds of use before the window's rate is the level.
const LOW_ROUNDS: u16 = 2;
const USED_ROUNDS: u16 = 4;
/// Growth of a round when the queue is low: at first, and at most.
const GROWTH_LEAST: Ratio16 = ratio(0.005);
const GROWTH_FIRST: Ratio16 = ratio(0.1);
const ROOT_OF_TWO: Ratio16 = ratio(core::f64::consts::SQRT_2);
/// Growth towards a level that the path has carried.
const GROWTH_BACK: Ratio16 = ratio(0.5);
const NEAR_LEVEL: Ratio16 = ratio(0.9);
/// A window is explained by this part of it that is delivered.
const EXPLAINED: Ratio16 = ratio(0.85);
const MOST_OF_LEVEL: Ratio16 = ratio(0.95);
/// A round is empty below these: packets' times, µs, and a part of the least target.
const EMPTY_PACKETS: Ratio16 = ratio(2.2);
const EMPTY_US: u64 = 800;
/// Rounds over which the own share is averaged: each counts some ten packets, and a share must last that long before a test anyway.
const SHARE_ROUNDS: u64 = 8;
/// The share test: time before it, its packets, and the time between two.
const SHARE_AFTER_US: u64 = 1_000_000;
const SHARE_AFTER_ROUNDS: u64 = 8;
/// The same after a test that found a fair queue.
const SHARE_AGAIN_ROUNDS: u64 = 3;
const SHARE_EVERY_US: u64 = 3_000_000;
const SHARE_US: u64 = 8_000;
const SHARE_PACKETS: (u64, u64) = (12, 100);

/// State of the law.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Law {
    /// Rate up to which growth is quick: that of the last window that the path carried, bytes per second.
    level: u64,
    /// Window of the round before: what was delivered in this one left under it.
    flight: u64,
    /// Mean of the own part of C over the latest rounds; zero: there has been none.
    share: Ratio16,
    /// Not before then is the next share test.
    share_test_at: u64,
    /// Queue that caused the last reduction, µs; zero: none has.
    red_us: u32,
    low_rounds: u16,
    used_rounds: u16,
}

impl State {
    pub(super) fn begin_cruise(&mut self, now: u64) {
        self.phase = Phase::Cruise;
        self.law = Law {
            level: rate_of(self.cwnd, self.empty_round_trip_us()),
            flight: self.cwnd,
            share_test_at: self.law.share_test_at,
            ..Law::default()
        };
        self.put_off_share_test(now);
        self.evidence.strikes = 0;
        self.round = self.round.after_reduction(now);
        self.losses.abandon();
    }

    pub(super) fn cruise(&mut self, ack: &AckEvent, params: &Params) {
        if self.burst.is_on() {
            return;
        }
        let noise = self.noise_us();
        if let Some(queue_us) = self.stands_early(noise, params) {
            self.end_round(ack.now, Seen { queue_us, ..self.round.seen() }, params);
        } else if self.round.is_over(ack.now, ack.sent_at, noise) {
            self.end_round(ack.now, self.round.seen(), params);
        }
    }

    /// Returns the queue that ends a round early.
    fn stands_early(&self, noise: u64, params: &Params) -> Option<u64> {
        if noise > 0 || !params.has(switches::EARLY) {
            return None;
        }
        let target = self.target_us(params);
        let most = target + 2 * params.slack(target, self.packet_us());
        self.round.stands_at().filter(|queue| *queue > most)
    }

    fn end_round(&mut self, now: u64, seen: Seen, params: &Params) {
        self.learn(now, self.rate, params);
        self.round.trip_before_us = saturated(self.empty_round_trip_us());
        let packet_us = self.packet_us();
        let target = self.target_us(params);
        let slack = params.slack(target, packet_us);
        self.losses.shorten(self.rtt_us());
        let verdict = self.losses.round(now, seen.mean_us < self.empty_us(packet_us, params));
        let is_lossy =
            u64::from(seen.lost) << 16 > (u64::from(seen.packets) + u64::from(seen.lost)) * params.lossy;
        match verdict {
            Some(Verdict::Congested) => return self.congested(now, params),
            Some(Verdict::Random | Verdict::Undecided) => self.cap.forget_peak(),
            None => {}
        }
        if seen.queue_us > target + slack || is_lossy {
            return self.reduce(now, seen.queue_us, false, params);
        }
        self.grow(&seen, target, slack, params);
        let carried = rate_of(u64::from(seen.packets) * params.mss, now.saturating_sub(self.round.began));
        self.note_share(carried);
        self.round = self.round.next(now);
        self.consider_share_test(now, &seen, target, params);
    }

    /// Returns the queue below which nobody stands in it, µs.
    fn empty_us(&self, packet_us: u64, params: &Params) -> u64 {
        let most = part(packet_us, EMPTY_PACKETS).max(params.least_target(packet_us) / 4).max(EMPTY_US);
        most + 2 * self.noise_us()
    }

    /// Reduces the window by the queue's excess, or goes to the floor if the queue has not obeyed several times.
    fn reduce(&mut self, now: u64, queue_us: u64, is_congested: bool, params: &Params) {
        if self.law.red_us > 0 && queue_us > part(self.law.red_us.into(), params.obey) {
            self.evidence.strikes += 1;
        }
        if self.evidence.strikes >= params.patience {
            return self.begin_yield(now, params);
        }
        let exact = self.exact(now, params);
        let most_left = match self.evidence.strikes {
            0 if is_congested => AFTER_CONGESTED,
            0 => 1 << 16,
            1 => AFTER_FIRST,
            _ => AFTER_SECOND,
        };
        let round_trip = self.empty_round_trip_us();
        self.law.level = rate_of(exact, round_trip).min(self.law.level.max(rate_of(self.cwnd, round_trip)));
        self.cwnd = exact
            .min(self.cwnd)
            .max(part(self.cwnd, LEAST_LEFT))
            .min(part(self.cwnd, most_left))
            .max(2 * params.mss);
        self.law.red_us = saturated(queue_us).max(1);
        self.law.flight = self.cwnd;
        (self.law.low_rounds, self.law.used_rounds) = (0, 0);
        if self.evidence.strikes > 0 || is_congested {
            self.put_off_share_test(now);
        }
        self.round = self.round.after_reduction(now);
    }

    /// Returns the window that leaves the target in the queue if all of it is the own one.
    fn exact(&self, now: u64, params: &Params) -> u64 {
        let kept = self.noise_us() + self.target_us(params);
        bytes_in(self.rate_now(now, params), self.empty_round_trip_us() + kept)
    }

    /// Returns the round trip of the round without the queue ahead: that of the base, and the queue on the reverse path.
    fn empty_round_trip_us(&self) -> u64 {
        let seen = self.round.seen();
        if seen.rtt_us == u64::from(u32::MAX) {
            return u64::from(self.round.trip_before_us).max(self.path.base_us());
        }
        seen.rtt_us.saturating_sub(seen.least_us).max(self.path.base_us())
    }

    fn grow(&mut self, seen: &Seen, target: u64, slack: u64, params: &Params) {
        let (queue, base) = (seen.queue_us, seen.rtt_us.saturating_sub(seen.queue_us).max(1));
        if queue < target {
            (self.evidence.strikes, self.law.red_us) = (0, 0);
        }
        let before = self.cwnd;
        let level = bytes_in(self.law.level.max(self.capacity.get() / 2), base);
        self.cwnd = self.steered(queue, base, target, params);
        let is_low_queue = queue < part(target, IS_LOW) && !self.losses.is_low();
        self.law.low_rounds = if is_low_queue { self.law.low_rounds.saturating_add(1) } else { 0 };
        let growth = self.growth(base, target + slack).min(params.growth);
        if self.law.low_rounds >= LOW_ROUNDS {
            let near = part(level, NEAR_LEVEL);
            let quick = (before + part(before, GROWTH_BACK)).min(part(level, MOST_OF_LEVEL));
            let grown = before + part(before, growth);
            self.cwnd = self.cwnd.max(grown).max(if before < near { quick } else { 0 });
        }
        // The window has grown since what was delivered now left.
        let carried = bytes_in(self.rate, self.longer_us.into());
        let lost = u64::from(seen.lost) * params.mss;
        if carried + lost + 2 * params.mss < part(self.law.flight, EXPLAINED) {
            let quickest = if before < part(level, NEAR_LEVEL) { GROWTH_BACK } else { growth };
            self.cwnd = self.cwnd.min(carried + part(carried, quickest) + 2 * params.mss);
        }
        self.cwnd = self.cwnd.clamp(2 * params.mss, MAX_WINDOW);
        self.law.flight = before;
        if self.losses.is_low() {
            self.cwnd = self.cwnd.min(before);
        }
        self.law.used_rounds =
            if queue > part(target, IS_USED) { self.law.used_rounds.saturating_add(1) } else { 0 };
        self.law.level = self.law.level.max(self.rate);
        if self.law.used_rounds >= USED_ROUNDS {
            self.law.level = rate_of(self.cwnd, base + queue);
        }
    }

    /// Returns the window that the law steers to: towards the target by the gain, and by half a packet where there is no queue.
    fn steered(&self, queue: u64, base: u64, target: u64, params: &Params) -> u64 {
        let change = |distance: u64| {
            let ratio = (part(distance << 16, params.gain) / (base + queue)).min(MOST_CHANGE);
            part(self.cwnd, ratio)
        };
        if queue > target {
            return self.cwnd - change(queue - target);
        }
        self.cwnd + change(target - queue) + params.mss.saturating_mul(target - queue) / (2 * target.max(1))
    }

    /// Returns the growth of a round with a low queue.
    fn growth(&self, base: u64, target_and_slack: u64) -> Ratio16 {
        let first = ((target_and_slack << 15) / base).clamp(GROWTH_LEAST, GROWTH_FIRST);
        let steps = self.law.low_rounds.saturating_sub(LOW_ROUNDS).min(16);
        let doubled = first << (steps / 2);
        let grown = if steps % 2 == 1 { part(doubled, ROOT_OF_TWO) } else { doubled };
        if self.law.low_rounds < LOW_ROUNDS {
            return 0;
        }
        grown
    }

    /// Reacts to a loss: steps back and looks, or judges by the queue at once.
    pub(super) fn cruise_loss(&mut self, now: u64, params: &Params) {
        if params.has(switches::STEP_BACK) {
            self.losses.step_back(now, self.rtt_us());
            self.cap.saw(self.round.most_us());
            self.cwnd = part(bytes_in(self.law.level, self.empty_round_trip_us()).min(self.cwnd), params.low)
                .max(2 * params.mss);
            self.round = self.round.after_reduction(now);
            return;
        }
        let is_full = self.round.most_us() >= self.empty_us(self.packet_us(), params);
        if is_full && now.saturating_sub(self.evidence.answered_at()) >= self.rtt_us() {
            self.congested(now, params);
        }
    }

    /// Reacts to congestion that shows itself by marks or losses.
    pub(super) fn congested(&mut self, now: u64, params: &Params) {
        const FULL: Ratio16 = ratio(0.9);
        self.losses.abandon();
        self.cap.congested(now, self.packet_us());
        let is_below = self.rate < part(self.capacity.get(), FULL);
        if self.evidence.add(now, self.rtt_us(), is_below) {
            return self.begin_yield(now, params);
        }
        self.reduce(now, self.queue_us(), true, params);
    }

    /// Takes in what a round has carried, bytes per second: that is more precise than the rate of a packet's flight.
    fn note_share(&mut self, carried: u64) {
        let share = (carried.min(MAX_RATE) << 16).checked_div(self.capacity.get()).unwrap_or(0);
        let before = if self.law.share == 0 { share } else { self.law.share };
        self.law.share = ((SHARE_ROUNDS - 1) * before + share) / SHARE_ROUNDS;
    }

    fn consider_share_test(&mut self, now: u64, seen: &Seen, target: u64, params: &Params) {
        if !may_be_fair(self.law.share) || seen.app_limited {
            return self.put_off_share_test(now);
        }
        let is_used = seen.queue_us > part(target, IS_USED);
        if !is_used
            || !params.has(switches::SHARE_TEST)
            || now < self.law.share_test_at
            || self.losses.is_low()
        {
            return;
        }
        self.law.share_test_at = now.saturating_add(SHARE_EVERY_US);
        let (least, most) = SHARE_PACKETS;
        let packets = (bytes_in(self.capacity.get(), SHARE_US) / params.mss).clamp(least, most);
        self.ask(Question::Share, packets, now, None, params);
    }

    /// Puts the next share test off: a share that a fair queue may have given must last before it is tested.
    fn put_off_share_test(&mut self, now: u64) {
        let after = if self.floor.is_shared() {
            SHARE_AGAIN_ROUNDS * self.rtt_us()
        } else {
            SHARE_AFTER_US.max(SHARE_AFTER_ROUNDS * self.rtt_us())
        };
        self.law.share_test_at = self.law.share_test_at.max(now.saturating_add(after));
    }

    pub(super) fn on_share_train(&mut self, burst: &Burst, now: u64, params: &Params) {
        // The train's own queue is not judged.
        self.round = self.round.after_reduction(now);
        let Some(growth) = burst.growth(self.packet_us()) else { return };
        if is_fair_queue(growth, self.law.share) {
            return self.yield_share(now, params);
        }
        self.floor.not_shared();
    }
}
