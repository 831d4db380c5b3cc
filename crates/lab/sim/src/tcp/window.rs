//! The window that a receiver announces by a rule of its own. Connections without one have none of this.

use super::Arrival;
use afteryou_base::Time;
use afteryou_cc::rledbat::{Rledbat, Segment};

/// Announces the window of one connection.
#[derive(Debug)]
pub struct ReceiveWindow {
    rule: Rledbat,
    mss: u16,
    /// Window that the receiver's buffer has room for, bytes.
    flow_control: u64,
    /// Bytes that the segments in order lack to be full ones.
    lacking: u64,
    /// Segments that are not full and may be out of order: number, and the bytes that they lack.
    short: Vec<(u64, u64)>,
}

impl ReceiveWindow {
    /// Creates the window of a connection whose full segments have `mss` bytes.
    pub fn new(rule: Rledbat, mss: u16, flow_control: u64) -> ReceiveWindow {
        ReceiveWindow { rule, mss, flow_control, lacking: 0, short: Vec::new() }
    }

    /// Takes in a segment with the echoed clock `tsecr`. `clock` is the receiver's, µs; `is_new`: the segment has not arrived before.
    pub fn on_data(&mut self, now: Time, clock: u32, arrival: &Arrival, (tsecr, is_new): (u32, bool)) {
        if is_new && arrival.len < self.mss {
            self.short.push((arrival.seq, u64::from(self.mss - arrival.len)));
        }
        self.rule.on_segment(&Segment {
            now,
            clock,
            position: arrival.seq,
            received: if is_new { arrival.len.into() } else { 0 },
            tsval: arrival.tsval,
            tsecr,
        });
    }

    /// Returns the window, bytes, of an acknowledgement of every segment below `next` that leaves when the clock says `clock`.
    pub fn announce(&mut self, next: u64, clock: u32) -> u32 {
        let lacking = &mut self.lacking;
        self.short.retain(|(seq, lacks)| {
            let is_ahead = *seq >= next;
            *lacking += if is_ahead { 0 } else { *lacks };
            is_ahead
        });
        let in_order = next * u64::from(self.mss) - self.lacking;
        self.rule.announce(in_order, clock, self.flow_control) as u32
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
        let mut window = ReceiveWindow::new(rule, 1000, 5_000);
        assert_eq!(window.announce(0, 0), 5_000, "flow control allows no more");
        let segment = |seq, len| Arrival { seq, len, tsval: 0, transmission: 1, marked: false };
        for (seq, len) in [(2, 400), (1, 1000), (0, 300)] {
            window.on_data(Time::ZERO, 0, &segment(seq, len), (0, true));
        }
        window.announce(3, 0);
        assert_eq!(window.rule.edge(), 1_700 + 5_000);
        window.on_data(Time::ZERO, 0, &segment(2, 400), (0, false));
        window.announce(3, 0);
        assert_eq!(window.rule.edge(), 6_700, "a copy changes nothing");
    }
}
