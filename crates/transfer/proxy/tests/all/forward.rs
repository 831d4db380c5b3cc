//! Requests that are passed on.

use crate::support::{closed, head, heard, proxy, said, server};
use afteryou_proxy::Options;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-length: 2\r\nX-Own: 1\r\nKeep-Alive: 5\r\n\r\nhi";

#[tokio::test]
async fn a_request_reaches_its_server_without_what_is_for_the_proxy() {
    let (server, proxy) = (server(OK).await, proxy(closed()).await);
    let answer = said(
        &proxy,
        format!(
            "GET {} HTTP/1.1\r\nHost: other.example\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n\
             Connection: close, X-Hop\r\nProxy-Connection: close\r\nX-Hop: 1\r\nX-Kept: 1\r\n\r\n",
            server.url("/a?b=c")
        )
        .as_bytes(),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("\r\n\r\nhi"), "{answer}");
    assert!(answer.contains("X-Own: 1") && !answer.to_lowercase().contains("keep-alive"), "{answer}");
    let seen = server.seen();
    assert!(seen.starts_with("GET /a?b=c HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("Host: {}\r\n", server.running.address)), "{seen}");
    assert!(seen.contains("X-Kept: 1") && seen.to_lowercase().contains("via: 1.1 afteryou-"), "{seen}");
    for hidden in ["Proxy-", "proxy-", "secret", "bWU6c2VjcmV0", "X-Hop", "other.example"] {
        assert!(!seen.contains(hidden), "{hidden}: {seen}");
    }
}

#[tokio::test]
async fn requests_of_a_client_share_a_connection_and_another_server_has_its_own() {
    let (one, two, proxy) = (server(OK).await, server(OK).await, proxy(Options::default()).await);
    let get = |url: String| format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n");
    // Two at once: apt does not wait for an answer.
    let all = [one.url("/1"), one.url("/2"), two.url("/3")].map(get).concat();
    let answer = said(&proxy, all.as_bytes()).await;
    assert_eq!(answer.matches("HTTP/1.1 200 OK").count(), 3, "{answer}");
    assert_eq!((*one.connections.lock().unwrap(), *two.connections.lock().unwrap()), (1, 1));
}

#[tokio::test]
async fn a_body_with_a_length_and_one_in_chunks_arrive() {
    let (server, proxy) = (server(OK).await, proxy(Options::default()).await);
    let url = server.url("/");
    let sized =
        format!("PUT {url} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nsized");
    let answer = said(&proxy, sized.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let chunked = format!(
        "POST {url} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    );
    said(&proxy, chunked.as_bytes()).await;
    let seen = server.seen();
    assert!(seen.contains("sized") && seen.contains("abc") && seen.contains("de"), "{seen}");
    assert!(seen.to_lowercase().contains("transfer-encoding: chunked"), "{seen}");
}

#[tokio::test]
async fn a_client_that_waits_for_a_hundred_gets_it() {
    let (server, proxy) = (server(OK).await, proxy(Options::default()).await);
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    let request = format!(
        "PUT {} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n",
        server.url("/")
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 100 "));
    stream.write_all(b"body").await.unwrap();
    assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn an_old_client_gets_an_answer_in_chunks_without_them() {
    let answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    let (server, proxy) = (server(answer).await, proxy(Options::default()).await);
    let old = said(&proxy, format!("GET {} HTTP/1.0\r\n\r\n", server.url("/")).as_bytes()).await;
    assert!(old.ends_with("\r\n\r\nhi") && !old.contains("chunked"), "{old}");
    let new = said(&proxy, format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", server.url("/")).as_bytes()).await;
    assert!(new.ends_with("2\r\nhi\r\n0\r\n\r\n") && new.contains("chunked"), "{new}");
}

#[tokio::test]
async fn the_end_of_a_connection_ends_an_answer_without_a_length() {
    let (server, proxy) =
        (server("HTTP/1.0 200 OK\r\n\r\nuntil the end").await, proxy(Options::default()).await);
    let answer = said(&proxy, format!("GET {} HTTP/1.0\r\n\r\n", server.url("/")).as_bytes()).await;
    assert!(answer.ends_with("until the end"), "{answer}");
}

#[tokio::test]
async fn an_answer_that_breaks_off_breaks_off_for_the_client() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        head(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf").await.unwrap();
    });
    let proxy = proxy(Options::default()).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    stream.write_all(format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    assert!(head(&mut stream).await.to_lowercase().contains("content-length: 100"));
    let mut rest = Vec::new();
    // The connection ends: a client that counts sees that bytes are missing.
    _ = stream.read_to_end(&mut rest).await;
    assert_eq!(rest, b"half");
}

#[tokio::test]
async fn a_server_that_has_closed_meanwhile_is_asked_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            head(&mut stream).await;
            stream.write_all(OK.as_bytes()).await.unwrap();
        }
    });
    let proxy = proxy(Options::default()).await;
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    for _ in 0..2 {
        stream.write_all(format!("GET {url} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
        assert!(head(&mut stream).await.starts_with("HTTP/1.1 200 "));
        assert_eq!(stream.read_u16().await.unwrap(), u16::from_be_bytes(*b"hi"));
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn a_websocket_is_switched_to_if_both_ends_want_it() {
    const SWITCH: &str =
        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfrom the server";
    let (server, proxy) = (server(SWITCH).await, proxy(Options::default()).await);
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        server.url("/")
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = head(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 101 ") && answer.contains("websocket"), "{answer}");
    stream.write_all(b"from the client").await.unwrap();
    assert_eq!(heard(&mut stream).await, "from the server");
    assert!(server.seen().ends_with("from the client"), "{}", server.seen());
}

#[tokio::test]
async fn a_server_that_is_not_there_is_reported() {
    let proxy = proxy(Options::default()).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let answer = said(&proxy, format!("GET http://{free}/ HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("cannot be reached"), "{answer}");
    let answer = said(&proxy, b"GET http://no.invalid/ HTTP/1.1\r\nHost: x\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("has no address"), "{answer}");
}
