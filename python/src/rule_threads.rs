//! Threads in which rules in Python run, one run after another, and the end of one that does not return.
//!
//! For a whole run a thread keeps its state in the interpreter, which it would make anew for each call otherwise. An exception that is raised
//! there from outside ends a loop of the rule. A thread that stayed behind would take the process down when the interpreter ends.

use crate::rules;
use afteryou_base::lock::EvenPoisoned;
use pyo3::exceptions::{PyException, PySystemExit};
use pyo3::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for threads whose runs are over.
const MOST: Duration = Duration::from_secs(2);
/// Time between two looks at them.
const LOOK: Duration = Duration::from_millis(10);

/// Threads that are in the interpreter, or about to enter it.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Threads with a run, by the interpreter's number of each: the last sign of life.
static RUNNING: Mutex<BTreeMap<u64, Instant>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The number of this thread, while it has a run.
    static THREAD: Cell<Option<u64>> = const { Cell::new(None) };
}

struct Inside;

impl Inside {
    fn enter() -> Inside {
        INSIDE.fetch_add(1, Ordering::SeqCst);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The run of this thread.
struct Running(u64);

impl Drop for Running {
    fn drop(&mut self) {
        THREAD.set(None);
        RUNNING.lock().even_poisoned().remove(&self.0);
    }
}

/// Makes a run in this thread.
pub fn around(run: &(dyn Fn() + Sync)) {
    let _inside = Inside::enter();
    Python::attach(|py| {
        let thread =
            py.import("threading").and_then(|module| module.call_method0("get_ident")?.extract::<u64>());
        let _running = thread.ok().map(|thread| {
            THREAD.set(Some(thread));
            note_life();
            Running(thread)
        });
        py.detach(run);
    });
}

/// Notes a sign of life of this thread, and takes the failure of its rule.
pub fn failure() -> Option<String> {
    note_life();
    let failure = rules::take_failure()?;
    Some(Python::attach(|py| match failure.is_instance_of::<PyException>(py) {
        true => failure.value(py).to_string(),
        false => failure.to_string(),
    }))
}

fn note_life() {
    if let Some(thread) = THREAD.get() {
        RUNNING.lock().even_poisoned().insert(thread, Instant::now());
    }
}

/// Ends the rules of threads that have given no sign of life for `patience`.
pub fn end_silent(patience: Duration) {
    // Not in one expression with the calls below: they may wait for a thread that waits for this lock.
    let silent: Vec<u64> = {
        let running = RUNNING.lock().even_poisoned();
        running.iter().filter(|(_, last)| last.elapsed() >= patience).map(|(thread, _)| *thread).collect()
    };
    if !silent.is_empty() {
        Python::attach(|py| silent.iter().for_each(|thread| drop(raise(py, *thread))));
    }
}

/// Ends all of them, and waits for a moment until they have left the interpreter.
pub fn end_all() {
    let began = Instant::now();
    loop {
        thread::sleep(LOOK);
        if INSIDE.load(Ordering::SeqCst) == 0 || began.elapsed() > MOST {
            return;
        }
        end_silent(Duration::ZERO);
    }
}

/// Raises `SystemExit` in a thread. It is no `Exception`, which a rule may well catch.
fn raise(py: Python<'_>, thread: u64) -> PyResult<()> {
    let ctypes = py.import("ctypes")?;
    let thread = ctypes.call_method1("c_ulong", (thread,))?;
    let exception = ctypes.call_method1("py_object", (py.get_type::<PySystemExit>(),))?;
    ctypes.getattr("pythonapi")?.call_method1("PyThreadState_SetAsyncExc", (thread, exception))?;
    Ok(())
}
