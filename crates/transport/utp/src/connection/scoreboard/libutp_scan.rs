//! Losses as libutp and libutp-mod find them: by a scan of each bitmap.
//!
//! A packet that has not arrived although three packets beyond it are set in the bitmap is lost. The oldest go first, at
//! once and whatever the window is, but no more than [`RESENDS_PER_BITMAP`] for one bitmap.
//!
//! - **libutp** sends each packet again in this way only once: `fast_resend` ("fast_resend_seq_nr") moves past it. If
//!   the retransmission is lost, too, nothing but the timer helps. Every such packet is reported to the controller,
//!   which limits by itself how often it backs off.
//! - **libutp-mod** asks instead how often the packet was sent. Once: it is sent again and reported to the controller.
//!   More often: it is sent again only if a packet sent after its last transmission has arrived (the "maxTA" rule). The
//!   controller gets no report. Packets that are looked at count towards the limit of four, sent again or not.
//!
//! When the timer expires, everything in flight is to be sent again: the oldest packet at once, the rest as the window
//! opens. Then each acknowledgement that moves on to a gap sends the packet there at once ("fast_timeout"), without a
//! report to the controller. This ends when one does not move or the packet was fast-resent before, and, unlike in libutp, before
//! packets that left after the timer expired: these are in flight.
//!
//! Source: bittorrent/libutp at 3110314, `utp_internal.cpp`; RasoolAlSaadi/libutp-mod at 0c452e1 and the paper on it
//! (Al-Saadi, Armitage, But, LCN 2017, §V).
//!
//! Different here: "later" is decided by numbers of transmissions, not by timestamps, and strictly; the published code
//! of libutp-mod compares times with "≥" and may send again what left within the same tick. An original that arrives
//! behind its retransmission, faster than the path allows, does not count as a later packet. Nor do packets that the
//! timer had given up. In libutp-mod `fast_resend` no longer keeps any packet from being scanned. Plain duplicate acks
//! do nothing, as in libutp.
//!
//! Known bad cases: without three packets after it a loss waits for the timer. libutp-mod repairs a burst of losses by four
//! packets in each round trip, since those that are under way again count. A short bitmap ends 31 packets beyond the gap: what
//! is sent after the third or fourth retransmission of a packet does not show in it, nor with windows longer than that.

use super::{LostPacket, Scoreboard};
use crate::recovery::Recovery;
use crate::sack::Sack;

/// Packets that the bitmap must show beyond a lost one.
const OVERTAKERS: usize = 3;
/// Most packets sent again because of one bitmap.
const RESENDS_PER_BITMAP: usize = 4;

/// The memory from one bitmap to the next. Packets are named by their index in the connection's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan {
    finds_lost_retransmissions: bool,
    /// Packets before this one were fast-resent.
    fast_resend: u64,
    /// The timer expired, and every acknowledgement since has moved on: the packets that were outstanding then end before this one.
    fast_timeout: Option<u64>,
    /// Three packets that the newest bitmap shows have overtaken what lies before this one.
    overtaken_until: u64,
}

impl Scan {
    /// Returns the scan of this way of recovery, if it has one.
    pub fn of(recovery: Recovery) -> Option<Scan> {
        let finds_lost_retransmissions = match recovery {
            Recovery::Modern => return None,
            Recovery::Libutp | Recovery::Libutp200ms => false,
            Recovery::LibutpMod => true,
        };
        let (fast_resend, fast_timeout, overtaken_until) = (0, None, 0);
        Some(Scan { finds_lost_retransmissions, fast_resend, fast_timeout, overtaken_until })
    }

    /// Notes an expiry of the retransmission timer; `next` is the next new packet.
    pub fn timed_out(&mut self, next: u64) {
        self.fast_timeout = Some(next);
    }

    /// Notes that the timer expired before the acknowledgement could come.
    pub fn timed_out_for_nothing(&mut self) {
        self.fast_timeout = None;
    }
}

impl Scoreboard {
    /// Reads a packet's bitmap, if it has one, which begins `overtaken` packets earlier than one of the newest would.
    pub(super) fn read_bitmap(&mut self, overtaken: u16, sack: Option<Sack<'_>>) {
        let Some(mut scan) = self.scan else { return };
        scan.overtaken_until = sack.and_then(|sack| self.third_newest(overtaken, sack)).unwrap_or(0);
        self.scan = Some(scan);
    }

    /// Returns the third-newest packet that a bitmap shows, of those beyond the oldest unacknowledged one.
    fn third_newest(&self, overtaken: u16, sack: Sack<'_>) -> Option<u64> {
        let first = self.board.una().wrapping_add(1).wrapping_sub(u64::from(overtaken));
        let ours = self.board.una() + 1..self.board.una() + self.bodies.len() as u64;
        let newest_first = sack.words().enumerate().rev().flat_map(|(at, word)| {
            let set = move |bit: &u64| word >> bit & 1 == 1;
            (0..64).rev().filter(set).map(move |bit| first.wrapping_add(at as u64 * 64 + bit))
        });
        newest_first.filter(|index| ours.contains(index)).nth(OVERTAKERS - 1)
    }

    /// Declares lost what is to be sent again at once.
    pub(super) fn scan_losses(&mut self) -> Vec<LostPacket> {
        let Some(mut scan) = self.scan else { return Vec::new() };
        self.follow_timeout(&mut scan);
        let from = if scan.finds_lost_retransmissions { self.board.una() } else { scan.fast_resend };
        let missing = (from..scan.overtaken_until).filter(|index| !self.sacked.contains(*index));
        let candidates: Vec<u64> = missing.take(RESENDS_PER_BITMAP).collect();
        scan.overtaken_until = 0;
        let lost = candidates.into_iter().filter_map(|index| self.judge(&mut scan, index)).collect();
        self.scan = Some(scan);
        lost
    }

    /// Sends what is missing next for each acknowledgement after a timeout that advances.
    fn follow_timeout(&mut self, scan: &mut Scan) {
        let una = self.board.una();
        scan.fast_resend = scan.fast_resend.max(una);
        scan.fast_timeout.take_if(|end| scan.fast_resend != una || una >= *end);
        if scan.fast_timeout.is_some() {
            scan.fast_resend += 1;
            self.send_at_once(una);
        }
    }

    /// Decides on a packet that the bitmap shows to be missing.
    fn judge(&mut self, scan: &mut Scan, index: u64) -> Option<LostPacket> {
        if !scan.finds_lost_retransmissions {
            scan.fast_resend = index + 1;
            return self.send_at_once(index);
        }
        let flight = self.board.flight(index)?;
        let is_retransmission = self.board.transmissions(index) > 1;
        let later_arrived = self.board.newest_delivered() > Some(flight.number);
        if self.urgent.contains(&index) || is_retransmission && !later_arrived {
            return None;
        }
        Some(LostPacket { is_signal: !is_retransmission, ..self.send_at_once(index)? })
    }

    fn send_at_once(&mut self, index: u64) -> Option<LostPacket> {
        let flight = self.board.lose(index, true)?;
        self.urgent.insert(index);
        self.take_probe(flight.number);
        Some(LostPacket { flight, is_signal: true })
    }
}

#[cfg(test)]
mod tests;
