//! A safe face on libutp's C interface: the only module with `unsafe`.
//!
//! Raw pointers come from C and are freed by C. The face is safe because a [`Context`] needs the process-wide [`Turn`] and
//! stays in its thread (it is not `Send`). It hands out numbers instead of pointers, and forgets a pointer when libutp
//! reports that it frees the socket. Callbacks cannot reach the context, so libutp is never entered twice.

mod addr;
mod callback;

use std::ffi::c_int;
use std::net::SocketAddr;
use std::ptr::NonNull;
use std::rc::Rc;

use libutp_rs2_sys as sys;

use self::addr::CAddr;
use self::callback::State;
use crate::error::Error;
use crate::outcome::UtpFailure;
use crate::turn::Turn;

/// The largest UDP payload in bytes.
pub(crate) const MAX_DATAGRAM: usize = 65_535;

/// A connection of one context. Stays unique when libutp reuses the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conn(u64);

/// Something that happened to a connection.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    Accepted,
    Connected,
    Read(&'a [u8]),
    Eof,
    Failed(UtpFailure),
    Destroyed,
}

/// The requests of libutp to the program around it. A panic in here aborts.
pub(crate) trait Callbacks {
    /// Sends a datagram.
    fn send(&self, datagram: &[u8], to: SocketAddr);
    /// Returns whether to accept one more connection.
    fn may_accept(&self) -> bool;
    /// Returns the bytes delivered but not yet read by the application; they take away from the advertised window.
    fn unread(&self) -> usize;
    /// Takes note of an event.
    fn event(&self, conn: Conn, event: Event<'_>);
}

/// Settings of a context; `None` leaves libutp's default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// In bytes, 1 or more.
    pub(crate) recv_buffer: Option<c_int>,
    /// In bytes, 1 or more.
    pub(crate) send_buffer: Option<c_int>,
    /// In microseconds.
    pub(crate) target_delay: Option<c_int>,
    /// In bytes of UDP payload, 576 or more.
    pub(crate) udp_mtu: Option<u16>,
    /// Taken as every random number.
    pub(crate) random: Option<u32>,
}

/// A libutp context with its connections.
pub(crate) struct Context<C: Callbacks> {
    raw: NonNull<sys::utp_context>,
    state: Rc<State<C>>,
    scratch: Vec<u8>,
}

impl<C: Callbacks> Context<C> {
    pub(crate) fn new(_: &Turn, settings: Settings, callbacks: C) -> Result<Self, Error> {
        let state = Rc::new(State::new(settings, callbacks));
        // SAFETY: the turn makes this the only thread in libutp. The user data
        // lives as long as the context, since `drop` destroys that first.
        unsafe {
            let raw = NonNull::new(sys::utp_init(2)).ok_or(Error::Libutp { what: "context" })?;
            let ctx = raw.as_ptr();
            sys::utp_context_set_userdata(ctx, Rc::as_ptr(&state).cast_mut().cast());
            let mut names = vec![
                sys::UTP_SENDTO,
                sys::UTP_ON_READ,
                sys::UTP_ON_STATE_CHANGE,
                sys::UTP_ON_ERROR,
                sys::UTP_ON_FIREWALL,
                sys::UTP_ON_ACCEPT,
                sys::UTP_GET_READ_BUFFER_SIZE,
            ];
            names.extend(settings.udp_mtu.map(|_| sys::UTP_GET_UDP_MTU));
            names.extend(settings.random.map(|_| sys::UTP_GET_RANDOM));
            for name in names {
                sys::utp_set_callback(ctx, name as c_int, Some(callback::entry::<C>));
            }
            for (name, value) in [
                (sys::UTP_RCVBUF, settings.recv_buffer),
                (sys::UTP_SNDBUF, settings.send_buffer),
                (sys::UTP_TARGET_DELAY, settings.target_delay),
            ] {
                if let Some(value) = value {
                    sys::utp_context_set_option(ctx, name as c_int, value);
                }
            }
            Ok(Context { raw, state, scratch: Vec::with_capacity(MAX_DATAGRAM + 1) })
        }
    }

    pub(crate) fn callbacks(&self) -> &C {
        &self.state.callbacks
    }

    /// Starts to connect: sends the SYN.
    pub(crate) fn connect(&mut self, to: SocketAddr) -> Result<Conn, Error> {
        let to = CAddr::new(to);
        // SAFETY: the context is live, the address is valid for its length.
        unsafe {
            let socket = sys::utp_create_socket(self.raw.as_ptr());
            if socket.is_null() {
                return Err(Error::Libutp { what: "socket" });
            }
            let conn = self.state.add(socket);
            match sys::utp_connect(socket, to.as_ptr(), to.len()) {
                0 => Ok(conn),
                _ => Err(Error::Libutp { what: "connection" }),
            }
        }
    }

    /// Handles a datagram.
    pub(crate) fn process(&mut self, datagram: &[u8], from: SocketAddr) {
        // libutp reads one byte past a selective ack, which can be the last
        // thing in the datagram; the zero is for that byte.
        self.scratch.clear();
        self.scratch.extend_from_slice(datagram);
        self.scratch.push(0);
        let from = CAddr::new(from);
        // SAFETY: the context is live, buffer and address are valid for their
        // lengths, and libutp keeps neither.
        unsafe {
            sys::utp_process_udp(
                self.raw.as_ptr(),
                self.scratch.as_ptr(),
                datagram.len(),
                from.as_ptr(),
                from.len(),
            );
        }
    }

    /// Sends the deferred acknowledgements; to be called when the UDP socket has been read empty.
    pub(crate) fn issue_deferred_acks(&mut self) {
        // SAFETY: the context is live.
        unsafe { sys::utp_issue_deferred_acks(self.raw.as_ptr()) }
    }

    /// Checks the timeouts; to be called often, since libutp itself acts on it every 500 ms.
    pub(crate) fn check_timeouts(&mut self) {
        // SAFETY: the context is live.
        unsafe { sys::utp_check_timeouts(self.raw.as_ptr()) }
    }

    /// Writes as much as libutp takes now; returns the number of bytes.
    pub(crate) fn write(&mut self, conn: Conn, bytes: &[u8]) -> usize {
        let Some(socket) = self.state.usable(conn).filter(|_| !bytes.is_empty()) else {
            return 0;
        };
        // SAFETY: the socket is live; libutp only reads the buffer, despite the
        // type, and copies it.
        let written = unsafe { sys::utp_write(socket, bytes.as_ptr().cast_mut().cast(), bytes.len()) };
        usize::try_from(written).unwrap_or(0)
    }

    /// Informs libutp that unread bytes have been taken.
    pub(crate) fn read_drained(&mut self, conn: Conn) {
        self.with(conn, |socket| {
            // SAFETY: the socket is live.
            unsafe { sys::utp_read_drained(socket) }
        });
    }

    /// Sends a FIN and keeps reading.
    pub(crate) fn shutdown_write(&mut self, conn: Conn) {
        self.with(conn, |socket| {
            // SAFETY: the socket is live.
            unsafe { sys::utp_shutdown(socket, sys::SHUT_WR as c_int) }
        });
    }

    /// Closes a connection; libutp finishes on its own and then frees the socket. Not for a
    /// connection that has failed: that one waits for the context's end.
    pub(crate) fn close(&mut self, conn: Conn) {
        self.with(conn, |socket| {
            self.state.set_closed(conn);
            // SAFETY: the socket is live and was not closed before.
            unsafe { sys::utp_close(socket) }
        });
    }

    fn with(&self, conn: Conn, act: impl FnOnce(*mut sys::utp_socket)) {
        if let Some(socket) = self.state.usable(conn) {
            act(socket);
        }
    }
}

impl<C: Callbacks> Drop for Context<C> {
    fn drop(&mut self) {
        // SAFETY: the context is live and not used after this. It frees its
        // sockets, which still calls back into the state.
        unsafe { sys::utp_destroy(self.raw.as_ptr()) }
    }
}
