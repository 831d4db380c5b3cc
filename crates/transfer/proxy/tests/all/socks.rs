//! SOCKS5.

use crate::support::{closed, echo, proxy, Running};
use afteryou_proxy::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Returns a request for an address, a command and a kind of address.
fn request(command: u8, kind: u8, host: &[u8], port: u16) -> Vec<u8> {
    [&[5, command, 0, kind][..], host, &port.to_be_bytes()].concat()
}

async fn asked(proxy: &Running, request: &[u8]) -> (TcpStream, u8) {
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(&[5, 1, 0]).await.unwrap();
    assert_eq!(stream.read_u16().await.unwrap(), 0x0500);
    stream.write_all(request).await.unwrap();
    let mut reply = [0; 10];
    stream.read_exact(&mut reply).await.unwrap();
    (stream, reply[1])
}

#[tokio::test]
async fn a_client_of_socks_gets_a_tunnel_by_address_and_by_name() {
    let (echo, proxy) = (echo().await, proxy(Options::default()).await);
    let port = echo.address.port();
    for (kind, host) in [(1, &[127, 0, 0, 1][..]), (3, b"\x09localhost"), (3, b"\x09127.0.0.1")] {
        let (mut stream, reply) = asked(&proxy, &request(1, kind, host, port)).await;
        assert_eq!(reply, 0);
        stream.write_all(b"hello").await.unwrap();
        stream.shutdown().await.unwrap();
        let mut got = String::new();
        stream.read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "hello");
    }
}

#[tokio::test]
async fn other_commands_and_forbidden_targets_are_refused() {
    let proxy = proxy(Options::default()).await;
    let own = proxy.address.port();
    for (request, reply) in [
        (request(2, 1, &[127, 0, 0, 1], 9), 7),
        (request(3, 1, &[127, 0, 0, 1], 9), 7),
        (request(9, 1, &[127, 0, 0, 1], 9), 7),
        (request(1, 1, &[127, 0, 0, 1], own), 2),
        (request(1, 3, b"\x09localhost", own), 2),
        (request(1, 3, b"\x07invalid", 9), 4),
        (request(1, 3, b"\x03a b", 9), 1),
        (request(1, 1, &[127, 0, 0, 1], 0), 1),
        (request(1, 7, &[127, 0, 0, 1], 9), 8),
    ] {
        assert_eq!(asked(&proxy, &request).await.1, reply, "{request:?}");
    }
}

#[tokio::test]
async fn a_password_is_required_if_there_is_one() {
    let (echo, proxy) = (echo().await, proxy(closed()).await);
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(&[5, 1, 0]).await.unwrap();
    assert_eq!(stream.read_u16().await.unwrap(), 0x05ff);
    for (password, verdict) in [(&b"\x06secret"[..], 0), (b"\x06Secret", 0xff)] {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.write_all(&[5, 2, 0, 2]).await.unwrap();
        assert_eq!(stream.read_u16().await.unwrap(), 0x0502);
        stream.write_all(&[&b"\x01\x02me"[..], password].concat()).await.unwrap();
        let answer = stream.read_u16().await.unwrap();
        assert_eq!(answer & 0xff, verdict);
        if verdict == 0 {
            let ask = request(1, 1, &[127, 0, 0, 1], echo.address.port());
            stream.write_all(&ask).await.unwrap();
            let mut reply = [0; 10];
            stream.read_exact(&mut reply).await.unwrap();
            assert_eq!(reply[1], 0);
        }
    }
}
