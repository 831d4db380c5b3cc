//! The largest packet that the path takes: packetization-layer path-MTU discovery (RFC 8899).
//!
//! # Model
//! A probe is the next data packet, made longer by extensions that every receiver skips. Its acknowledgement shows that the
//! path takes packets of its length, and from then on packets have as much payload. A lost probe is sent again without the extensions, and
//! is no sign of congestion. A packet of uTP cannot be cut in two once it has a number, so payload never depends on an unproven length.
//!
//! ```text
//!   payload at first ──probe of the largest──▶ acknowledged: done
//!                       lost three times ──▶ halves of what is left, until less than 16 bytes are
//!   ten minutes later: again, if the largest was not reached (PMTU_RAISE_TIMER)
//! ```
//! - **ICMP.** "Packet too big" lowers what is tried and what is sent, never below the payload at first: its sender may be anybody. If it
//!   names less than that, packets may be fragmented from then on.
//! - **Black hole.** After two timeouts in a row packets have the payload of the beginning again. Those already numbered leave with
//!   permission to fragment until they have arrived. The search begins anew then.
//!
//! # What is not implemented
//! Over IPv6 nobody but the sender's kernel fragments. If a path shrinks and its ICMPv6 is lost as well, packets already numbered cannot pass.

use afteryou_base::{Span, Time};

/// Losses of one length until it counts as too long (MAX_PROBES).
const TRIES: u32 = 3;
/// A gain that is not worth a probe, bytes.
const CLOSE: u32 = 16;
/// From the end of a search to the next (PMTU_RAISE_TIMER).
const RAISE_AFTER: Span = Span::from_secs(600);
/// Timeouts in a row after which the path may have shrunk.
const BLACK_HOLE: u32 = 2;
/// Least that extensions can take, bytes: libutp requires the first one to be its own, of ten.
const LEAST_PADDING: u32 = 12;

/// The search of one connection. All lengths are payload, bytes.
#[derive(Debug)]
pub(super) struct PathMtu {
    /// The payload of packets now, and at first.
    payload: u32,
    first: u32,
    /// The largest that is tried: by the settings, and by what has failed.
    most: u32,
    ceiling: u32,
    /// The ceiling itself has not failed.
    is_untried: bool,
    probe: Option<Probe>,
    /// Extensions of the packet that is about to leave.
    padding: u32,
    failures: u32,
    /// The path may have shrunk: what is unacknowledged below this packet may be fragmented.
    fragments_below: Option<u64>,
    raise_at: Time,
}

/// A probe whose fate is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    /// Index of its packet, and number of its transmission.
    index: u64,
    number: u64,
    payload: u32,
}

/// A packet that is about to be sent for the first time.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub index: u64,
    pub number: u64,
    pub payload: u64,
}

impl PathMtu {
    pub(super) fn new(payload: u32, most: u32) -> PathMtu {
        PathMtu {
            payload,
            first: payload,
            most,
            ceiling: most,
            is_untried: true,
            probe: None,
            padding: 0,
            failures: 0,
            fragments_below: None,
            raise_at: Time::NEVER,
        }
    }

    /// Returns whether packets may be fragmented on the path now.
    pub(super) fn may_fragment(&self) -> bool {
        self.fragments_below.is_some()
    }

    /// Returns the extensions of the packet that leaves, bytes.
    pub(super) fn take_padding(&mut self) -> u32 {
        std::mem::take(&mut self.padding)
    }

    /// Makes a new packet that leaves a probe if it is time for one.
    pub(super) fn note_new(&mut self, now: Time, packet: New) {
        if now >= self.raise_at {
            self.begin_anew();
        }
        let is_idle = self.probe.is_none() && self.fragments_below.is_none();
        let is_full = packet.payload == u64::from(self.payload);
        let (Some(payload), true) = (self.next_payload(), is_idle && is_full) else { return };
        self.padding = payload - self.payload;
        self.probe = Some(Probe { index: packet.index, number: packet.number, payload });
    }

    fn begin_anew(&mut self) {
        (self.ceiling, self.is_untried, self.failures) = (self.most, true, 0);
        self.raise_at = Time::NEVER;
    }

    /// Returns the next size to try; none if the search is over.
    fn next_payload(&self) -> Option<u32> {
        let left = self.ceiling.saturating_sub(self.payload);
        let more = if self.is_untried { left } else { left / 2 };
        (left >= CLOSE).then_some(self.payload + more.max(LEAST_PADDING))
    }

    /// Takes in acknowledged packets: all below `una`, and what `is_sacked`. Returns the payload from now on if it has
    /// grown.
    pub(super) fn acknowledged(
        &mut self,
        now: Time,
        una: u64,
        is_sacked: impl Fn(u64) -> bool,
    ) -> Option<u32> {
        if self.fragments_below.is_some_and(|end| una >= end) {
            self.fragments_below = None;
        }
        let probe = self.probe.take_if(|probe| probe.index < una || is_sacked(probe.index))?;
        self.failures = 0;
        self.payload = probe.payload;
        self.rest_if_done(now);
        Some(self.payload)
    }

    /// Takes in the loss of transmission `number`. Returns true if it was the probe.
    pub(super) fn lost(&mut self, now: Time, number: u64) -> bool {
        let Some(probe) = self.probe.take_if(|probe| probe.number == number) else { return false };
        self.failures += 1;
        if self.failures >= TRIES {
            self.failures = 0;
            (self.ceiling, self.is_untried) = (probe.payload - 1, false);
            self.rest_if_done(now);
        }
        true
    }

    /// Takes in that packet `index` is sent again, which decides nothing about its length any more.
    pub(super) fn resent(&mut self, index: u64) {
        self.probe.take_if(|probe| probe.index == index);
    }

    /// Takes in that the retransmission timer has expired for the `nth` time in a row; `next` is the index of the next new
    /// packet. Returns the payload from now on if it has shrunk.
    pub(super) fn timed_out(&mut self, nth: u32, next: u64) -> Option<u32> {
        self.probe = None;
        if nth < BLACK_HOLE || self.first == self.most {
            return None;
        }
        self.fragments_below = Some(next);
        self.begin_anew();
        (std::mem::replace(&mut self.payload, self.first) > self.first).then_some(self.first)
    }

    /// Takes in a router's report that packets with more than `payload` do not pass. Returns the payload from now on if it
    /// has shrunk.
    pub(super) fn too_big(&mut self, now: Time, payload: u32) -> Option<u32> {
        if payload < self.first && self.first < self.most {
            self.fragments_below = Some(u64::MAX); // what was taken for granted does not pass in one piece
        }
        let payload = payload.max(self.first);
        if payload >= self.ceiling {
            return None;
        }
        (self.ceiling, self.is_untried) = (payload, true);
        self.raise_at = now + RAISE_AFTER;
        if self.probe.take_if(|probe| probe.payload > payload).is_some() {
            self.failures = 0;
        }
        let has_shrunk = self.payload > payload;
        self.payload = self.payload.min(payload);
        has_shrunk.then_some(self.payload)
    }

    fn rest_if_done(&mut self, now: Time) {
        if self.payload < self.most && self.next_payload().is_none() {
            self.raise_at = now + RAISE_AFTER;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends full packets one after the other over a path that takes `takes` bytes of payload; the payloads in the end and
    /// the number of probes.
    fn search(mtu: &mut PathMtu, now: Time, takes: u32) -> (u32, u32) {
        let mut probes = 0;
        for index in 0..100 {
            let payload = mtu.payload;
            mtu.note_new(now, New { index, number: index, payload: payload.into() });
            let padding = mtu.take_padding();
            probes += u32::from(padding > 0);
            if payload + padding > takes {
                assert!(mtu.lost(now, index));
            } else {
                mtu.acknowledged(now, index + 1, |_| false);
            }
        }
        (mtu.payload, probes)
    }

    #[test]
    fn the_largest_is_tried_first_and_taken_if_it_arrives() {
        assert_eq!(search(&mut PathMtu::new(1180, 1452), Time::ZERO, 9000), (1452, 1));
        assert_eq!(search(&mut PathMtu::new(1352, 1352), Time::ZERO, 9000), (1352, 0), "no search");
    }

    #[test]
    fn a_smaller_path_is_found_to_within_sixteen_bytes_and_nothing_larger_is_sent() {
        for takes in [1180, 1200, 1232, 1300, 1352, 1412] {
            let mut mtu = PathMtu::new(1180, 1452);
            let (found, probes) = search(&mut mtu, Time::ZERO, takes);
            assert!(found <= takes && takes < found + CLOSE, "{found} of {takes}");
            assert!(probes <= 8 * TRIES, "{probes} probes for {takes}");
            // Ten minutes later the path may have grown.
            assert_eq!(search(&mut mtu, Time::ZERO + Span::from_secs(599), 9000).0, found);
            assert_eq!(search(&mut mtu, Time::ZERO + Span::from_secs(600), 9000), (1452, 1));
        }
    }

    #[test]
    fn a_reported_limit_is_tried_at_once_and_none_below_the_payload_at_first_is_believed() {
        let mut mtu = PathMtu::new(1180, 1452);
        mtu.note_new(Time::ZERO, New { index: 0, number: 0, payload: 1180 });
        assert_eq!(mtu.too_big(Time::ZERO, 1352), None);
        assert_eq!(search(&mut mtu, Time::ZERO, 1352).0, 1352);
        assert!(!mtu.may_fragment());
        assert_eq!(mtu.too_big(Time::ZERO, 500), Some(1180));
        assert!(mtu.may_fragment());
    }

    #[test]
    fn two_timeouts_bring_the_payload_back_until_what_was_sent_has_arrived() {
        let mut mtu = PathMtu::new(1180, 1452);
        search(&mut mtu, Time::ZERO, 9000);
        assert_eq!((mtu.timed_out(1, 200), mtu.may_fragment()), (None, false));
        assert_eq!((mtu.timed_out(2, 200), mtu.may_fragment()), (Some(1180), true));
        mtu.note_new(Time::ZERO, New { index: 150, number: 300, payload: 1180 });
        assert_eq!(mtu.take_padding(), 0, "no probe now");
        mtu.acknowledged(Time::ZERO, 199, |_| false);
        assert!(mtu.may_fragment());
        mtu.acknowledged(Time::ZERO, 200, |_| false);
        assert!(!mtu.may_fragment());
        assert_eq!(search(&mut mtu, Time::ZERO, 1300).0 / CLOSE, 1300 / CLOSE);
    }

    #[test]
    fn a_probe_that_is_sent_again_shows_nothing() {
        let mut mtu = PathMtu::new(1180, 1452);
        mtu.note_new(Time::ZERO, New { index: 7, number: 9, payload: 1180 });
        mtu.resent(7);
        assert_eq!(mtu.acknowledged(Time::ZERO, 8, |_| false), None);
        assert!(!mtu.lost(Time::ZERO, 9));
    }
}
