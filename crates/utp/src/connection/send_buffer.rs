//! What the application has written and no packet carries yet, cut into packets' payloads as it comes.
//!
//! A payload is an allocation of its own: it lives until its packet is acknowledged, and would otherwise keep alive
//! whatever larger buffer it was cut from.

use bytes::Bytes;
use std::collections::VecDeque;

/// Payloads waiting to be sent.
#[derive(Debug)]
pub struct SendBuffer {
    full: usize,
    payloads: VecDeque<Vec<u8>>,
    bytes: u64,
}

impl SendBuffer {
    /// An empty buffer that cuts payloads of `full` bytes.
    pub fn new(full: u32) -> SendBuffer {
        SendBuffer { full: full as usize, payloads: VecDeque::new(), bytes: 0 }
    }

    /// Bytes waiting.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Nothing is waiting.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Appends bytes.
    pub fn write(&mut self, mut data: &[u8]) {
        self.bytes += data.len() as u64;
        while !data.is_empty() {
            if self.payloads.back().is_none_or(|last| last.len() == self.full) {
                self.payloads.push_back(Vec::with_capacity(self.full.min(data.len().next_power_of_two())));
            }
            let Some(last) = self.payloads.back_mut() else { return };
            let (now, later) = data.split_at(data.len().min(self.full - last.len()));
            last.extend_from_slice(now);
            data = later;
        }
    }

    /// Length of the next payload.
    pub fn next_len(&self) -> Option<u64> {
        self.payloads.front().map(|payload| payload.len() as u64)
    }

    /// Takes the next payload, full or not.
    pub fn take(&mut self) -> Option<Bytes> {
        let payload = self.payloads.pop_front()?;
        self.bytes -= payload.len() as u64;
        Some(Bytes::from(payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_of_any_size_become_full_payloads_and_a_rest() {
        for step in [1, 7, 100, 1000] {
            let mut buffer = SendBuffer::new(100);
            let data: Vec<u8> = (0..250).map(|i| i as u8).collect();
            data.chunks(step).for_each(|chunk| buffer.write(chunk));
            assert_eq!(buffer.len(), 250);
            let payloads: Vec<Bytes> = std::iter::from_fn(|| buffer.take()).collect();
            assert_eq!(payloads.iter().map(|payload| payload.len()).collect::<Vec<_>>(), [100, 100, 50]);
            assert_eq!(payloads.concat(), data);
            assert!(buffer.is_empty() && buffer.next_len().is_none());
        }
    }
}
