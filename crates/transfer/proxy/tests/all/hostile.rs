//! Hostile requests: each is refused, nothing of it reaches a server, and the proxy's memory stays as it was.

use crate::support::{proxy, said, server};
use afteryou_proxy::Options;

/// Returns requests that no honest client sends. `PLACE` stands for a server, `OWN` for the proxy.
fn requests() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut text = |request: String| all.push(request.into_bytes());
    for target in [
        "/",
        "*",
        "PLACE",
        "//PLACE/",
        "https://PLACE/",
        "ftp://PLACE/",
        "file:///etc/passwd",
        "gopher://PLACE/",
        "http:///",
        "http://",
        "http:PLACE",
        "http://me:pw@PLACE/",
        "http://@PLACE/",
        "http://PLACE:0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:-1/",
        "http://127.0.0.1:8x/",
        "http://[::1/",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://OWN/",
        "http://localhost:OWNPORT/",
        "http://[::ffff:127.0.0.1]:OWNPORT/",
        "http://0.0.0.0:OWNPORT/",
        "http://[::]:OWNPORT/",
        "http://h\u{fc}h/",
        "http://a_b^c/",
        "http://%31%32%37.0.0.1/",
        "http://127.0.0.1\\@evil/",
        "http://127.0.0.1#/",
        "http://a..b\u{0}/",
        "javascript:alert(1)",
    ] {
        for method in ["GET", "POST", "PUT"] {
            text(format!("{method} {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        }
        text(
            format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n")
                .replace("CONNECT PLACE ", "CONNECT PLACE:1 "),
        );
    }
    for target in [
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        ":80",
        "127.0.0.1:80:80",
        "h h:80",
        "[::1]",
        "OWN",
        "http://PLACE",
        "PLACE/x",
    ] {
        text(format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    for headers in [
        "Content-Length: 1\r\nContent-Length: 2",
        "Content-Length: -1",
        "Content-Length: +1",
        "Content-Length: 1, 2",
        "Content-Length: 0x1",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        "Transfer-Encoding: \x0bchunked",
        "Transfer-Encoding:\tchunked, chunked",
        "Transfer-Encoding : chunked",
        " Transfer-Encoding: chunked",
        "X Y: z",
        "X\u{0}: z",
        "X: a\rb",
        "X: a\u{0}b",
        ": z",
        "NoColon",
        "X: a\r\n folded",
        "Host : y",
        "Transfer-Encoding: chunked;x=y",
        "Content-Length : 3",
    ] {
        for method in ["GET", "POST", "DELETE", "OPTIONS"] {
            text(format!("{method} http://PLACE/ HTTP/1.1\r\nHost: x\r\n{headers}\r\n\r\nGET http://PLACE/smuggled HTTP/1.1\r\n\r\n"));
        }
    }
    for line in [
        "GET",
        "GET http://PLACE/",
        "GET http://PLACE/ HTTP/9.9",
        "GET http://PLACE/ HTTP/2.0",
        "GET http://PLACE/ HTTP/1.",
        "GET http://PLACE/ HTTPS/1.1",
        "GET  http://PLACE/  HTTP/1.1",
        "GET\thttp://PLACE/\tHTTP/1.1",
        "G\u{0}T http://PLACE/ HTTP/1.1",
        "G(T http://PLACE/ HTTP/1.1",
        "TRACE http://PLACE/ HTTP/1.1",
        "GET http://PLACE/ a HTTP/1.1",
        "PRI * HTTP/2.0",
        "HTTP/1.1 200 OK",
        "SSH-2.0-x",
    ] {
        text(format!("{line}\r\nHost: x\r\n\r\n"));
        text(format!("{line}\nHost: x\n\n\u{7f}"));
    }
    for first in [0u8, 1, 4, 6, 0x16, 0x80, 0xff] {
        for length in [1, 8, 300, 40_000] {
            all.push(vec![first; length]);
        }
    }
    for socks in [
        &[5, 0][..],
        &[5, 255],
        &[5, 1, 0, 4, 1, 0, 1],
        &[5, 1, 0, 5, 1, 0, 9],
        &[5, 1, 0, 5, 1, 0, 3, 0, 0, 80],
        &[5, 1, 0, 5, 2, 0, 1, 127, 0, 0, 1, 0, 80],
        &[5, 1, 0, 5, 3, 0, 1, 127, 0, 0, 1, 0, 80],
        &[5, 1, 0, 5, 1, 0, 3, 3, b'a', 0, b'b', 0, 80],
        &[5, 1, 0, 5, 1, 0, 3, 2, 0xff, 0xfe, 0, 80],
        &[5, 1, 2, 1, 0, 0],
        &[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 0],
        &[5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5],
    ] {
        all.push(socks.to_vec());
    }
    all
}

/// Returns the resident set without the pages of files, bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("Linux 4.5");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[cfg(not(target_os = "linux"))]
fn resident() -> u64 {
    0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_hundred_hostile_requests_are_refused_and_leave_nothing_behind() {
    /// More than buffers that are kept for later, and less than a request each.
    const MOST: u64 = 8 << 20;
    let (server, proxy) =
        (server("HTTP/1.1 200 OK\r\nContent-length: 0\r\n\r\n").await, proxy(Options::default()).await);
    let (place, own) = (server.running.address.to_string(), proxy.address.to_string());
    let requests = requests();
    assert!(requests.len() >= 300, "{} requests", requests.len());
    let requests: Vec<Vec<u8>> = requests
        .into_iter()
        .map(|request| match String::from_utf8(request) {
            Ok(text) => text
                .replace("PLACE", &place)
                .replace("OWNPORT", &proxy.address.port().to_string())
                .replace("OWN", &own)
                .into_bytes(),
            Err(bytes) => bytes.into_bytes(),
        })
        .collect();
    let mut memory = Vec::new();
    for _ in 0..3 {
        for many in requests.chunks(50) {
            let answers = futures(&proxy, many).await;
            for (request, answer) in many.iter().zip(answers) {
                let is_refused = answer.is_empty()
                    || answer.starts_with("HTTP/1.1 4")
                    || answer.starts_with("HTTP/1.1 502 ")
                    || (answer.starts_with('\u{5}') && !answer.ends_with("\u{5}\0\0\u{1}\0\0\0\0\0\0"));
                assert!(is_refused, "{:?} -> {answer:?}", String::from_utf8_lossy(request));
            }
        }
        memory.push(resident());
    }
    assert_eq!(*server.connections.lock().unwrap(), 0, "{}", server.seen());
    assert!(memory[2] < memory[0] + MOST, "{memory:?}");
    // And it still works.
    let fine = said(
        &proxy,
        format!("GET http://{place}/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
    )
    .await;
    assert!(fine.starts_with("HTTP/1.1 200 "), "{fine}");
}

/// Sends requests side by side, and returns the answers.
async fn futures(proxy: &crate::support::Running, requests: &[Vec<u8>]) -> Vec<String> {
    let tasks: Vec<_> = requests
        .iter()
        .map(|request| {
            let (address, request) = (proxy.address, request.clone());
            tokio::spawn(async move {
                let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
                _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &request).await;
                crate::support::heard(&mut stream).await
            })
        })
        .collect();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    answers
}

/// Two readings of one body are two requests. One alone may reach the server, and the connection ends with it.
#[tokio::test]
async fn a_body_with_two_lengths_is_one_request() {
    let (server, proxy) =
        (server("HTTP/1.1 200 OK\r\nContent-length: 0\r\n\r\n").await, proxy(Options::default()).await);
    let url = server.url("/");
    for (one, two) in [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked", "Content-Length: 5"),
    ] {
        let request = format!(
            "POST {url} HTTP/1.1\r\nHost: x\r\n{one}\r\n{two}\r\n\r\n0\r\n\r\nGET {url}smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
        );
        let answer = said(&proxy, request.as_bytes()).await;
        assert!(answer.matches("HTTP/1.1 ").count() <= 1, "{answer}");
    }
    let seen = server.seen().to_lowercase();
    assert!(!seen.contains("smuggled") && !seen.contains("content-length"), "{seen}");
}
