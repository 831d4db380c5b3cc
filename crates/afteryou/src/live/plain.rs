//! The live view where there is no terminal: a line per second.

use super::{figure, Curve, Frame, View};
use afteryou_terminal::output::printable;
use std::io::Write;

/// A line per second on `out`.
pub struct Plain<W> {
    out: W,
    /// The last second that has its line.
    said: Option<u64>,
}

impl<W: Write + Send> Plain<W> {
    /// Creates a view that has printed nothing yet.
    pub fn new(out: W) -> Plain<W> {
        Plain { out, said: None }
    }
}

impl<W: Write + Send> View for Plain<W> {
    fn draw(&mut self, frame: &Frame) {
        // A time that makes no sense counts as the start.
        let second = frame.elapsed_s.max(0.0) as u64;
        if self.said.is_some_and(|said| second <= said) {
            return;
        }
        self.said = Some(second);
        // If nobody reads it there is nobody to report it to.
        let _ = writeln!(self.out, "{}", line(frame, second));
    }

    fn finish(&mut self) {
        let _ = self.out.flush();
    }
}

fn line(frame: &Frame, second: u64) -> String {
    let rate = |curve: &Curve| format!("{} {} Mbit/s", curve.name, figure(curve.latest));
    let mut parts = vec![format!("{second:>3} s")];
    parts.extend(frame.rates.iter().map(rate));
    parts.push(format!("{} {} ms", frame.queue.name, whole(frame.queue.latest)));
    parts.push(frame.stage.clone());
    printable(&parts.join("  "))
}

fn whole(value: Option<f64>) -> String {
    figure(value.map(f64::round)).trim_end_matches(".0").to_owned()
}
