//! The function as a program calls it.

use afteryou_background::{Background, Missing, CONTROLLERS};
use afteryou_background_c::{
    ay_background, ay_background_rule, ay_set_background, Code, AY_BACKGROUND_SENTENCE,
};
use std::ffi::{c_char, CStr};
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::ptr;

/// Calls the function, and returns how that ended and the facts.
fn call(socket: isize) -> (Code, ay_background) {
    let mut managed = std::mem::MaybeUninit::<ay_background>::zeroed();
    // SAFETY: each socket of this file is open during the call, or is not one, and the struct is this frame's.
    let code = unsafe { ay_set_background(socket, managed.as_mut_ptr()) };
    assert_ne!(code, Code::AY_BACKGROUND_BAD_ARGUMENT);
    // SAFETY: it is written unless the argument is bad.
    (code, unsafe { managed.assume_init() })
}

fn string(text: &[c_char]) -> String {
    let bytes: Vec<u8> = text.iter().map(|byte| *byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes).unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_udp_socket_is_marked_and_the_sentence_says_why_no_more() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (code, facts) = call(socket.as_raw_fd() as isize);
    assert_eq!((code, facts.rule), (Code::AY_BACKGROUND_OK, ay_background_rule::AY_BACKGROUND_NOT_TCP));
    assert!(facts.marked && string(&facts.controller).is_empty());
    assert!(string(&facts.sentence).starts_with("sends by its program's own rule, marked LE"));
}

#[test]
fn an_error_has_its_reason_as_the_sentence() {
    let (local, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
    let (code, facts) = call(local.as_raw_fd() as isize);
    assert_eq!(code, Code::AY_BACKGROUND_NOT_INTERNET);
    assert!(string(&facts.sentence).contains("neither of IPv4 nor of IPv6"));
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    assert_eq!(call(file.as_raw_fd() as isize).0, Code::AY_BACKGROUND_NOT_OPEN);
}

#[test]
fn every_sentence_of_linux_has_room() {
    let missing = Missing::NotPermitted(CONTROLLERS.into_iter().max_by_key(|name| name.len()).unwrap());
    let longest = Background { rule: Err(missing), mark: Ok(()), low_priority: true }.to_string();
    assert!(longest.len() < AY_BACKGROUND_SENTENCE, "{} bytes: {longest}", longest.len());
}

#[test]
fn what_is_no_argument_is_refused() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    // SAFETY: a null pointer is allowed.
    let code = unsafe { ay_set_background(socket.as_raw_fd() as isize, ptr::null_mut()) };
    assert_eq!(code, Code::AY_BACKGROUND_BAD_ARGUMENT);
    for none in [-1, isize::MAX] {
        let (code, facts) = call(none);
        assert_eq!(code, Code::AY_BACKGROUND_NOT_OPEN);
        assert!(string(&facts.sentence).starts_with("this is not an open socket: "));
    }
}
