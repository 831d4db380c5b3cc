//! The path to a web server: its address, what it offers for `afteryou get`, and on Linux how its sender behaves and whether it can be
//! steered.

#[cfg(target_os = "linux")]
mod judge;
#[cfg(target_os = "linux")]
mod watch;

use super::Check;
use afteryou_http::{Client, Error, Look, Options, Proxies, Ranges, Url};
use afteryou_terminal::Failure;
use std::time::{Duration, Instant};
use tokio::time::timeout_at;

/// Longest time for everything.
const TIME: Duration = Duration::from_secs(10);
/// Longest time until the server answers.
const ANSWER: Duration = Duration::from_secs(5);

/// Requests a URL and judges the answer, and on Linux its first seconds.
pub fn checks(url: &Url) -> Result<Vec<Check>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(look(url, Instant::now() + TIME)))
}

fn options() -> Options {
    Options {
        proxies: Proxies::from_env(),
        netrc: afteryou_http::Netrc::of_user(),
        connect_timeout: ANSWER,
        read_timeout: ANSWER,
        ..Options::default()
    }
}

async fn look(url: &Url, end: Instant) -> Vec<Check> {
    let mut options = options();
    #[cfg(target_os = "linux")]
    let watch = watch::Watch::begin(end);
    #[cfg(target_os = "linux")]
    {
        let sockets = watch.sockets();
        options.prepare = Some(std::sync::Arc::new(move |stream| sockets.take(stream)));
    }
    #[cfg(not(target_os = "linux"))]
    let hinted = {
        let hinted = std::sync::Arc::new(std::sync::Mutex::new(None));
        let slot = hinted.clone();
        options.prepare = Some(std::sync::Arc::new(move |stream| {
            use afteryou_base::lock::EvenPoisoned;
            *slot.lock().even_poisoned() = Some(afteryou_outside::hint::background(stream));
        }));
        hinted
    };
    let client = Client::new(options);
    let mut look = match timeout_at((end - TIME + ANSWER).into(), client.look(url)).await {
        Ok(Ok(look)) => look,
        Ok(Err(error)) => return vec![refused(url, &error)],
        Err(_) => return vec![silent(url)],
    };
    let mut checks = vec![server(url, &look), resuming(&look), digest(&look)];
    #[cfg(target_os = "linux")]
    if look.peer().ip().to_canonical().is_loopback() {
        checks.push(Check::ok("download", "not measured: a connection within this machine meets no queue"));
    } else {
        let measured = watch.finish(&mut look).await;
        checks.extend(judge::checks(&measured, look.is_proxied()));
    }
    #[cfg(not(target_os = "linux"))]
    checks.push(system(&hinted));
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

/// Judges the system's own background transfers.
#[cfg(not(target_os = "linux"))]
fn system(
    hinted: &std::sync::Mutex<Option<Result<afteryou_outside::hint::Hinted, afteryou_outside::hint::Error>>>,
) -> Check {
    use afteryou_base::lock::EvenPoisoned;
    const NAME: &str = "background downloads";
    let todo = "limit the rate: afteryou get --max-rate";
    match &*hinted.lock().even_poisoned() {
        Some(Ok(hinted)) => Check::ok(NAME, hinted.to_string()),
        Some(Err(error)) => Check::warn(NAME, error.to_string(), todo),
        None => Check::warn(NAME, "no connection was made", todo),
    }
}
