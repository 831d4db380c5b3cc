//! A socket as background traffic, for programs in C and C++.
//!
//! The one function is [`afteryou_background::set_background_raw`] with C's types. The header `include/afteryou_background.h` is made of this
//! file by cbindgen. `examples/upload.c` is a whole program.

use afteryou_background::{set_background_raw, Background, Error, Missing, Rule};
use std::ffi::c_char;

/// Length of the name of a controller, with its zero byte: TCP_CA_NAME_MAX of Linux.
pub const AY_BACKGROUND_NAME: usize = 16;
/// Length of a sentence, with its zero byte. A longer one is cut.
pub const AY_BACKGROUND_SENTENCE: usize = 256;

/// How a call ended.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// The facts are written. They may be that the socket keeps its ordinary rule.
    AY_BACKGROUND_OK = 0,
    /// A null pointer.
    AY_BACKGROUND_BAD_ARGUMENT = -1,
    /// Not an open socket, such as -1.
    AY_BACKGROUND_NOT_OPEN = -2,
    /// A socket that is neither of IPv4 nor of IPv6.
    AY_BACKGROUND_NOT_INTERNET = -3,
    /// Another reason, which this version of the interface has no number for.
    AY_BACKGROUND_OTHER = -4,
}

/// The rule that sends, or the reason why the socket keeps its ordinary one (negative).
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ay_background_rule {
    /// Linux: the controller that `controller` names.
    AY_BACKGROUND_CONTROLLER = 1,
    /// macOS: the system's background class (SO_TRAFFIC_CLASS).
    AY_BACKGROUND_TRAFFIC_CLASS = 2,
    /// Windows: the lowest priority (SIO_PRIORITY_HINT).
    AY_BACKGROUND_PRIORITY_HINT = 3,
    /// A rule of a later version.
    AY_BACKGROUND_OTHER_RULE = 4,
    /// The kernel has no controller that yields.
    AY_BACKGROUND_NOT_LOADED = -1,
    /// The kernel has the controller that `controller` names, but does not offer it to this user.
    AY_BACKGROUND_NOT_PERMITTED = -2,
    /// A route with `congctl lock` keeps the connection at the controller that `controller` names.
    AY_BACKGROUND_LOCKED = -3,
    /// The socket is not of TCP: its program has the rule.
    AY_BACKGROUND_NOT_TCP = -4,
    /// The system has no such rule.
    AY_BACKGROUND_NO_MEANS = -5,
    /// The system refuses, or another reason.
    AY_BACKGROUND_REFUSED = -6,
}

/// The facts about a socket after ay_set_background.
#[allow(non_camel_case_types)]
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ay_background {
    /// Positive if a rule of the system yields.
    pub rule: ay_background_rule,
    /// Whether packets carry the lower-effort mark (DSCP 1, RFC 8622).
    pub marked: bool,
    /// Linux: whether this machine's own queue sends packets of the socket last (SO_PRIORITY 1).
    pub low_priority: bool,
    /// Name of the controller, or empty.
    pub controller: [c_char; AY_BACKGROUND_NAME],
    /// The same for people. After an error, its reason.
    pub sentence: [c_char; AY_BACKGROUND_SENTENCE],
}

/// Makes a socket background traffic, as far as the system permits, and writes what it managed. `socket` is a descriptor, or a SOCKET on
/// Windows.
///
/// # Safety
/// `socket` stays open during the call; `managed` points to a struct that may be written.
#[no_mangle]
pub unsafe extern "C" fn ay_set_background(socket: isize, managed: *mut ay_background) -> Code {
    if managed.is_null() {
        return Code::AY_BACKGROUND_BAD_ARGUMENT;
    }
    // SAFETY: the caller keeps the socket open during the call.
    let (facts, code) = match unsafe { set_background_raw(socket as i64) } {
        Ok(background) => (facts(&background), Code::AY_BACKGROUND_OK),
        Err(error) => (none(&error), code(&error)),
    };
    // SAFETY: it is not null, and the caller promises the rest.
    unsafe { managed.write(facts) };
    code
}

fn facts(background: &Background) -> ay_background {
    let (rule, controller) = match &background.rule {
        Ok(Rule::Controller(name)) => (ay_background_rule::AY_BACKGROUND_CONTROLLER, *name),
        Ok(Rule::TrafficClass) => (ay_background_rule::AY_BACKGROUND_TRAFFIC_CLASS, ""),
        Ok(Rule::PriorityHint) => (ay_background_rule::AY_BACKGROUND_PRIORITY_HINT, ""),
        Ok(_) => (ay_background_rule::AY_BACKGROUND_OTHER_RULE, ""),
        Err(Missing::NotLoaded) => (ay_background_rule::AY_BACKGROUND_NOT_LOADED, ""),
        Err(Missing::NotPermitted(name)) => (ay_background_rule::AY_BACKGROUND_NOT_PERMITTED, *name),
        Err(Missing::Locked(name)) => (ay_background_rule::AY_BACKGROUND_LOCKED, name.as_str()),
        Err(Missing::NotTcp) => (ay_background_rule::AY_BACKGROUND_NOT_TCP, ""),
        Err(Missing::NoMeans) => (ay_background_rule::AY_BACKGROUND_NO_MEANS, ""),
        Err(_) => (ay_background_rule::AY_BACKGROUND_REFUSED, ""),
    };
    ay_background {
        rule,
        marked: background.mark.is_ok(),
        low_priority: background.low_priority,
        controller: text(controller),
        sentence: text(&background.to_string()),
    }
}

fn none(error: &Error) -> ay_background {
    ay_background {
        rule: ay_background_rule::AY_BACKGROUND_REFUSED,
        marked: false,
        low_priority: false,
        controller: text(""),
        sentence: text(&error.to_string()),
    }
}

fn code(error: &Error) -> Code {
    match error {
        Error::NotOpen(_) => Code::AY_BACKGROUND_NOT_OPEN,
        Error::NotInternet => Code::AY_BACKGROUND_NOT_INTERNET,
        _ => Code::AY_BACKGROUND_OTHER,
    }
}

/// Returns the text as a string of C, cut to its room.
fn text<const N: usize>(text: &str) -> [c_char; N] {
    let mut string = [0; N];
    for (place, byte) in string.iter_mut().take(N - 1).zip(text.bytes()) {
        *place = byte as c_char;
    }
    string
}
