//! The path to a web server: its address, what it offers for `afteryou get`, and on Linux how its sender behaves and whether it can be
//! steered.

#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(not(target_os = "linux"))]
#[path = "hinted.rs"]
mod watch;

use super::Check;
use afteryou_http::{Client, Error, Look, Netrc, Options, Prepare, Proxies, Ranges, Url};
use afteryou_terminal::Failure;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;
use watch::Watch;

/// Longest time for everything.
const TIME: Duration = Duration::from_secs(10);
/// Longest time until the server answers.
const ANSWER: Duration = Duration::from_secs(5);

/// Asks a server for a URL and judges the answer, and on Linux its first seconds.
pub fn checks(url: &Url) -> Result<Vec<Check>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(look(url, Instant::now() + TIME)))
}

fn options() -> Options {
    Options {
        proxies: Proxies::from_env(),
        netrc: Netrc::of_user(),
        connect_timeout: ANSWER,
        read_timeout: ANSWER,
        ..Options::default()
    }
}

async fn look(url: &Url, end: Instant) -> Vec<Check> {
    let watch = Watch::begin(end);
    let sockets = watch.sockets();
    let prepare: Arc<Prepare> = Arc::new(move |stream| sockets.take(stream));
    let client = Client::new(Options { prepare: Some(prepare), ..options() });
    let look = match timeout_at((end - TIME + ANSWER).into(), client.look(url)).await {
        Ok(Ok(look)) => look,
        Ok(Err(error)) => return vec![refused(url, &error)],
        Err(_) => return vec![silent(url)],
    };
    let mut checks = vec![server(url, &look), resuming(&look), digest(&look)];
    checks.extend(watch.finish(look).await);
    checks
}

fn name(url: &Url) -> String {
    format!("server {}", url.authority())
}

fn refused(url: &Url, error: &Error) -> Check {
    let text = error.to_string();
    // Messages have the advice last.
    let (seen, todo) = match text.rsplit_once("; ").or_else(|| text.rsplit_once(": ")) {
        Some((seen, todo)) if !matches!(error, Error::Connect { .. } | Error::Broken { .. }) => (seen, todo),
        _ => (text.as_str(), "check host and port of the URL, and this machine's network"),
    };
    Check::fail(name(url), seen, todo)
}

fn silent(url: &Url) -> Check {
    let todo = "check host and port of the URL, and firewalls on the way";
    Check::fail(name(url), format!("no answer within {} s", ANSWER.as_secs()), todo)
}

fn server(url: &Url, look: &Look) -> Check {
    let version = if look.is_http2() { "HTTP/2" } else { "HTTP/1.1" };
    let proxy = if look.is_proxied() { ", a proxy: what follows is about the path to it" } else { "" };
    let at = match look.url().authority() == url.authority() {
        true => String::new(),
        false => format!(" after a redirect to {}", look.url().authority()),
    };
    Check::ok(name(url), format!("answers at {}{proxy}, over {version}{at}", look.peer()))
}

fn resuming(look: &Look) -> Check {
    const NAME: &str = "resuming";
    let anew = "nothing must be done: after a pause afteryou get starts anew, unless --sha256 is given";
    match (look.ranges(), look.has_validator()) {
        (Ranges::Sent, true) => {
            Check::ok(NAME, "the server sends parts of the file and identifies its version")
        }
        (Ranges::Sent, false) => {
            Check::warn(NAME, "the server sends parts of the file, but nothing identifies its version", anew)
        }
        (Ranges::Announced, _) => {
            Check::warn(NAME, "the server announces ranges, but sent the whole file for one", anew)
        }
        (Ranges::No, _) => Check::warn(
            NAME,
            "the server sends whole files only",
            "nothing must be done: after a pause afteryou get starts anew",
        ),
    }
}

fn digest(look: &Look) -> Check {
    const NAME: &str = "digest";
    let length = look.length().map_or("of unknown length".to_owned(), |bytes| format!("of {bytes} bytes"));
    match look.digests()[..] {
        [] => Check::warn(
            NAME,
            format!("the server sends no digest of the file {length}"),
            "give afteryou get the file's --sha256, if its publisher names it",
        ),
        ref names => {
            Check::ok(NAME, format!("the server sends {} of the file {length}", names.join(" and ")))
        }
    }
}
