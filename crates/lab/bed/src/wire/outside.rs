//! Links whose queue is the kernel's: which of the packets in it has come out.
//!
//! The kernel returns bytes, in which it has counted the time to live down and perhaps set an ECN mark. Apart from that they are
//! those that were handed to it, and among equal packets the first that went in comes out first.

use super::ip::Headers;
use crate::error::Error;
use crate::net::Tun;
use afteryou_base::Time;
use afteryou_sim::live::{Handed, Live};
use std::collections::hash_map::{Entry, HashMap};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of a packet that are compared: headers and the first of the data.
const COMPARED: usize = 96;

/// A link's queue in the kernel.
#[derive(Debug)]
pub struct Outside {
    /// The link.
    pub link: usize,
    /// The device, before and behind the queue.
    pub tun: Tun,
    /// By fingerprint, the serial numbers of packets in the queue.
    inside: HashMap<u64, VecDeque<u64>>,
    /// Packets that the device has refused.
    pub refused: u64,
}

impl Outside {
    /// Creates the queue of a link, empty.
    pub fn new(link: usize, tun: Tun) -> Outside {
        Outside { link, tun, inside: HashMap::new(), refused: 0 }
    }

    /// Puts a packet into the queue.
    pub fn put(&mut self, handed: Handed<'_>) {
        self.inside.entry(fingerprint(handed.bytes)).or_default().push_back(handed.serial);
        self.refused += u64::from(self.tun.write(handed.bytes).is_err());
    }

    /// Takes the next packet that has come out, and gives it back to the link at `at`; false if there is none.
    ///
    /// # Errors
    /// [`Error::Tun`] if the device cannot be read.
    pub fn take(&mut self, live: &mut Live<'_>, at: Time, buffer: &mut [u8]) -> Result<bool, Error> {
        let Some(length) = self.tun.read(buffer).map_err(Error::Tun)? else { return Ok(false) };
        let packet = &buffer[..length];
        if let (Some(serial), Some(headers)) = (self.found(fingerprint(packet)), Headers::of(packet)) {
            live.come_back(at, serial, headers.tos);
        }
        Ok(true)
    }

    fn found(&mut self, fingerprint: u64) -> Option<u64> {
        let Entry::Occupied(mut same) = self.inside.entry(fingerprint) else { return None };
        let first = same.get_mut().pop_front();
        if same.get().is_empty() {
            same.remove();
        }
        first
    }
}

/// Returns a number of the bytes that the kernel does not change.
fn fingerprint(packet: &[u8]) -> u64 {
    let mut compared = [0; COMPARED];
    let length = packet.len().min(COMPARED);
    compared[..length].copy_from_slice(&packet[..length]);
    match compared[0] >> 4 {
        // TOS, time to live, checksum.
        4 => [1, 8, 10, 11].iter().for_each(|place| compared[*place] = 0),
        // Traffic class, hop limit.
        _ => {
            compared[0] &= 0xf0;
            compared[1] &= 0x0f;
            compared[7] = 0;
        }
    }
    let mut hasher = DefaultHasher::new();
    (packet.len(), compared).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::super::set_tos;
    use super::*;

    #[test]
    fn a_packet_is_known_again_with_a_mark_and_a_shorter_time_to_live_and_no_other_packet_is() {
        let mut packet = [0; 120];
        (packet[0], packet[8], packet[9]) = (0x45, 64, 6);
        let before = fingerprint(&packet);
        set_tos(&mut packet, 3);
        packet[8] = 63;
        assert_eq!(fingerprint(&packet), before);
        for (place, what) in [(5, "identification"), (24, "sequence number"), (95, "data")] {
            packet[place] ^= 1;
            assert_ne!(fingerprint(&packet), before, "{what}");
            packet[place] ^= 1;
        }
        assert_ne!(fingerprint(&packet[..119]), before);
        let mut packet = [0; 120];
        (packet[0], packet[7]) = (0x60, 64);
        let before = fingerprint(&packet);
        set_tos(&mut packet, 3);
        packet[7] = 63;
        assert_eq!(fingerprint(&packet), before);
    }
}
