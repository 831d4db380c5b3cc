//! What each kind of socket gets.

use afteryou_background::{set_background, Missing};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};

pub fn pair(host: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind((host, 0)).unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

#[test]
fn a_connection_moves_its_bytes_as_before() {
    let (mut client, mut server) = pair("127.0.0.1");
    let background = set_background(&client).unwrap();
    assert_eq!(background.mark.is_ok(), !cfg!(windows), "{background}");
    let sent: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    let received = std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let mut received = Vec::new();
            server.read_to_end(&mut received).unwrap();
            received
        });
        client.write_all(&sent).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        reader.join().unwrap()
    });
    assert!(received == sent);
    // At its end it is a socket still.
    assert_eq!(set_background(&client).unwrap().mark, background.mark);
}

#[test]
fn a_udp_socket_is_marked_and_keeps_its_programs_rule() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let background = set_background(&socket).unwrap();
    assert_eq!(background.rule, Err(Missing::NotTcp));
    assert_eq!(background.mark.is_ok(), !cfg!(windows));
}

#[cfg(unix)]
#[test]
fn what_sends_no_packets_is_an_error() {
    use afteryou_background::Error;
    let (local, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(matches!(set_background(&local), Err(Error::NotInternet)));
    let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
    let error = set_background(&file).unwrap_err();
    assert!(matches!(error, Error::NotOpen(_)), "{error}");
}
