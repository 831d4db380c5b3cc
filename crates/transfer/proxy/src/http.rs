//! Clients that speak HTTP: requests that are passed on, and tunnels (CONNECT).
//!
//! hyper reads and writes the messages, so each is framed anew: what a server gets is what was understood here. hyper answers a request with
//! both Transfer-Encoding and Content-Length by the former, passes only that on, and closes the connection afterwards (RFC 9112, section
//! 6.3). A connection to a server belongs to one client, so that no client gets another one's answers.

use crate::body::Body;
use crate::error::Error;
use crate::headers;
use crate::rules::Client;
use crate::shared::{Shared, WRONG_PASSWORD};
use crate::stream::{Counted, Stream};
use crate::target::Target;
use crate::tunnel;
use afteryou_base::lock::EvenPoisoned;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self as client, SendRequest};
use hyper::header::{
    HeaderValue, CONNECTION, CONTENT_TYPE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TRANSFER_ENCODING,
};
use hyper::http::uri::{Scheme, Uri};
use hyper::server::conn::http1 as server;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade;
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;

/// Longest header section, bytes.
const HEADERS: usize = 32 << 10;
/// Most that is read or kept for writing at once, bytes.
const AT_ONCE: usize = tunnel::AT_ONCE;

/// A client's connection.
struct Session {
    shared: Arc<Shared>,
    client: Client,
    /// The server of the last request.
    route: tokio::sync::Mutex<Option<Route>>,
    /// The protocol after the last answer, if the connection remains.
    next: Mutex<Option<Next>>,
}

/// A connection to a server.
struct Route {
    target: Target,
    sender: SendRequest<Incoming>,
    task: JoinHandle<()>,
}

impl Drop for Route {
    fn drop(&mut self) {
        // A connection that was switched to another protocol has left the task.
        self.task.abort();
    }
}

/// Another protocol after HTTP.
enum Next {
    /// CONNECT: the stream to the server.
    Tunnel(OnUpgrade, Box<dyn Stream>),
    /// A switch that both sides agreed on, with the connection to the server, which must not end before.
    Switch(OnUpgrade, OnUpgrade, Route),
}

/// Serves a client until its connection ends.
pub(crate) async fn serve<S: Stream + 'static>(shared: Arc<Shared>, kind: Client, stream: Counted<S>) {
    let timeout = shared.limits.head;
    let session = Arc::new(Session {
        shared,
        client: kind,
        route: tokio::sync::Mutex::default(),
        next: Mutex::default(),
    });
    let answering = session.clone();
    let service = service_fn(move |request| {
        let session = answering.clone();
        async move { Ok::<_, Infallible>(session.answer(request).await) }
    });
    let connection = server::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_header_size(HEADERS)
        .max_buf_size(AT_ONCE)
        .preserve_header_case(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    if let Err(error) = connection.await {
        tracing::debug!("a client's connection has ended: {error}");
        return;
    }
    let next = session.next.lock().even_poisoned().take();
    if let Some(next) = next {
        next.run().await;
    }
}

impl Next {
    async fn run(self) {
        let done = match self {
            Next::Tunnel(client, mut server) => match client.await {
                Ok(client) => tunnel::join(&mut TokioIo::new(client), &mut server).await,
                Err(error) => Err(std::io::Error::other(error)),
            },
            Next::Switch(client, server, _route) => match tokio::join!(client, server) {
                (Ok(client), Ok(server)) => {
                    tunnel::join(&mut TokioIo::new(client), &mut TokioIo::new(server)).await
                }
                (Err(error), _) | (_, Err(error)) => Err(std::io::Error::other(error)),
            },
        };
        if let Err(error) = done {
            tracing::debug!("a tunnel has ended: {error}");
        }
    }
}

impl Session {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let answered = match self.authorize(&request).await {
            Ok(()) if request.method() == Method::CONNECT => self.connect(request).await,
            Ok(()) => self.forward(request).await,
            Err(error) => Err(error),
        };
        answered.unwrap_or_else(|error| {
            tracing::debug!("a request is answered by the proxy: {error}");
            refusal(&error)
        })
    }

    async fn authorize(&self, request: &Request<Incoming>) -> Result<(), Error> {
        let Some(credentials) = &self.shared.credentials else { return Ok(()) };
        match request.headers().get(PROXY_AUTHORIZATION) {
            Some(given) if credentials.are_in(given.as_bytes()) => Ok(()),
            Some(_) => {
                tokio::time::sleep(WRONG_PASSWORD).await;
                Err(Error::Unauthorized)
            }
            None => Err(Error::Unauthorized),
        }
    }

    /// Answers CONNECT: what follows is between the client and the server.
    async fn connect(&self, request: Request<Incoming>) -> Result<Response<Body>, Error> {
        let uri = request.uri();
        if uri.scheme().is_some() || uri.path_and_query().is_some() {
            return Err(Error::Target { reason: "CONNECT takes host:port" });
        }
        let target = Target::parse(uri.authority().map_or("", |authority| authority.as_str()), None)?;
        let server = self.shared.dialer.dial(self.client, &target).await?;
        *self.next.lock().even_poisoned() = Some(Next::Tunnel(hyper::upgrade::on(request), server));
        Ok(Response::new(Body::Own(None)))
    }

    /// Passes a request on to its server, and returns the server's answer.
    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<Body>, Error> {
        let target = addressed(&request)?;
        if headers::has_been_through(request.headers(), &self.shared.pseudonym) {
            return Err(Error::Forbidden { reason: "the request came through this proxy already" });
        }
        headers::check_framing(request.headers())?;
        let switch = headers::is_websocket(request.headers()).then(|| hyper::upgrade::on(&mut request));
        self.rewrite(&mut request, switch.is_some())?;
        let (mut response, route) = self.send(target, request).await?;
        let is_switched = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let server = is_switched.then(|| hyper::upgrade::on(&mut response));
        self.rewrite_answer(&mut response, is_switched)?;
        match (switch, server) {
            (Some(client), Some(server)) => {
                *self.next.lock().even_poisoned() = Some(Next::Switch(client, server, route));
            }
            (None, Some(_)) => return Err(broken("it switches to a protocol that nobody asked for")),
            (_, None) => *self.route.lock().await = Some(route),
        }
        Ok(response.map(Body::Passed))
    }

    fn rewrite(&self, request: &mut Request<Incoming>, switches: bool) -> Result<(), Error> {
        let uri = std::mem::take(request.uri_mut());
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let host = HeaderValue::from_str(host)
            .map_err(|_| Error::Target { reason: "it has characters that no host has" })?;
        *request.uri_mut() = origin_form(&uri, request.method())?;
        *request.version_mut() = Version::HTTP_11;
        let all = request.headers_mut();
        headers::remove_hop(all);
        if switches {
            headers::set_websocket(all);
        }
        all.insert(HOST, host);
        headers::add_via(all, &self.shared.pseudonym);
        Ok(())
    }

    fn rewrite_answer(&self, response: &mut Response<Incoming>, switches: bool) -> Result<(), Error> {
        headers::check_framing(response.headers()).map_err(|error| broken(&error.to_string()))?;
        *response.version_mut() = Version::HTTP_11;
        let all = response.headers_mut();
        headers::remove_hop(all);
        // hyper frames it anew, as the client's version has it.
        all.remove(TRANSFER_ENCODING);
        if switches {
            headers::set_websocket(all);
        }
        headers::add_via(all, &self.shared.pseudonym);
        Ok(())
    }

    /// Sends a request over the connection of the last one if it leads there, otherwise over a new one.
    async fn send(
        &self,
        target: Target,
        request: Request<Incoming>,
    ) -> Result<(Response<Incoming>, Route), Error> {
        let last = self.route.lock().await.take().filter(|route| route.target == target);
        let request = match last {
            Some(mut route) => match route.send(request).await {
                Ok(response) => return Ok((response, route)),
                // The server has closed it meanwhile, and has not seen the request.
                Err((_, Some(request))) => request,
                Err((error, None)) => return Err(error),
            },
            None => request,
        };
        let stream = self.shared.dialer.dial(self.client, &target).await?;
        let mut route = Route::open(target, stream).await?;
        match route.send(request).await {
            Ok(response) => Ok((response, route)),
            Err((error, _)) => Err(error),
        }
    }
}

impl Route {
    async fn open(target: Target, stream: Box<dyn Stream>) -> Result<Route, Error> {
        let (sender, connection) = client::Builder::new()
            .max_header_size(HEADERS)
            .max_buf_size(AT_ONCE)
            .preserve_header_case(true)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| broken(&error.to_string()))?;
        let connection = connection.with_upgrades();
        let task = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!("a server's connection has ended: {error}");
            }
        });
        Ok(Route { target, sender, task })
    }

    /// Sends a request. With the error comes the request, if nothing of it was sent.
    async fn send(
        &mut self,
        request: Request<Incoming>,
    ) -> Result<Response<Incoming>, (Error, Option<Request<Incoming>>)> {
        if let Err(error) = self.sender.ready().await {
            return Err((broken(&error.to_string()), Some(request)));
        }
        self.sender.try_send_request(request).await.map_err(|mut error| {
            let request = error.take_message();
            (broken(&error.into_error().to_string()), request)
        })
    }
}

fn broken(reason: &str) -> Error {
    Error::Answer { reason: reason.to_owned() }
}

/// Returns the server of a request in absolute form.
fn addressed(request: &Request<Incoming>) -> Result<Target, Error> {
    let refused = |reason| Err(Error::Request { reason });
    let uri = request.uri();
    match uri.scheme() {
        // A web page in a browser gets no further, whatever Host and Origin it has.
        None => return refused("this is a proxy, and has no pages: name it in http_proxy and https_proxy"),
        Some(scheme) if *scheme == Scheme::HTTP => {}
        Some(scheme) if *scheme == Scheme::HTTPS => {
            return refused("the proxy does not open TLS: ask for a tunnel (CONNECT)")
        }
        Some(_) => return refused("the proxy knows http alone"),
    }
    if request.method() == Method::TRACE {
        return refused("TRACE would show passwords");
    }
    Target::parse(uri.authority().map_or("", |authority| authority.as_str()), Some(80))
}

/// Returns path and query alone, as a server expects them; `*` for OPTIONS of a whole server.
fn origin_form(uri: &Uri, method: &Method) -> Result<Uri, Error> {
    // `Uri` itself may have an empty path, if there was a fragment; its `path()` is `/` then.
    let text = match (uri.path(), uri.query()) {
        ("/", None) if *method == Method::OPTIONS => "*".to_owned(),
        (path, Some(query)) => format!("{path}?{query}"),
        (path, None) => path.to_owned(),
    };
    text.parse().map_err(|_| Error::Request { reason: "its path has characters that no path has" })
}

/// Returns the proxy's own answer.
fn refusal(error: &Error) -> Response<Body> {
    let mut response = Response::new(Body::Own(Some(Bytes::from(format!("{error}\n")))));
    *response.status_mut() = error.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if matches!(error, Error::Unauthorized) {
        headers.insert(PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"afteryou\""));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_path_and_query_alone() {
        for (method, uri, target) in [
            (Method::GET, "http://h", "/"),
            (Method::GET, "http://h#fragment", "/"),
            (Method::GET, "http://h?a=b", "/?a=b"),
            (Method::GET, "http://h/a/../b?c#d", "/a/../b?c"),
            (Method::OPTIONS, "http://h", "*"),
            (Method::OPTIONS, "http://h/a", "/a"),
        ] {
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(origin_form(&uri, &method).unwrap().to_string(), target, "{uri}");
        }
    }
}
