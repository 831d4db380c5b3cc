//! Ctrl-C and SIGTERM: the first asks the job to end, the second ends the process at once.

use super::pipes;
use afteryou_terminal::output::complain_within;
use std::future::Future;
use std::time::Duration;
use tokio::sync::watch;

/// A terminal that stalls must not keep the process alive.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Sends `true` into `stop` at the first signal, and ends the process at the second. Nothing is lost then, either: what
/// arrived is in its partial files.
///
/// Signals are caught from this call on, before the task runs for the first time. A busy machine lets that wait, while the job reads
/// its input or prints its ticket: a signal then would end the process, or none of the two if it met the handler half set up.
pub fn watch(stop: watch::Sender<bool>) -> impl Future<Output = ()> {
    let signals = Signals::new();
    async move { follow(signals, stop).await }
}

async fn follow(signals: std::io::Result<Signals>, stop: watch::Sender<bool>) {
    let Ok(mut signals) = signals else {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_signal_that_comes_before_the_watch_has_run_asks_the_job_to_end() {
        let stop = watch::Sender::new(false);
        let watching = watch(stop.clone());
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TERM).unwrap();
        let watching = tokio::spawn(watching);
        assert!(*stop.subscribe().wait_for(|stop| *stop).await.unwrap());
        watching.abort();
    }
}
