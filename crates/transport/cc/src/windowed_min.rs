//! The smallest delay of a window of time that slides.
//!
//! # Model
//! It is a [sliding maximum](crate::windowed_max) of the negated delays, so three samples are in memory, and samples age only when new ones
//! come. The window's length may change from sample to sample: it may be a part of the smoothed round-trip time.
//!
//! # Source
//! K. Nichols' windowed filter, as in Linux `lib/minmax.c` (read for facts).
//!
//! # Known bad cases
//! While the delay rises steadily the result may be a sample later than the smallest one of the window, so a little larger.

use crate::windowed_max::WindowedMax;
use afteryou_base::units::{Span, Time};

/// A sliding minimum of delays.
#[derive(Clone, Copy, Debug, Default)]
pub struct WindowedMin(Option<WindowedMax>);

impl WindowedMin {
    /// Takes in a delay, and forgets those that are older than `window`.
    pub fn update(&mut self, now: Time, window: Span, delay: Span) {
        let negated = -(delay.0 as f64);
        match &mut self.0 {
            None => self.0 = Some(WindowedMax::starting_with(window.0, now.0, negated)),
            Some(largest) => {
                largest.set_window(window.0);
                largest.update(now.0, negated);
            }
        }
    }

    /// Returns the smallest delay, if there was one.
    pub fn get(&self) -> Option<Span> {
        self.0.map(|largest| Span(-largest.get() as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_delay_counts_until_it_is_older_than_the_window() {
        let mut smallest = WindowedMin::default();
        assert_eq!(smallest.get(), None);
        let delays: Vec<Option<Span>> = (0..20)
            .map(|i| {
                let delay = if i < 5 { 30 } else { 40 };
                smallest.update(Time::from_millis(10 * i), Span::from_millis(50), Span::from_millis(delay));
                smallest.get()
            })
            .collect();
        let of = |ms| Some(Span::from_millis(ms));
        // The last small one is of 40 ms: it still counts at 90 ms, and no longer at 100 ms.
        assert_eq!((delays[9], delays[10], delays[19]), (of(30), of(40), of(40)));
    }

    #[test]
    fn a_shorter_window_forgets_earlier() {
        let mut smallest = WindowedMin::default();
        smallest.update(Time::from_millis(0), Span::from_millis(100), Span::from_millis(30));
        smallest.update(Time::from_millis(60), Span::from_millis(100), Span::from_millis(40));
        assert_eq!(smallest.get(), Some(Span::from_millis(30)));
        smallest.update(Time::from_millis(70), Span::from_millis(50), Span::from_millis(45));
        assert_eq!(smallest.get(), Some(Span::from_millis(40)));
    }
}
