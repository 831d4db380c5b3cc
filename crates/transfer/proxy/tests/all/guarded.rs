//! Who may use the proxy, and where it goes.

use crate::support::{closed, proxy, said, server};
use afteryou_proxy::{Error, Options, Proxy};

#[tokio::test]
async fn the_proxy_does_not_connect_to_itself_whatever_it_is_called() {
    let proxy = proxy(Options::default()).await;
    let port = proxy.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.1",
        "0x7f.1",
        "2130706433",
        "127.9.9.9",
    ] {
        for request in [
            format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n"),
            format!("GET http://{host}:{port}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        ] {
            let answer = said(&proxy, request.as_bytes()).await;
            assert!(
                answer.starts_with("HTTP/1.1 403 ") || answer.contains("has no address"),
                "{request}{answer}"
            );
        }
    }
}

#[tokio::test]
async fn a_web_page_finds_nothing_at_the_port() {
    let proxy = proxy(Options::default()).await;
    for request in [
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:8118\r\n\r\n",
        "GET /status HTTP/1.1\r\nHost: rebound.example\r\nOrigin: http://rebound.example\r\n\r\n",
        "POST /stop HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 4\r\n\r\nstop",
        "OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: PUT\r\n\r\n",
        "GET /http://127.0.0.1/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://evil.example\r\n\r\n",
    ] {
        let answer = said(&proxy, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{request}{answer}");
        assert!(!answer.to_lowercase().contains("access-control"), "{answer}");
    }
}

#[tokio::test]
async fn without_the_password_nothing_is_passed_on() {
    let (server, proxy) =
        (server("HTTP/1.1 200 OK\r\nContent-length: 0\r\n\r\n").await, proxy(closed()).await);
    let (url, place) = (server.url("/"), server.running.address);
    for header in ["", "Proxy-Authorization: Basic bWU6d3Jvbmc=\r\n", "Authorization: Basic bWU6c2VjcmV0\r\n"]
    {
        for line in [format!("GET {url}"), format!("CONNECT {place}")] {
            let answer = said(&proxy, format!("{line} HTTP/1.1\r\nHost: x\r\n{header}\r\n").as_bytes()).await;
            assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
            assert!(answer.to_lowercase().contains("proxy-authenticate: basic realm="), "{answer}");
        }
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_request_that_comes_back_is_refused() {
    // A second proxy stands for an address by which the first is reached without its knowledge.
    let (server, first, second) = (
        server("HTTP/1.1 200 OK\r\nContent-length: 0\r\n\r\n").await,
        proxy(Options::default()).await,
        proxy(Options::default()).await,
    );
    said(&first, format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", server.url("/")).as_bytes()).await;
    let seen = server.seen().to_lowercase();
    let via = seen.lines().find(|line| line.starts_with("via: ")).expect("a header Via").to_owned();
    let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n{via}\r\n\r\n", server.url("/"));
    assert!(said(&first, request.as_bytes()).await.starts_with("HTTP/1.1 403 "));
    assert!(said(&second, request.as_bytes()).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn other_hosts_are_let_in_with_a_password_alone() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = Proxy::listen(address.parse().unwrap(), Options::default()).await;
        assert!(matches!(refused, Err(Error::Open { .. })), "{address}");
    }
    assert!(Proxy::listen("0.0.0.0:0".parse().unwrap(), closed()).await.is_ok());
}
