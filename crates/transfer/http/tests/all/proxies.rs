//! Proxies, for plain requests and as tunnels.

use super::support::{file, reply, stored, Bench, Server};
use afteryou_http::{Error, Proxies, Url};

fn through(server: &Server) -> Proxies {
    let address = format!("http://me:pw@127.0.0.1:{}", server.port);
    Proxies::from(move |name| matches!(name, "http_proxy" | "https_proxy").then(|| address.clone()))
}

#[tokio::test]
async fn a_proxy_gets_the_whole_url_and_its_own_password() {
    let proxy = Server::start(|asked, _, stream| file(asked, stream, b"content", "\"1\""));
    let mut bench = Bench::new();
    bench.options.proxies = through(&proxy);
    // No resolver is asked for this name.
    assert_eq!(stored(bench.get(&Url::parse("http://far.invalid/x?y").unwrap()).await), "x");
    let asked = &proxy.asked()[0];
    assert_eq!(asked.line, "GET http://far.invalid/x?y HTTP/1.1");
    assert_eq!(asked.header("proxy-authorization"), Some("Basic bWU6cHc="));
    assert_eq!((asked.header("host"), asked.header("authorization")), (Some("far.invalid"), None));
}

#[tokio::test]
async fn a_proxy_that_refuses_a_tunnel_is_an_error() {
    let proxy = Server::start(|_, _, stream| reply(stream, "407 Password please", "", b""));
    let mut bench = Bench::new();
    bench.options.proxies = through(&proxy);
    let error = bench.get(&Url::parse("https://far.invalid/x").unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Proxy { .. }), "{error}");
    assert_eq!(proxy.asked()[0].line, "CONNECT far.invalid:443 HTTP/1.1");
}
