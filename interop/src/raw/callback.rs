//! The C function that libutp calls, and its connections.

use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::slice;

use libutp_rs2_sys as sys;

use super::{addr, Callbacks, Conn, Event, Settings};
use crate::outcome::UtpFailure;

/// A connection that libutp has not yet let go of.
struct Live {
    conn: Conn,
    socket: *mut sys::utp_socket,
    closed: bool,
}

/// Everything the C callback reaches. No borrow in here is held while libutp or
/// the [`Callbacks`] run.
pub(super) struct State<C> {
    pub(super) callbacks: C,
    pub(super) settings: Settings,
    live: RefCell<Vec<Live>>,
    next: Cell<u64>,
}

impl<C> State<C> {
    pub(super) fn new(settings: Settings, callbacks: C) -> Self {
        State { callbacks, settings, live: RefCell::default(), next: Cell::new(0) }
    }

    pub(super) fn add(&self, socket: *mut sys::utp_socket) -> Conn {
        let conn = Conn(self.next.get());
        self.next.set(conn.0 + 1);
        self.live.borrow_mut().push(Live { conn, socket, closed: false });
        conn
    }

    /// Returns the C socket, as long as it may be used: not closed, not destroyed.
    pub(super) fn usable(&self, conn: Conn) -> Option<*mut sys::utp_socket> {
        let live = self.live.borrow();
        let found = live.iter().find(|l| l.conn == conn && !l.closed);
        found.map(|l| l.socket)
    }

    pub(super) fn set_closed(&self, conn: Conn) {
        for l in self.live.borrow_mut().iter_mut() {
            l.closed |= l.conn == conn;
        }
    }

    fn find(&self, socket: *mut sys::utp_socket) -> Option<Conn> {
        let live = self.live.borrow();
        live.iter().find(|l| l.socket == socket).map(|l| l.conn)
    }

    fn remove(&self, conn: Conn) {
        self.live.borrow_mut().retain(|l| l.conn != conn);
    }
}

/// Handles all calls of libutp.
///
/// # Safety
/// To be called by libutp only, from a context whose user data is a live
/// `State<C>`.
pub(super) unsafe extern "C" fn entry<C: Callbacks>(args: *mut sys::utp_callback_arguments) -> sys::uint64 {
    // libutp fills in only the fields that belong to the callback type, so only
    // those are read.
    let Some(args) = args.as_ref() else { return 0 };
    let state = sys::utp_context_get_userdata(args.context).cast::<State<C>>();
    let Some(state) = state.as_ref() else {
        return 0;
    };
    let tell = |event: Event<'_>| {
        if let Some(conn) = state.find(args.socket) {
            state.callbacks.event(conn, event);
        }
        0
    };
    match u32::try_from(args.callback_type).unwrap_or(u32::MAX) {
        sys::UTP_SENDTO => {
            let to = addr::read(args.unnamed_field1.address, args.unnamed_field2.address_len);
            if let Some(to) = to.filter(|_| !args.buf.is_null()) {
                let datagram = slice::from_raw_parts(args.buf, args.len);
                state.callbacks.send(datagram, to);
            }
            0
        }
        sys::UTP_ON_READ if !args.buf.is_null() => {
            tell(Event::Read(slice::from_raw_parts(args.buf, args.len)))
        }
        sys::UTP_ON_STATE_CHANGE => match u32::try_from(args.unnamed_field1.state) {
            Ok(sys::UTP_STATE_CONNECT) => tell(Event::Connected),
            Ok(sys::UTP_STATE_EOF) => tell(Event::Eof),
            Ok(sys::UTP_STATE_DESTROYING) => {
                // The socket is freed right after this.
                if let Some(conn) = state.find(args.socket) {
                    state.remove(conn);
                    state.callbacks.event(conn, Event::Destroyed);
                }
                0
            }
            // Writable: the loop tries to write in every round anyway.
            _ => 0,
        },
        sys::UTP_ON_ERROR => tell(Event::Failed(failure(args.unnamed_field1.error_code))),
        sys::UTP_ON_FIREWALL => u64::from(!state.callbacks.may_accept()),
        sys::UTP_ON_ACCEPT => {
            let conn = state.add(args.socket);
            state.callbacks.event(conn, Event::Accepted);
            0
        }
        sys::UTP_GET_READ_BUFFER_SIZE => state.callbacks.unread() as u64,
        sys::UTP_GET_UDP_MTU => u64::from(state.settings.udp_mtu.unwrap_or(576)),
        sys::UTP_GET_RANDOM => u64::from(state.settings.random.unwrap_or(1)),
        _ => 0,
    }
}

fn failure(code: c_int) -> UtpFailure {
    match u32::try_from(code) {
        Ok(sys::UTP_ECONNREFUSED) => UtpFailure::Refused,
        Ok(sys::UTP_ECONNRESET) => UtpFailure::Reset,
        Ok(sys::UTP_ETIMEDOUT) => UtpFailure::TimedOut,
        _ => UtpFailure::Other(code),
    }
}
