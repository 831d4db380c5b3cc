//! Connections of quinn with our controllers, over real sockets.

mod common;
mod marking;
mod pacing;
mod path_mtu;
mod qlog;
mod transfers;
mod yielding;
