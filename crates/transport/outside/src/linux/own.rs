//! The connections of this process itself, steered by a thread.

use super::steer::Steer;
use crate::rule::Params;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// Steers all TCP connections of this process to other machines until it is dropped.
#[derive(Debug)]
pub struct Own {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Own {
    /// Begins. `max_rate` is a bound of each direction, bytes a second.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn begin(params: Params, max_rate: Option<f64>) -> io::Result<Own> {
        let is_over = Arc::new(AtomicBool::new(false));
        let until = Arc::clone(&is_over);
        let thread = thread::Builder::new().name("steering".to_owned()).spawn(move || {
            let mut steer = Steer::of_this_process(params, max_rate);
            while !until.load(Ordering::Relaxed) {
                steer.tick(Instant::now());
                thread::sleep(steer.pause());
            }
            steer.give_back();
        })?;
        Ok(Own { is_over, thread: Some(thread) })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
