//! Bounds of time and memory, against servers that stall or flood.

use super::support::{reply, Bench, Server};
use afteryou_http::{Error, Url};
use std::io::Write;
use std::time::{Duration, Instant};

#[tokio::test]
async fn a_silent_server_is_left() {
    for has_headers in [false, true] {
        let server = Server::start(move |_, _, stream| {
            if has_headers {
                reply(stream, "200 OK", "Content-Length: 10", b"");
            }
            std::thread::sleep(Duration::from_secs(5));
        });
        let mut bench = Bench::new();
        bench.options.read_timeout = Duration::from_millis(30);
        let began = Instant::now();
        let error = bench.get(&server.url("/x")).await.unwrap_err();
        assert!(matches!(error, Error::Silent { .. }) && began.elapsed() < Duration::from_secs(4), "{error}");
        assert!(bench.names().is_empty());
    }
}

#[tokio::test]
async fn headers_without_end_are_refused() {
    let server = Server::start(|_, _, stream| {
        _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
        while stream.write_all(&[b"X: ", &[b'x'; 1000][..], b"\r\n"].concat()).is_ok() {}
    });
    let mut bench = Bench::new();
    let error = bench.get(&server.url("/x")).await.unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
}

#[tokio::test]
async fn more_than_the_announced_length_is_not_taken() {
    let server = Server::start(|asked, _, stream| match asked.from() {
        None => reply(stream, "200 OK", "ETag: \"1\"\nContent-Length: 10", b"01234"),
        Some(_) => {
            reply(stream, "206 Partial", "Content-Range: bytes 5-9/10\nContent-Length: 50", &[b'!'; 50])
        }
    });
    let mut bench = Bench::new();
    let error = bench.get(&server.url("/x")).await.unwrap_err();
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    assert_eq!(bench.names(), ["PART"]);
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_given_up_soon() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut bench = Bench::new();
    let error = bench.get(&Url::parse(&format!("http://127.0.0.1:{port}/x")).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error}");
    assert!(bench.names().is_empty());
}
