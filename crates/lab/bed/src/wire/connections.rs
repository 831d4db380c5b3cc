//! The connections of real packets, found by flow and ports, and the numbers of their data packets.

use super::ip::{Headers, UtpHeader, TCP, UTP_HEADER};
use std::collections::BTreeMap;

/// Identifies a connection: flow, protocol, port of the sender, port of the receiver.
type Key = (usize, u8, u16, u16);

/// All connections so far.
#[derive(Debug, Default)]
pub struct Connections {
    by_key: BTreeMap<Key, usize>,
    courses: Vec<Course>,
}

/// Where a connection's data are.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// Sequence number of TCP's first byte of data, or of uTP's first packet with data.
    first: Option<u32>,
    /// Bytes of TCP, or packets of uTP, before the farthest packet.
    farthest: u64,
    /// Data packets of other protocols.
    count: u32,
}

/// A packet's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The connection's index.
    pub connection: usize,
    /// It is the first of it.
    pub is_new: bool,
    /// Its number among the connection's data packets, from 1; 0 if it carries no data.
    pub number: u32,
}

impl Connections {
    /// Returns the number of connections.
    pub fn len(&self) -> usize {
        self.courses.len()
    }

    /// Forgets the connection of these ports, that of its sender, then that of its receiver: another one of `flow` begins
    /// with them.
    pub fn forget(&mut self, flow: usize, protocol: u8, [sender, receiver]: [u16; 2]) {
        self.by_key.remove(&(flow, protocol, sender, receiver));
    }

    /// Finds the place of a packet of `flow`, whose full packets carry `full` bytes; `utp` is its header if the flow's
    /// transport is uTP.
    ///
    /// Retransmissions of TCP and of uTP have the number of the original. Of other protocols every packet counts.
    pub fn place(
        &mut self,
        flow: usize,
        is_reply: bool,
        headers: &Headers,
        utp: Option<UtpHeader>,
        full: u32,
    ) -> Place {
        let [source, destination] = headers.ports;
        let (sender, receiver) = if is_reply { (destination, source) } else { (source, destination) };
        let next = self.courses.len(); // connections that were forgotten keep their numbers
        let connection = *self.by_key.entry((flow, headers.protocol, sender, receiver)).or_insert(next);
        let is_new = connection == next;
        if is_new {
            self.courses.push(Course::default());
        }
        let course = &mut self.courses[connection];
        let number = match utp {
            _ if is_reply => 0,
            Some(utp) => course.number_of_utp(utp, headers.payload),
            None => course.number(headers, full),
        };
        Place { connection, is_new, number }
    }
}

impl Course {
    /// Returns the number of a packet: sequence numbers of uTP count packets and wrap every 65 536.
    fn number_of_utp(&mut self, header: UtpHeader, datagram: u32) -> u32 {
        if header.is_syn {
            (self.first, self.farthest) = (Some(header.sequence.wrapping_add(1).into()), 0);
        }
        if header.is_syn || datagram <= UTP_HEADER {
            return 0;
        }
        let first = *self.first.get_or_insert(header.sequence.into()) as u16;
        let distance = header.sequence.wrapping_sub(first).wrapping_sub(self.farthest as u16) as i16;
        let before = self.farthest.saturating_add_signed(distance.into());
        self.farthest = self.farthest.max(before);
        u32::try_from(before + 1).unwrap_or(u32::MAX)
    }

    fn number(&mut self, headers: &Headers, full: u32) -> u32 {
        if headers.is_syn {
            // Ports may be used again: a new connection counts anew.
            (self.first, self.farthest) = (Some(headers.sequence.wrapping_add(1)), 0);
        }
        if headers.payload == 0 {
            return 0;
        }
        if headers.protocol != TCP {
            self.count = self.count.saturating_add(1);
            return self.count;
        }
        let first = *self.first.get_or_insert(headers.sequence);
        // Sequence numbers wrap every 4 GiB: the offset is the one nearest to the farthest so far.
        let distance = headers.sequence.wrapping_sub(first).wrapping_sub(self.farthest as u32) as i32;
        let offset = self.farthest.saturating_add_signed(distance.into());
        self.farthest = self.farthest.max(offset);
        u32::try_from(offset / u64::from(full.max(1)) + 1).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// The number of UDP among IP's protocols.
    const UDP: u8 = 17;

    fn headers(protocol: u8, ports: [u16; 2], sequence: u32, payload: u32) -> Headers {
        let destination = "10.2.0.1".parse().unwrap();
        Headers { destination, tos: 0, protocol, ports, sequence, is_syn: false, payload }
    }

    #[test]
    fn both_ways_of_a_connection_are_one_and_other_ports_another() {
        let mut connections = Connections::default();
        let mut place = |flow, is_reply, ports| {
            let place = connections.place(flow, is_reply, &headers(UDP, ports, 0, 10), None, 1448);
            (place.connection, place.is_new)
        };
        assert_eq!(place(3, false, [1000, 80]), (0, true));
        assert_eq!(place(3, true, [80, 1000]), (0, false));
        assert_eq!(place(3, false, [1001, 80]), (1, true));
        assert_eq!(place(4, false, [1000, 80]), (2, true));
    }

    #[test]
    fn packets_of_tcp_are_numbered_by_their_bytes_across_the_wrap() {
        let mut connections = Connections::default();
        let first = u32::MAX - 2000;
        let mut number = |sequence: u32, payload, is_syn| {
            let headers = Headers { is_syn, ..headers(TCP, [1, 2], sequence, payload) };
            connections.place(0, false, &headers, None, 1000).number
        };
        assert_eq!(number(first.wrapping_sub(1), 0, true), 0, "the SYN carries no data");
        let sent = [0, 1000, 2000, 3000, 1000, 4000].map(|at| number(first.wrapping_add(at), 1000, false));
        assert_eq!(sent, [1, 2, 3, 4, 2, 5]);
        assert_eq!(number(first, 0, false), 0, "an acknowledgement");
    }
    #[test]
    fn packets_of_utp_are_numbered_by_their_sequence_numbers_and_acknowledgements_have_none() {
        let mut connections = Connections::default();
        let mut number = |sequence: u16, payload, is_syn| {
            let headers = headers(UDP, [1, 2], 0, UTP_HEADER + payload);
            let utp = Some(UtpHeader { is_syn, sequence });
            connections.place(0, false, &headers, utp, 1000).number
        };
        let syn = u16::MAX - 2;
        assert_eq!(number(syn, 0, true), 0);
        let sent = [1, 2, 3, 4, 2, 5, 2].map(|at: u16| number(syn.wrapping_add(at), 1000, false));
        assert_eq!(sent, [1, 2, 3, 4, 2, 5, 2], "across the wrap, with two retransmissions");
        assert_eq!(number(syn.wrapping_add(6), 0, false), 0, "an acknowledgement");
        // A second round of all numbers.
        let later = (6..=70_000).map(|at: u32| number(syn.wrapping_add(at as u16), 9, false)).last();
        assert_eq!(later, Some(70_000));
    }
}
