//! Output of the timing thread, which never waits for its readers.

use super::record::Record;
use crate::lateness::Distribution;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Span;
use afteryou_scenario::outcome::Lateness;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Output that the timing thread has not handed over yet.
pub(super) struct Fresh {
    keep_records: bool,
    records: Vec<Record>,
    late: Vec<Span>,
}

/// The state that both sides see.
pub(super) struct Shared {
    stop: AtomicBool,
    told: Mutex<Told>,
}

struct Told {
    records: Vec<Record>,
    since_taken: Distribution,
    in_all: Distribution,
}

impl Fresh {
    pub(super) fn new(keep_records: bool) -> Fresh {
        Fresh { keep_records, records: Vec::new(), late: Vec::new() }
    }

    pub(super) fn record(&mut self, record: Record) {
        if self.keep_records {
            self.records.push(record);
        }
    }

    pub(super) fn delivered(&mut self, late: Span) {
        self.late.push(late);
    }

    fn tell(&mut self, told: &mut Told) {
        told.records.append(&mut self.records);
        for late in self.late.drain(..) {
            told.since_taken.add(late);
            told.in_all.add(late);
        }
    }
}

impl Shared {
    pub(super) fn new() -> Shared {
        let (since_taken, in_all) = (Distribution::new(), Distribution::new());
        Shared {
            stop: AtomicBool::new(false),
            told: Mutex::new(Told { records: Vec::new(), since_taken, in_all }),
        }
    }

    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Hands over fresh output, unless somebody is reading: then the next time.
    pub(super) fn publish(&self, fresh: &mut Fresh) {
        if let Ok(mut told) = self.told.try_lock() {
            fresh.tell(&mut told);
        }
    }

    /// Hands over fresh output for the last time.
    pub(super) fn publish_all(&self, fresh: &mut Fresh) {
        fresh.tell(&mut self.lock());
    }

    pub(super) fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut self.lock().records)
    }

    pub(super) fn take_lateness(&self) -> Option<Lateness> {
        // Made before and evaluated after the lock is held, which is for a moment only.
        let empty = Distribution::new();
        let taken = std::mem::replace(&mut self.lock().since_taken, empty);
        taken.lateness()
    }

    pub(super) fn lateness_in_all(&self) -> Option<Lateness> {
        self.lock().in_all.lateness()
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().even_poisoned()
    }
}
