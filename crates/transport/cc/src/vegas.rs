//! Vegas: keep two to four of the flow's own packets in the queue.
//!
//! # Model
//! With an empty queue a window of `cwnd` packets takes the base round-trip time. The excess is queuing delay, and a
//! part of that queue is the flow's own:
//!
//! ```text
//!   Diff = cwnd · (RTT − base) / RTT                 own packets in the queue; RTT: the smallest of the round
//!   once a round:   Diff < α: cwnd += 1      Diff > β: cwnd −= 1      else: stay
//!   slow start:     doubles every other round, until Diff > γ: cwnd = min(cwnd, cwnd · base/RTT + 1)
//! ```
//!
//! # States
//! ```text
//!   slow start ──Diff > γ, or loss──▶ congestion avoidance ◀──loss: halve, as Reno
//!        ▲                                 │
//!        └──────────────timeout────────────┘
//! ```
//! During recovery Reno's rule applies; afterwards a new round begins.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | α, β | 2, 4 packets | Linux; the first paper says 1 to 2 and 3 to 4 |
//! | γ | 1 packet | Linux |
//! | samples | more than 2 in a round | with fewer, delayed acks hide the queue: Reno's step instead |
//! | floor | 2 packets | Linux |
//!
//! # Source
//! Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet" (1995), by way of RFC 6297 §2;
//! Linux `net/ipv4/tcp_vegas.c` (read for facts). `form = linux` takes its Diff, `cwnd · (RTT − base) / base` in whole
//! packets, which is larger by RTT/base, and its slow start, which doubles every round. It also forgets the base whenever a
//! packet leaves and nothing else is in flight. That is meant for idle connections, but an ack of both packets of a window
//! of two does it, too.
//!
//! # Not implemented
//! The paper's own fine-grained retransmission timer: the transport finds losses. Linux's microsecond on top of each sample.
//!
//! # Known bad cases
//! The classic Diff is less than cwnd for any delay: a window of α packets always grows, one of β never shrinks. Beside
//! Reno or CUBIC in a deep buffer it starves: their queue looks like its own. A longer route always looks like a queue,
//! since the base never rises. With `form = linux` it rises: a loss beside a full queue leaves a window of two, and the new
//! base has the queue in it. Then the flow does not starve, but keeps its window however long the queue is.

use crate::controller::{Controller, Directive, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, Sent, SpuriousLoss, Timeout};
use crate::newreno::NewReno;
use crate::slow_start::{FLOOR_PACKETS, HYSTART, INITIAL_WINDOW};
use afteryou_base::param::{Key, Settings};
use afteryou_base::params;
use afteryou_base::units::Span;
#[cfg(feature = "alloc")]
use afteryou_base::About;

/// With no more samples than this in a round, Reno's step is taken (Linux).
pub const TOO_FEW_SAMPLES: u32 = 2;

params! {
    /// Parameters.
    pub table PARAMS;

    pub const ALPHA: Key<f64> = Key::number("alpha", "packets", 2.0, (0.1, 100.0))
        .explained("with less of one's own in the queue, the window grows", "Linux tcp_vegas.c");
    pub const BETA: Key<f64> = Key::number("beta", "packets", 4.0, (0.1, 100.0))
        .explained("with more of one's own in the queue, the window shrinks", "Linux tcp_vegas.c");
    pub const GAMMA: Key<f64> = Key::number("gamma", "packets", 1.0, (0.1, 100.0))
        .explained("with more of one's own in the queue, slow start ends", "Linux tcp_vegas.c");
    pub const IS_LINUX: Key<bool> = Key::choice("form", &["classic", "linux"], &[false, true])
        .explained("how Diff is computed, and how fast slow start is", "Brakmo 1995; Linux tcp_vegas.c");
    use INITIAL_WINDOW, HYSTART;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "vegas",
        summary: "keeps two to four packets of its own in the queue",
        source: "Brakmo 1995, Linux tcp_vegas.c",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Background,
    make: |settings, setup| alloc::boxed::Box::new(Vegas::new(settings, setup.mss)),
};

/// A Vegas controller.
#[derive(Clone, Debug)]
pub struct Vegas {
    alpha: f64,
    beta: f64,
    gamma: f64,
    is_linux: bool,
    too_few_samples: u32,
    mss: u32,
    pub(crate) reno: NewReno,
    base_rtt: Option<Span>,
    round_rtt: Option<Span>,
    samples: u32,
    /// Classic slow start grows in every other round only.
    grows_this_round: bool,
}

impl Vegas {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> Vegas {
        let alpha = settings.get(&ALPHA);
        Vegas {
            alpha,
            beta: settings.get(&BETA).max(alpha),
            gamma: settings.get(&GAMMA),
            is_linux: settings.get(&IS_LINUX),
            too_few_samples: TOO_FEW_SAMPLES,
            mss,
            reno: NewReno::new(settings, mss),
            base_rtt: None,
            round_rtt: None,
            samples: 0,
            grows_this_round: true,
        }
    }

    /// Returns the same controller, content with even a single sample.
    pub(crate) fn content_with_one_sample(mut self) -> Vegas {
        self.too_few_samples = 0;
        self
    }

    fn mss(&self) -> f64 {
        f64::from(self.mss)
    }

    /// Returns the window in packets.
    fn packets(&self) -> f64 {
        self.reno.window.cwnd / self.mss()
    }

    /// Returns the flow's own packets in the queue at a smallest round-trip time of `rtt`.
    fn diff(&self, rtt: Span, base: Span) -> f64 {
        let (rtt, base) = (rtt.0.max(1) as f64, base.0.max(1) as f64);
        let excess = self.packets() * (rtt - base);
        match self.is_linux {
            true => whole(excess / base),
            false => excess / rtt,
        }
    }

    /// Begins a round, whatever was measured before.
    pub(crate) fn begin_round(&mut self) {
        (self.round_rtt, self.samples) = (None, 0);
    }

    /// Ends the round with this ack.
    fn end_round(&mut self, ack: &Ack) {
        let measured = self.round_rtt.zip(self.base_rtt).filter(|_| self.samples > self.too_few_samples);
        self.begin_round();
        self.grows_this_round = self.is_linux || !self.grows_this_round;
        let Some((rtt, base)) = measured else { return self.reno.grow(ack) };
        let diff = self.diff(rtt, base);
        if self.reno.window.in_slow_start() {
            self.slow_start_round(ack, diff, rtt, base);
        } else if diff > self.beta {
            let floor = (FLOOR_PACKETS * self.mss()).min(self.reno.window.cwnd);
            self.shrink_to((self.reno.window.cwnd - self.mss()).max(floor));
        } else if diff < self.alpha && !ack.app_limited {
            self.reno.window.grow_to(self.reno.window.cwnd + self.mss());
        }
    }

    fn slow_start_round(&mut self, ack: &Ack, diff: f64, rtt: Span, base: Span) {
        if diff <= self.gamma {
            return self.grow_in_slow_start(ack);
        }
        let target = whole(self.packets() * base.0 as f64 / rtt.0.max(1) as f64);
        self.shrink_to(self.reno.window.cwnd.min((target + 1.0).max(FLOOR_PACKETS) * self.mss()));
    }

    fn grow_in_slow_start(&mut self, ack: &Ack) {
        if self.grows_this_round {
            self.reno.grow(ack);
        }
    }

    /// Shrinks the window, which delay shows to be too large.
    pub(crate) fn shrink_to(&mut self, cwnd: f64) {
        self.reno.shrink_to(cwnd);
    }

    /// Begins a round with nothing known of the path.
    fn begin_anew(&mut self) {
        self.begin_round();
        self.base_rtt = None;
    }

    fn take_sample(&mut self, ack: &Ack) {
        let Some(rtt) = ack.rtt else { return };
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
        self.round_rtt = Some(self.round_rtt.map_or(rtt, |min| min.min(rtt)));
        self.samples = self.samples.saturating_add(1);
    }
}

/// Cuts the fraction off a number that is not negative.
fn whole(x: f64) -> f64 {
    x as u64 as f64
}

impl Controller for Vegas {
    fn on_sent(&mut self, sent: &Sent) {
        let is_alone = sent.in_flight <= sent.bytes;
        if self.is_linux && is_alone {
            self.begin_anew();
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if !self.reno.may_grow(ack) {
            self.begin_round();
            return;
        }
        if ack.round_start {
            self.end_round(ack);
        } else if self.reno.window.in_slow_start() {
            self.grow_in_slow_start(ack);
        }
        self.take_sample(ack);
    }

    fn on_loss(&mut self, loss: &Loss) {
        self.reno.on_loss(loss);
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        self.reno.on_spurious_loss(spurious);
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        self.reno.on_timeout(timeout);
        self.begin_round();
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.reno.on_idle(idle);
        if idle.idle_for > idle.rto {
            self.begin_anew(); // Linux: the path may be another one now
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.reno.on_mtu(mss);
    }

    fn directive(&self) -> Directive {
        self.reno.directive()
    }

    fn snapshot(&self) -> Snapshot {
        let measured = self.round_rtt.zip(self.base_rtt);
        Snapshot {
            base_delay: self.base_rtt,
            queuing_delay: measured.map(|(rtt, base)| rtt - base),
            extra: [measured.map(|(rtt, base)| ("diff", self.diff(rtt, base))), None, None, None],
            ..self.reno.snapshot()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::Value;
    use afteryou_base::units::Time;

    const MSS: u32 = 1000;

    fn vegas(form: &'static str, packets: f64) -> Vegas {
        let overrides = [("form", Value::Choice(form))];
        let mut vegas = Vegas::new(&Settings::new(PARAMS, &overrides).unwrap(), MSS);
        vegas.reno.window.cwnd = packets * f64::from(MSS);
        vegas.reno.window.ssthresh = vegas.reno.window.cwnd;
        vegas.base_rtt = Some(Span::from_millis(100));
        vegas
    }

    fn ack(rtt_ms: u64, round_start: bool) -> Ack {
        Ack { newly_acked: 1000, rtt: Some(Span::from_millis(rtt_ms)), round_start, ..Ack::for_tests() }
    }

    /// Returns the window in packets after a round of `acks` acks that all took `rtt_ms`.
    fn after_round(mut vegas: Vegas, acks: u32, rtt_ms: u64) -> f64 {
        (0..acks).for_each(|_| vegas.on_ack(&ack(rtt_ms, false)));
        vegas.on_ack(&ack(rtt_ms, true));
        vegas.packets()
    }

    #[test]
    fn a_round_moves_the_window_by_a_packet_or_not_at_all() {
        let rows =
            [(105, 21.0, 21.0), (110, 21.0, 20.0), (120, 20.0, 20.0), (125, 20.0, 19.0), (126, 19.0, 19.0)];
        for (rtt_ms, classic, linux) in rows {
            assert_eq!(after_round(vegas("classic", 20.0), 10, rtt_ms), classic, "classic, {rtt_ms} ms");
            assert_eq!(after_round(vegas("linux", 20.0), 10, rtt_ms), linux, "linux, {rtt_ms} ms");
        }
    }

    #[test]
    fn diff_is_relative_to_the_round_trip_or_in_linux_to_the_base() {
        let diff = |form, rtt_ms| vegas(form, 20.0).diff(Span::from_millis(rtt_ms), Span::from_millis(100));
        for (rtt_ms, classic, linux) in
            [(105, 0.952, 1.0), (110, 1.818, 2.0), (120, 3.333, 4.0), (125, 4.0, 5.0)]
        {
            assert!((diff("classic", rtt_ms) - classic).abs() < 5e-4);
            assert_eq!(diff("linux", rtt_ms), linux);
        }
    }

    #[test]
    fn slow_start_ends_with_a_window_that_fits_the_path() {
        let mut vegas = vegas("linux", 16.0);
        vegas.reno.window.ssthresh = f64::INFINITY;
        (0..3).for_each(|_| vegas.take_sample(&ack(115, false)));
        vegas.on_ack(&ack(115, true));
        assert_eq!(vegas.packets(), 14.0);
        assert!(vegas.reno.window.ssthresh <= 14_000.0 && !vegas.directive().is_growing());
    }

    #[test]
    fn slow_start_doubles_every_other_round_and_in_linux_every_round() {
        for (form, expected) in [("classic", [20.0, 20.0, 40.0, 40.0]), ("linux", [20.0, 40.0, 80.0, 160.0])]
        {
            let mut vegas = vegas(form, 10.0);
            vegas.reno.window.ssthresh = f64::INFINITY;
            let mut round = |first: bool| {
                let acks = vegas.packets() as u32;
                (0..acks).for_each(|i| vegas.on_ack(&ack(100, i == 0 && !first)));
                vegas.packets()
            };
            assert_eq!([round(true), round(false), round(false), round(false)], expected, "{form}");
        }
    }

    #[test]
    fn in_linux_a_packet_that_leaves_alone_forgets_the_base() {
        let base_after = |form, in_flight| {
            let mut vegas = vegas(form, 2.0);
            vegas.on_sent(&Sent { bytes: 1000, in_flight, ..Sent::default() });
            vegas.base_rtt
        };
        assert_eq!(base_after("linux", 1000), None);
        assert_eq!(base_after("linux", 2000), Some(Span::from_millis(100)));
        assert_eq!(base_after("classic", 1000), Some(Span::from_millis(100)));
    }

    #[test]
    fn with_two_samples_reno_takes_the_step() {
        assert_eq!(after_round(vegas("classic", 20.0), 2, 200), 20.05);
        assert_eq!(after_round(vegas("classic", 20.0), 3, 200), 19.0);
    }

    #[test]
    fn the_window_stays_at_two_packets_and_losses_halve() {
        assert_eq!(after_round(vegas("linux", 2.0), 10, 900), 2.0);
        let mut vegas = vegas("classic", 20.0);
        let now = Time::from_millis(500);
        vegas.on_loss(&Loss {
            now,
            sent: Sent { now, bytes: 1000, packet_number: 1, ..Sent::default() },
            flightsize: 20_000,
            ..Loss::default()
        });
        assert_eq!(vegas.packets(), 10.0);
    }
}
