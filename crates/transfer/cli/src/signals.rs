//! Ctrl-C and SIGTERM: the first asks the job to end, the second ends the process at once.

use super::pipes;
use afteryou_terminal::output::complain_within;
use std::time::Duration;
use tokio::sync::watch;

/// A terminal that stalls must not keep the process alive.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Sends `true` into `stop` at the first signal, and ends the process at the second. Nothing is lost then, either: what
/// arrived is in its partial files.
pub async fn watch(stop: watch::Sender<bool>) {
    let Ok(mut signals) = Signals::new() else {
        // Without a handler a signal ends the process, which is as good.
        return;
    };
    signals.next().await;
    tracing::info!("a signal asks the job to end");
    stop.send_replace(true);
    signals.next().await;
    complain_within("\nafteryou: ended at once\n", LAST_WORDS);
    pipes::remove_all();
    std::process::exit(130);
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        use tokio::signal::unix::{signal, SignalKind};
        Ok(Signals {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
