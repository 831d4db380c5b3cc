//! Differentiated services code points: the six upper bits of the TOS or traffic-class byte (RFC 2474).

/// Best effort, the default (RFC 2474 §4.1).
pub const DEFAULT: u8 = 0;
/// Lower effort: yields to all other traffic where the network supports it (RFC 8622).
pub const LE: u8 = 0b00_0001;
/// Class selector 1, which background traffic used before there was a class for it (RFC 3662).
pub const CS1: u8 = 0b00_1000;
/// The largest code point: six bits.
pub const MAX: u8 = 0b11_1111;

/// Code points that have a name in scenarios and on the command line.
pub const NAMES: [(&str, u8); 3] = [("default", DEFAULT), ("le", LE), ("cs1", CS1)];
