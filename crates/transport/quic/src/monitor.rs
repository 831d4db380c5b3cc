//! The inputs of a connection's controller, for programs to read while it runs.

use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Span;
use afteryou_cc::Snapshot;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Shows what the controller of one connection sees. Cheap to clone, and outlives the connection.
///
/// ```
/// # fn example(connection: &quinn::Connection) -> Option<()> {
/// let monitor = afteryou_quic::Monitor::of(connection)?;
/// println!("queue: {:?}", monitor.status().snapshot.queuing_delay);
/// # Some(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Monitor {
    status: Arc<Mutex<Status>>,
    is_admitted: Arc<AtomicBool>,
}

/// The state of a connection's controller after its latest ACK frame or loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// The controller's own quantities.
    pub snapshot: Snapshot,
    /// Smoothed round-trip time of this path, ack delays included; none before the first sample.
    pub smoothed_rtt: Option<Span>,
    /// The newest sample.
    pub latest_rtt: Span,
    /// The smallest sample of this path.
    pub min_rtt: Option<Span>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Largest UDP payload of a packet.
    pub mtu: u16,
    /// UDP payload bytes acknowledged, over all paths.
    pub acked_bytes: u64,
    /// UDP payload bytes lost, over all paths.
    pub lost_bytes: u64,
    /// ACK frames that reported marks, over all paths.
    pub marked_frames: u64,
    /// Paths so far: 1, and one more for each migration.
    pub paths: u32,
}

impl Monitor {
    /// Returns the state now.
    pub fn status(&self) -> Status {
        *self.lock()
    }

    /// Notes that the peer has proven that it may connect.
    pub fn admit(&self) {
        self.is_admitted.store(true, Ordering::Relaxed);
    }

    /// Returns whether the program has [admitted](Monitor::admit) the peer.
    pub fn is_admitted(&self) -> bool {
        self.is_admitted.load(Ordering::Relaxed)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().even_poisoned()
    }
}
