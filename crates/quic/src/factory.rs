//! Makes a controller for each path of a connection.

use crate::adapter::Adapter;
use crate::monitor::Monitor;
use afteryou_cc::list::Entry;
use afteryou_cc::param::{ParamError, Settings, Value};
use afteryou_cc::{ledbatpp, Controller};
use quinn::congestion;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

type Make = dyn Fn(u32) -> Box<dyn Controller> + Send + Sync;

/// Makes controllers of [`afteryou_cc`] for quinn.
///
/// ```
/// use afteryou_cc::param::Value;
/// use afteryou_cc::{list, Span};
///
/// let entry = list::find("ledbat++").unwrap();
/// let target = ("target", Value::Time(Span::from_millis(20)));
/// let mut transport = quinn::TransportConfig::default();
/// transport.congestion_controller_factory(afteryou_quic::Factory::new(entry, &[target])?);
/// # Ok::<(), afteryou_cc::param::ParamError>(())
/// ```
pub struct Factory {
    make: Box<Make>,
}

/// LEDBAT++ with 60 ms target that comes back quickly once the others have left.
pub fn background() -> Arc<Factory> {
    Factory::of(|mss| {
        let settings = Settings::new(ledbatpp::PARAMS, &[("restart", Value::Flag(true))]);
        let settings = settings.unwrap_or(Settings::defaults(ledbatpp::PARAMS));
        Box::new(ledbatpp::LedbatPp::new(&settings, mss))
    })
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
        Settings::new(entry.params, overrides)?;
        let overrides = overrides.to_vec();
        Ok(Factory::of(move |mss| {
            let settings = Settings::new(entry.params, &overrides);
            (entry.make)(&settings.unwrap_or(Settings::defaults(entry.params)), mss)
        }))
    }

    /// Makes what `make` makes, for packets of so many bytes. It is called once for each path of each connection; a
    /// connection that moves to another path begins anew there, since a new path has a new base delay.
    ///
    /// The window is asked for each time that quinn wants to know it, so it may also change because of what other
    /// connections experience.
    pub fn of(make: impl Fn(u32) -> Box<dyn Controller> + Send + Sync + 'static) -> Arc<Factory> {
        Arc::new(Factory { make: Box::new(make) })
    }

    pub(crate) fn make(&self, mss: u32) -> Box<dyn Controller> {
        (self.make)(mss)
    }
}

impl fmt::Debug for Factory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Factory").finish_non_exhaustive()
    }
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, _now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        Box::new(Adapter::new(self, current_mtu, Monitor::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_cc::{list, Span};

    #[test]
    fn overrides_reach_the_controller_and_bad_ones_are_refused_by_name() {
        let entry = list::find("ledbat++").unwrap();
        let target = |value| Factory::new(entry, &[("target", value)]);
        let factory = target(Value::Time(Span::from_millis(20))).unwrap();
        assert_eq!(factory.make(1200).snapshot().target, Some(Span::from_millis(20)));
        let refusal = target(Value::Time(Span::from_secs(60))).unwrap_err().to_string();
        assert!(refusal.starts_with("target = 60000 ms is outside its range"), "{refusal}");
    }

    #[test]
    fn the_background_controller_is_ledbat_plus_plus_with_its_draft_target() {
        let snapshot = background().make(1200).snapshot();
        assert_eq!((snapshot.target, snapshot.cwnd), (Some(Span::from_millis(60)), 2400));
    }
}
