//! What a server shows that is only looked at.

use super::support::{reply, Server};
use afteryou_http::{Client, Error, Options, Ranges};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

const GOOD: &str = "ETag: \"1\"\nContent-Range: bytes 0-3/4\nContent-Length: 4\nRepr-Digest: sha-256=:AAAA:";

#[tokio::test]
async fn the_offers_of_a_server_are_seen_and_each_socket_is_prepared_before_its_request() {
    let server = Server::start(|asked, _, stream| match asked.target() {
        "/away" => reply(stream, "302 Found", "Location: /good\nContent-Length: 0", b""),
        "/good" => reply(stream, "206 Partial", GOOD, b"abcd"),
        "/announced" => {
            reply(stream, "200 OK", "Accept-Ranges: bytes\nETag: W/\"1\"\nContent-Length: 4", b"abcd");
        }
        _ => reply(stream, "200 OK", "Content-Digest: sha-256=:AAAA:", b"abcd"),
    });
    let prepared = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&prepared);
    let prepare = move |stream: &tokio::net::TcpStream| {
        assert!(stream.peer_addr().is_ok());
        count.fetch_add(1, Ordering::Relaxed);
    };
    let client = Client::new(Options { prepare: Some(Arc::new(prepare)), ..Options::default() });

    let mut good = client.look(&server.url("/away")).await.unwrap();
    assert_eq!(prepared.load(Ordering::Relaxed), 2, "one for the redirect");
    assert_eq!((good.ranges(), good.has_validator(), good.length()), (Ranges::Sent, true, Some(4)));
    assert_eq!((good.digests(), good.is_http2(), good.is_proxied()), (vec!["repr-digest"], false, false));
    assert_eq!((good.peer().port(), good.url().to_string().ends_with("/good")), (server.port, true));
    assert_eq!(good.next().await.unwrap().as_deref(), Some(&b"abcd"[..]));
    assert_eq!(good.next().await.unwrap(), None);
    let asked = server.asked();
    assert_eq!(asked[1].header("range"), Some("bytes=0-"));
    assert!(asked[1].header("want-content-digest").is_some());

    let announced = client.look(&server.url("/announced")).await.unwrap();
    assert_eq!((announced.ranges(), announced.has_validator()), (Ranges::Announced, false));
    let plain = client.look(&server.url("/plain")).await.unwrap();
    assert_eq!((plain.ranges(), plain.length(), plain.digests()), (Ranges::No, None, vec!["content-digest"]));
}

#[tokio::test]
async fn a_status_that_is_no_success_is_an_error() {
    let server = Server::start(|_, _, stream| reply(stream, "404 Not Found", "Content-Length: 0", b""));
    let looked = Client::new(Options::default()).look(&server.url("/x")).await;
    assert!(matches!(looked, Err(Error::Status { .. })));
}
