//! Packets leave, for the first time or again.

use super::segment::{Flight, Segment, Status};
use super::{Body, Scoreboard, Transmission};
use afteryou_cc::Time;

impl Scoreboard {
    /// Sends a new packet.
    pub fn send_new(&mut self, now: Time, body: Body, app_limited: bool) -> Transmission {
        let transmission = Transmission { seq_nr: self.next_seq(), body: body.clone() };
        self.outstanding += body.payload_len();
        let newest = self.take_off(now, self.popped + self.segments.len() as u64, app_limited);
        let mut segment =
            Segment { body, status: Status::InFlight, declared_lost: false, transmissions: 1, newest };
        self.in_flight += segment.body.payload_len();
        self.in_flight_packets += 1;
        segment.newest.in_flight = self.in_flight;
        self.segments.push_back(segment);
        transmission
    }

    /// Sends the [`next_lost`](Scoreboard::next_lost) packet again.
    pub fn send_lost(&mut self, now: Time) -> Option<Transmission> {
        let index = *self.urgent.first().or(self.lost.first())?;
        self.forget_lost(index);
        Some(self.send_again(now, (index - self.popped) as usize))
    }

    /// Sends the newest or the oldest unacknowledged packet again, as a probe; it need not be lost.
    pub fn send_probe(&mut self, now: Time, newest: bool) -> Option<Transmission> {
        let missing = |segment: &Segment| segment.status != Status::Sacked;
        let at = match newest {
            true => self.segments.iter().rposition(missing)?,
            false => self.segments.iter().position(missing)?,
        };
        self.note_probe(at);
        self.forget_lost(self.popped + at as u64);
        Some(self.send_again(now, at))
    }

    fn send_again(&mut self, now: Time, at: usize) -> Transmission {
        let newest = self.take_off(now, self.popped + at as u64, false);
        let segment = &mut self.segments[at];
        if segment.status != Status::InFlight {
            self.in_flight += segment.body.payload_len();
            self.in_flight_packets += 1;
        }
        // A probe of what is not lost takes nothing back when the earlier transmission arrives.
        segment.declared_lost &= segment.status == Status::Lost;
        segment.status = Status::InFlight;
        segment.transmissions += 1;
        segment.newest = Flight { in_flight: self.in_flight, ..newest };
        Transmission { seq_nr: self.first_seq.wrapping_add(at as u16), body: segment.body.clone() }
    }

    /// A transmission of packet `index` begins.
    fn take_off(&mut self, now: Time, index: u64, app_limited: bool) -> Flight {
        if self.in_flight_packets == 0 {
            self.delivered_at = now; // a rate sample must not span the idle time before it
        }
        let packet_number = self.next_packet_number;
        self.order.push(index);
        self.next_packet_number += 1;
        self.latest_sent_at = now;
        Flight {
            packet_number,
            sent_at: now,
            app_limited,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            in_flight: self.in_flight,
        }
    }
}
