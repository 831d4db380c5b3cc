//! Threads for disks and hashing.

use crate::error::Error;
use std::future::Future;
use tokio::sync::oneshot;

/// Starts a thread for which nobody waits.
pub(crate) fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let started = std::thread::Builder::new().name(format!("afteryou-{name}")).spawn(work);
    started.map(drop).map_err(|source| Error::NoThread { source })
}

/// Runs `work` on a thread of its own, at once: it may wait for the network, which tokio's blocking threads should not
/// do, and nothing waits for it when the program ends. An error if the system has no thread, or the work panicked.
pub(crate) fn on_thread<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Error>> {
    let (done, result) = oneshot::channel();
    let run = move || {
        // The waiting task may be gone.
        _ = done.send(work());
    };
    let started = start_thread(name, run);
    async {
        started?;
        let panicked = |_| std::io::Error::other("it panicked, which is a mistake in afteryou");
        result.await.map_err(panicked).map_err(|source| Error::Io { doing: "finish a thread", source })
    }
}
