//! Messages on stderr.

use super::job::WITHOUT;
use afteryou_base::Span;
use afteryou_outside::linux::{Status, Steer};
use afteryou_outside::rule::Direction;
use afteryou_terminal::output;
use std::time::{Duration, Instant};

/// Time between two lines.
const APART: Duration = Duration::from_secs(1);
/// Below this a direction is not worth a line, bytes a second.
const LEAST_RATE: f64 = 1000.0;

/// Lines about a run.
#[derive(Debug)]
pub struct Shown {
    has_status: bool,
    next: Instant,
    line: String,
    has_said_udp: bool,
    has_said_refused: bool,
    has_said_uploads: bool,
}

impl Shown {
    /// Creates it; `has_status`: with a line a second; `has_proxy`: it is said already what a private proxy does not steer.
    pub fn new(has_status: bool, has_proxy: bool) -> Shown {
        Shown {
            has_status,
            next: Instant::now() + APART,
            line: String::new(),
            has_said_udp: has_proxy,
            has_said_refused: has_proxy,
            has_said_uploads: has_proxy,
        }
    }

    /// Prints what is new.
    pub fn tick(&mut self, steer: &Steer) {
        if Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + APART;
        if steer.has_own_uploads() && !std::mem::replace(&mut self.has_said_uploads, true) {
            output::complain(&format!("afteryou: {WITHOUT}\n"));
        }
        if steer.udp() > 0 && !std::mem::replace(&mut self.has_said_udp, true) {
            output::complain("afteryou: a connection uses UDP (QUIC), which run does not steer\n");
        }
        if let (Some(pid), false) = (steer.refused(), self.has_said_refused) {
            self.has_said_refused = true;
            output::complain(&format!(
                "afteryou: the sockets of process {pid} may not be touched: it is not steered; with --proxy it is, if it honours http_proxy\n"
            ));
        }
        if self.has_status {
            self.print(steer);
        }
    }

    /// Prints how many connections were covered by a job in the kernel, and how many were not.
    pub fn covered(&mut self, covered: &str, steer: &Steer) {
        let udp = match steer.udp() {
            0 => String::new(),
            udp => format!(", {udp} over UDP (QUIC) at its own rate"),
        };
        output::complain(&format!("afteryou: {covered}{udp}\n"));
    }

    /// Prints the last state.
    pub fn last(&mut self, steer: &Steer) {
        if self.has_status {
            self.print(steer);
        }
    }

    fn print(&mut self, steer: &Steer) {
        let line = in_words(steer).0;
        if !line.is_empty() && line != self.line {
            output::complain(&format!("afteryou: {line}\n"));
        }
        self.line = line;
    }
}

/// Returns the state of both directions in words, and their rate together, bytes a second.
pub fn in_words(steer: &Steer) -> (String, f64) {
    let directions = [("down", Direction::Down), ("up", Direction::Up)]
        .map(|(name, direction)| (name, steer.status(direction)));
    let busy = directions.iter().filter(|(_, status)| status.wanting > 0 && status.rate > LEAST_RATE);
    let words: Vec<String> = busy.map(|(name, status)| described(name, status)).collect();
    (words.join("; "), directions.iter().map(|(_, status)| status.rate).sum())
}

fn described(name: &str, status: &Status) -> String {
    let ms = |span: Option<Span>| {
        span.map_or_else(|| "?".to_owned(), |span| format!("{:.0}", span.as_millis_f64()))
    };
    let yielding = if status.is_yielding { ", yielding" } else { "" };
    format!(
        "{name} {:.1} Mbit/s, {} of {} connections active{yielding}: queue {} ms over base {} ms",
        status.rate * 8e-6,
        status.active,
        status.wanting,
        ms(status.queue),
        ms(status.base),
    )
}
