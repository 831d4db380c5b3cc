//! Explicit congestion notification (RFC 3168), which BEP 29 has no field for.
//!
//! # Model
//! Both ends show in the handshake that they count marks: in libutp's eight "extension bits" after the long bitmap, which no
//! implementation reads. From then on data packets leave as ECT(0). The receiver counts those that arrive as CE and acknowledges each at once (RFC 9000
//! §13.2.1). The count goes with every ST_STATE from the first mark on, so a lost ack loses no mark (RFC 9000 §13.4).
//!
//! ```text
//!   SYN    long bitmap, marks = 0  ──▶
//!          ◀──  STATE  long bitmap, marks = 0          both: negotiated
//!   DATA   ECT(0) … CE             ──▶
//!          ◀──  STATE  marks = 1
//! ```
//! Acknowledgements are not ECN-capable, since nothing would answer their marks (RFC 3168 §6.1.4).
//!
//! # Validation (RFC 9000 §13.4.2)
//! The sender stops with ECT, and ignores marks, if the peer counts more of them than there were packets. It stops as well if
//! a timeout comes before any data has been acknowledged: something on the path may drop ECN-capable packets.
//!
//! # Known bad cases
//! - A path that sets CE on everything keeps the sender at its smallest window.
//! - A path that clears the field costs nothing and brings nothing.

/// The marks of a connection, in both directions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// The settings allow it.
    is_wanted: bool,
    /// The peer has shown that it counts marks.
    is_negotiated: bool,
    /// The path or the peer has failed the validation.
    has_failed: bool,
    /// Packets that arrived as CE.
    received: u32,
    /// The newest of them has not been reported.
    report_is_due: bool,
    /// Data packets that left as ECT(0).
    sent: u64,
    /// Of these, marked ones by the peer's count.
    reported: u32,
    /// Of these, marks that the controller has not seen.
    unseen: u32,
}

impl Ecn {
    pub(super) fn new(is_wanted: bool) -> Ecn {
        Ecn { is_wanted, ..Ecn::default() }
    }

    /// Takes in the peer's part of the handshake: with a count, it counts marks.
    pub(super) fn negotiate(&mut self, count: Option<u32>) {
        self.is_negotiated |= self.is_wanted && count.is_some();
    }

    /// Returns the count that a SYN shows.
    pub(super) fn in_syn(&self) -> Option<u32> {
        self.is_wanted.then_some(0)
    }

    /// Returns the count that an ST_STATE carries; `answers_syn`: it is the first one.
    pub(super) fn in_state(&mut self, answers_syn: bool) -> Option<u32> {
        self.report_is_due = false;
        (self.is_negotiated && (answers_syn || self.received > 0)).then_some(self.received)
    }

    /// Returns whether an ST_STATE must report a mark before data leaves.
    pub(super) fn report_is_due(&self) -> bool {
        self.report_is_due
    }

    /// Counts a data packet that has arrived as CE. Returns true if that is to be reported.
    pub(super) fn receive_mark(&mut self) -> bool {
        if self.is_negotiated {
            self.received = self.received.wrapping_add(1);
            self.report_is_due = true;
        }
        self.is_negotiated
    }

    /// Returns whether data packets leave as ECT(0).
    pub(super) fn is_on(&self) -> bool {
        self.is_negotiated && !self.has_failed
    }

    /// Counts a data packet that leaves.
    pub(super) fn sent(&mut self) {
        self.sent += u64::from(self.is_on());
    }

    /// Takes in the count that the peer reports.
    pub(super) fn reported(&mut self, count: Option<u32>) {
        let Some(count) = count.filter(|_| self.is_on()) else { return };
        let news = count.wrapping_sub(self.reported);
        // An ack that was overtaken counts less than a later one.
        if news > u32::MAX / 2 {
            return;
        }
        if self.marks() + u64::from(news) > self.sent {
            self.fail();
            return;
        }
        self.reported = count;
        self.unseen += news;
    }

    /// Notes a timeout; `anything_arrived`: some data has been acknowledged.
    pub(super) fn timeout(&mut self, anything_arrived: bool) {
        if !anything_arrived && self.is_on() {
            self.fail();
        }
    }

    fn fail(&mut self) {
        self.has_failed = true;
        self.unseen = 0;
    }

    /// Takes the marks that the controller has not seen.
    pub(super) fn take_unseen(&mut self) -> u32 {
        std::mem::take(&mut self.unseen)
    }

    /// Returns the number of marks that the peer has reported.
    pub(super) fn marks(&self) -> u64 {
        u64::from(self.reported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the state of a connection after the handshake.
    fn negotiated() -> Ecn {
        let mut ecn = Ecn::new(true);
        ecn.negotiate(Some(0));
        ecn
    }

    #[test]
    fn both_ends_must_want_it() {
        for (wanted, count, on) in [(true, Some(0), true), (true, None, false), (false, Some(0), false)] {
            let mut ecn = Ecn::new(wanted);
            ecn.negotiate(count);
            assert_eq!((ecn.is_on(), ecn.in_syn()), (on, wanted.then_some(0)));
        }
    }

    #[test]
    fn counts_are_cumulative_so_a_lost_or_late_ack_changes_nothing() {
        let mut ecn = negotiated();
        (0..10).for_each(|_| ecn.sent());
        for (count, unseen) in [(2, 2), (1, 0), (2, 0), (5, 3)] {
            ecn.reported(Some(count));
            assert_eq!(ecn.take_unseen(), unseen);
        }
        assert_eq!(ecn.marks(), 5);
    }

    #[test]
    fn a_receiver_reports_its_count_in_every_state_from_the_first_mark_on() {
        let mut ecn = negotiated();
        assert_eq!([ecn.in_state(true), ecn.in_state(false)], [Some(0), None]);
        assert!(ecn.receive_mark() && ecn.report_is_due());
        assert_eq!([ecn.in_state(false), ecn.in_state(false)], [Some(1), Some(1)]);
        assert!(!ecn.report_is_due());
        let mut off = Ecn::new(true);
        assert!(!off.receive_mark() && off.in_state(true).is_none());
    }

    #[test]
    fn more_marks_than_packets_or_a_dead_start_end_it() {
        let mut liar = negotiated();
        liar.sent();
        liar.reported(Some(2));
        assert_eq!((liar.is_on(), liar.take_unseen()), (false, 0));
        let [mut dead, mut lossy] = [negotiated(); 2];
        dead.timeout(false);
        lossy.timeout(true);
        assert_eq!((dead.is_on(), lossy.is_on()), (false, true));
    }
}
