//! utp
