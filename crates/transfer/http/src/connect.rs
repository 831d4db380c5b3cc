//! Connections: addresses, sockets, proxies, TLS, and HTTP over them.
//!
//! # Model
//! ALPN chooses HTTP/2 or HTTP/1.1 over TLS; without TLS it is HTTP/1.1.
//!
//! # Constants
//! | name | value | reason |
//! |---|---|---|
//! | [`HEADERS`] | 64 KiB | more than any honest answer has; a server must not fill the memory |
//! | [`WINDOW`] | 32 MiB | HTTP/2 must not hold back what TCP lets through: 1 Gbit/s over 250 ms |

use crate::dial;
use crate::error::Error;
use crate::proxy::{Proxies, Proxy};
use crate::tls;
use crate::url::{Url, User};
use data_encoding::BASE64;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, Write};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, ServerName};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Longest header section, bytes.
const HEADERS: u32 = 64 << 10;
/// Most that hyper reads at once, bytes: no less than the headers.
const READ_AT_ONCE: usize = 256 << 10;
/// Window of HTTP/2, bytes.
const WINDOW: u32 = 32 << 20;
/// Most 1xx and other lines of a proxy's answer, bytes.
const PROXY_ANSWER: usize = 16 << 10;

/// A function that sets options of a socket.
pub type Prepare = dyn Fn(&TcpStream) + Send + Sync;

/// Opens connections.
pub(crate) struct Connector {
    /// Called with each socket before anything is sent.
    pub prepare: Option<Arc<Prepare>>,
    pub proxies: Proxies,
    /// Certificate authorities; without them, those of the system.
    pub roots: Vec<CertificateDer<'static>>,
    pub timeout: Duration,
    pub tls: OnceLock<Arc<rustls::ClientConfig>>,
}

/// A connection to a server. It closes when this is dropped.
pub(crate) struct Connection {
    sender: Sender,
    /// The address that it leads to.
    pub peer: SocketAddr,
    /// The proxy's header, where requests go to a proxy.
    pub to_proxy: Option<Proxy>,
    task: JoinHandle<()>,
}

enum Sender {
    Http1(http1::SendRequest<String>),
    Http2(http2::SendRequest<String>),
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connection {
    /// Returns whether it speaks HTTP/2.
    pub fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }

    /// Sends a request and waits for the headers of its answer.
    pub async fn send(&mut self, request: Request<String>) -> Result<Response<Incoming>, hyper::Error> {
        match &mut self.sender {
            Sender::Http1(sender) => sender.send_request(request).await,
            Sender::Http2(sender) => sender.send_request(request).await,
        }
    }
}

impl Connector {
    /// Opens a connection for `url`, directly or through a proxy.
    pub async fn open(&self, url: &Url) -> Result<Connection, Error> {
        let proxy = self.proxies.of(url)?;
        let via = proxy.as_ref().map_or(url, |proxy| &proxy.url);
        let host = via.authority();
        let work = self.open_over(url, via, proxy.as_ref());
        let too_late =
            || io::Error::new(io::ErrorKind::TimedOut, format!("no answer for {} s", self.timeout.as_secs()));
        match tokio::time::timeout(self.timeout, work).await {
            Ok(opened) => opened,
            Err(_) => Err(Error::Connect { host, reason: too_late() }),
        }
    }

    async fn open_over(&self, url: &Url, via: &Url, proxy: Option<&Proxy>) -> Result<Connection, Error> {
        let failed = |reason| Error::Connect { host: via.authority(), reason };
        let addresses = tokio::net::lookup_host((via.bare_host(), via.port())).await.map_err(failed)?;
        let mut stream = dial::first(addresses.collect()).await.map_err(failed)?;
        let peer = stream.peer_addr().map_err(failed)?;
        // Requests are single packets; nothing is gained by waiting.
        _ = stream.set_nodelay(true);
        if let Some(prepare) = &self.prepare {
            prepare(&stream);
        }
        if let (true, Some(proxy)) = (url.is_https(), proxy) {
            tunnel(&mut stream, url, proxy).await?;
        }
        let (sender, task) = match url.is_https() {
            true => self.over_tls(url, stream).await?,
            false => http1(TokioIo::new(stream)).await.map_err(|error| broken(url, &error))?,
        };
        let to_proxy = proxy.filter(|_| !url.is_https()).cloned();
        tracing::info!(%peer, http2 = matches!(sender, Sender::Http2(_)), "connected to {}", via.authority());
        Ok(Connection { sender, peer, to_proxy, task })
    }

    async fn over_tls(&self, url: &Url, stream: TcpStream) -> Result<(Sender, JoinHandle<()>), Error> {
        let config = match self.tls.get() {
            Some(config) => config.clone(),
            None => {
                let config = tls::config(&self.roots)?;
                self.tls.get_or_init(|| config).clone()
            }
        };
        let name = ServerName::try_from(url.bare_host().to_owned())
            .map_err(|error| Error::Certificate { host: url.authority(), reason: error.to_string() })?;
        let connector = tokio_rustls::TlsConnector::from(config);
        let stream = connector.connect(name, stream).await.map_err(|error| tls::refused(url, error))?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let io = TokioIo::new(stream);
        let opened = if is_http2 { http2(io).await } else { http1(io).await };
        opened.map_err(|error| broken(url, &error))
    }
}

/// Returns the error of a connection that broke.
pub(crate) fn broken(url: &Url, error: &dyn std::error::Error) -> Error {
    let mut reason = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        reason = format!("{reason}: {error}");
        source = error.source();
    }
    Error::Broken { host: url.authority(), reason }
}

async fn http1(io: impl Read + Write + Send + Unpin + 'static) -> hyper::Result<(Sender, JoinHandle<()>)> {
    let (sender, connection) = http1::Builder::new()
        .max_buf_size(READ_AT_ONCE)
        .max_header_size(HEADERS as usize)
        .handshake(io)
        .await?;
    Ok((Sender::Http1(sender), spawn(connection)))
}

async fn http2(io: impl Read + Write + Send + Unpin + 'static) -> hyper::Result<(Sender, JoinHandle<()>)> {
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_header_list_size(HEADERS)
        .handshake(io)
        .await?;
    Ok((Sender::Http2(sender), spawn(connection)))
}

/// Drives a connection. Its error reaches the request, too.
fn spawn(connection: impl Future<Output = hyper::Result<()>> + Send + 'static) -> JoinHandle<()> {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!("a connection has ended: {error}");
        }
    })
}

/// Asks a proxy for a tunnel to the host of `url`.
async fn tunnel(stream: &mut TcpStream, url: &Url, proxy: &Proxy) -> Result<(), Error> {
    let name = proxy.url.authority();
    let failed = |reason| Error::Connect { host: name.clone(), reason };
    let place = format!("{}:{}", url.host(), url.port());
    let user =
        proxy.user().map(|user| format!("Proxy-Authorization: {}\r\n", basic(user))).unwrap_or_default();
    let request = format!("CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{user}\r\n");
    stream.write_all(request.as_bytes()).await.map_err(failed)?;
    let mut answer = Vec::new();
    // A byte at a time: what comes after the answer is TLS.
    while !answer.ends_with(b"\r\n\r\n") {
        let byte = stream.read_u8().await.map_err(failed)?;
        answer.push(byte);
        if answer.len() > PROXY_ANSWER {
            return Err(failed(io::Error::other("its answer has too many headers")));
        }
    }
    let line = String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned();
    match line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)) {
        Some(code) if code.len() == 3 && code.starts_with('2') => Ok(()),
        Some("502" | "503" | "504") => Err(failed(io::Error::other(line))),
        _ => Err(Error::Proxy { proxy: name, answer: line }),
    }
}

/// Returns the value of an Authorization of the scheme Basic.
pub(crate) fn basic(user: &User) -> String {
    format!("Basic {}", BASE64.encode(format!("{}:{}", user.name, user.password).as_bytes()))
}
