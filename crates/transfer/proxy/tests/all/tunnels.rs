//! CONNECT.

use crate::support::{echo, head, proxy};
use afteryou_proxy::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_and_each_end_closes_its_own_side() {
    let (echo, proxy) = (echo().await, proxy(Options::default()).await);
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    // Some clients do not wait for the answer before they send.
    let request = format!("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\nearly ", echo.address);
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && !answer.contains("ontent-length"), "{answer}");
    let content = vec![b'x'; 3_000_000];
    let (mut read, mut write) = stream.into_split();
    let sent = content.clone();
    let sending = tokio::spawn(async move {
        write.write_all(&sent).await.unwrap();
        write.shutdown().await.unwrap();
        write
    });
    let mut got = Vec::new();
    read.read_to_end(&mut got).await.unwrap();
    assert!(got.starts_with(b"early ") && got[6..] == content, "{} bytes", got.len());
    drop(sending.await.unwrap());
}

#[tokio::test]
async fn a_tunnel_reaches_ipv6() {
    let listener = match tokio::net::TcpListener::bind("[::1]:0").await {
        Ok(listener) => listener,
        Err(error) => return println!("SKIPPED: no IPv6 here: {error}"),
    };
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(b"six").await.unwrap();
        }
    });
    let proxy = proxy(Options::default()).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(format!("CONNECT [::1]:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let answer = head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let mut got = String::new();
    stream.read_to_string(&mut got).await.unwrap();
    assert_eq!(got, "six");
}
