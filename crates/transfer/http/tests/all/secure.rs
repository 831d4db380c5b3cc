//! TLS: certificates, HTTP/2 and HTTP/1.1, tunnels, and passwords of `.netrc`.

use super::support::{stored, Bench, Server};
use afteryou_http::{Error, Netrc, Proxies, Url};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::PrivateKeyDer;
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// Requests: version, target, Authorization.
type Asked = Arc<Mutex<Vec<(Version, String, Option<String>)>>>;

struct Secure {
    port: u16,
    root: Vec<u8>,
    asked: Asked,
}

impl Secure {
    /// Starts a server for `localhost` that offers these protocols. `/away` redirects to `away`; with `end` or `cut` there, it sends an answer
    /// without a length and ends.
    async fn start(protocols: &[&str], away: String) -> Secure {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let root = made.cert.der().to_vec();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider);
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let mut config = config.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Asked::default();
        let (acceptor, log) = (TlsAcceptor::from(Arc::new(config)), asked.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, log, away) = (acceptor.clone(), log.clone(), away.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    if matches!(away.as_str(), "end" | "cut") {
                        _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nall of it").await;
                        _ = stream.flush().await;
                        // TLS says goodbye here, and not if the connection is dropped.
                        if away == "end" {
                            _ = stream.shutdown().await;
                        }
                        return;
                    }
                    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
                    let service = service_fn(move |request| answer(request, log.clone(), away.clone()));
                    let io = TokioIo::new(stream);
                    match is_http2 {
                        true => {
                            _ = http2::Builder::new(TokioExecutor::new()).serve_connection(io, service).await
                        }
                        false => _ = http1::Builder::new().serve_connection(io, service).await,
                    }
                });
            }
        });
        Secure { port, root, asked }
    }

    fn url(&self, target: &str) -> Url {
        Url::parse(&format!("https://localhost:{}{target}", self.port)).unwrap()
    }

    fn asked(&self) -> Vec<(Version, String, Option<String>)> {
        self.asked.lock().unwrap().clone()
    }
}

async fn answer(
    request: Request<Incoming>,
    log: Asked,
    away: String,
) -> Result<Response<String>, Infallible> {
    let authorization =
        request.headers().get("authorization").map(|value| value.to_str().unwrap().to_owned());
    let target = request.uri().path().to_owned();
    log.lock().unwrap().push((request.version(), target.clone(), authorization));
    let answer = match target.as_str() {
        "/away" => Response::builder().status(302).header("location", away).body(String::new()),
        _ => Response::builder().header("etag", "\"1\"").body("content ".repeat(100_000)),
    };
    Ok(answer.unwrap())
}

#[tokio::test]
async fn the_server_chooses_http2_or_http1() {
    for (protocols, version) in [
        (&["h2", "http/1.1"][..], Version::HTTP_2),
        (&["http/1.1"], Version::HTTP_11),
        (&[], Version::HTTP_11),
    ] {
        let server = Secure::start(protocols, String::new()).await;
        let mut bench = Bench::new();
        bench.options.roots = vec![server.root.clone()];
        assert_eq!(stored(bench.get(&server.url("/x")).await), "x");
        assert_eq!(bench.only("x").len(), 800_000);
        assert_eq!(server.asked()[0].0, version);
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_its_connection_is_whole_only_if_tls_ends_too() {
    for is_proper in [true, false] {
        let server = Secure::start(&[], if is_proper { "end".to_owned() } else { "cut".to_owned() }).await;
        let mut bench = Bench::new();
        bench.options.roots = vec![server.root.clone()];
        let outcome = bench.get(&server.url("/raw")).await;
        match is_proper {
            true => assert_eq!(stored(outcome), "raw"),
            false => assert!(matches!(outcome, Err(Error::Broken { .. })), "{outcome:?}"),
        }
    }
}

#[tokio::test]
async fn a_certificate_of_a_stranger_or_of_another_host_is_refused_at_once() {
    let server = Secure::start(&["h2"], String::new()).await;
    let other = Secure::start(&["h2"], String::new()).await;
    let mut bench = Bench::new();
    bench.options.roots = vec![other.root.clone()];
    let by_address = Url::parse(&format!("https://127.0.0.1:{}/x", other.port)).unwrap();
    for url in [server.url("/x"), by_address] {
        let error = bench.get(&url).await.unwrap_err();
        assert!(matches!(error, Error::Certificate { .. }), "{error}");
    }
    assert!(server.asked().is_empty() && other.asked().is_empty() && bench.names().is_empty());
}

#[tokio::test]
async fn no_redirect_leads_from_https_to_http() {
    let plain = Server::of_file(b"content", "\"1\"");
    let server = Secure::start(&["h2"], plain.url("/x").to_string()).await;
    let mut bench = Bench::new();
    bench.options.roots = vec![server.root.clone()];
    let error = bench.get(&server.url("/away")).await.unwrap_err();
    assert!(error.to_string().contains("from https to http"), "{error}");
    assert!(plain.asked().is_empty() && bench.names().is_empty());
}

#[tokio::test]
async fn a_password_of_netrc_goes_to_its_host_over_tls_and_to_nobody_else() {
    let other = Secure::start(&["h2"], String::new()).await;
    let server = Secure::start(&["h2"], other.url("/y").to_string()).await;
    let mut bench = Bench::new();
    bench.options.roots = vec![server.root.clone(), other.root.clone()];
    bench.options.netrc = Netrc::parse("machine localhost login me password pw");
    assert_eq!(stored(bench.get(&server.url("/away")).await), "away");
    assert_eq!(server.asked()[0].2.as_deref(), Some("Basic bWU6cHc="));
    assert_eq!(other.asked()[0].2, None, "it is another port");
}

#[tokio::test]
async fn tls_goes_through_a_tunnel_of_a_proxy() {
    let server = Secure::start(&["h2"], String::new()).await;
    let port = server.port;
    let proxy = Server::start(move |_, _, stream| {
        let mut far = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        _ = stream.write_all(b"HTTP/1.1 200 Connected\r\nX: y\r\n\r\n");
        let (mut up, mut to) = (stream.try_clone().unwrap(), far.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut up, &mut to));
        _ = std::io::copy(&mut far, stream);
    });
    let mut bench = Bench::new();
    bench.options.roots = vec![server.root.clone()];
    let address = format!("127.0.0.1:{}", proxy.port);
    bench.options.proxies = Proxies::from(|name| (name == "https_proxy").then(|| address.clone()));
    assert_eq!(stored(bench.get(&server.url("/x")).await), "x");
    assert_eq!(proxy.asked()[0].line, format!("CONNECT localhost:{port} HTTP/1.1"));
    assert_eq!((server.asked().len(), bench.only("x").len()), (1, 800_000));
}
