//! How long after its time a sleeping thread usually wakes.
//!
//! A moving mean of the last dozen or so of timer wake-ups, each counted up to [`MOST`]. A longer wake-up is the
//! machine's fault and stays visible in the run's lateness.

use afteryou_base::Span;

/// A wake-up that is later counts as this late.
const MOST: Span = Span::from_micros(200);
/// A new wake-up moves the mean by this part.
const PART: u64 = 16;

/// The usual lateness.
#[derive(Clone, Copy, Debug, Default)]
pub struct WakeUp {
    usual: Span,
}

impl WakeUp {
    /// Notes a wake-up that was late by `late`.
    pub fn woke(&mut self, late: Span) {
        self.usual = Span((self.usual.0 * (PART - 1) + late.min(MOST).0) / PART);
    }

    /// Returns how late wake-ups usually are.
    pub fn usual(&self) -> Span {
        self.usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_settles_at_what_is_usual_and_one_stall_moves_it_little() {
        let mut wake_up = WakeUp::default();
        (0..200).for_each(|_| wake_up.woke(Span::from_micros(40)));
        let usual = wake_up.usual();
        assert!((39_000..=40_000).contains(&usual.0), "{usual:?}");
        wake_up.woke(Span::from_secs(3));
        assert!(wake_up.usual().0 < 51_000, "{:?}", wake_up.usual());
    }
}
