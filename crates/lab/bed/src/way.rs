//! The two directions of a link.

use std::fmt;

/// A direction: of a link, or of a flow between its client and its server. They are the same for flows that go up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Way {
    /// From client to server; on a link, the direction of a flow that goes up.
    Forward,
    /// From server to client.
    Reverse,
}

impl Way {
    /// Both ways.
    pub const BOTH: [Way; 2] = [Way::Forward, Way::Reverse];

    /// Returns the other way.
    pub fn opposite(self) -> Way {
        match self {
            Way::Forward => Way::Reverse,
            Way::Reverse => Way::Forward,
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Forward => "forward",
            Way::Reverse => "reverse",
        })
    }
}
