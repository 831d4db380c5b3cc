//! Options of LEDBAT++ beyond the draft: two proposals of Bagnulo and García-Martínez, five differences of Apple's, the
//! restart rule. Also a base round-trip time of its own beside one-way delays. All are off by default.

use super::{
    COUNTS_RAMP_ALONE, DECREASE_WITH_GAIN, DEFER, IGNORE_AFTER_RESTORE, INSTANT_RESTORE, ONCE_A_ROUND,
    RAMP_EXIT, RESTART, RESTART_ROUNDS, RESTORE_PACING, SIGNAL, SLOWDOWN_GAP, TARGET, WHOLE_PACKETS,
};
use crate::base_delay::BaseDelay;
use crate::cold::Cold;
use crate::delay_meter::HISTORY;
use crate::delay_signal::{rtt_us, DelaySignal};
use crate::event::Ack;
use crate::fixed::Bytes16;
use crate::ledbat_core::ledbatpp::{Room, Variant};
use crate::ledbat_core::{AckEvent, ROUND_START};
use crate::restart::{Restart, RECOVERED_FLOORS};
use afteryou_base::param::Settings;
use afteryou_base::units::{Span, Time};

/// The parts that are on.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    base_rtt: Option<Cold<OwnBaseRtt>>,
    restart: Option<Cold<Restart>>,
    restore: Option<Cold<Restore>>,
    /// Least time from a slowdown to the next one.
    gap: Span,
    counts_ramp_alone: bool,
    ignore: Option<Cold<Ignore>>,
    once_a_round: Option<Cold<OnceARound>>,
    apple: Apple,
}

/// With one-way delays GAIN still needs a base round-trip time (§4.2).
#[derive(Clone, Debug)]
struct OwnBaseRtt {
    base: BaseDelay,
    /// Samples are still round-trip times.
    is_awaiting: bool,
}

/// Bagnulo 2022 §5.1.3: after the freeze the window is back at once.
#[derive(Clone, Copy, Debug)]
struct Restore {
    /// It is spread over a round trip, whatever the transport does otherwise.
    is_paced: bool,
    /// When the window was restored, until a packet sent after that is acknowledged.
    at: Option<Time>,
}

/// Bagnulo 2022 §5.1.3: the reverse path has made a queue itself.
#[derive(Clone, Copy, Debug, Default)]
struct Ignore {
    /// Delay samples before that do not count.
    until: Time,
}

/// Apple applies the rule once a window.
#[derive(Clone, Copy, Debug, Default)]
struct OnceARound {
    /// Bytes acknowledged since.
    acked: u64,
}

/// Apple's other differences (xnu-11417 `tcp_ledbat.c`).
#[derive(Clone, Copy, Debug)]
struct Apple {
    whole_packets: bool,
    decrease_with_gain: bool,
    ramp_exit: bool,
    /// Zero: never.
    defer: Span,
}

impl Parts {
    pub(super) fn new(settings: &Settings<'_>) -> Parts {
        let history = settings.get(&HISTORY) as usize;
        let target = settings.get(&TARGET);
        let is_one_way = settings.get(&SIGNAL) == DelaySignal::OneWayAwaited;
        Parts {
            base_rtt: is_one_way
                .then(|| Cold::new(OwnBaseRtt { base: BaseDelay::new(history), is_awaiting: true })),
            restart: settings
                .get(&RESTART)
                .then(|| Cold::new(Restart::new(target, settings.get(&RESTART_ROUNDS)))),
            restore: settings
                .get(&INSTANT_RESTORE)
                .then(|| Cold::new(Restore { is_paced: settings.get(&RESTORE_PACING), at: None })),
            gap: settings.get(&SLOWDOWN_GAP),
            counts_ramp_alone: settings.get(&COUNTS_RAMP_ALONE),
            ignore: settings.get(&IGNORE_AFTER_RESTORE).then(|| Cold::new(Ignore::default())),
            once_a_round: settings.get(&ONCE_A_ROUND).then(|| Cold::new(OnceARound::default())),
            apple: Apple {
                whole_packets: settings.get(&WHOLE_PACKETS),
                decrease_with_gain: settings.get(&DECREASE_WITH_GAIN),
                ramp_exit: settings.get(&RAMP_EXIT),
                defer: settings.get(&DEFER),
            },
        }
    }

    /// Returns whether the delays of an ack at `now` do not count.
    pub(super) fn ignores(&self, now: Time) -> bool {
        self.ignore.as_ref().is_some_and(|ignore| now < ignore.peek().until)
    }

    /// Takes in the round-trip time of an ack whose delays count; `is_rtt`: it is what the rule measures.
    pub(super) fn measure(&mut self, ack: &Ack, is_rtt: bool) {
        let Some(own) = self.base_rtt.as_mut().map(Cold::get) else { return };
        own.is_awaiting = is_rtt;
        if let Some(rtt_us) = rtt_us(ack) {
            own.base.update(ack.now, rtt_us);
        }
    }

    /// Takes in an ack: a packet sent after the window was restored may have come round.
    pub(super) fn note_ack(&mut self, ack: &Ack) {
        if let Some(restore) = self.restore.as_mut().map(Cold::get) {
            restore.at = restore.at.filter(|restored_at| ack.sent_at < *restored_at);
        }
    }

    /// Returns whether the window has just been restored at once, and is paced.
    pub(super) fn paces_restore(&self) -> bool {
        self.restore.as_ref().map(Cold::peek).is_some_and(|restore| restore.is_paced && restore.at.is_some())
    }

    /// Forgets the restored window.
    pub(super) fn forget_restore(&mut self) {
        if let Some(restore) = self.restore.as_mut().map(Cold::get) {
            restore.at = None;
        }
    }
}

impl Variant for Parts {
    fn base_rtt_us(&self, measured_us: Option<u32>) -> Option<u32> {
        match self.base_rtt.as_ref().map(Cold::peek) {
            // A one-way base has the clocks' offset in it.
            Some(own) if !own.is_awaiting => own.base.get(),
            _ => measured_us,
        }
    }

    fn increase(&self, by_gain: Bytes16, mss: u64) -> Bytes16 {
        match self.apple.whole_packets {
            true => Bytes16::from_bytes(mss),
            false => by_gain,
        }
    }

    fn increase_above_target(&self, increase: Bytes16) -> Bytes16 {
        match self.apple.decrease_with_gain {
            true => increase,
            false => Bytes16::ZERO,
        }
    }

    fn counted_at_once(&mut self, acked: u64, window: Bytes16) -> Option<Bytes16> {
        let round = self.once_a_round.as_mut().map(Cold::get)?;
        round.acked = round.acked.saturating_add(acked);
        if round.acked < window.to_bytes() {
            return Some(Bytes16::ZERO);
        }
        round.acked = 0;
        Some(window)
    }

    fn ramp_exit_us(&self, target_us: u64) -> u64 {
        match self.apple.ramp_exit {
            true => target_us,
            false => u64::MAX,
        }
    }

    /// Delays the next slowdown after a decrease: a flow that shrinks has no need to look for the base delay.
    fn due_after_decrease(&self, due: u64, now: u64) -> u64 {
        match self.apple.defer.nonzero() {
            None => due,
            Some(defer) => due.max(now.saturating_add(defer.0)),
        }
    }

    fn counts_ramp_alone(&self) -> bool {
        self.counts_ramp_alone
    }

    fn due_after_slowdown(&self, due: u64, now: u64) -> u64 {
        due.max(now.saturating_add(self.gap.0))
    }

    fn restore(&mut self, now: u64) -> bool {
        if let Some(restore) = self.restore.as_mut().map(Cold::get) {
            restore.at = Some(Time(now));
        }
        self.restore.is_some()
    }

    fn entered_avoidance(&mut self, now: u64, smoothed_rtt: u64, after_slowdown: bool) -> bool {
        if let Some(round) = self.once_a_round.as_mut().map(Cold::get) {
            round.acked = 0;
        }
        let Some(ignore) = self.ignore.as_mut().map(Cold::get).filter(|_| after_slowdown) else {
            return false;
        };
        ignore.until = Time(now) + Span(smoothed_rtt);
        true
    }

    fn at_floor(&mut self) {
        if let Some(restart) = self.restart.as_mut().map(Cold::get) {
            restart.arm();
        }
    }

    fn congested(&mut self) {
        if let Some(restart) = self.restart.as_mut().map(Cold::get) {
            restart.count_again();
        }
    }

    fn started_over(&mut self) {
        if let Some(restart) = self.restart.as_mut().map(Cold::get) {
            restart.disarm();
        }
    }

    fn quiet_since(&mut self, ack: &AckEvent, queuing_us: u32, avoiding: bool, room: Room) -> Option<u64> {
        let restart = self.restart.as_mut().map(Cold::get)?;
        if !avoiding {
            restart.count_again();
            return None;
        }
        if room.cwnd > room.floor.times(RECOVERED_FLOORS, 1) {
            restart.note_recovery();
        }
        restart.on_ack(Time(ack.now), queuing_us, ack.has(ROUND_START)).map(|since| since.0)
    }
}
