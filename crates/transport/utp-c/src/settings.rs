//! Settings of connections to come: what a program would give to libutp's `utp_setsockopt` and `utp_context_set_option`.

use crate::{ay_utp_connection, bytes, owned, Code, AY_UTP_DATAGRAM};
use afteryou_base::param::{Kind, Value};
use afteryou_base::{Span, Time};
use afteryou_cc::list::{self, Entry};
use afteryou_cc::{Controller, Setup};
use afteryou_utp::packet::{self, Packet, HEADER_LEN};
use afteryou_utp::{Config, Connection, ConnectionId, Recovery, SeqNr};
use std::ffi::{c_char, CStr};

/// Settings of connections. Opaque.
#[allow(non_camel_case_types)]
pub struct ay_utp_settings {
    controller: &'static Entry,
    parameters: Vec<(&'static str, Value)>,
    seed: u64,
    config: Config,
}

/// A setting, with its unit and its default.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ay_utp_option {
    /// Payload of a full packet, bytes; 1352. With a search for the path MTU: at first.
    AY_UTP_PAYLOAD = 0,
    /// Payload of the largest packet that the search for the path MTU tries, bytes; 0. No more than AY_UTP_PAYLOAD: no search. With a search the
    /// program's socket must forbid fragments, but while ay_utp_may_fragment returns 1.
    AY_UTP_MAX_PAYLOAD = 1,
    /// Receive buffer, bytes: the window that the peer may use; 8388608.
    AY_UTP_RECV_BUFFER = 2,
    /// Most bytes held for sending; 16777216.
    AY_UTP_SEND_BUFFER = 3,
    /// 1: a packet that is not full waits while another such packet is unacknowledged (Nagle); 1.
    AY_UTP_NAGLE = 4,
    /// Shortest retransmission timeout, microseconds; 500000.
    AY_UTP_MIN_RTO_US = 5,
    /// Packets until an acknowledgement is sent; 2.
    AY_UTP_ACK_EVERY = 6,
    /// Time until an acknowledgement is sent, microseconds; 25000.
    AY_UTP_ACK_DELAY_US = 7,
    /// Time without any progress until the connection fails, microseconds; 60000000.
    AY_UTP_PATIENCE_US = 8,
    /// Longest pause between packets, microseconds; 29000000.
    AY_UTP_KEEPALIVE_US = 9,
    /// How long a finished connection answers a peer that has missed the last acknowledgement, microseconds; 3000000.
    AY_UTP_LINGER_US = 10,
    /// Loss recovery: 0 of today's TCP, 1 libutp's, 2 libutp's with a timeout of 200 ms, 3 libutp-mod's; 0. Sets AY_UTP_MIN_RTO_US, too.
    AY_UTP_RECOVERY = 11,
    /// Seed of a controller that draws random numbers; 0.
    AY_UTP_SEED = 12,
}

/// The ways of recovery, by number.
const RECOVERIES: [Recovery; 4] =
    [Recovery::Modern, Recovery::Libutp, Recovery::Libutp200ms, Recovery::LibutpMod];
/// Largest payload whose datagrams fit into AY_UTP_DATAGRAM, bytes.
const LARGEST: u64 = (AY_UTP_DATAGRAM - HEADER_LEN) as u64;

impl ay_utp_settings {
    fn controller(&self) -> Option<Box<dyn Controller>> {
        self.build(&self.parameters)
    }

    fn build(&self, parameters: &[(&'static str, Value)]) -> Option<Box<dyn Controller>> {
        let setup = Setup { seed: self.seed, ..Setup::of(self.config.payload) };
        self.controller.build(parameters, setup).ok()
    }

    /// Sets a parameter of the controller, unless it refuses.
    fn set_parameter(&mut self, name: &'static str, value: Value) -> Code {
        let mut parameters: Vec<_> =
            self.parameters.iter().copied().filter(|(other, _)| *other != name).collect();
        parameters.push((name, value));
        if self.build(&parameters).is_none() {
            return Code::AY_UTP_BAD_ARGUMENT;
        }
        self.parameters = parameters;
        Code::AY_UTP_OK
    }

    fn set(&mut self, option: i32, value: u64) -> Option<()> {
        let (config, span) = (&mut self.config, Span(value.saturating_mul(1000)));
        let payload = || u32::try_from(value).ok().filter(|_| (1..=LARGEST).contains(&value));
        match OPTIONS.into_iter().find(|known| *known as i32 == option)? {
            ay_utp_option::AY_UTP_PAYLOAD => config.payload = payload()?,
            ay_utp_option::AY_UTP_MAX_PAYLOAD => config.max_payload = payload()?,
            ay_utp_option::AY_UTP_RECV_BUFFER => config.recv_buffer = value,
            ay_utp_option::AY_UTP_SEND_BUFFER => config.send_buffer = value,
            ay_utp_option::AY_UTP_NAGLE => config.nagle = flag(value)?,
            ay_utp_option::AY_UTP_MIN_RTO_US => config.min_rto = span,
            ay_utp_option::AY_UTP_ACK_EVERY => {
                config.ack_every = u32::try_from(value).ok().filter(|n| *n > 0)?
            }
            ay_utp_option::AY_UTP_ACK_DELAY_US => config.ack_delay = span,
            ay_utp_option::AY_UTP_PATIENCE_US => config.patience = span,
            ay_utp_option::AY_UTP_KEEPALIVE_US => config.keepalive = span,
            ay_utp_option::AY_UTP_LINGER_US => config.linger = span,
            ay_utp_option::AY_UTP_RECOVERY => {
                config.recovery = *RECOVERIES.get(usize::try_from(value).ok()?)?;
                config.min_rto = config.recovery.min_rto();
            }
            ay_utp_option::AY_UTP_SEED => self.seed = value,
        }
        Some(())
    }

    fn get(&self, option: i32) -> Option<u64> {
        let config = &self.config;
        Some(match OPTIONS.into_iter().find(|known| *known as i32 == option)? {
            ay_utp_option::AY_UTP_PAYLOAD => config.payload.into(),
            ay_utp_option::AY_UTP_MAX_PAYLOAD => config.max_payload.into(),
            ay_utp_option::AY_UTP_RECV_BUFFER => config.recv_buffer,
            ay_utp_option::AY_UTP_SEND_BUFFER => config.send_buffer,
            ay_utp_option::AY_UTP_NAGLE => config.nagle.into(),
            ay_utp_option::AY_UTP_MIN_RTO_US => config.min_rto.as_micros(),
            ay_utp_option::AY_UTP_ACK_EVERY => config.ack_every.into(),
            ay_utp_option::AY_UTP_ACK_DELAY_US => config.ack_delay.as_micros(),
            ay_utp_option::AY_UTP_PATIENCE_US => config.patience.as_micros(),
            ay_utp_option::AY_UTP_KEEPALIVE_US => config.keepalive.as_micros(),
            ay_utp_option::AY_UTP_LINGER_US => config.linger.as_micros(),
            ay_utp_option::AY_UTP_RECOVERY => {
                RECOVERIES.iter().position(|recovery| *recovery == config.recovery)? as u64
            }
            ay_utp_option::AY_UTP_SEED => self.seed,
        })
    }
}

/// All of them: a C program may pass any number.
const OPTIONS: [ay_utp_option; 13] = [
    ay_utp_option::AY_UTP_PAYLOAD,
    ay_utp_option::AY_UTP_MAX_PAYLOAD,
    ay_utp_option::AY_UTP_RECV_BUFFER,
    ay_utp_option::AY_UTP_SEND_BUFFER,
    ay_utp_option::AY_UTP_NAGLE,
    ay_utp_option::AY_UTP_MIN_RTO_US,
    ay_utp_option::AY_UTP_ACK_EVERY,
    ay_utp_option::AY_UTP_ACK_DELAY_US,
    ay_utp_option::AY_UTP_PATIENCE_US,
    ay_utp_option::AY_UTP_KEEPALIVE_US,
    ay_utp_option::AY_UTP_LINGER_US,
    ay_utp_option::AY_UTP_RECOVERY,
    ay_utp_option::AY_UTP_SEED,
];

fn flag(value: u64) -> Option<bool> {
    (value <= 1).then_some(value == 1)
}

/// Makes settings with the defaults and a controller of the list, such as "ledbat++" or "cubic". Returns null if there is no such controller. The
/// caller frees them with ay_utp_settings_free; connections keep what they need, so that may be at once.
///
/// # Safety
/// `controller` is null or a string that ends with a zero byte.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_new(controller: *const c_char) -> *mut ay_utp_settings {
    // SAFETY: the caller's promise is the same.
    let Some(controller) = unsafe { word(controller) }.and_then(list::find) else {
        return std::ptr::null_mut();
    };
    let (parameters, config) = (Vec::new(), Config::default());
    Box::into_raw(Box::new(ay_utp_settings { controller, parameters, seed: 0, config }))
}

/// Frees settings. Null is fine.
///
/// # Safety
/// `settings` comes from ay_utp_settings_new and is not used any more.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_free(settings: *mut ay_utp_settings) {
    if !settings.is_null() {
        // SAFETY: `ay_utp_settings_new` made it, and the caller gives it back once.
        drop(unsafe { Box::from_raw(settings) });
    }
}

/// Sets an ay_utp_option. AY_UTP_BAD_ARGUMENT, and nothing changes: there is no such option, or no connection could work with the value.
///
/// # Safety
/// `settings` is null or settings.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_set(
    settings: *mut ay_utp_settings,
    option: i32,
    value: u64,
) -> Code {
    // SAFETY: the caller's promise is the same.
    let Some(settings) = (unsafe { settings.as_mut() }) else { return Code::AY_UTP_BAD_ARGUMENT };
    settings.set(option, value).map_or(Code::AY_UTP_BAD_ARGUMENT, |()| Code::AY_UTP_OK)
}

/// Returns an ay_utp_option; UINT64_MAX: there is none.
///
/// # Safety
/// `settings` is null or settings.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_get(settings: *const ay_utp_settings, option: i32) -> u64 {
    // SAFETY: the caller's promise is the same.
    unsafe { settings.as_ref() }.and_then(|settings| settings.get(option)).unwrap_or(u64::MAX)
}

/// Sets a parameter of the controller, such as "target" of "ledbat++": a time in microseconds, a size in bytes, a number, or 1 and 0 for yes and
/// no. `afteryou list controllers --json` prints the parameters with their ranges. AY_UTP_BAD_ARGUMENT, and nothing changes: there
/// is no such parameter, or the value is out of range.
///
/// # Safety
/// `settings` is null or settings; `name` is null or a string that ends with a zero byte.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_parameter(
    settings: *mut ay_utp_settings,
    name: *const c_char,
    value: f64,
) -> Code {
    // SAFETY: the caller's promises are the same.
    let (settings, name) = unsafe { (settings.as_mut(), word(name)) };
    let (Some(settings), Some(name)) = (settings, name) else { return Code::AY_UTP_BAD_ARGUMENT };
    let parameter = settings.controller.params.iter().find(|parameter| parameter.name == name);
    let Some(parameter) = parameter.filter(|_| value.is_finite() && value >= 0.0) else {
        return Code::AY_UTP_BAD_ARGUMENT;
    };
    let value = match parameter.kind {
        Kind::Time => Value::Time(Span((value * 1000.0) as u64)),
        Kind::Number => Value::Number(value),
        Kind::Count => Value::Count(value as u64),
        Kind::Bytes => Value::Bytes(value as u64),
        Kind::Flag if value == 0.0 || value == 1.0 => Value::Flag(value == 1.0),
        _ => return Code::AY_UTP_BAD_ARGUMENT,
    };
    settings.set_parameter(parameter.name, value)
}

/// Sets a parameter of the controller that is one of some words. As ay_utp_settings_parameter otherwise.
///
/// # Safety
/// `settings` is null or settings; `name` and `choice` are null or strings that end with a zero byte.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_settings_choice(
    settings: *mut ay_utp_settings,
    name: *const c_char,
    choice: *const c_char,
) -> Code {
    // SAFETY: the caller's promises are the same.
    let (settings, name, choice) = unsafe { (settings.as_mut(), word(name), word(choice)) };
    let (Some(settings), Some(name), Some(choice)) = (settings, name, choice) else {
        return Code::AY_UTP_BAD_ARGUMENT;
    };
    let mut words = settings.controller.params.iter().filter(|parameter| parameter.name == name);
    let found = words.find_map(|parameter| match parameter.kind {
        Kind::Choice(words) => words.iter().find(|word| **word == choice).map(|word| (parameter.name, *word)),
        _ => None,
    });
    found.map_or(Code::AY_UTP_BAD_ARGUMENT, |(name, word)| settings.set_parameter(name, Value::Choice(word)))
}

/// Opens a connection as ay_utp_connect does, with settings.
///
/// # Safety
/// `settings` is null or settings.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_connect_with(
    settings: *const ay_utp_settings,
    now_us: u64,
    recv_id: u16,
    seq_nr: u16,
) -> *mut ay_utp_connection {
    // SAFETY: the caller's promise is the same.
    let settings = unsafe { settings.as_ref() };
    let Some((settings, controller)) = settings.and_then(|it| Some((it, it.controller()?))) else {
        return std::ptr::null_mut();
    };
    let now = Time::from_micros(now_us);
    owned(Connection::connect(settings.config.clone(), controller, now, ConnectionId(recv_id), SeqNr(seq_nr)))
}

/// Accepts a connection as ay_utp_accept does, with settings.
///
/// # Safety
/// `settings` is null or settings; `datagram` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn ay_utp_accept_with(
    settings: *const ay_utp_settings,
    now_us: u64,
    datagram: *const u8,
    len: usize,
    seq_nr: u16,
) -> *mut ay_utp_connection {
    // SAFETY: the caller's promises are the same.
    let (settings, datagram) = unsafe { (settings.as_ref(), bytes(datagram, len)) };
    let syn = datagram.and_then(|datagram| Packet::decode(datagram).ok());
    let syn = syn.filter(|packet| packet.header.kind == packet::Kind::Syn);
    let Some((settings, controller)) = settings.and_then(|it| Some((it, it.controller()?))) else {
        return std::ptr::null_mut();
    };
    let Some(syn) = syn else { return std::ptr::null_mut() };
    let now = Time::from_micros(now_us);
    owned(Connection::accept(settings.config.clone(), controller, now, &syn, SeqNr(seq_nr)))
}

/// Returns the text at `text`, if it is UTF-8.
///
/// # Safety
/// `text` is null or a string that ends with a zero byte.
unsafe fn word<'a>(text: *const c_char) -> Option<&'a str> {
    // SAFETY: it is not null, and the caller promises the zero byte.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::ptr;

    fn settings(controller: &str) -> *mut ay_utp_settings {
        let controller = CString::new(controller).unwrap();
        // SAFETY: it ends with a zero byte.
        unsafe { ay_utp_settings_new(controller.as_ptr()) }
    }

    #[test]
    fn every_option_returns_what_was_set_and_bad_values_change_nothing() {
        let settings = settings("ledbat++");
        for option in OPTIONS.map(|option| option as i32) {
            // SAFETY: the settings exist.
            let (before, code) =
                unsafe { (ay_utp_settings_get(settings, option), ay_utp_settings_set(settings, option, 1)) };
            assert_ne!(before, u64::MAX, "{option}");
            assert_eq!(code, Code::AY_UTP_OK, "{option}");
            // SAFETY: the same.
            assert_eq!(unsafe { ay_utp_settings_get(settings, option) }, 1, "{option}");
        }
        for (option, bad) in [(0, 0), (0, 2029), (1, 70_000), (4, 2), (6, 0), (11, 4), (13, 1), (-1, 1)] {
            // SAFETY: the same.
            let code = unsafe { ay_utp_settings_set(settings, option, bad) };
            assert_eq!(code, Code::AY_UTP_BAD_ARGUMENT, "{option}, {bad}");
        }
        // SAFETY: the same, for the last time.
        unsafe { ay_utp_settings_free(settings) };
    }

    #[test]
    fn parameters_of_the_controller_are_set_by_name_within_their_ranges() {
        let settings = settings("ledbat++");
        let set = |name: &str, value| {
            let name = CString::new(name).unwrap();
            // SAFETY: the settings exist and the name ends with a zero byte.
            unsafe { ay_utp_settings_parameter(settings, name.as_ptr(), value) }
        };
        assert_eq!(set("target", 40_000.0), Code::AY_UTP_OK);
        assert_eq!(set("restart", 1.0), Code::AY_UTP_OK);
        for (name, value) in [("target", 6e10), ("target", f64::NAN), ("restart", 0.5), ("tarjet", 1.0)] {
            assert_eq!(set(name, value), Code::AY_UTP_BAD_ARGUMENT, "{name} {value}");
        }
        // SAFETY: the settings exist.
        let kept = unsafe { &*settings }.parameters.clone();
        assert_eq!(kept, [("target", Value::Time(Span::from_millis(40))), ("restart", Value::Flag(true))]);
        // SAFETY: they are used for the last time, and the connection is freed once.
        unsafe {
            let connection = ay_utp_connect_with(settings, 1, 2, 3);
            assert!(!connection.is_null());
            ay_utp_settings_free(settings);
            crate::ay_utp_free(connection);
        }
    }

    #[test]
    fn null_is_refused_everywhere() {
        let (none, nothing) = (ptr::null_mut(), ptr::null());
        // SAFETY: null is allowed.
        unsafe {
            assert!(ay_utp_settings_new(nothing).is_null() && settings("reno2").is_null());
            ay_utp_settings_free(none);
            assert_eq!(ay_utp_settings_set(none, 0, 1), Code::AY_UTP_BAD_ARGUMENT);
            assert_eq!(ay_utp_settings_get(none, 0), u64::MAX);
            assert_eq!(ay_utp_settings_parameter(none, nothing, 1.0), Code::AY_UTP_BAD_ARGUMENT);
            assert_eq!(ay_utp_settings_choice(none, nothing, nothing), Code::AY_UTP_BAD_ARGUMENT);
            assert!(ay_utp_connect_with(none, 0, 0, 0).is_null());
            assert!(ay_utp_accept_with(none, 0, ptr::null(), 0, 0).is_null());
        }
    }
}
