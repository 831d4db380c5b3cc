//! Bounds of headers, time, connections and memory.

use crate::support::{echo, hasty, head, heard, proxy, said, server};
use afteryou_proxy::Options;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

#[tokio::test]
async fn headers_that_are_too_long_or_too_many_are_refused() {
    let (server, proxy) =
        (server("HTTP/1.1 200 OK\r\nContent-length: 0\r\n\r\n").await, proxy(Options::default()).await);
    let url = server.url("/");
    let long = format!("GET {url} HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "y".repeat(70_000));
    let many = format!("GET {url} HTTP/1.1\r\nHost: x\r\n{}\r\n", "X: y\r\n".repeat(200));
    let line = format!("GET {url}{} HTTP/1.1\r\nHost: x\r\n\r\n", "y".repeat(70_000));
    for request in [long, many, line] {
        let answer = said(&proxy, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 4") || answer.is_empty(), "{answer}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
}

/// Returns how long a connection lives that sends `first`, and then a byte every 50 ms or nothing.
async fn life(first: &[u8], drips: bool, options: Options) -> Duration {
    let proxy = proxy(options).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(first).await.unwrap();
    let (mut read, mut write) = stream.into_split();
    let began = Instant::now();
    let dripping = tokio::spawn(async move {
        while drips && write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        // Held, so that the proxy is the one that closes.
        std::future::pending::<()>().await;
        drop(write);
    });
    let mut rest = Vec::new();
    _ = tokio::time::timeout(Duration::from_secs(20), read.read_to_end(&mut rest)).await;
    dripping.abort();
    began.elapsed()
}

#[tokio::test]
async fn a_client_that_is_slow_or_silent_is_closed() {
    let longest = Duration::from_secs(5);
    for (first, drips) in [
        (&b""[..], false),
        (b"GET http://127.0.0.1/ HTTP/1.1\r\nX: ", true),
        (b"GET http://127.0.0.1/ HTTP/1.1\r\n", false),
        (b"\x05\x02", false),
        (b"\x05\x01\x00", false),
        (b"\x05\x01\x00\x05\x01\x00\x03\xff", true),
    ] {
        let life = life(first, drips, hasty()).await;
        assert!(life < longest, "{first:?} lived for {life:?}");
    }
}

#[tokio::test]
async fn a_silent_tunnel_is_closed_and_a_busy_one_is_not() {
    let (echo, proxy) = (echo().await, proxy(hasty()).await);
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(format!("CONNECT {} HTTP/1.1\r\n\r\n", echo.address).as_bytes()).await.unwrap();
    head(&mut stream).await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_millis(150)).await;
        stream.write_all(b"x").await.unwrap();
        assert_eq!(stream.read_u8().await.unwrap(), b'x');
    }
    let began = Instant::now();
    assert!(stream.read_u8().await.is_err());
    assert!(began.elapsed() > Duration::from_millis(500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn more_clients_than_the_bound_wait_for_their_turn() {
    let echo = echo().await;
    let proxy = proxy(Options { connections: 2, ..Options::default() }).await;
    let request = format!("CONNECT {} HTTP/1.1\r\n\r\n", echo.address);
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(proxy.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    head(&mut streams[0]).await;
    head(&mut streams[1]).await;
    assert_eq!(heard(&mut streams[2]).await, "", "it was let in");
    streams.remove(0);
    assert!(head(&mut streams[1]).await.starts_with("HTTP/1.1 200 "));
}

/// What a server can send before it has to wait, while the client does not read.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn little_lies_in_the_kernel_for_a_client_that_does_not_read_and_all_of_it_arrives() {
    const ALL: usize = 40_000_000;
    /// In the proxy's two sockets and its buffer, with a part of less than 256 KiB each of the server's and the client's own. Without a bound
    /// it is 10 MB.
    const MOST: u64 = 1_500_000;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let sent = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let counted = sent.clone();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        socket2::SockRef::from(&stream).set_send_buffer_size(64 << 10).unwrap();
        // Slowly enough that the bound, which takes 200 ms, is there in time.
        while (counted.load(std::sync::atomic::Ordering::Relaxed) as usize) < ALL {
            stream.write_all(&[7; 20_000]).await.unwrap();
            let now = counted.fetch_add(20_000, std::sync::atomic::Ordering::Relaxed);
            if now < 5_000_000 {
                tokio::time::sleep(Duration::from_millis(4)).await;
            }
        }
    });
    // The receive buffer is the largest that there is, as that of a connection that is steered.
    let opened = |socket: &std::sync::Arc<TcpStream>| {
        afteryou_outside::linux::unbound_unread(std::os::fd::AsFd::as_fd(&**socket)).unwrap();
    };
    let proxy = proxy(Options { opened: Some(std::sync::Arc::new(opened)), ..Options::default() }).await;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 << 10).unwrap();
    let mut stream = socket.connect(proxy.address).await.unwrap();
    stream.write_all(format!("CONNECT {address} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    head(&mut stream).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let waiting = sent.load(std::sync::atomic::Ordering::Relaxed);
    assert!(waiting < MOST, "{waiting} bytes lie in the kernel");
    let mut got = vec![0; ALL];
    tokio::time::timeout(Duration::from_secs(60), stream.read_exact(&mut got)).await.unwrap().unwrap();
}
