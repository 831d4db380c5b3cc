//! The programs utp_peer and rqbit_peer: a library of uTP from one process to another.

use std::net::UdpSocket;
use std::process::{Command, Output, Stdio};

const UTP_PEER: &str = env!("CARGO_BIN_EXE_utp_peer");

fn peer(program: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(program: &str, words: &[&str]) -> Output {
    peer(program, words).output().unwrap()
}

fn all_bytes_arrive(from: &str, to: &str) {
    // A port that was free a moment ago.
    let address = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let receiver = peer(to, &["receive", &address]).spawn().unwrap();
    let sender = output(from, &["send", &address, "3000000"]);
    assert!(sender.status.success(), "{sender:?}");
    let received = receiver.wait_with_output().unwrap();
    let words = String::from_utf8(received.stdout).unwrap();
    assert!(received.status.success() && words.starts_with("3000000 bytes in "), "{words}");
}

fn wrong_arguments_are_one_sentence(program: &str, name: &str) {
    for words in
        [&["send", "nowhere"][..], &["send", "127.0.0.1:9", "many"], &["listen"], &["receive", "192.0.2.1:9"]]
    {
        let refused = output(program, words);
        let reason = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success()
                && reason.starts_with(&format!("{name}: "))
                && reason.lines().count() == 1,
            "{reason}"
        );
    }
}

#[test]
fn all_bytes_arrive_and_both_ends_end_by_themselves() {
    all_bytes_arrive(UTP_PEER, UTP_PEER);
}

#[test]
fn wrong_arguments_of_utp_peer_are_one_sentence() {
    wrong_arguments_are_one_sentence(UTP_PEER, "utp_peer");
}

#[cfg(feature = "librqbit")]
mod rqbit {
    const RQBIT_PEER: &str = env!("CARGO_BIN_EXE_rqbit_peer");

    #[test]
    fn all_bytes_arrive_from_librqbit_to_itself() {
        super::all_bytes_arrive(RQBIT_PEER, RQBIT_PEER);
    }

    #[test]
    fn a_sender_without_a_receiver_ends() {
        let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let refused = super::output(RQBIT_PEER, &["send", &nobody.local_addr().unwrap().to_string(), "1"]);
        let reason = String::from_utf8(refused.stderr).unwrap();
        assert!(!refused.status.success() && reason.contains("no answer to 5 SYNs"), "{reason}");
    }

    #[test]
    fn wrong_arguments_of_rqbit_peer_are_one_sentence() {
        super::wrong_arguments_are_one_sentence(RQBIT_PEER, "rqbit_peer");
    }
}
