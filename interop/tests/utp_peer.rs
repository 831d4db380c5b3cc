//! The program utp_peer: libutp from one process to another.

use std::net::UdpSocket;
use std::process::{Command, Output, Stdio};

fn utp_peer(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utp_peer"));
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(words: &[&str]) -> Output {
    utp_peer(words).output().unwrap()
}

#[test]
fn all_bytes_arrive_and_both_ends_end_by_themselves() {
    // A port that was free a moment ago.
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let receiver = utp_peer(&["receive", &address]).spawn().unwrap();
    let sender = output(&["send", &address, "3000000"]);
    assert!(sender.status.success(), "{sender:?}");
    let received = receiver.wait_with_output().unwrap();
    let words = String::from_utf8(received.stdout).unwrap();
    assert!(received.status.success() && words.starts_with("3000000 bytes in "), "{words}");
}

#[test]
fn wrong_arguments_are_one_sentence() {
    for words in
        [&["send", "nowhere"][..], &["send", "127.0.0.1:9", "many"], &["listen"], &["receive", "192.0.2.1:9"]]
    {
        let refused = output(words);
        let reason = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success() && reason.starts_with("utp_peer: ") && reason.lines().count() == 1,
            "{reason}"
        );
    }
}
