//! uTP for programs in C and C++.
//!
//! Each function is a call of [`afteryou_utp::Connection`] with C's types. The header `include/afteryou_utp.h` is made of this file by
//! cbindgen and has the rules of ownership and threads. `examples/transfer.c` is a whole program.
//!
//! # What is not implemented
//! A table of connections: a program finds the connection of a datagram by the peer's address and [`ay_utp_datagram_id`], as with
//! any map. Callbacks, as libutp has them: events are polled.

mod error;
mod settings;

pub use error::Code;
pub use settings::*;

use afteryou_base::Time;
use afteryou_cc::{list, Controller, Setup};
use afteryou_utp::packet::{Kind, Packet};
use afteryou_utp::{Config, Connection, ConnectionId, Event, SeqNr};
use std::ffi::{c_char, CStr};
use std::slice;

/// A connection. Opaque.
#[allow(non_camel_case_types)]
pub struct ay_utp_connection(Connection);

/// Reports of ay_utp_poll_event.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ay_utp_event {
    /// Nothing more for now.
    AY_UTP_NOTHING = 0,
    /// The handshake is complete.
    AY_UTP_CONNECTED = 1,
    /// Bytes can be read, or the peer's direction is at its end. Read until ay_utp_read returns 0; then it may come again.
    AY_UTP_READABLE = 2,
    /// A write took less than it was given, and now there is room.
    AY_UTP_WRITABLE = 3,
    /// The peer has acknowledged everything up to the end of our direction.
    AY_UTP_FINISH_ACKNOWLEDGED = 4,
    /// The connection is over. ay_utp_error has the reason. The last event.
    AY_UTP_CLOSED = 5,
}

/// Counters and measurements.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ay_utp_statistics {
    /// Packets sent, all kinds.
    pub packets_sent: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Packets found lost by acknowledgements.
    pub losses: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Payload acknowledged by the peer, bytes.
    pub bytes_delivered: u64,
    /// Payload received in order, bytes.
    pub bytes_received: u64,
    /// Payload believed to be in the network, bytes.
    pub bytes_in_flight: u64,
    /// Smoothed round-trip time, microseconds; 0: not known yet.
    pub smoothed_rtt_us: u64,
    /// Smallest round-trip time, microseconds; 0: not known yet.
    pub min_rtt_us: u64,
}

/// Opens a connection with default settings; ay_utp_connect_with takes others. `controller` is a name of the list of controllers, such as "ledbat++" or "cubic". `recv_id` and `seq_nr`
/// should be random; `recv_id` and the number after it must be free towards that peer.
/// Returns null if there is no such controller.
///
/// # Safety
/// `controller` is a string that ends with a zero byte.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_connect(
    controller: *const c_char,
    now_us: u64,
    recv_id: u16,
    seq_nr: u16,
) -> *mut ay_utp_connection {
    // SAFETY: the caller's promise is the same.
    let Some(controller) = (unsafe { controller_of(controller) }) else { return std::ptr::null_mut() };
    owned(Connection::connect(
        Config::default(),
        controller,
        Time::from_micros(now_us),
        ConnectionId(recv_id),
        SeqNr(seq_nr),
    ))
}

/// Answers a SYN, which `datagram` is. `seq_nr` should be random. Returns null if there is no such controller or the datagram is no SYN.
///
/// # Safety
/// `controller` is a string that ends with a zero byte; `datagram` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_accept(
    controller: *const c_char,
    now_us: u64,
    datagram: *const u8,
    len: usize,
    seq_nr: u16,
) -> *mut ay_utp_connection {
    // SAFETY: the caller's promises are the same.
    let (controller, datagram) = unsafe { (controller_of(controller), bytes(datagram, len)) };
    let (Some(controller), Some(Ok(packet))) = (controller, datagram.map(Packet::decode)) else {
        return std::ptr::null_mut();
    };
    if packet.header.kind != Kind::Syn {
        return std::ptr::null_mut();
    }
    owned(Connection::accept(
        Config::default(),
        controller,
        Time::from_micros(now_us),
        &packet,
        SeqNr(seq_nr),
    ))
}

/// Frees a connection. The peer is not informed: call ay_utp_abort and ay_utp_transmit before, or wait for
/// AY_UTP_CLOSED. Null is fine.
///
/// # Safety
/// `connection` comes from ay_utp_connect or ay_utp_accept and is not used any more.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_free(connection: *mut ay_utp_connection) {
    if !connection.is_null() {
        // SAFETY: `owned` made it, and the caller gives it back once.
        drop(unsafe { Box::from_raw(connection) });
    }
}

/// Returns the id that leads to the connection of a datagram, together with the peer's address: the one that ay_utp_recv_id returns. -1: no
/// uTP. A SYN's is the id of the connection that ay_utp_accept would make. A reset may have the id of the other direction.
///
/// # Safety
/// `datagram` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_datagram_id(datagram: *const u8, len: usize) -> i32 {
    // SAFETY: the caller's promise is the same.
    let Some(Ok(packet)) = unsafe { bytes(datagram, len) }.map(Packet::decode) else { return -1 };
    let id = packet.header.connection_id;
    i32::from(if packet.header.kind == Kind::Syn { id.next().0 } else { id.0 })
}

/// Returns the id in the packets that the peer sends to this connection; 0 for null.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_recv_id(connection: *const ay_utp_connection) -> u16 {
    // SAFETY: the caller's promise is the same.
    unsafe { connection.as_ref() }.map_or(0, |connection| connection.0.recv_id().0)
}

/// Handles a datagram of the peer for this connection. Whatever is no uTP is refused and changes nothing.
///
/// # Safety
/// `connection` is null or a connection; `datagram` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_handle(
    connection: *mut ay_utp_connection,
    now_us: u64,
    datagram: *const u8,
    len: usize,
) -> Code {
    // SAFETY: the caller's promises are the same.
    let (connection, datagram) = unsafe { (connection.as_mut(), bytes(datagram, len)) };
    let (Some(connection), Some(Ok(packet))) = (connection, datagram.map(Packet::decode)) else {
        return Code::AY_UTP_BAD_ARGUMENT;
    };
    connection.0.handle(Time::from_micros(now_us), &packet);
    Code::AY_UTP_OK
}

/// Writes the next datagram to `buffer` and returns its length; 0: there is none now. `buffer` must have room for AY_UTP_DATAGRAM bytes, else
/// nothing is sent and 0 returned.
///
/// # Safety
/// `connection` is null or a connection; `buffer` has room for `room` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_transmit(
    connection: *mut ay_utp_connection,
    now_us: u64,
    buffer: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: the caller's promises are the same.
    let (connection, buffer) = unsafe { (connection.as_mut(), bytes_mut(buffer, room)) };
    let (Some(connection), Some(buffer)) = (connection, buffer.filter(|_| room >= AY_UTP_DATAGRAM)) else {
        return 0;
    };
    let mut datagram = Vec::with_capacity(AY_UTP_DATAGRAM);
    if !connection.0.poll_transmit(Time::from_micros(now_us), &mut datagram) {
        return 0;
    }
    let Some(place) = buffer.get_mut(..datagram.len()) else { return 0 };
    place.copy_from_slice(&datagram);
    datagram.len()
}

/// Room for any datagram of a connection, bytes.
pub const AY_UTP_DATAGRAM: usize = 2048;

/// Returns when ay_utp_handle_deadline is to be called at the latest, microseconds; UINT64_MAX: not before something else happens.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_deadline(connection: *const ay_utp_connection) -> u64 {
    // SAFETY: the caller's promise is the same.
    let deadline = unsafe { connection.as_ref() }.and_then(|connection| connection.0.deadline());
    // Rounded up: a call a moment too early would have to be repeated.
    deadline.map_or(u64::MAX, |at| at.0.div_ceil(1000))
}

/// Handles whatever is due at `now_us`. Early and spurious calls do no harm.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_handle_deadline(connection: *mut ay_utp_connection, now_us: u64) -> Code {
    // SAFETY: the caller's promise is the same.
    let Some(connection) = (unsafe { connection.as_mut() }) else { return Code::AY_UTP_BAD_ARGUMENT };
    connection.0.handle_deadline(Time::from_micros(now_us));
    Code::AY_UTP_OK
}

/// Returns 1 while datagrams may be fragmented on their way, else 0. With a search for the path MTU (AY_UTP_MAX_PAYLOAD) the program's socket
/// forbids fragments at all other times (IP_MTU_DISCOVER, IP_DONTFRAG).
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_may_fragment(connection: *const ay_utp_connection) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe { connection.as_ref() }.is_some_and(|connection| connection.0.may_fragment()).into()
}

/// Takes in a router's report by ICMP that the path takes no datagrams (UDP payload) of more than `len` bytes.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_too_big(connection: *mut ay_utp_connection, now_us: u64, len: usize) -> Code {
    // SAFETY: the caller's promise is the same.
    unsafe { change(connection, |connection| connection.datagram_too_big(Time::from_micros(now_us), len)) }
}

/// Returns the length of a full datagram now, bytes: what the path is known to take; 0 for null.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_max_datagram(connection: *const ay_utp_connection) -> usize {
    // SAFETY: the caller's promise is the same.
    unsafe { connection.as_ref() }.map_or(0, |connection| connection.0.max_datagram())
}

/// Returns the next event; each change is reported once.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_poll_event(connection: *mut ay_utp_connection) -> ay_utp_event {
    // SAFETY: the caller's promise is the same.
    let Some(connection) = (unsafe { connection.as_mut() }) else { return ay_utp_event::AY_UTP_NOTHING };
    loop {
        return match connection.0.poll_event() {
            None => ay_utp_event::AY_UTP_NOTHING,
            Some(Event::Connected) => ay_utp_event::AY_UTP_CONNECTED,
            Some(Event::Readable) => ay_utp_event::AY_UTP_READABLE,
            Some(Event::Writable) => ay_utp_event::AY_UTP_WRITABLE,
            Some(Event::FinishAcknowledged) => ay_utp_event::AY_UTP_FINISH_ACKNOWLEDGED,
            Some(Event::Closed(_)) => ay_utp_event::AY_UTP_CLOSED,
            Some(_) => continue, // C programs of today have no others
        };
    }
}

/// Returns why the connection is over; AY_UTP_OK: it is not, or it ended in good order.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_error(connection: *const ay_utp_connection) -> Code {
    // SAFETY: the caller's promise is the same.
    let Some(connection) = (unsafe { connection.as_ref() }) else { return Code::AY_UTP_BAD_ARGUMENT };
    connection.0.error().map_or(Code::AY_UTP_OK, Code::from)
}

/// Takes bytes to send and returns how many, or a negative ay_utp_code. If fewer than `len`, AY_UTP_WRITABLE comes when there is room again.
///
/// # Safety
/// `connection` is null or a connection; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_write(
    connection: *mut ay_utp_connection,
    data: *const u8,
    len: usize,
) -> isize {
    // SAFETY: the caller's promises are the same.
    let (connection, data) = unsafe { (connection.as_mut(), bytes(data, len)) };
    let (Some(connection), Some(data)) = (connection, data) else {
        return Code::AY_UTP_BAD_ARGUMENT as isize;
    };
    count(connection.0.write(data))
}

/// Takes received bytes into `buffer` and returns how many, or a negative ay_utp_code. 0: none yet, or the end, see ay_utp_at_end.
///
/// # Safety
/// `connection` is null or a connection; `buffer` has room for `room` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_read(
    connection: *mut ay_utp_connection,
    now_us: u64,
    buffer: *mut u8,
    room: usize,
) -> isize {
    // SAFETY: the caller's promises are the same.
    let (connection, buffer) = unsafe { (connection.as_mut(), bytes_mut(buffer, room)) };
    let (Some(connection), Some(buffer)) = (connection, buffer) else {
        return Code::AY_UTP_BAD_ARGUMENT as isize;
    };
    count(connection.0.read(Time::from_micros(now_us), buffer))
}

/// Returns 1 if the peer's direction has ended and everything has been read, else 0.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_at_end(connection: *const ay_utp_connection) -> i32 {
    // SAFETY: the caller's promise is the same.
    unsafe { connection.as_ref() }.is_some_and(|connection| connection.0.is_at_end()).into()
}

/// Sends what has been written without waiting for a full packet.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_flush(connection: *mut ay_utp_connection) -> Code {
    // SAFETY: the caller's promise is the same.
    unsafe { change(connection, Connection::flush) }
}

/// Ends our direction after what has been written; reading continues (half-close).
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_finish(connection: *mut ay_utp_connection) -> Code {
    // SAFETY: the caller's promise is the same.
    unsafe { change(connection, Connection::finish) }
}

/// Drops the connection at once. The next ay_utp_transmit returns the reset that informs the peer.
///
/// # Safety
/// `connection` is null or a connection.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_abort(connection: *mut ay_utp_connection) -> Code {
    // SAFETY: the caller's promise is the same.
    unsafe { change(connection, Connection::abort) }
}

/// Writes counters and measurements to `statistics`.
///
/// # Safety
/// `connection` is null or a connection; `statistics` is null or has room for one.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_get_statistics(
    connection: *const ay_utp_connection,
    statistics: *mut ay_utp_statistics,
) -> Code {
    // SAFETY: the caller's promises are the same.
    let Some(connection) = (unsafe { connection.as_ref() }) else { return Code::AY_UTP_BAD_ARGUMENT };
    if statistics.is_null() {
        return Code::AY_UTP_BAD_ARGUMENT;
    }
    let now = connection.0.statistics();
    let us = |span: Option<afteryou_base::Span>| span.map_or(0, |span| span.as_micros());
    let copy = ay_utp_statistics {
        packets_sent: now.packets_sent,
        packets_received: now.packets_received,
        retransmissions: now.retransmissions,
        losses: now.losses,
        timeouts: now.timeouts,
        bytes_delivered: now.bytes_delivered,
        bytes_received: now.bytes_received,
        bytes_in_flight: now.in_flight,
        smoothed_rtt_us: us(now.smoothed_rtt),
        min_rtt_us: us(now.min_rtt),
    };
    // SAFETY: it is not null, and the caller promises room. It need not be initialised.
    unsafe { statistics.write(copy) };
    Code::AY_UTP_OK
}

fn owned(connection: Connection) -> *mut ay_utp_connection {
    Box::into_raw(Box::new(ay_utp_connection(connection)))
}

fn count(result: Result<usize, afteryou_utp::Error>) -> isize {
    match result {
        Ok(n) => isize::try_from(n).unwrap_or(isize::MAX),
        Err(error) => Code::from(error) as isize,
    }
}

/// Applies a change to a connection, if there is one.
///
/// # Safety
/// `connection` is null or a connection.
unsafe fn change(connection: *mut ay_utp_connection, change: impl FnOnce(&mut Connection)) -> Code {
    // SAFETY: the caller's promise is the same.
    let Some(connection) = (unsafe { connection.as_mut() }) else { return Code::AY_UTP_BAD_ARGUMENT };
    change(&mut connection.0);
    Code::AY_UTP_OK
}

/// Returns the controller of that name, if there is one.
///
/// # Safety
/// `name` is null or a string that ends with a zero byte.
unsafe fn controller_of(name: *const c_char) -> Option<Box<dyn Controller>> {
    if name.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the caller promises the zero byte.
    let name = unsafe { CStr::from_ptr(name) }.to_str().ok()?;
    list::find(name)?.build(&[], Setup::of(Config::default().payload)).ok()
}

/// Returns the bytes at `data`, if they can be a slice.
///
/// # Safety
/// `data` is null or has `len` bytes.
unsafe fn bytes<'a>(data: *const u8, len: usize) -> Option<&'a [u8]> {
    let fits = !data.is_null() && isize::try_from(len).is_ok();
    // SAFETY: it is not null, not too long, and the caller promises the bytes.
    fits.then(|| unsafe { slice::from_raw_parts(data, len) })
}

/// Returns the bytes at `data` for writing, if they can be a slice.
///
/// # Safety
/// `data` is null or has `len` bytes, which nobody else uses.
unsafe fn bytes_mut<'a>(data: *mut u8, len: usize) -> Option<&'a mut [u8]> {
    let fits = !data.is_null() && isize::try_from(len).is_ok();
    // SAFETY: it is not null, not too long, and the caller promises the bytes.
    fits.then(|| unsafe { slice::from_raw_parts_mut(data, len) })
}
