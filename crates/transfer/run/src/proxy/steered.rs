//! Steers the connections of a proxy, and answers `afteryou ctl`.

use super::ProxyArgs;
use crate::linux::control::Control;
use crate::linux::shown::{in_words, Shown};
use afteryou_outside::linux::{Roster, Steer, TICK};
use afteryou_outside::rule::Params;
use afteryou_proxy::{Clients, Options};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Time between two notes of the state for `afteryou ctl`.
const NOTES_APART: Duration = Duration::from_millis(200);

/// Returns options by which each connection to a server is put on a roster.
pub fn with_roster(options: Options) -> (Options, Roster) {
    let roster = Roster::default();
    let added = roster.clone();
    (Options { opened: Some(Arc::new(move |socket| added.add(socket))), ..options }, roster)
}

/// A thread that steers, until this is dropped.
pub struct Steering {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Steering {
    /// Begins.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn begin(
        args: &ProxyArgs,
        roster: Roster,
        address: SocketAddr,
        clients: Clients,
        stop: watch::Sender<bool>,
    ) -> std::io::Result<Steering> {
        let max_rate = args.max_rate.map(|rate| rate.bytes_per_second());
        let control = Control::new(std::process::id(), "proxy", address.to_string(), max_rate);
        let steer = Steer::of_roster(roster, Params::default(), None);
        let shown = Shown::new(args.status, false);
        let is_over = Arc::new(AtomicBool::new(false));
        let until = is_over.clone();
        let work = Work { control, steer, shown, clients, stop, next_note: Instant::now() };
        let thread = thread::Builder::new().name("steering".to_owned()).spawn(move || work.go_on(&until))?;
        Ok(Steering { is_over, thread: Some(thread) })
    }
}

impl Drop for Steering {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    control: Control,
    steer: Steer,
    shown: Shown,
    clients: Clients,
    stop: watch::Sender<bool>,
    next_note: Instant,
}

impl Work {
    fn go_on(mut self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Relaxed) {
            let began = Instant::now();
            self.obey(began);
            self.steer.tick(began);
            self.shown.tick(&self.steer);
            thread::sleep(TICK.saturating_sub(began.elapsed()));
        }
        self.steer.give_back();
    }

    fn obey(&mut self, now: Instant) {
        if now >= self.next_note {
            self.next_note = now + NOTES_APART;
            let (words, rate) = in_words(&self.steer);
            let words = if words.is_empty() { "no transfer at present" } else { &words };
            let (clients, most) = (self.clients.count(), self.clients.most());
            self.control.note(format!("{clients} of {most} connections; {words}"), rate);
        }
        let requests = self.control.requests();
        self.steer.set_max_rate(requests.bound());
        if requests.is_to_end {
            self.stop.send_replace(true);
        }
    }
}
