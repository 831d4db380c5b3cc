//! Everywhere else: quinn's own sending and receiving, which writes the byte with ECN alone and tells no more of it.

use super::{Inbox, Socket};
use quinn::udp::{RecvMeta, Transmit};
use std::io::{self, IoSliceMut};

/// Do packets carry the service class on this platform?
pub const DSCP_IS_SENT: bool = false;

#[derive(Default)]
pub(super) struct Receiver;

pub(super) fn send(socket: &Socket, transmit: &Transmit<'_>) -> io::Result<()> {
    socket.state.send((&socket.io).into(), transmit)
}

pub(super) fn receive(
    socket: &Socket,
    inbox: &mut Inbox,
    bufs: &mut [IoSliceMut<'_>],
    meta: &mut [RecvMeta],
) -> io::Result<usize> {
    let Receiver = inbox.receiver;
    socket.state.recv((&socket.io).into(), bufs, meta)
}
