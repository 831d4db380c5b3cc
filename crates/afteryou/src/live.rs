//! The live view: what the demo shows while it runs.
//!
//! On a terminal it is a picture that is painted over in place and stays in the scrollback (`painter`); elsewhere a
//! line per second (`plain`). Both go to stderr, so that stdout stays free for the result.

mod charts;
mod look;
mod painter;
mod picture;
mod plain;
#[cfg(test)]
mod tests;
mod thin;

use afteryou_scenario::Role;

/// The state at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Time since the start, s.
    pub elapsed_s: f64,
    /// Time that it will take, s.
    pub total_s: f64,
    /// One plain sentence about the state.
    pub stage: String,
    /// The numbers of the verdict so far; empty if there are none yet.
    pub so_far: String,
    /// Rate of each flow, Mbit/s.
    pub rates: Vec<Curve>,
    /// Queuing delay, ms.
    pub queue: Curve,
    /// Queuing delay that the background's controller steers to, ms.
    pub target_ms: Option<f64>,
    /// Events, in order of time.
    pub marks: Vec<Mark>,
    /// The link's capacity, Mbit/s.
    pub capacity_mbit: f64,
}

/// An event on the time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its time, s.
    pub at_s: f64,
    /// The event, in a few words.
    pub text: &'static str,
}

/// A quantity over time. A value that is not finite is a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Whose it is.
    pub name: String,
    /// Role of the flow, if it is a flow's.
    pub role: Option<Role>,
    /// Time in s and value, in order of time.
    pub points: Vec<(f64, f64)>,
    /// The newest value.
    pub latest: Option<f64>,
}

/// Somewhere that frames are shown. Call [`View::draw`] five to ten times a second, from a thread that may wait: a
/// terminal that is stopped (Ctrl-S) stops its writer.
///
/// Nothing has to be undone: the cursor is never hidden and the terminal's modes are never touched. After each frame the
/// cursor is below the view. So Ctrl-C, a panic or `kill -9` leave a sane terminal without a handler.
pub trait View: Send {
    /// Shows `frame` instead of the one before.
    fn draw(&mut self, frame: &Frame);
    /// Ends the view; the last picture remains. Later output appears below it.
    fn finish(&mut self);
}

/// Returns the view that suits stderr: `is_terminal` if it is one, `no_color` if NO_COLOR asks for none.
pub fn view(is_terminal: bool, no_color: bool) -> Box<dyn View> {
    if !is_terminal || afteryou_terminal::is_dumb() {
        return Box::new(plain::Plain::new(std::io::stderr()));
    }
    Box::new(painter::OnTerminal::new(!no_color))
}

/// Formats a value for people: three digits or so, and a dash for nothing.
fn figure(value: Option<f64>) -> String {
    match value.filter(|value| value.is_finite()) {
        None => "–".to_owned(),
        Some(value) if value.abs() >= 1e7 => format!("{value:.1e}"),
        Some(value) if value.abs() >= 99.95 => format!("{value:.0}"),
        // Not "-0.0".
        Some(value) => format!("{:.1}", value + 0.0),
    }
}
