//! In place of `backlog.rs` on other systems: the kernel's own bound holds.

use std::sync::Arc;
use tokio::net::TcpStream;

/// Nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlogs;

impl Backlogs {
    /// Does nothing.
    pub fn add(&self, _: &Arc<TcpStream>) {}

    /// Waits indefinitely.
    pub async fn watch(self) {
        std::future::pending().await
    }
}
