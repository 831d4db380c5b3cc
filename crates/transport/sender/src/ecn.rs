//! Marks of Congestion Experienced, as a receiver reports them.
//!
//! A classic TCP receiver echoes (RFC 3168 §6.1.3): from the first mark on every ack has ECE, until the sender answers with CWR.
//! How many packets were marked is unknown. QUIC (RFC 9000 §13.4) and AccECN (RFC 9768) count.

use afteryou_cc::Marks;

/// The sender's side of the echo.
#[derive(Clone, Copy, Debug, Default)]
pub struct EchoAnswer {
    /// Until everything before this packet is acknowledged, further echoes are of the same window.
    point: u64,
    cwr_due: bool,
}

impl EchoAnswer {
    /// Judges an ack that has ECE set or not; `una` is the oldest unacknowledged packet, `next` the next new one. An echo
    /// counts once per window of data (RFC 3168 §6.1.2).
    pub fn on_ack(&mut self, ece: bool, una: u64, next: u64) -> Marks {
        if !ece || una < self.point {
            return Marks::None;
        }
        self.point = next;
        self.cwr_due = true;
        Marks::Echo
    }

    /// Returns whether the new packet that leaves now carries CWR (RFC 3168 §6.1.2: the first one after the reduction).
    pub fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_counts_once_per_window_and_is_answered_once() {
        let mut answer = EchoAnswer::default();
        assert_eq!(answer.on_ack(false, 5, 15), Marks::None);
        assert_eq!(answer.on_ack(true, 5, 15), Marks::Echo);
        assert_eq!([answer.take_cwr(), answer.take_cwr()], [true, false]);
        assert_eq!([6, 14, 15].map(|una| answer.on_ack(true, una, 25).packets()), [0, 0, 1]);
    }
}
