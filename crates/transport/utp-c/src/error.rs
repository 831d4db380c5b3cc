//! Results as numbers.

use afteryou_utp::Error;

/// How a call or a connection ended.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// All is well.
    AY_UTP_OK = 0,
    /// A null pointer, or a datagram that is no uTP.
    AY_UTP_BAD_ARGUMENT = -1,
    /// Nobody answered the SYN.
    AY_UTP_UNREACHABLE = -2,
    /// The SYN was answered by a reset.
    AY_UTP_REFUSED = -3,
    /// The peer has dropped the connection.
    AY_UTP_RESET = -4,
    /// The peer has not answered for too long.
    AY_UTP_TIMED_OUT = -5,
    /// This side has dropped the connection.
    AY_UTP_ABORTED = -6,
    /// Written to after ay_utp_finish or the end of the connection.
    AY_UTP_FINISHED = -7,
    /// Another reason, which this version of the interface has no number for.
    AY_UTP_OTHER = -8,
}

impl From<Error> for Code {
    fn from(error: Error) -> Code {
        match error {
            Error::Unreachable => Code::AY_UTP_UNREACHABLE,
            Error::Refused => Code::AY_UTP_REFUSED,
            Error::Reset => Code::AY_UTP_RESET,
            Error::TimedOut => Code::AY_UTP_TIMED_OUT,
            Error::Aborted => Code::AY_UTP_ABORTED,
            Error::Finished => Code::AY_UTP_FINISHED,
            _ => Code::AY_UTP_OTHER,
        }
    }
}
