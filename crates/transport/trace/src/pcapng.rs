//! Packets as a capture: pcapng, for Wireshark and everything else that reads captures.
//!
//! Format: draft-ietf-opsawg-pcapng. All packets are raw IP, and times are in nanoseconds.

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::name_resolution::{Ipv4Record, NameResolutionBlock, Record};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// Units of timestamps: 10 to the power of minus this, s.
const NANOSECONDS: u8 = 9;

/// A capture that is being written.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<W>,
}

/// A packet of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Its interface, counted from 0 in the order of [`Capture::interface`].
    pub interface: u32,
    /// Its time since 1970, or since the beginning of an experiment.
    pub at: Duration,
    /// The captured part, from the IP header on.
    pub data: &'a [u8],
    /// Length of the whole packet, bytes.
    pub length: u32,
    /// A comment about it.
    pub comment: Option<&'a str>,
}

impl<W: Write> Capture<W> {
    /// Begins a capture, with a comment about all of it.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn begin(writer: W, comment: Option<String>) -> io::Result<Capture<W>> {
        let comment = comment.map(|comment| SectionHeaderOption::Comment(comment.into()));
        let program =
            SectionHeaderOption::UserApplication(concat!("afteryou ", env!("CARGO_PKG_VERSION")).into());
        // The same bytes on every machine.
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: comment.into_iter().chain([program]).collect(),
            ..SectionHeaderBlock::default()
        };
        let writer = PcapNgWriter::with_section_header(writer, section).map_err(reason)?;
        Ok(Capture { writer })
    }

    /// Adds an interface with its name, and its speed in bit/s if it has one. Packets may precede it.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn interface(&mut self, name: &str, speed: Option<u64>) -> io::Result<()> {
        let mut options = vec![InterfaceDescriptionOption::IfName(Cow::Borrowed(name))];
        options.extend(speed.map(InterfaceDescriptionOption::IfSpeed));
        options.push(InterfaceDescriptionOption::IfTsResol(NANOSECONDS));
        self.write(InterfaceDescriptionBlock { linktype: DataLink::RAW, snaplen: 0, options })
    }

    /// Adds names of IPv4 addresses.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn names(&mut self, names: impl IntoIterator<Item = ([u8; 4], String)>) -> io::Result<()> {
        let record = |(address, name): ([u8; 4], String)| {
            Record::Ipv4(Ipv4Record { ip_addr: address.to_vec().into(), names: vec![name.into()] })
        };
        let records = names.into_iter().map(record).chain([Record::End]).collect();
        self.write(NameResolutionBlock { records, options: Vec::new() })
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn packet(&mut self, packet: &Packet<'_>) -> io::Result<()> {
        let comment = packet.comment.map(|comment| EnhancedPacketOption::Comment(comment.into()));
        self.write(EnhancedPacketBlock {
            interface_id: packet.interface,
            timestamp: packet.at,
            original_len: packet.length,
            data: Cow::Borrowed(packet.data),
            options: comment.into_iter().collect(),
        })
    }

    /// Returns the writer that the capture is written to.
    pub fn writer(&mut self) -> &mut W {
        self.writer.get_mut()
    }

    /// Ends the capture and returns what it was written to.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn finish(self) -> io::Result<W> {
        let mut writer = self.writer.into_inner();
        writer.flush()?;
        Ok(writer)
    }

    fn write<'a>(&mut self, block: impl PcapNgBlock<'a>) -> io::Result<()> {
        self.writer.write_pcapng_block(block).map(drop).map_err(reason)
    }
}

fn reason(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(reason) => reason,
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};

    #[test]
    fn packets_are_read_back_with_their_times_and_lengths() {
        let mut capture = Capture::begin(Vec::new(), Some("why".to_owned())).unwrap();
        capture.interface("first", Some(1_000_000)).unwrap();
        capture.interface("second", None).unwrap();
        let at = Duration::new(1_700_000_000, 123_456_789);
        let packet = Packet { interface: 1, at, data: &[0x45, 0, 1], length: 40, comment: Some("dropped") };
        capture.packet(&packet).unwrap();
        let written = capture.finish().unwrap();
        let mut reader = PcapNgReader::new(&written[..]).unwrap();
        let (mut interfaces, mut packets) = (0, Vec::new());
        while let Some(block) = reader.next_block() {
            match block.unwrap() {
                Block::InterfaceDescription(_) => interfaces += 1,
                Block::EnhancedPacket(block) => {
                    packets.push((
                        block.interface_id,
                        block.timestamp,
                        block.original_len,
                        block.data.to_vec(),
                    ));
                }
                _ => {}
            }
        }
        assert_eq!((interfaces, packets), (2, vec![(1, at, 40, vec![0x45, 0, 1])]));
    }
}
