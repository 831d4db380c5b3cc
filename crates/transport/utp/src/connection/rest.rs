//! Memory that a connection keeps for more data, and gives back when none comes.
//!
//! Buffers, lists and bitmaps grow with the window and keep their places, so that a busy connection allocates nothing. A quarter of a second
//! without data in either direction ends that: what is empty is freed, and an idle connection is little more than its fields.

use super::Connection;
use afteryou_base::{Span, Time};

/// How long a connection without data keeps memory for more.
const KEPT: Span = Span::from_millis(250);

/// The time of the latest data, and when to look at it again.
#[derive(Debug, Default)]
pub(super) struct Rest {
    moved_at: Time,
    /// Data that moves does not move this, which would cost a timer for each packet.
    look_at: Option<Time>,
}

impl Rest {
    /// Notes that data has arrived, or was acknowledged.
    pub(super) fn moved(&mut self, now: Time) {
        self.moved_at = now;
        self.look_at.get_or_insert(now + KEPT);
    }

    pub(super) fn look_at(&self) -> Option<Time> {
        self.look_at
    }
}

impl Connection {
    /// Releases memory if the connection is quiet when the time to look has come.
    pub(super) fn rest_if_quiet(&mut self, now: Time) {
        let quiet_at = self.rest.moved_at + KEPT;
        self.rest.look_at = (quiet_at > now).then_some(quiet_at);
        if self.rest.look_at.is_none() {
            self.receiver.release_memory();
            self.unsent.release_memory();
            self.board.release_memory();
        }
    }
}

#[cfg(all(test, feature = "net"))]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::numbers::{ConnectionId, SeqNr};
    use crate::packet::Packet;
    use afteryou_base::param::Settings;
    use afteryou_cc::cubic::{Cubic, PARAMS};

    /// Hands over every datagram of `from`.
    fn exchange(now: Time, from: &mut Connection, to: &mut Connection) -> bool {
        let mut any = false;
        let mut datagram = Vec::new();
        while from.poll_transmit(now, &mut datagram) {
            to.handle(now, &Packet::decode(&datagram).unwrap());
            datagram.clear();
            any = true;
        }
        any
    }

    #[test]
    fn a_connection_without_data_for_a_moment_holds_no_memory_beside_its_fields_at_either_end() {
        let controller = || Box::new(Cubic::new(&Settings::defaults(PARAMS), 1352));
        let mut now = Time::ZERO;
        let mut one = Connection::connect(Config::default(), controller(), now, ConnectionId(1), SeqNr(1));
        let mut syn = Vec::new();
        assert!(one.poll_transmit(now, &mut syn));
        let syn = Packet::decode(&syn).unwrap();
        let mut other = Connection::accept(Config::default(), controller(), now, &syn, SeqNr(1));
        let (mut left, mut most) = (100_000, [0; 2]);
        // Data for half a second, then none.
        while now < Time::from_millis(2000) {
            let (data, mut buf) = ([1; 1000], [0; 1000]);
            left -= one.write(&data[..left.min(1000)]).unwrap();
            while exchange(now, &mut one, &mut other) | exchange(now, &mut other, &mut one) {}
            most = [most[0].max(one.memory()), most[1].max(other.memory())];
            while other.read(now, &mut buf).unwrap() > 0 {}
            now += Span::from_millis(5);
            for end in [&mut one, &mut other] {
                if end.deadline().is_some_and(|at| at <= now) {
                    end.handle_deadline(now);
                }
            }
            if now == Time::from_millis(700) {
                assert!(one.memory() > 0, "what is kept for more data has left early");
            }
        }
        assert_eq!(other.bytes_arrived(), 100_000);
        assert!(most.iter().all(|most| *most > 1000), "{most:?} bytes at most");
        assert_eq!((one.memory(), other.memory()), (0, 0));
    }
}
