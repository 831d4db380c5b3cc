//! How fast a queue empties, and the delay that follows from it (RFC 8033 §5.2).
//!
//! A cycle of measurement begins when enough bytes wait that the link has no pause, and ends when `threshold` bytes have
//! left. The sources differ in what they average and in where a cycle begins:
//!
//! | form | sample | the cycle |
//! |---|---|---|
//! | RFC 8033 (App. B) | time for a threshold, however many bytes it took | begins behind the packet that leaves it long enough |
//! | FreeBSD | the same | the first one continues for one more packet, which is a second sample |
//! | Linux | bytes per second | begins with that packet, and the next one where the last has ended |

use super::form::Form;
use afteryou_base::{Span, Time};

/// Input of an estimator.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// Whose rules.
    pub form: Form,
    /// Bytes of a cycle.
    pub threshold: u64,
    /// Weight of a new sample.
    pub weight: f64,
}

/// An estimator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Departures {
    /// Seconds for a threshold, or bytes per second with Linux; 0 if not known yet.
    average: f64,
    /// When the cycle began and what has left since, if one is on.
    cycle: Option<(Time, u64)>,
}

impl Departures {
    /// Creates departures with a cycle that begins now, however little waits (App. B, as PIE wakes up). B, as PIE wakes up).
    pub fn measuring_from(now: Time) -> Departures {
        Departures { average: 0.0, cycle: Some((now, 0)) }
    }

    /// Notes that a packet has left `backlog` bytes behind. Returns how long a cycle took that it ended.
    pub fn departed(&mut self, now: Time, size: u32, backlog: u64, by: &Cycle) -> Option<Span> {
        if by.form == Form::Linux && backlog >= by.threshold && self.cycle.is_none() {
            self.cycle = Some((now, 0));
        }
        let ended = self.count(now, size, backlog, by);
        if by.form != Form::Linux && backlog >= by.threshold && self.cycle.is_none() {
            self.cycle = Some((now, 0));
        }
        ended
    }

    fn count(&mut self, now: Time, size: u32, backlog: u64, by: &Cycle) -> Option<Span> {
        let (since, bytes) = self.cycle.as_mut()?;
        *bytes += u64::from(size);
        if *bytes < by.threshold {
            return None;
        }
        let (took, bytes) = (now.since(*since), *bytes);
        if took == Span::ZERO {
            return None;
        }
        let was_known = self.is_known();
        self.sample(bytes, took, by);
        self.cycle = match by.form {
            Form::Rfc8033 => None,
            Form::FreeBsd if was_known => None,
            Form::FreeBsd => self.cycle,
            Form::Linux => (backlog >= by.threshold).then_some((now, 0)),
        };
        Some(took)
    }

    fn sample(&mut self, bytes: u64, took: Span, by: &Cycle) {
        let seconds = took.as_secs_f64();
        let sample = if by.form == Form::Linux { bytes as f64 / seconds } else { seconds };
        self.average = match self.is_known() {
            true => sample * by.weight + self.average * (1.0 - by.weight),
            false => sample,
        };
    }

    /// Returns whether a cycle has ended yet.
    pub fn is_known(&self) -> bool {
        self.average > 0.0
    }

    /// Returns how long `backlog` bytes will take; nothing as long as that is not known.
    pub fn delay(&self, backlog: u64, by: &Cycle) -> Span {
        if !self.is_known() {
            return Span::ZERO;
        }
        let bytes = backlog as f64;
        Span::from_secs_f64(match by.form {
            Form::Linux => bytes / self.average,
            _ => bytes * self.average / by.threshold as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RFC: Cycle = Cycle { form: Form::Rfc8033, threshold: 16_384, weight: 0.25 };

    fn samples(by: &Cycle, took: &[(u64, Span)]) -> Departures {
        let mut departures = Departures::default();
        took.iter().for_each(|(bytes, took)| departures.sample(*bytes, *took, by));
        departures
    }

    #[test]
    fn samples_are_averaged_and_make_the_delay() {
        let at_10_mbit = Span::of_bytes(16_384, 1_250_000);
        assert_eq!(at_10_mbit, Span::from_micros(13_107) + Span(200));
        let one = samples(&RFC, &[(16_384, at_10_mbit)]);
        assert_eq!(one.average, 0.013_107_2);
        assert_eq!(one.delay(30_000, &RFC), Span::from_millis(24));
        let two = samples(&RFC, &[(16_384, at_10_mbit), (16_384, Span::from_millis(20))]);
        assert!((two.average - 0.014_830_4).abs() < 1e-12, "{}", two.average);
        // Linux averages rates: 10 and 6.5536 Mbit/s with weight 1/8.
        let linux = Cycle { form: Form::Linux, weight: 0.125, ..RFC };
        let two = samples(&linux, &[(16_384, at_10_mbit), (16_384, Span::from_millis(20))]);
        assert!((two.average - 1_196_150.0).abs() < 1e-6, "{}", two.average);
    }

    /// Returns when cycles end, counted in packets of 1000 B that leave one per millisecond with 20 kB behind them.
    fn ends(form: Form) -> Vec<(u64, u64)> {
        let by = Cycle { form, threshold: 10_000, ..RFC };
        let mut departures = Departures::default();
        let ended = |ms| Some((ms, departures.departed(Time::from_millis(ms), 1000, 20_000, &by)?));
        (0..40).filter_map(ended).map(|(ms, took)| (ms, took.as_micros() / 1000)).collect()
    }

    #[test]
    fn each_source_begins_its_cycles_where_it_does() {
        assert_eq!(ends(Form::Rfc8033), [(10, 10), (20, 10), (30, 10)]);
        assert_eq!(ends(Form::FreeBsd), [(10, 10), (11, 11), (21, 10), (31, 10)]);
        assert_eq!(ends(Form::Linux), [(9, 9), (19, 10), (29, 10), (39, 10)]);
    }

    #[test]
    fn a_short_queue_is_not_measured() {
        for form in [Form::Rfc8033, Form::Linux, Form::FreeBsd] {
            let by = Cycle { form, ..RFC };
            let mut departures = Departures::default();
            for ms in 0..1000 {
                assert_eq!(departures.departed(Time::from_millis(ms), 1500, 16_383, &by), None);
            }
            assert_eq!((departures.is_known(), departures.delay(10_000, &by)), (false, Span::ZERO));
        }
    }
}
