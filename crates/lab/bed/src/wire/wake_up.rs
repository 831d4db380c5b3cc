//! How long after its time a sleeping thread wakes at least.
//!
//! A wake-up that is faster than the value lowers it by a good part, a slower one raises it by little. So the value stays near the
//! fastest tenth of the latest dozens: what is counted off for a wake-up has really passed, and no packet arrives before its time. The rest of
//! a wake-up is visible in the run's lateness.

use afteryou_base::Span;

/// A wake-up that is later counts as this late.
const MOST: Span = Span::from_micros(200);
/// A faster wake-up moves the value by this part of the difference, and a slower one by this part.
const DOWN: u64 = 4;
const UP: u64 = 64;

/// The least lateness of late.
#[derive(Clone, Copy, Debug, Default)]
pub struct WakeUp {
    least: Span,
}

impl WakeUp {
    /// Notes a wake-up that was late by `late`.
    pub fn woke(&mut self, late: Span) {
        let late = late.min(MOST);
        self.least = match late >= self.least {
            true => self.least + (late - self.least) / UP,
            false => self.least - (self.least - late) / DOWN,
        };
    }

    /// Returns how late wake-ups are at least.
    pub fn least(&self) -> Span {
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the value after wake-ups that are late by each of these in turn, µs.
    fn after(late_us: impl Iterator<Item = u64>) -> f64 {
        let mut wake_up = WakeUp::default();
        late_us.for_each(|us| wake_up.woke(Span::from_micros(us)));
        wake_up.least().0 as f64 / 1e3
    }

    #[test]
    fn it_settles_at_what_is_usual_and_one_stall_moves_it_little() {
        let usual = after(std::iter::repeat_n(40, 500));
        assert!((39.0..=40.0).contains(&usual), "{usual}");
        let stalled = after(std::iter::repeat_n(40, 500).chain([3_000_000]));
        assert!(stalled < 43.0, "{stalled}");
    }

    #[test]
    fn where_every_fifth_wake_up_is_slow_it_is_what_the_others_take() {
        let busy = after([20, 20, 20, 20, 180].into_iter().cycle().take(1000));
        assert!((18.0..24.0).contains(&busy), "{busy}");
    }

    #[test]
    fn it_follows_a_machine_that_becomes_slower_or_faster() {
        let slower = after(std::iter::repeat_n(20, 500).chain(std::iter::repeat_n(120, 500)));
        assert!(slower > 115.0, "{slower}");
        let faster = after(std::iter::repeat_n(120, 500).chain(std::iter::repeat_n(20, 12)));
        assert!(faster < 24.0, "{faster}");
    }
}
