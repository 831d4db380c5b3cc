//! One user of libutp at a time in this process.

#![allow(
    clippy::disallowed_methods,
    reason = "a peer for tests uses nothing of what it tests; a poisoned lock is taken for the reasons of `afteryou_base::lock`"
)]

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::error::Error;

/// The thread that started the peer now running.
static STARTER: Mutex<Option<ThreadId>> = Mutex::new(None);
static FREED: Condvar = Condvar::new();

/// How long to wait for the peers of other threads.
const PATIENCE: Duration = Duration::from_secs(300);

/// The right to use libutp until dropped. libutp's C statics are not guarded by
/// anything else.
#[derive(Debug)]
pub(crate) struct Turn(());

fn starter() -> MutexGuard<'static, Option<ThreadId>> {
    STARTER.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turn {
    /// Waits until no other thread's peer runs. Fails at once when the calling
    /// thread itself has one, since waiting would not end.
    pub(crate) fn take() -> Result<Turn, Error> {
        let me = thread::current().id();
        let until = Instant::now() + PATIENCE;
        let mut holder = starter();
        while let Some(other) = *holder {
            let left = until.saturating_duration_since(Instant::now());
            if other == me || left.is_zero() {
                return Err(Error::Busy);
            }
            holder = FREED.wait_timeout(holder, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        *holder = Some(me);
        Ok(Turn(()))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *starter() = None;
        FREED.notify_one();
    }
}
