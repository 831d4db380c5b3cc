//! Redirects: how far, where to, and who gets a password.

use super::support::{file, reply, stored, Bench, Server};
use afteryou_http::{Error, Netrc, Url};

fn redirect(stream: &mut std::net::TcpStream, location: &str) {
    reply(stream, "302 Found", &format!("Location: {location}\nContent-Length: 0"), b"");
}

#[tokio::test]
async fn ten_redirects_are_followed_and_no_more() {
    let server =
        Server::start(|asked, _, stream| match asked.target().trim_start_matches('/').parse::<u32>() {
            Ok(0) => file(asked, stream, b"content", "\"1\""),
            Ok(left) => redirect(stream, &format!("./{}", left - 1)),
            Err(_) => {}
        });
    let mut bench = Bench::new();
    assert_eq!(stored(bench.get(&server.url("/10")).await), "10", "the name is that of the command line");
    let error = bench.get(&server.url("/11")).await.unwrap_err();
    assert!(matches!(error, Error::Redirect { .. }), "{error}");
    assert_eq!(server.asked().len(), 22);
}

#[tokio::test]
async fn a_redirect_leads_to_http_or_https_alone() {
    for location in ["file:///etc/passwd", "ftp://h/x", "javascript:x"] {
        let server = Server::start(move |_, _, stream| redirect(stream, location));
        let mut bench = Bench::new();
        let error = bench.get(&server.url("/x")).await.unwrap_err();
        assert!(matches!(error, Error::Redirect { .. }), "{location}: {error}");
    }
}

#[tokio::test]
async fn a_password_goes_to_its_own_server_alone() {
    let other = Server::of_file(b"content", "\"1\"");
    let elsewhere = other.url("/y").to_string();
    let server = Server::start(move |asked, _, stream| match asked.target() {
        "/x" => redirect(stream, "/here"),
        _ => redirect(stream, &elsewhere),
    });
    let mut bench = Bench::new();
    // For every host, and yet not over a connection that anybody can read.
    bench.options.netrc = Netrc::parse("default login file password secret");
    let url = Url::parse(&format!("http://me:pw@127.0.0.1:{}/x", server.port)).unwrap();
    bench.get(&url).await.unwrap();
    let authorization = |server: &Server| -> Vec<_> {
        server.asked().iter().map(|asked| asked.header("authorization").map(str::to_owned)).collect()
    };
    let mine = Some("Basic bWU6cHc=".to_owned());
    assert_eq!(authorization(&server), [mine.clone(), mine]);
    assert_eq!(authorization(&other), [None]);
    bench.get(&server.url("/x")).await.unwrap_err();
    assert_eq!(authorization(&server)[2], None, "passwords of .netrc go over TLS alone");
}
