//! A network namespace without a name: there as long as somebody holds it.

use super::leftover::Mark;
use crate::error::Error;
use crate::system;
use nix::sched::{setns, unshare, CloneFlags};
use std::fs::File;
use std::io;
use std::panic;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// A network namespace. Dropping it ends the programs started inside; the namespace itself is gone with the last socket in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    mark: Mark,
    /// None while it is dropped.
    jobs: Option<mpsc::Sender<Job>>,
    keeper: Option<JoinHandle<()>>,
}

/// A program to be started, and where the answer goes.
type Job = (Command, mpsc::Sender<io::Result<Child>>);

impl Namespace {
    /// Makes one, with a thread inside that starts programs.
    ///
    /// # Errors
    /// The user may not.
    pub fn new() -> Result<Namespace, Error> {
        let (made, answer) = mpsc::channel();
        let (jobs, received) = mpsc::channel();
        let keep = move || {
            let entered = unshare(CloneFlags::CLONE_NEWNET)
                .map_err(io::Error::from)
                .and_then(|()| File::open("/proc/thread-self/ns/net"));
            let is_made = entered.is_ok();
            if made.send(entered).is_ok() && is_made {
                start_programs(&received);
            }
        };
        let keeper =
            thread::Builder::new().name("namespace".to_owned()).spawn(keep).map_err(Error::Thread)?;
        let file = answer.recv().map_err(|_| Error::Crashed)?.map_err(Error::Namespace)?;
        Ok(Namespace { file, mark: Mark::new(), jobs: Some(jobs), keeper: Some(keeper) })
    }

    /// Runs `work` on a thread inside and returns what it returns. Sockets that it opens stay inside.
    ///
    /// # Errors
    /// No thread, or the namespace does not let it in.
    ///
    /// # Panics
    /// If `work` does.
    pub fn run<R: Send>(&self, work: impl FnOnce() -> R + Send) -> Result<R, Error> {
        thread::scope(|scope| {
            let inside = || self.enter().map(|()| work());
            let thread = thread::Builder::new()
                .name("inside".to_owned())
                .spawn_scoped(scope, inside)
                .map_err(Error::Thread)?;
            thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
        })
    }

    /// Moves the calling thread inside for good: for the threads of a runtime.
    ///
    /// # Errors
    /// The user may not.
    pub fn enter(&self) -> Result<(), Error> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).map_err(|error| Error::Namespace(error.into()))
    }

    /// Starts a program inside. It is killed when the namespace is dropped or this process dies.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn spawn(&self, mut command: Command) -> io::Result<Child> {
        self.mark.put_on(&mut command);
        system::die_with_thread(&mut command);
        let (started, answer) = mpsc::channel();
        let gone = || io::Error::other("the thread that starts programs has ended");
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send((command, started)).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?
    }
}

fn start_programs(jobs: &mpsc::Receiver<Job>) {
    for (mut command, started) in jobs {
        // Nobody waits any more if this fails; the child's handle is dropped, the child itself runs until the keeper ends.
        let _ = started.send(command.spawn());
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
        self.mark.end_all();
    }
}
