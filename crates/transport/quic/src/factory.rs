//! Makes a controller for each path of a connection.

use crate::monitor::Monitor;
use afteryou_base::param::{ParamError, Value};
use afteryou_cc::ledbatpp::LedbatPp;
use afteryou_cc::list::Entry;
use afteryou_cc::{Controller, Setup};
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

type Make = dyn Fn(Setup, &Monitor) -> Box<dyn Controller> + Send + Sync;

/// Makes controllers of [`afteryou_cc`] for quinn.
///
/// ```
/// use afteryou_base::param::Value;
/// use afteryou_base::Span;
/// use afteryou_cc::list;
///
/// let entry = list::find("ledbat++").unwrap();
/// let target = ("target", Value::Time(Span::from_millis(20)));
/// let mut transport = quinn::TransportConfig::default();
/// transport.congestion_controller_factory(afteryou_quic::Factory::new(entry, &[target])?);
/// # Ok::<(), afteryou_base::param::ParamError>(())
/// ```
pub struct Factory {
    make: Box<Make>,
}

/// Returns LEDBAT++ with 60 ms target that comes back quickly once the others have left.
pub fn background() -> Arc<Factory> {
    Factory::of(|setup| Box::new(LedbatPp::background(setup.mss)))
}

impl Factory {
    /// Makes controllers of this entry of [`afteryou_cc::list`], with some parameters overridden.
    ///
    /// # Errors
    /// The parameter that has a wrong kind of value or one out of its range.
    pub fn new(
        entry: &'static Entry,
        overrides: &[(&'static str, Value)],
    ) -> Result<Arc<Factory>, ParamError> {
        let tuned = entry.tuned(overrides.to_vec())?;
        Ok(Factory::of(move |setup| tuned.build(setup)))
    }

    /// Makes what `make` makes. It is called once for each path of each connection. A connection that moves to another
    /// path begins anew there, since a new path has a new base delay.
    ///
    /// quinn asks for the window each time that it needs it, so it may also change with the experience of other
    /// connections.
    pub fn of(make: impl Fn(Setup) -> Box<dyn Controller> + Send + Sync + 'static) -> Arc<Factory> {
        Arc::new(Factory { make: Box::new(move |setup, _| make(setup)) })
    }

    /// Makes what `inner` makes, after `change`: such as a controller [under observation](afteryou_cc::Observed). The monitor is that of the
    /// connection.
    pub fn changed(
        inner: Arc<Factory>,
        change: impl Fn(Box<dyn Controller>, &Monitor) -> Box<dyn Controller> + Send + Sync + 'static,
    ) -> Arc<Factory> {
        let make = move |setup, monitor: &Monitor| change((inner.make)(setup, monitor), monitor);
        Arc::new(Factory { make: Box::new(make) })
    }

    pub(crate) fn make(&self, mss: u32, monitor: &Monitor) -> Box<dyn Controller> {
        // A new hasher's keys are random.
        let seed = RandomState::new().build_hasher().finish();
        (self.make)(Setup { seed, ..Setup::of(mss) }, monitor)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;
    use afteryou_cc::list;

    #[test]
    fn overrides_reach_the_controller_and_bad_ones_are_refused_by_name() {
        let entry = list::find("ledbat++").unwrap();
        let target = |value| Factory::new(entry, &[("target", value)]);
        let factory = target(Value::Time(Span::from_millis(20))).unwrap();
        assert_eq!(factory.make(1200, &Monitor::default()).snapshot().target, Some(Span::from_millis(20)));
        let refusal = target(Value::Time(Span::from_secs(60))).unwrap_err().to_string();
        assert!(refusal.starts_with("target = 60000 ms is outside its range"), "{refusal}");
    }

    #[test]
    fn the_background_controller_is_ledbat_plus_plus_with_its_draft_target() {
        let snapshot = background().make(1200, &Monitor::default()).snapshot();
        assert_eq!((snapshot.target, snapshot.cwnd), (Some(Span::from_millis(60)), 2400));
    }
}
