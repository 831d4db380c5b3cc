//! Written data that no packet carries yet, cut into packets' payloads as they come.
//!
//! A payload is an allocation of its own: it lives until its packet is acknowledged, and would otherwise keep alive
//! whatever larger buffer it was cut from. Zeros are only counted.

use super::reorder::ALLOCATION;
use super::scoreboard::Body;
use std::collections::VecDeque;

/// Places for payloads that stay when nothing is waiting.
const SPARE_PAYLOADS: usize = 64;
/// Most allocations that are kept while data flows.
const SPARE_ALLOCATIONS: u64 = 2048;

/// Payloads waiting to be sent.
#[derive(Debug)]
pub struct SendBuffer {
    full: usize,
    payloads: VecDeque<Vec<u8>>,
    /// Empty payloads, for those that come next.
    spare: Vec<Vec<u8>>,
    /// Zeros after all payloads.
    zeros: u64,
    bytes: u64,
}

impl SendBuffer {
    /// Creates an empty buffer that cuts payloads of `full` bytes.
    pub fn new(full: u32) -> SendBuffer {
        SendBuffer { full: full as usize, payloads: VecDeque::new(), spare: Vec::new(), zeros: 0, bytes: 0 }
    }

    /// Returns the number of bytes waiting.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Returns the memory in use, bytes.
    pub fn memory(&self) -> u64 {
        let payloads = self.payloads.capacity() * size_of::<Vec<u8>>();
        let spare = self.spare.len() as u64 * (self.full as u64 + ALLOCATION);
        self.bytes - self.zeros + payloads as u64 + self.payloads.len() as u64 * ALLOCATION + spare
    }

    /// Returns whether nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends bytes.
    pub fn write(&mut self, data: &[u8]) {
        self.spell_out_zeros();
        self.bytes += data.len() as u64;
        self.store(data);
    }

    /// Appends `n` zeros, which take no memory unless other bytes share a packet with them or follow.
    pub fn write_zeros(&mut self, n: u64) {
        self.bytes += n;
        let joined = match self.payloads.back_mut().filter(|last| last.len() < self.full) {
            Some(last) => {
                let joined = n.min((self.full - last.len()) as u64);
                last.resize(last.len() + joined as usize, 0);
                joined
            }
            None => 0,
        };
        self.zeros += n - joined;
    }

    fn spell_out_zeros(&mut self) {
        while self.zeros > 0 {
            let zeros = [0; 1024];
            let n = self.zeros.min(zeros.len() as u64);
            self.zeros -= n;
            self.store(&zeros[..n as usize]);
        }
    }

    fn store(&mut self, mut data: &[u8]) {
        while !data.is_empty() {
            if self.payloads.back().is_none_or(|last| last.len() >= self.full) {
                let room = self.full.min(data.len().next_power_of_two());
                self.payloads.push_back(self.spare.pop().unwrap_or_else(|| Vec::with_capacity(room)));
            }
            let Some(last) = self.payloads.back_mut() else { return };
            let (now, later) = data.split_at(data.len().min(self.full - last.len()));
            last.extend_from_slice(now);
            data = later;
        }
    }

    /// Keeps the memory of a payload that has arrived, as long as there are at most `spare` bytes of that. Payloads made and
    /// freed by several threads would leave a window's worth of memory in the allocator's arena of each.
    pub fn reuse(&mut self, mut payload: Vec<u8>, spare: u64) {
        let spare = spare / (self.full as u64 + ALLOCATION);
        if (self.spare.len() as u64) < spare.min(SPARE_ALLOCATIONS) && payload.capacity() == self.full {
            payload.clear();
            self.spare.push(payload);
        }
    }

    /// Limits payloads to `full` bytes from here on. Shorter ones that were cut before are kept.
    pub fn set_full(&mut self, full: u32) {
        let is_less = (full as usize) < self.full;
        self.full = full as usize;
        self.spare = Vec::new();
        if is_less {
            std::mem::take(&mut self.payloads).iter().for_each(|payload| self.store(payload));
        }
    }

    /// Returns whether the next payload waits for nothing more.
    pub fn next_is_complete(&self) -> bool {
        let follows = self.payloads.len() > 1 || self.zeros > 0;
        match self.payloads.front() {
            Some(payload) => payload.len() >= self.full || follows,
            None => self.zeros >= self.full as u64,
        }
    }

    /// Gives back the memory of payloads that have arrived, and what is kept for data to come.
    pub fn release_memory(&mut self) {
        self.spare = Vec::new();
        self.payloads.shrink_to_fit();
    }

    /// Returns the length of the next payload.
    pub fn next_len(&self) -> Option<u64> {
        match self.payloads.front() {
            Some(payload) => Some(payload.len() as u64),
            None => (self.zeros > 0).then(|| self.zeros.min(self.full as u64)),
        }
    }

    /// Takes the next payload, full or not.
    pub fn take(&mut self) -> Option<Body> {
        let len = self.next_len()?;
        self.bytes -= len;
        let payload = self.payloads.pop_front();
        if self.payloads.is_empty() {
            self.payloads.shrink_to(SPARE_PAYLOADS);
        }
        let Some(payload) = payload else {
            self.zeros -= len;
            return Some(Body::Zeros(len as u32));
        };
        Some(Body::Data(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(buffer: &mut SendBuffer) -> Vec<Vec<u8>> {
        let bytes = |body| match body {
            Body::Data(payload) => payload,
            Body::Zeros(len) => vec![0; len as usize],
            Body::Fin => unreachable!("a buffer has no end"),
        };
        std::iter::from_fn(|| buffer.take()).map(bytes).collect()
    }

    #[test]
    fn zeros_share_packets_with_other_bytes_as_if_they_had_been_written_out() {
        for (n, zeros, m) in
            [(0, 250, 0), (30, 30, 30), (130, 270, 5), (100, 100, 100), (0, 1, 0), (99, 2, 250)]
        {
            let (mut counted, mut written) = (SendBuffer::new(100), SendBuffer::new(100));
            counted.write(&vec![1; n]);
            counted.write_zeros(zeros as u64);
            counted.write(&vec![2; m]);
            written.write(&[vec![1; n], vec![0; zeros], vec![2; m]].concat());
            assert_eq!((counted.len(), counted.next_len()), (written.len(), written.next_len()));
            assert_eq!(taken(&mut counted), taken(&mut written), "{n}, {zeros}, {m}");
            assert!(counted.is_empty());
        }
    }

    #[test]
    fn payloads_that_have_arrived_lend_their_memory_to_the_next_ones_within_a_bound() {
        let mut buffer = SendBuffer::new(100);
        buffer.write(&[1; 1000]);
        taken(&mut buffer).into_iter().for_each(|payload| buffer.reuse(payload, 4 * (100 + ALLOCATION)));
        assert_eq!(buffer.spare.len(), 4);
        let before = buffer.memory();
        buffer.write(&[2; 250]);
        assert_eq!((buffer.spare.len(), buffer.memory()), (1, before - 50));
        assert_eq!(taken(&mut buffer).concat(), [2; 250]);
        buffer.release_memory();
        assert_eq!(buffer.memory(), 0);
    }

    #[test]
    fn a_new_length_holds_for_what_is_not_cut_yet() {
        for (full, lengths) in [(150, vec![100, 100, 150, 100]), (40, [vec![40; 11], vec![10]].concat())] {
            let mut buffer = SendBuffer::new(100);
            buffer.write(&[1; 250]);
            buffer.set_full(full);
            buffer.write(&[2; 150]);
            buffer.write_zeros(50);
            let mut complete = Vec::new();
            let mut taken = Vec::new();
            while let Some(len) = buffer.next_len() {
                complete.push(buffer.next_is_complete());
                taken.push(len);
                assert!(buffer.take().is_some());
            }
            assert_eq!(taken, lengths);
            assert!(complete[..taken.len() - 1].iter().all(|complete| *complete), "{complete:?}");
        }
    }

    #[test]
    fn zeros_alone_are_not_stored() {
        let mut buffer = SendBuffer::new(100);
        buffer.write_zeros(150);
        buffer.write_zeros(1 << 40);
        assert!(buffer.payloads.is_empty());
        assert!(matches!(buffer.take(), Some(Body::Zeros(100))));
    }

    #[test]
    fn writes_of_any_size_become_full_payloads_and_a_rest() {
        for step in [1, 7, 100, 1000] {
            let mut buffer = SendBuffer::new(100);
            let data: Vec<u8> = (0..250).map(|i| i as u8).collect();
            data.chunks(step).for_each(|chunk| buffer.write(chunk));
            assert_eq!(buffer.len(), 250);
            let payloads = taken(&mut buffer);
            assert_eq!(payloads.iter().map(|payload| payload.len()).collect::<Vec<_>>(), [100, 100, 50]);
            assert_eq!(payloads.concat(), data);
            assert!(buffer.is_empty() && buffer.next_len().is_none());
        }
    }
}
