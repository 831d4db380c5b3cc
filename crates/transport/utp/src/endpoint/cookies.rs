//! Answers to SYNs that take no memory, for the time of a flood.
//!
//! # Model
//! An address in a SYN may be forged, and forged ones cost a sender nothing. When all half-open places are taken, the
//! endpoint answers a SYN and keeps nothing of it, like TCP with SYN cookies (RFC 4987 §3.6). The first sequence number of
//! the answer is a keyed hash of the SYN's fields. The initiator's first packet acknowledges that number and carries the
//! rest:
//!
//! ```text
//!   SYN      id, seq_nr = s             ──▶
//!            ◀──  STATE  id, ack_nr = s, seq_nr = hash(peer, id, s, reads long bitmaps, period)
//!   any      id + 1, seq_nr = s + 1, ack_nr = hash − 1  ──▶   accepted
//! ```
//! A SYN that finds a place is answered with the same number. So a half-open connection whose place a newcomer takes comes back with its first packet.
//!
//! A hash holds for its period of 64 s and the next. It is accepted for as long as an initiator without a place may have one, so a blind guess counts only
//! while places are short.
//!
//! # Known bad cases
//! A sequence number has 16 bits. Of blind guesses one in 16 384 is right (two periods, two kinds of bitmap), and opens a connection from a forged
//! address. That connection ends like that of any silent peer.
//!
//! If the initiator's first packet is lost, a later one is not taken in its place. It is passed over without a reset, and the initiator sends the first
//! one again. So is each of the first ten; a peer that begins with more is reset.

use crate::connection::{Host, LONG_SACK_SHOWN};
use crate::numbers::{ConnectionId, SeqNr};
use crate::packet::{Header, Kind, Packet};
use crate::Config;
use afteryou_base::{Span, Time};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// How long one hash is given out.
const PERIOD: Span = Span::from_secs(64);
/// Packets that an initiator may send before an acknowledgement (RFC 6928 §2).
const FIRST_FLIGHT: u16 = 10;

/// The key, and when an initiator without a place last had a hash.
#[derive(Debug, Default)]
pub(super) struct Cookies<Key = RandomState> {
    key: Key,
    /// Hashes of this period may still come back, and of the one before.
    latest: Option<u64>,
    sent: u64,
}

/// The content of a SYN.
#[derive(Clone, Copy, Debug, Hash)]
struct Said {
    peer: SocketAddr,
    connection_id: ConnectionId,
    seq_nr: SeqNr,
    reads_long_bitmaps: bool,
    period: u64,
}

fn period(now: Time) -> u64 {
    now.0 / PERIOD.0
}

/// Returns whether both ends read long bitmaps.
fn shows_long_bitmaps(syn: &Packet<'_>, config: &Config) -> bool {
    config.recovery.uses_long_bitmaps() && syn.sack.is_some_and(|sack| sack.is_long())
}

impl<Key: BuildHasher> Cookies<Key> {
    /// Returns the number of SYNs answered in this way so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    fn hash(&self, said: Said) -> SeqNr {
        SeqNr(self.key.hash_one(said) as u16)
    }

    /// Returns the first sequence number of the answer to a SYN.
    pub(super) fn seq_nr(&self, now: Time, peer: SocketAddr, syn: &Packet<'_>, config: &Config) -> SeqNr {
        let Header { connection_id, seq_nr, .. } = syn.header;
        let reads_long_bitmaps = shows_long_bitmaps(syn, config);
        self.hash(Said { peer, connection_id, seq_nr, reads_long_bitmaps, period: period(now) })
    }

    /// Notes that a half-open connection loses its place: its initiator may have an answer to the SYN.
    pub(super) fn note_displaced(&mut self, now: Time) {
        self.latest = Some(period(now));
    }

    /// Returns the answer to a SYN, of which nothing is kept; `window` bytes are free.
    pub(super) fn answer(
        &mut self,
        now: Time,
        peer: SocketAddr,
        syn: &Packet<'_>,
        config: &Config,
        window: u64,
    ) -> Vec<u8> {
        self.latest = Some(period(now));
        self.sent += 1;
        let timestamp = Host::REAL.timestamp(now);
        let header = Header {
            kind: Kind::State,
            connection_id: syn.header.connection_id,
            timestamp,
            timestamp_difference: timestamp.minus(syn.header.timestamp),
            wnd_size: u32::try_from(window).unwrap_or(u32::MAX),
            seq_nr: self.seq_nr(now, peer, syn, config),
            ack_nr: syn.header.seq_nr,
        };
        let mut datagram = Vec::new();
        let sack = shows_long_bitmaps(syn, config).then_some(LONG_SACK_SHOWN);
        Packet { header, sack, marks: None, payload: &[] }.encode(&mut datagram);
        datagram
    }

    /// Returns the SYN that `packet` follows, if an answer of this endpoint's led to it.
    pub(super) fn syn_before(
        &self,
        now: Time,
        peer: SocketAddr,
        packet: &Packet<'_>,
    ) -> Option<Packet<'static>> {
        let said = self.said(now, peer, &packet.header, 1)?;
        let Said { connection_id, seq_nr, .. } = said;
        let header = Header { kind: Kind::Syn, connection_id, seq_nr, ..packet.header };
        let sack = said.reads_long_bitmaps.then_some(LONG_SACK_SHOWN);
        Some(Packet { header, sack, marks: None, payload: &[] })
    }

    /// Returns whether `packet` is one of an initiator's first ones, but not the first, which is lost or late.
    pub(super) fn is_ahead(&self, now: Time, peer: SocketAddr, packet: &Packet<'_>) -> bool {
        (2..=FIRST_FLIGHT).any(|after| self.said(now, peer, &packet.header, after).is_some())
    }

    /// Returns the content of the SYN that came `after` packets before this one, if the answer to it is acknowledged.
    fn said(&self, now: Time, peer: SocketAddr, header: &Header, after: u16) -> Option<Said> {
        let (latest, now) = (self.latest?, period(now));
        if now > latest + 1 {
            return None;
        }
        let connection_id = header.connection_id.prev();
        let seq_nr = header.seq_nr.minus(after);
        let answered = header.ack_nr.next();
        [now, now.wrapping_sub(1)]
            .into_iter()
            .flat_map(|period| [true, false].map(|long| (period, long)))
            .map(|(period, reads_long_bitmaps)| Said {
                peer,
                connection_id,
                seq_nr,
                reads_long_bitmaps,
                period,
            })
            .find(|said| self.hash(*said) == answered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::Micros;
    use crate::sack::Sack;
    use std::hash::{BuildHasherDefault, DefaultHasher};

    /// With the same key in each run.
    type Fixed = Cookies<BuildHasherDefault<DefaultHasher>>;

    fn at_second(s: u64) -> Time {
        Time::ZERO + Span::from_secs(s)
    }

    fn peer() -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 4000))
    }

    fn packet(kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16) -> Packet<'static> {
        let wnd_size = 1 << 20;
        let header = Header {
            kind,
            connection_id: ConnectionId(connection_id),
            timestamp: Micros(1),
            timestamp_difference: Micros(1),
            wnd_size,
            seq_nr: SeqNr(seq_nr),
            ack_nr: SeqNr(ack_nr),
        };
        Packet { header, sack: None, marks: None, payload: &[] }
    }

    /// Returns the answer's sequence number.
    fn answer(cookies: &mut Fixed, now: Time, syn: &Packet<'_>) -> u16 {
        let datagram = cookies.answer(now, peer(), syn, &Config::default(), 1000);
        let answer = Packet::decode(&datagram).expect("what is sent is well-formed");
        assert_eq!((answer.header.connection_id, answer.header.ack_nr), (ConnectionId(7), syn.header.seq_nr));
        assert_eq!(answer.sack.is_some(), syn.sack.is_some());
        answer.header.seq_nr.0
    }

    #[test]
    fn the_first_packet_after_an_answer_brings_the_syn_back_for_two_periods() {
        for (sack, at) in [(None, 0), (Some(Sack::of_zeros()), 63)] {
            let mut cookies = Fixed::default();
            let syn = Packet { sack, ..packet(Kind::Syn, 7, 99, 0) };
            let seq_nr = answer(&mut cookies, at_second(at), &syn);
            let first = packet(Kind::Data, 8, 100, seq_nr.wrapping_sub(1));
            for later in [at, 64, 127] {
                let back = cookies.syn_before(at_second(later), peer(), &first).expect("it is right");
                assert_eq!((back.header.kind, back.header.connection_id), (Kind::Syn, ConnectionId(7)));
                assert_eq!((back.header.seq_nr, back.sack), (SeqNr(99), sack));
            }
            assert!(cookies.syn_before(at_second(128), peer(), &first).is_none());
        }
    }

    #[test]
    fn of_guesses_one_in_many_thousands_is_right_and_none_without_a_flood() {
        let mut cookies = Fixed::default();
        let guess = |ack_nr| packet(Kind::Data, 8, 100, ack_nr);
        let right = |cookies: &Fixed| {
            let right = |ack_nr| cookies.syn_before(Time::ZERO, peer(), &guess(ack_nr)).is_some();
            (0..=u16::MAX).filter(|ack_nr| right(*ack_nr)).count()
        };
        assert_eq!(right(&cookies), 0);
        answer(&mut cookies, Time::ZERO, &packet(Kind::Syn, 7, 5, 0));
        assert!((1..=4).contains(&right(&cookies)), "{}", right(&cookies));
    }

    #[test]
    fn another_peer_id_or_number_is_refused() {
        let mut cookies = Fixed::default();
        let seq_nr = answer(&mut cookies, Time::ZERO, &packet(Kind::Syn, 7, 99, 0));
        let ack_nr = seq_nr.wrapping_sub(1);
        let is_right = |peer, packet: &Packet<'_>| {
            let back = cookies.syn_before(Time::ZERO, peer, packet);
            back.is_some_and(|back| back.sack.is_none())
        };
        assert!(is_right(peer(), &packet(Kind::State, 8, 100, ack_nr)));
        for by in 1..=50 {
            let other = SocketAddr::new(peer().ip(), 4000 + by);
            assert!(!is_right(other, &packet(Kind::State, 8, 100, ack_nr)), "{by}");
            assert!(!is_right(peer(), &packet(Kind::State, 8 + by, 100, ack_nr)), "{by}");
            assert!(!is_right(peer(), &packet(Kind::State, 8, 100 + by, ack_nr)), "{by}");
        }
    }
}
