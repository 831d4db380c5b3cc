//! The window of a loss-based controller in its exponential phase: initial window, slow start, HyStart++ or Linux's HyStart on top.
//!
//! NewReno and CUBIC differ in what they do above ssthresh; below it they are the same, and that part is here.
//! Windows are bytes with a fraction, since CUBIC's share of one ack is less than a byte at large windows.
//!
//! Source: RFC 5681 §3.1, RFC 6928 §2, RFC 9406 §4.2. Growth counts bytes, not acks, and one ack may add any number of
//! packets. The limits of RFC 5681 (one packet) and RFC 3465 (two) tame bursts, and our transports pace.

use crate::event::Ack;
use crate::hystart::linux::LinuxHyStart;
use crate::hystart::{Advice, HyStart};
use afteryou_base::param::{Key, Settings};

/// 2^40 bytes, the largest window: beyond every path, and whole bytes are still exact.
pub const MAX_WINDOW: f64 = (1u64 << 40) as f64;
/// A congestion event leaves at least this many packets (RFC 5681 §3.1, RFC 9438 §4.6).
pub const FLOOR_PACKETS: f64 = 2.0;

/// The parameter `initial_window`.
pub const INITIAL_WINDOW: Key<u64> = Key::count("initial_window", "packets", 10, (0, 1000))
    .explained("window at the start and after idle; 0 takes RFC 5681's two to four", "RFC 6928 §2");

/// The parameter `hystart`.
pub const HYSTART: Key<bool> = Key::flag("hystart", false)
    .explained("leave the initial slow start when the delay rises (HyStart++)", "RFC 9406 §4.2");

/// Returns the initial window of RFC 5681 §3.1 in bytes, for packets of `smss` bytes.
pub const fn rfc5681_initial_window(smss: u32) -> u64 {
    let packets = match smss {
        0..=1095 => 4,
        1096..=2190 => 3,
        _ => 2,
    };
    packets * smss as u64
}

/// Returns the initial window in bytes for the value of [`INITIAL_WINDOW`] and packets of `mss` bytes.
pub const fn initial_window(packets: u64, mss: u32) -> u64 {
    match packets {
        0 => rfc5681_initial_window(mss),
        packets => packets * mss as u64,
    }
}

/// The condition that ends slow start before a loss does.
#[derive(Clone, Copy, Debug)]
pub enum EarlyExit {
    /// HyStart++: for the initial slow start, and anew after idle (RFC 9406 §4.3).
    Rfc9406(HyStart),
    /// For every slow start until it has found the end of one; anew after a timeout.
    Linux(LinuxHyStart),
}

impl EarlyExit {
    /// Returns the exit of RFC 9406.
    pub fn rfc9406() -> EarlyExit {
        EarlyExit::Rfc9406(HyStart::default())
    }

    fn on_ack(&mut self, ack: &Ack, cwnd: f64, mss: u32) -> Advice {
        match self {
            EarlyExit::Rfc9406(hystart) => hystart.on_ack(ack),
            EarlyExit::Linux(hystart) => hystart.on_ack(ack, cwnd, mss),
        }
    }

    /// Returns the part that stays active after slow start.
    fn after_slow_start(self) -> Option<EarlyExit> {
        matches!(self, EarlyExit::Linux(_)).then_some(self)
    }

    fn after_timeout(self) -> Option<EarlyExit> {
        match self {
            EarlyExit::Rfc9406(_) => None,
            EarlyExit::Linux(hystart) => Some(EarlyExit::Linux(hystart.anew())),
        }
    }

    fn after_idle(self) -> EarlyExit {
        match self {
            EarlyExit::Rfc9406(_) => EarlyExit::rfc9406(),
            EarlyExit::Linux(_) => self,
        }
    }
}

/// The end of slow start, besides its threshold and marks, as a parameter names it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlowStartExit {
    Loss,
    Rfc9406,
    Linux,
}

impl SlowStartExit {
    /// Returns the condition for a transport that spreads packets over the round trip, or not.
    pub(crate) fn early(self, is_paced: bool) -> Option<EarlyExit> {
        match self {
            SlowStartExit::Loss => None,
            SlowStartExit::Rfc9406 => Some(EarlyExit::rfc9406()),
            SlowStartExit::Linux => Some(EarlyExit::Linux(LinuxHyStart::new(is_paced))),
        }
    }
}

/// Window and threshold.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Bytes that may be in flight.
    pub cwnd: f64,
    /// Below it slow start rules, from it on congestion avoidance; infinite before the first congestion event.
    pub ssthresh: f64,
    initial_packets: u64,
    early_exit: Option<EarlyExit>,
}

impl Window {
    /// Creates the window of a new connection.
    pub fn new(settings: &Settings<'_>, mss: u32, early_exit: Option<EarlyExit>) -> Window {
        let initial_packets = settings.get(&INITIAL_WINDOW);
        let mut window = Window { cwnd: 0.0, ssthresh: f64::INFINITY, initial_packets, early_exit };
        window.cwnd = window.initial(mss);
        window
    }

    /// Returns the initial window, bytes.
    pub fn initial(&self, mss: u32) -> f64 {
        initial_window(self.initial_packets, mss) as f64
    }

    /// Returns whether the window is below ssthresh; where both are equal, congestion avoidance is on (RFC 5681 §3.1).
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Adds a byte for every acknowledged byte, up to ssthresh (RFC 5681 §3.1). Returns the acknowledged bytes that are left
    /// for congestion avoidance.
    pub fn grow_exponentially(&mut self, ack: &Ack, mss: u32) -> f64 {
        let acked = ack.delivered() as f64;
        let cwnd = self.cwnd;
        let divisor = match self.early_exit.as_mut().map(|early_exit| early_exit.on_ack(ack, cwnd, mss)) {
            None => 1.0,
            Some(Advice::Grow { divisor }) => divisor,
            Some(Advice::Leave) => {
                self.end_slow_start();
                self.ssthresh = self.cwnd;
                return acked;
            }
        };
        if ack.app_limited {
            return 0.0;
        }
        let step = (acked / divisor).min(self.ssthresh - self.cwnd);
        self.grow_to(self.cwnd + step);
        acked - step * divisor
    }

    fn end_slow_start(&mut self) {
        self.early_exit = self.early_exit.and_then(EarlyExit::after_slow_start);
    }

    /// Raises the window to `bytes`; never lowers it.
    pub fn grow_to(&mut self, bytes: f64) {
        self.cwnd = self.cwnd.max(bytes).min(MAX_WINDOW);
    }

    /// Reduces the window for a congestion event: down to `target` bytes, but not below `floor` and never up. The threshold
    /// keeps two packets even where the window may be smaller (RFC 9438 §4.6).
    pub fn reduce(&mut self, target: f64, floor: f64, mss: u32) {
        self.end_slow_start();
        self.ssthresh = target.max(FLOOR_PACKETS * f64::from(mss));
        self.cwnd = self.cwnd.min(target.max(floor));
    }

    /// Shrinks the window to one packet after a timeout (RFC 5681 §3.1); the threshold becomes `target` bytes if this is
    /// news.
    pub fn collapse(&mut self, target: Option<f64>, mss: u32) {
        self.early_exit = self.early_exit.and_then(EarlyExit::after_timeout);
        if let Some(target) = target {
            self.ssthresh = target.max(FLOOR_PACKETS * f64::from(mss));
        }
        self.cwnd = f64::from(mss);
    }

    /// Restarts after idle: the acks that clocked the old window are gone, so at most the initial window is left (RFC 5681
    /// §4.1).
    pub fn restart(&mut self, mss: u32) {
        self.cwnd = self.cwnd.min(self.initial(mss));
        self.early_exit = self.early_exit.map(EarlyExit::after_idle);
    }

    /// Returns the phase's name for snapshots.
    pub fn phase(&self) -> &'static str {
        match self.early_exit {
            _ if !self.in_slow_start() => "congestion avoidance",
            Some(EarlyExit::Rfc9406(hystart)) if hystart.is_conservative() => "conservative slow start",
            _ => "slow start",
        }
    }

    /// Returns the threshold for snapshots, bytes.
    pub fn known_ssthresh(&self) -> Option<u64> {
        (self.ssthresh < f64::INFINITY).then_some(self.ssthresh as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_window_of_rfc_5681_is_two_to_four_packets() {
        for (smss, bytes) in [(1460, 4380), (536, 2144), (2300, 4600)] {
            assert_eq!(rfc5681_initial_window(smss), bytes, "SMSS {smss}");
        }
        for (smss, packets) in [(1095, 4), (1096, 3), (2190, 3), (2191, 2)] {
            assert_eq!(rfc5681_initial_window(smss), packets * u64::from(smss), "SMSS {smss}");
        }
    }
}
