//! Whether the sender of a download is loss-based (CUBIC, reno) or model-based (BBR), found by the receiver alone.
//!
//! # Model
//! The receiver holds the window at four packets until a sender of either kind has adapted to it, and then opens it. A loss-based sender
//! still has the congestion window that it began with, and slow start: it doubles with each round trip. BBR has measured the rate at which
//! the held window lets packets through, paces by it, and grows by an eighth or so with each round trip.
//!
//! The measure is the flight: bytes received per shortest round trip, times the present round trip over the shortest. So a sender that fills
//! a queue counts, too. Packets that are lost reduce a loss-based window, and both kinds look alike at first. The flight is then
//! compared with the one that a loss-based sender keeps at the loss rate seen (RFC 9438, section 5).
//!
//! # Constants
//! See below. The bounds on growth lie between the values of Linux's senders in the testbed, 5 to 250 ms, 20 and 100 Mbit/s: without losses BBR has 1.1 to
//! 2.1 of the held window in the trips that count, CUBIC and reno 2.3 to 40.

use afteryou_base::{Span, Time};

/// Window that is held, packets: a loss-based sender begins with more than twice as many (RFC 6928).
const HELD_PACKETS: u32 = 4;
/// Round trips for which the window is held: BBR leaves its start-up after fewer, and its memory of rates is ten …
const HELD_TRIPS: u64 = 16;
/// … and at least this long, since short round trips are few packets.
const HELD: Span = Span::from_millis(400);
/// Round trips after the release that count: the first one brings what was under way.
const TRIPS: (u64, u64) = (1, 5);
/// A mean flight of this many held windows in them is loss-based …
const JUMPED: f64 = 3.0;
/// … and one below this is not.
const STAYED: f64 = 2.2;
/// Round trips after which growth is judged, by the last four.
const GROWN_TRIPS: u64 = 16;
/// BBR's flight has grown by this in them …
const GROWN: f64 = 1.5;
/// … and one that has grown by less than this is bounded by something else.
const FLAT: f64 = 1.2;
/// BBR keeps two bandwidth-delay products in flight: a longer round trip, as a multiple of the shortest, is a loss-based sender's.
const QUEUED: f64 = 2.5;
/// … and by this much, since short round trips vary.
const QUEUED_BY: Span = Span::from_millis(8);
/// With losses the last four of this many round trips are judged …
const LOSSY_TRIPS: u64 = 64;
/// … or those after this long.
const LOSSY: Span = Span::from_secs(4);
/// A flight above this many times a loss-based one is BBR's …
const ABOVE: f64 = 3.0;
/// … and one below this many times is loss-based.
const BELOW: f64 = 1.5;
/// The former requires this many losses …
const FEW_LOSSES: u64 = 2;
/// … and the latter this many.
const MANY_LOSSES: u64 = 5;
/// Shorter round trips cannot be counted by a clock of milliseconds.
const NEAR: Span = Span::from_millis(3);
/// A held window of which less than this part arrives was not what bounded the sender.
const FILLED: f64 = 0.5;
/// A sender that exceeds the window by more than this part did not obey, or the kernel did not announce it.
const OBEYED: f64 = 1.2;

/// State of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// Payload bytes received.
    pub bytes: u64,
    /// Round-trip time by received data, once there is one.
    pub rtt: Option<Span>,
    /// Shortest round-trip time.
    pub least_rtt: Option<Span>,
    /// Packets received out of order.
    pub out_of_order: u32,
}

/// The kind of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// It grows until packets are lost, as CUBIC and reno do.
    LossBased,
    /// It follows the rate that it measures, as BBR does.
    ModelBased,
    /// It is unknown, for this reason.
    Unknown(Reason),
}

/// A reason why the sender's kind is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The download was over too soon.
    Short,
    /// The sender did not fill the held window.
    Unfilled,
    /// Server or path gave no more than the held window.
    Bounded,
    /// Too many or too few losses for the time.
    Losses,
    /// The growth is neither kind's.
    Between,
    /// The server is so near that its round trips cannot be counted.
    Near,
}

/// The window as it was held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// Window that was announced, bytes.
    pub window: u32,
    /// Bytes that arrived per round trip.
    pub arrived: f64,
}

impl Held {
    /// Returns whether the sender kept to the window; `None` if it did not fill it.
    pub fn obeyed(&self) -> Option<bool> {
        let part = self.arrived / f64::from(self.window);
        (part >= FILLED).then_some(part <= OBEYED)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    at: Time,
    reading: Reading,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Waiting,
    Held { since: Time },
    Released { since: Time },
    Over,
}

/// The test of a sender, without sockets and clocks: readings go in, windows come out.
#[derive(Debug)]
pub struct Probe {
    window: u32,
    mss: u32,
    phase: Phase,
    samples: Vec<Sample>,
    held: Option<Held>,
    sender: Sender,
}

impl Probe {
    /// Creates the test of a connection with packets of `mss` bytes.
    pub fn new(mss: u32) -> Probe {
        let mss = mss.max(536);
        Probe {
            window: HELD_PACKETS * mss,
            mss,
            phase: Phase::Waiting,
            samples: Vec::new(),
            held: None,
            sender: Sender::Unknown(Reason::Short),
        }
    }

    /// Returns the window to announce now, bytes. It is to be set after each reading, since the kernel changes it with the first data.
    pub fn window(&self) -> u32 {
        match self.phase {
            Phase::Waiting | Phase::Held { .. } => self.window,
            Phase::Released { .. } | Phase::Over => i32::MAX.unsigned_abs(),
        }
    }

    /// Returns whether the sender's kind is decided, or never will be.
    pub fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }

    /// Returns the kind of the sender, as far as it is known.
    pub fn sender(&self) -> Sender {
        self.sender
    }

    /// Returns how the window was held, once it was.
    pub fn held(&self) -> Option<Held> {
        self.held
    }

    /// Takes a reading, of which there should be several per round trip.
    pub fn see(&mut self, now: Time, reading: Reading) {
        self.samples.push(Sample { at: now, reading });
        let Some(base) = reading.least_rtt.and_then(Span::nonzero) else { return };
        match self.phase {
            Phase::Waiting if reading.bytes > self.samples[0].reading.bytes => {
                self.phase = Phase::Held { since: now };
            }
            Phase::Held { since } if now.since(since) >= Span(base.0 * HELD_TRIPS).max(HELD) => {
                self.release(now, since, base);
            }
            Phase::Released { since } => self.judge(now, since, base),
            Phase::Waiting | Phase::Held { .. } | Phase::Over => {}
        }
    }

    /// Opens the window, if it was what bounded the sender.
    fn release(&mut self, now: Time, since: Time, base: Span) {
        // The beginning is not the sender's steady state.
        let from = Time(now.0 - now.since(since).0 / 2);
        let rtt = reading_at(&self.samples, now).rtt.unwrap_or(base).max(base);
        let trips = now.since(from).as_secs_f64() / rtt.as_secs_f64();
        let held = Held { window: self.window, arrived: self.bytes_between(from, now) as f64 / trips };
        self.held = Some(held);
        match held.obeyed() {
            None => self.end(Sender::Unknown(Reason::Unfilled)),
            Some(_) if base < NEAR => self.end(Sender::Unknown(Reason::Near)),
            Some(_) => self.phase = Phase::Released { since: now },
        }
    }

    fn judge(&mut self, now: Time, since: Time, base: Span) {
        let trips = now.since(since).0 / base.0;
        let (first, last) = TRIPS;
        if trips < last {
            return;
        }
        let jump = self.flight(since, base, first, last);
        if jump >= JUMPED {
            return self.end(Sender::LossBased);
        }
        if trips < GROWN_TRIPS {
            return;
        }
        let late = self.flight(since, base, trips - 4, trips);
        let rtt = reading_at(&self.samples, now).rtt.unwrap_or(base);
        let is_queue = rtt.as_secs_f64() >= QUEUED * base.as_secs_f64() && rtt >= Span(base.0 + QUEUED_BY.0);
        if is_queue && late >= QUEUED {
            return self.end(Sender::LossBased);
        }
        if self.losses(base) > 0 {
            if trips >= LOSSY_TRIPS || now.since(since) >= LOSSY {
                let sender = self.by_losses(late, base, trips);
                self.end(sender);
            }
            return;
        }
        self.end(match late / jump.max(f64::MIN_POSITIVE) {
            growth if growth < FLAT => Sender::Unknown(Reason::Bounded),
            growth if growth >= GROWN && jump <= STAYED => Sender::ModelBased,
            _ => Sender::Unknown(Reason::Between),
        });
    }

    /// Compares the last flight with that of a loss-based sender at the loss rate seen.
    fn by_losses(&self, flight: f64, base: Span, trips: u64) -> Sender {
        let losses = self.losses(base);
        let last = self.samples.last().map_or(0, |last| last.reading.bytes);
        let packets = (last - self.samples[0].reading.bytes) as f64 / f64::from(self.mss);
        let rate = losses as f64 / packets.max(1.0);
        let usual = loss_based_packets(rate, base);
        let found = flight * f64::from(HELD_PACKETS);
        let rtt = self.samples.last().and_then(|last| last.reading.rtt).unwrap_or(base);
        // Losses of a queue that overflows follow another law.
        let is_path_full = rtt.as_secs_f64() > 1.1 * base.as_secs_f64() + 0.002;
        match found / usual {
            _ if is_path_full => Sender::Unknown(Reason::Losses),
            ratio if ratio >= ABOVE && losses >= FEW_LOSSES => Sender::ModelBased,
            ratio if ratio <= BELOW && losses >= MANY_LOSSES && trips >= LOSSY_TRIPS => Sender::LossBased,
            _ => Sender::Unknown(Reason::Losses),
        }
    }

    /// Returns the mean flight from one round trip after the release to another, as a multiple of the held window.
    fn flight(&self, since: Time, base: Span, first: u64, last: u64) -> f64 {
        let trip = |number: u64| Time(since.0 + number * base.0);
        let sum: f64 = (first..last)
            .map(|number| {
                let rtt = reading_at(&self.samples, trip(number + 1)).rtt.unwrap_or(base).max(base);
                let bytes = self.bytes_between(trip(number), trip(number + 1));
                bytes as f64 * rtt.as_secs_f64() / base.as_secs_f64()
            })
            .sum();
        sum / (last - first) as f64 / f64::from(self.window)
    }

    fn bytes_between(&self, from: Time, to: Time) -> u64 {
        reading_at(&self.samples, to).bytes - reading_at(&self.samples, from).bytes
    }

    /// Returns the number of round trips with packets out of order: a loss, or several at once, which count as one for a sender.
    fn losses(&self, base: Span) -> u64 {
        let (mut losses, mut last) = (0, None);
        for pair in self.samples.windows(2) {
            let is_new = last.is_none_or(|last| pair[1].at.since(last) > base);
            if is_new && pair[1].reading.out_of_order > pair[0].reading.out_of_order {
                (losses, last) = (losses + 1, Some(pair[1].at));
            }
        }
        losses
    }

    fn end(&mut self, sender: Sender) {
        (self.sender, self.phase) = (sender, Phase::Over);
    }
}

/// Returns the last reading up to a time, or the first one.
fn reading_at(samples: &[Sample], time: Time) -> Reading {
    let after = samples.partition_point(|sample| sample.at <= time);
    samples.get(after.saturating_sub(1)).map_or_else(Reading::default, |sample| sample.reading)
}

/// Returns the mean window of reno or CUBIC, whichever is larger, packets (RFC 9438, section 5.2).
fn loss_based_packets(rate: f64, base: Span) -> f64 {
    let rate = rate.max(1e-9);
    (1.22 / rate.sqrt()).max(1.054 * (base.as_secs_f64() / rate).powf(0.75))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;
    const BASE: Span = Span::from_millis(40);

    /// Runs the test against a sender that sends `flight(trips since the release)` packets per round trip, at most the window.
    fn run(flight: impl Fn(u64) -> f64, loses_each: Option<u64>) -> Probe {
        let mut probe = Probe::new(MSS);
        let (mut bytes, mut out_of_order, mut released) = (0.0, 0, None);
        for ms in 0..9000_u64 {
            let now = Time::from_millis(ms);
            if probe.window() > 1 << 20 && released.is_none() {
                released = Some(ms + 40);
            }
            let trips = released.and_then(|at| ms.checked_sub(at)).map(|since| since / 40);
            let packets = trips.map_or(4.0, &flight);
            let before = bytes as u64 / u64::from(MSS);
            bytes += packets * f64::from(MSS) / 40.0;
            if loses_each.is_some_and(|each| before / each != bytes as u64 / u64::from(MSS) / each) {
                out_of_order += 1;
            }
            let reading =
                Reading { bytes: bytes as u64, rtt: Some(BASE), least_rtt: Some(BASE), out_of_order };
            probe.see(now, reading);
            if probe.is_over() {
                break;
            }
        }
        probe
    }

    #[test]
    fn a_sender_that_doubles_is_loss_based_and_one_that_grows_by_an_eighth_is_not() {
        assert_eq!(
            run(|trips| 10.0 * f64::from(1 << trips.min(10) as u32), None).sender(),
            Sender::LossBased
        );
        let bbr = run(|trips| 4.0 * 1.13_f64.powi(trips as i32), None);
        assert_eq!(bbr.sender(), Sender::ModelBased);
        assert_eq!(bbr.held().unwrap().obeyed(), Some(true));
    }

    #[test]
    fn a_server_that_gives_no_more_is_not_taken_for_either_kind() {
        assert_eq!(run(|_| 5.0, None).sender(), Sender::Unknown(Reason::Bounded));
        assert_eq!(run(|_| 8.5, None).sender(), Sender::Unknown(Reason::Bounded));
        let mut idle = Probe::new(MSS);
        for ms in 0..3000 {
            let reading = Reading { bytes: ms, rtt: Some(BASE), least_rtt: Some(BASE), out_of_order: 0 };
            idle.see(Time::from_millis(ms), reading);
        }
        assert_eq!(idle.sender(), Sender::Unknown(Reason::Unfilled));
        assert_eq!(idle.held().unwrap().obeyed(), None);
    }

    #[test]
    fn with_losses_the_flight_is_compared_with_that_of_a_loss_based_sender() {
        // 1 %: 12 packets.
        let of = |packets| run(move |_| packets, Some(100)).sender();
        assert_eq!(of(11.0), Sender::LossBased);
        assert_eq!(of(25.0), Sender::LossBased, "it began with so many");
        let bbr = run(|trips| (4.0 * 1.13_f64.powi(trips as i32)).min(100.0), Some(100));
        assert_eq!(bbr.sender(), Sender::ModelBased);
    }

    #[test]
    fn a_sender_that_fills_a_queue_beyond_the_path_is_loss_based_whether_or_not_packets_are_lost() {
        for loses in [0, 1] {
            let mut probe = Probe::new(MSS);
            let (mut ms, mut released) = (0, None);
            while !probe.is_over() && ms < 9000 {
                if probe.window() > 1 << 20 {
                    released.get_or_insert(ms);
                }
                // The link's rate is that of the held window, so that only the queue grows: by 5 ms in each round trip.
                let queue = released.map_or(0, |at| (ms - at) / 8);
                let reading = Reading {
                    bytes: ms * 4 * u64::from(MSS) / 40,
                    rtt: Some(Span(BASE.0 + Span::from_millis(queue).0)),
                    least_rtt: Some(BASE),
                    out_of_order: loses * u32::from(queue > 50),
                };
                probe.see(Time::from_millis(ms), reading);
                ms += 1;
            }
            assert_eq!(probe.sender(), Sender::LossBased, "{loses}");
        }
    }

    #[test]
    fn a_download_that_ends_early_decides_nothing() {
        let mut probe = Probe::new(MSS);
        probe.see(Time(0), Reading::default());
        assert_eq!((probe.sender(), probe.held()), (Sender::Unknown(Reason::Short), None));
        assert_eq!(probe.window(), 4 * MSS);
    }
}
