//! The window that a receiver announces by a rule of its own, or by one from outside. Connections without one have none of this.

use super::outside::Socket;
use super::Arrival;
use afteryou_base::{Span, Time};
use afteryou_cc::rledbat::{Rledbat, Segment};

/// Announces the window of one connection.
#[derive(Debug)]
pub struct ReceiveWindow {
    rule: Rule,
    mss: u16,
    /// Window that the receiver's buffer has room for, bytes.
    flow_control: u64,
    /// Every segment below this has arrived.
    next: u64,
    /// Bytes that the segments in order lack to be full ones.
    lacking: u64,
    /// Segments that are not full and may be out of order: number, and the bytes that they lack.
    short: Vec<(u64, u64)>,
}

/// The rule that decides.
#[derive(Debug)]
pub enum Rule {
    /// The receiver itself.
    Rledbat(Box<Rledbat>),
    /// Another program, from outside.
    Outside(Socket),
}

/// The state of the receiver after a segment.
#[derive(Clone, Copy, Debug)]
pub struct After {
    /// The receiver's clock, µs.
    pub clock: u32,
    /// The clock that the segment echoes.
    pub tsecr: u32,
    /// It has not arrived before.
    pub is_new: bool,
    /// Every segment below this has arrived.
    pub next: u64,
}

impl ReceiveWindow {
    /// Creates the window of a connection whose full segments have `mss` bytes.
    pub fn new(rule: Rule, mss: u16, flow_control: u64) -> ReceiveWindow {
        ReceiveWindow { rule, mss, flow_control, next: 0, lacking: 0, short: Vec::new() }
    }

    /// Takes in a segment.
    pub fn on_data(&mut self, now: Time, arrival: &Arrival, after: After) {
        if after.is_new && arrival.len < self.mss {
            self.short.push((arrival.seq, u64::from(self.mss - arrival.len)));
        }
        self.next = after.next;
        let age = Span::from_micros(after.clock.wrapping_sub(after.tsecr).into());
        match &mut self.rule {
            Rule::Rledbat(rule) => rule.on_segment(&Segment {
                now,
                clock: after.clock,
                position: arrival.seq,
                received: if after.is_new { arrival.len.into() } else { 0 },
                tsval: arrival.tsval,
                tsecr: after.tsecr,
            }),
            Rule::Outside(socket) if after.is_new => {
                socket.out_of_order += u64::from(arrival.seq >= after.next);
                socket.on_segment(now, age, arrival);
            }
            Rule::Outside(_) => {}
        }
    }

    /// Returns the window, bytes, of an acknowledgement that leaves when the clock says `clock`.
    pub fn announce(&mut self, clock: u32) -> u32 {
        let in_order = self.in_order();
        let window = match &mut self.rule {
            Rule::Rledbat(rule) => rule.announce(in_order, clock, self.flow_control),
            Rule::Outside(socket) => socket.announce(in_order, self.flow_control),
        };
        window as u32
    }

    /// Returns the bytes that have arrived in order.
    pub fn in_order(&mut self) -> u64 {
        let (next, lacking) = (self.next, &mut self.lacking);
        self.short.retain(|(seq, lacks)| {
            let is_ahead = *seq >= next;
            *lacking += if is_ahead { 0 } else { *lacks };
            is_ahead
        });
        next * u64::from(self.mss) - self.lacking
    }

    /// Returns the socket, if its window is set from outside.
    pub fn socket(&mut self) -> Option<&mut Socket> {
        match &mut self.rule {
            Rule::Outside(socket) => Some(socket),
            Rule::Rledbat(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::{Settings, Value};
    use afteryou_cc::rledbat::PARAMS;

    #[test]
    fn segments_that_are_not_full_count_as_what_they_carry_once_they_are_in_order() {
        let overrides = [("initial_window", Value::Count(10)), ("window_scale", Value::Count(0))];
        let rule = Rledbat::new(&Settings::new(PARAMS, &overrides).unwrap(), 1000);
        let mut window = ReceiveWindow::new(Rule::Rledbat(Box::new(rule)), 1000, 5_000);
        assert_eq!(window.announce(0), 5_000, "flow control allows no more");
        let mut take = |seq, len, is_new, next| {
            let segment = Arrival { seq, len, tsval: 0, transmission: 1, marked: false };
            window.on_data(Time::ZERO, &segment, After { clock: 0, tsecr: 0, is_new, next });
            window.announce(0);
            let Rule::Rledbat(rule) = &window.rule else { panic!("another rule") };
            rule.edge()
        };
        assert_eq!([take(2, 400, true, 0), take(1, 1000, true, 0)], [5_000, 5_000]);
        assert_eq!(take(0, 300, true, 3), 1_700 + 5_000);
        assert_eq!(take(2, 400, false, 3), 6_700, "a copy changes nothing");
    }
}
