//! Questions to the kernel over netlink that are answered by a list.
//!
//! A message is a header of 16 bytes and a payload. A payload is a struct and then attributes, each with a header of 4 bytes. Both are
//! padded to multiples of 4 bytes (linux/netlink.h).

use rustix::net::{
    recv, send, socket_with, AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType,
};
use std::io;

const HEADER: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// NLM_F_REQUEST | NLM_F_DUMP
const LIST: u16 = 0x301;
/// The bits of an attribute's type beside NLA_F_NESTED and NLA_F_NET_BYTEORDER.
const TYPE: u16 = 0x3fff;
/// Longer than any message: the kernel's are at most 32 KiB.
const BUFFER: usize = 1 << 16;

/// Asks for a list and hands the payload of each answer to `take`.
///
/// # Errors
/// The kernel's.
pub fn list(
    protocol: Option<Protocol>,
    kind: u16,
    question: &[u8],
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?;
    let mut message = Vec::new();
    message.extend(((HEADER + question.len()) as u32).to_ne_bytes());
    message.extend([kind.to_ne_bytes(), LIST.to_ne_bytes()].concat());
    message.extend([0; 8]);
    message.extend(question);
    send(&socket, &message, SendFlags::empty())?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let (length, _) = recv(&socket, &mut buffer, RecvFlags::empty())?;
        let mut rest = &buffer[..length];
        while let Some((kind, payload, after)) = next_message(rest) {
            match kind {
                NLMSG_DONE => return Ok(()),
                NLMSG_ERROR => return Err(io::Error::from_raw_os_error(-(u32_at(payload, 0) as i32))),
                _ => take(payload),
            }
            rest = after;
        }
    }
}

/// Splits the first message off: its type, its payload, and the others.
fn next_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32_at(bytes.get(..HEADER)?, 0) as usize;
    let payload = bytes.get(HEADER..length)?;
    Some((u16_at(bytes, 4), payload, bytes.get(padded(length)..).unwrap_or_default()))
}

/// Returns the attributes of a list of them: type and value.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes.get(..4)?, 0));
        let (kind, value) = (u16_at(bytes, 2) & TYPE, bytes.get(4..length)?);
        bytes = bytes.get(padded(length)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// Returns an attribute.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = 4 + value.len();
    let mut bytes = [(length as u16).to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(padded(length), 0);
    bytes
}

/// Returns the text of an attribute, without the zero at its end.
pub fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned()
}

/// Returns a number of the machine's byte order; 0 beyond the end, which an older kernel's shorter struct has earlier.
pub fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let found = bytes.get(offset..offset + 4).and_then(|bytes| bytes.try_into().ok());
    found.map_or(0, u32::from_ne_bytes)
}

/// Returns a number of 16 bits, as [`u32_at`].
pub fn u16_at(bytes: &[u8], offset: usize) -> u16 {
    let found = bytes.get(offset..offset + 2).and_then(|bytes| bytes.try_into().ok());
    found.map_or(0, u16::from_ne_bytes)
}

fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_they_are_written_and_a_cut_one_ends_them() {
        let bytes =
            [attribute(4, b"cubic\0"), attribute(0x8014, &attribute(1, &7u32.to_ne_bytes()))].concat();
        let found: Vec<_> = attributes(&bytes).collect();
        assert_eq!((found[0].0, text(found[0].1)), (4, "cubic".to_owned()));
        assert_eq!(found[1].0, 0x14);
        assert_eq!(attributes(found[1].1).map(|(_, value)| u32_at(value, 0)).collect::<Vec<_>>(), [7]);
        assert_eq!(attributes(&bytes[..bytes.len() - 1]).count(), 1);
        assert_eq!(attributes(&[0, 0, 1, 0]).count(), 0, "shorter than its header");
    }
}
