//! The time that a packet takes on the narrowest link of the path.
//!
//! A sender that keeps a slow link busy has a few packets of its own waiting there. Each makes the next one late by this time,
//! so a delay below a few of these times shows nobody else's queue.
//!
//! # Model
//! Packets that arrive at a link faster than it sends leave it one behind the other, and their acks are as far apart:
//!
//! ```text
//!   train: eight packets or more, over 5 ms or more      time of a packet = longer of (acks', sends' duration) / packets
//!   it counts as the first one, if its sends took at most half as long as its acks, or if it is below the estimate
//!   estimate: the smallest of the newest four that count
//! ```
//! The time between sends bounds acks that something holds back and releases at once, as in delivery rates
//! (draft-cheng-iccrg-delivery-rate-estimation-02 §2.3). No packet leaves a link sooner, so each train is an upper bound. Only a
//! train that the link has spread is close to it: packets of others get in between only while the train is being sent, so it
//! takes at most twice as long. A train at the sender's own pace shows that pace, which beside others may be far slower.
//!
//! An initial window and each round of a slow start are such trains. So is everything that is in flight when a link slows down.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | train | 8 packets | most of an initial window, and enough that one late ack changes little |
//! | duration | 5 ms | acks that arrive closer together than that came in a batch, or the link is too fast to matter |
//! | filter | smallest of 4 | a train that met others; a slower link is believed after four |
//!
//! # Source
//! None; ours. The spacing behind the narrowest link is that of Keshav's packet pair (1991).
//!
//! # Known bad cases
//! A queue that serves flows in turns shows the time of a turn. Before the first train there is no estimate. A sender
//! below two packets in a round trip makes no trains: if the link becomes slower just then, it does not notice.

use crate::current_delay::{CurrentDelay, CURRENT_FILTER};
use crate::event::Ack;
use afteryou_base::units::{Span, Time};

const TRAIN_PACKETS: u64 = 8;
const TRAIN_TIME: Span = Span::from_millis(5);

/// Measures the time of a packet.
#[derive(Clone, Debug)]
pub struct PacketTime {
    newest: CurrentDelay,
    train: Option<Train>,
}

/// A train that is arriving.
#[derive(Clone, Copy, Debug)]
struct Train {
    /// Arrival of the ack ahead of it, and when that ack's packet was sent.
    acked_at: Time,
    sent_at: Time,
    bytes: u64,
}

impl Default for PacketTime {
    fn default() -> PacketTime {
        PacketTime { newest: CurrentDelay::new(CURRENT_FILTER), train: None }
    }
}

impl PacketTime {
    /// Takes in an ack; `mss`: payload of a full packet, bytes.
    pub fn on_ack(&mut self, ack: &Ack, mss: u32) {
        let ahead = Train { acked_at: ack.now, sent_at: ack.sent_at, bytes: 0 };
        let train = self.train.get_or_insert(ahead);
        if train.acked_at == ack.now {
            train.sent_at = train.sent_at.max(ack.sent_at);
            return;
        }
        train.bytes = train.bytes.saturating_add(ack.delivered());
        let (acks, sends) = (ack.now.since(train.acked_at), ack.sent_at.since(train.sent_at));
        if train.bytes < TRAIN_PACKETS * u64::from(mss) || acks < TRAIN_TIME {
            return;
        }
        let us = u128::from(acks.max(sends).as_micros()) * u128::from(mss) / u128::from(train.bytes);
        let us = us.min(u128::from(u32::MAX >> 1)) as u32;
        self.train = Some(ahead);
        if sends <= acks / 2 || self.us().is_none_or(|estimate| us < estimate) {
            self.newest.push(ack.now, us);
        }
    }

    /// Ends the train: after idle, no packet belongs to a train of before.
    pub fn on_idle(&mut self) {
        self.train = None;
    }

    /// Returns the time of a full packet, µs, once a train has shown it.
    pub fn us(&self) -> Option<u32> {
        self.newest.queuing_us(0, Time::ZERO, Span::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    /// Takes in the acks of `packets` packets. The first is sent and acknowledged at these times, the others so far apart, ms.
    fn arrive(time: &mut PacketTime, packets: u64, sent: (f64, f64), acked: (f64, f64)) {
        let at = |(first, apart): (f64, f64), packet: u64| {
            Time::from_micros((1000.0 * (first + apart * packet as f64)) as u64)
        };
        for packet in 0..packets {
            let (now, sent_at) = (at(acked, packet), at(sent, packet));
            time.on_ack(&Ack { now, sent_at, newly_acked: MSS.into(), ..Ack::for_tests() }, MSS);
        }
    }

    #[test]
    fn an_initial_window_shows_it_whatever_its_acks_cover() {
        for acked_at_once in [1, 2] {
            let mut time = PacketTime::default();
            for i in 0..10 / acked_at_once {
                let now = Time::from_micros(50_000 + 2400 * acked_at_once * i);
                let newly_acked = acked_at_once * u64::from(MSS);
                time.on_ack(&Ack { now, newly_acked, ..Ack::for_tests() }, MSS);
            }
            assert_eq!(time.us(), Some(2400), "{acked_at_once} packets an ack");
        }
    }

    #[test]
    fn a_train_at_the_senders_own_pace_shows_no_slower_link() {
        let mut time = PacketTime::default();
        arrive(&mut time, 9, (0.0, 0.0), (50.0, 2.4));
        arrive(&mut time, 900, (100.0, 30.0), (150.0, 30.0));
        assert_eq!(time.us(), Some(2400));
    }

    #[test]
    fn a_link_that_becomes_slower_is_believed_after_four_trains_and_a_faster_one_at_once() {
        let mut time = PacketTime::default();
        arrive(&mut time, 65, (0.0, 1.0), (50.0, 2.0));
        // All that is in flight when the link slows down from 2 to 20 ms a packet.
        arrive(&mut time, 33, (1000.0, 2.0), (1050.0, 20.0));
        assert_eq!(time.us(), Some(2000), "the first of these trains began before");
        arrive(&mut time, 8, (1066.0, 2.0), (1710.0, 20.0));
        assert_eq!(time.us(), Some(20_000));
        arrive(&mut time, 16, (2000.0, 3.0), (2050.0, 3.0));
        assert_eq!(time.us(), Some(3000));
    }

    #[test]
    fn acks_that_come_in_batches_show_no_faster_link() {
        let mut time = PacketTime::default();
        for batch in 0..20u64 {
            // Twenty packets that the link took 48 ms for are acknowledged at once, or within a millisecond.
            for packet in 0..20 {
                let now = Time::from_micros(100_000 + 48_000 * batch + (batch % 2) * 50 * packet);
                let sent_at = Time::from_micros(48_000 * batch + 2400 * packet);
                time.on_ack(&Ack { now, sent_at, newly_acked: MSS.into(), ..Ack::for_tests() }, MSS);
            }
        }
        assert!((2400..4800).contains(&time.us().unwrap()), "{:?}", time.us());
    }

    #[test]
    fn silence_belongs_to_no_train() {
        let mut time = PacketTime::default();
        arrive(&mut time, 5, (0.0, 0.0), (50.0, 2.4));
        time.on_idle();
        arrive(&mut time, 9, (9000.0, 0.0), (9050.0, 2.4));
        assert_eq!(time.us(), Some(2400));
    }
}
