//! How a transport finds losses and repairs them.

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RACK-TLP (RFC 8985) and PRR (RFC 9937).
    Rack,
    /// Three duplicate acks or their like in SACK, and the pipe (RFC 6675). As in ns-2, a timeout is not undone, needless or not.
    Sack,
}

/// How uTP finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtpRecovery {
    /// Packet and time thresholds on transmissions, tail probes.
    Modern,
    /// As libutp does.
    Libutp,
    /// As libutp does, with a shortest timeout of 200 ms.
    Libutp200ms,
    /// As libutp-mod does.
    LibutpMod,
}
