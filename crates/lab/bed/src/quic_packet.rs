//! Sizes of QUIC's packets.

use std::ops::RangeInclusive;

/// Headers of a packet with one stream: flags, connection id, packet number, the frame's head, the encryption's tag; bytes.
pub(crate) const HEADERS: u64 = 33;
/// Payloads that a packet may have, bytes: RFC 9000 §14 requires UDP payloads of 1200 bytes, the devices allow 1452.
pub(crate) const PAYLOADS: RangeInclusive<u64> = 1200 - HEADERS..=1452 - HEADERS;
