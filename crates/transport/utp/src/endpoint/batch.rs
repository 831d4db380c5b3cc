//! Datagrams that leave in one go: one buffer, cut into trains that take one system call each.

use super::socket::Manner;
use crate::packet;
use afteryou_sockets::MOST_SEGMENTS;
use std::net::SocketAddr;

/// Datagrams made under one lock, before the endpoint looks at what has come in.
const MOST_DATAGRAMS: usize = 2 * MOST_SEGMENTS;
/// The kernel holds a train in one IP packet before it cuts it: 65 535 bytes less the headers of IPv4 and UDP.
const MOST_BYTES: usize = 65_507;

/// Datagrams that wait to be sent.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    trains: Vec<Train>,
    datagrams: usize,
}

/// The limits of a connection's trains.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Most bytes of a train of several datagrams.
    pub train: usize,
    /// Bytes of a full datagram. A longer one has a train of its own: the system may refuse it.
    pub datagram: usize,
    /// How data packets leave. Others are not ECN-capable.
    pub manner: Manner,
}

/// Datagrams of one size to one peer that leave in one manner; the last one may be smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Train {
    pub peer: SocketAddr,
    /// Bytes of each datagram.
    pub segment: usize,
    pub manner: Manner,
    from: usize,
    to: usize,
}

impl Limits {
    /// Returns the most full datagrams of a train, [`MOST_SEGMENTS`] or fewer.
    pub(super) fn packets(self) -> u16 {
        (self.bytes(self.datagram) / self.datagram.max(1)).max(1) as u16
    }

    /// Returns the most bytes of a train of datagrams that have `segment` bytes each.
    fn bytes(self, segment: usize) -> usize {
        self.train.min(MOST_BYTES).min(segment * MOST_SEGMENTS)
    }
}

impl Train {
    fn len(&self) -> usize {
        self.to - self.from
    }

    /// Returns whether one more datagram of this train's size can follow.
    fn is_open(&self, limits: Limits) -> bool {
        let is_whole = self.len().is_multiple_of(self.segment.max(1));
        let is_usual = self.segment > 0 && self.segment <= limits.datagram;
        is_whole && is_usual && self.len() + self.segment <= limits.bytes(self.segment)
    }
}

impl Batch {
    /// Returns whether these datagrams must leave before any more are added.
    pub(super) fn is_full(&self) -> bool {
        self.datagrams >= MOST_DATAGRAMS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.trains.is_empty()
    }

    /// Returns whether a train of several datagrams has as many bytes as one call takes.
    pub(super) fn has_full_train(&self) -> bool {
        let is_full = |train: &Train| train.len() > train.segment && train.len() + train.segment > MOST_BYTES;
        self.trains.iter().any(is_full)
    }

    /// Forgets what has been sent and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.trains.clear();
        self.datagrams = 0;
    }

    /// Appends a datagram of its own.
    pub(super) fn push(&mut self, peer: SocketAddr, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.begin(peer, datagram.len(), Manner::default());
    }

    /// Appends datagrams that `next` writes, until it has none or one train is complete. A train
    /// of a single datagram may be larger than the limit. Returns false if `next` has no more.
    pub(super) fn fill(
        &mut self,
        peer: SocketAddr,
        limits: Limits,
        mut next: impl FnMut(&mut Vec<u8>) -> bool,
    ) -> bool {
        let mut train: Option<usize> = None;
        loop {
            if train.is_some_and(|at| !self.trains[at].is_open(limits)) {
                return true;
            }
            let from = self.bytes.len();
            if !next(&mut self.bytes) {
                return false;
            }
            let len = self.bytes.len() - from;
            let ecn = limits.manner.ecn && packet::has_number(&self.bytes[from..]);
            let manner = Manner { ecn, ..limits.manner };
            match train.map(|at| &mut self.trains[at]) {
                Some(train) if len <= train.segment && manner == train.manner => {
                    train.to += len;
                    self.datagrams += 1;
                }
                Some(_) => {
                    self.begin(peer, len, manner);
                    return true;
                }
                None => {
                    train = Some(self.trains.len());
                    self.begin(peer, len, manner);
                }
            }
        }
    }

    /// Begins a train whose first datagram are the last `len` bytes.
    fn begin(&mut self, peer: SocketAddr, len: usize, manner: Manner) {
        let to = self.bytes.len();
        self.trains.push(Train { peer, segment: len, manner, from: to - len, to });
        self.datagrams += 1;
    }

    /// Returns the trains with their content.
    pub(super) fn trains(&self) -> impl Iterator<Item = (Train, &[u8])> {
        self.trains.iter().map(|train| (*train, &self.bytes[train.from..train.to]))
    }

    /// Returns the datagrams, one by one.
    #[cfg(test)]
    pub(super) fn datagrams(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        self.trains()
            .flat_map(|(train, bytes)| bytes.chunks(train.segment.max(1)).map(move |part| (train.peer, part)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 9))
    }

    /// Fills a batch with datagrams of these sizes, in as many turns as it takes; returns the trains' sizes.
    fn trains(sizes: &[usize], most: usize) -> Vec<Vec<usize>> {
        let (mut batch, mut left) = (Batch::default(), sizes.iter());
        let mut next = |out: &mut Vec<u8>| match left.next() {
            Some(size) => {
                out.resize(out.len() + size, 0);
                true
            }
            None => false,
        };
        let limits = Limits { train: most, datagram: 1500, manner: Manner::default() };
        while batch.fill(peer(), limits, &mut next) {}
        let sizes = |(train, bytes): (Train, &[u8])| bytes.chunks(train.segment).map(<[u8]>::len).collect();
        batch.trains().map(sizes).collect()
    }

    #[test]
    fn a_train_has_datagrams_of_one_size_and_a_smaller_last_one() {
        assert_eq!(
            trains(&[100, 100, 40, 100, 30, 50], 10_000),
            [vec![100, 100, 40], vec![100, 30], vec![50]]
        );
        // A larger one ends the turn, too.
        assert_eq!(trains(&[20, 100, 100], 10_000), [vec![20], vec![100], vec![100]]);
    }

    #[test]
    fn a_train_is_no_longer_than_asked_and_than_the_kernel_takes() {
        assert_eq!(
            trains(&[1501, 1501, 20], 10_000),
            [vec![1501], vec![1501], vec![20]],
            "it may be refused"
        );
        assert_eq!(trains(&[100; 7], 300), [vec![100; 3], vec![100; 3], vec![100]]);
        assert_eq!(trains(&[100; 2], 10), [[100], [100]], "a single datagram leaves in any case");
        let lengths = |size| trains(&vec![size; 100], usize::MAX).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(lengths(1472), [44, 44, 12]);
        assert_eq!(lengths(20), [64, 36]);
        for (size, is_full) in [(1472, true), (20, false), (40_000, false)] {
            let mut batch = Batch::default();
            let limits = Limits { train: usize::MAX, datagram: size, manner: Manner::default() };
            batch.fill(peer(), limits, |out| {
                out.resize(out.len() + size, 0);
                true
            });
            assert_eq!(batch.has_full_train(), is_full, "{size}");
        }
    }

    #[test]
    fn the_packets_of_a_train_are_those_that_fill_puts_into_it() {
        for (size, most, packets) in
            [(1472, usize::MAX, 44), (1472, 5000, 3), (600, 100_000, 64), (1472, 10, 1)]
        {
            let limits = Limits { train: most, datagram: size, manner: Manner::default() };
            let longest = trains(&vec![size; 200], most).iter().map(Vec::len).max();
            assert_eq!((longest, limits.packets()), (Some(packets), packets as u16), "{size} {most}");
        }
    }

    #[test]
    fn an_acknowledgement_is_not_ecn_capable_and_ends_the_train_of_data() {
        let (mut batch, mut left) = (Batch::default(), [[0x01; 40], [0x01; 40], [0x21; 40]].iter());
        let mut next = |out: &mut Vec<u8>| {
            left.next().is_some_and(|packet| {
                out.extend_from_slice(packet);
                true
            })
        };
        let manner = Manner { ecn: true, fragments: true };
        while batch.fill(peer(), Limits { train: 1000, datagram: 1500, manner }, &mut next) {}
        let trains: Vec<_> = batch.trains().map(|(train, bytes)| (train.manner, bytes.len())).collect();
        assert_eq!(trains, [(manner, 80), (Manner { ecn: false, ..manner }, 40)]);
    }

    #[test]
    fn a_batch_is_full_after_so_many_datagrams_and_empty_after_they_have_left() {
        let mut batch = Batch::default();
        for _ in 0..MOST_DATAGRAMS {
            assert!(!batch.is_full());
            batch.push(peer(), b"reset");
        }
        assert!(batch.is_full());
        assert_eq!(batch.datagrams().count(), MOST_DATAGRAMS);
        batch.clear();
        assert!(batch.is_empty() && !batch.is_full());
    }
}
