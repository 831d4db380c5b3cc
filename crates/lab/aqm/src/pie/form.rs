//! The sources of PIE's rules.

/// Whose rules where sources differ in more than a number; the header of [`pie`](crate::pie) has the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RFC 8033.
    Rfc8033,
    /// Linux's `sch_pie`.
    Linux,
    /// FreeBSD's `dn_aqm_pie`.
    FreeBsd,
}
