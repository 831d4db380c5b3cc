//! What all connections of an application have in common, read and checked once, so that opening one cannot fail.

use super::{cbr, tcp, utp, Ends, Format};
use afteryou_aqm::Ecn;
use afteryou_base::param::{ParamError, Value};
use afteryou_base::Span;
use afteryou_cc::list::Entry;
use afteryou_cc::{Controller, Setup};
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Error, Flow as Spec, Traffic};

/// The parameter of controllers that the transport's `iw` sets, where a controller has it and nobody else has set it.
const INITIAL_WINDOW: &str = "initial_window";

/// What all connections of an application have in common.
pub struct Template {
    kind: Which,
    format: Format,
}

enum Which {
    Tcp(tcp::Options),
    Utp(utp::Options),
    Cbr {
        /// Time between two datagrams.
        interval: Span,
        /// Time from one end to the other over the empty path, sending included.
        empty: Span,
    },
}

/// Makes the controllers of an application's connections.
pub(super) struct Controllers {
    entry: &'static Entry,
    overrides: Vec<(&'static str, Value)>,
}

impl Controllers {
    /// Those of a flow; `iw` is the transport's initial window in packets.
    fn new(spec: &Spec, setup: Setup, iw: Option<u32>) -> Result<Controllers, Error> {
        let missing = || Error::Scenario(format!("flow {:?} needs a controller", spec.name));
        let (entry, mut overrides) = spec.controller.as_ref().ok_or_else(missing)?.controller()?;
        let has_it = entry.params.iter().any(|param| param.name == INITIAL_WINDOW);
        if let (true, Some(iw)) = (has_it, iw) {
            overrides.insert(0, (INITIAL_WINDOW, Value::Count(iw.into()))); // the last one counts
        }
        let refused =
            |error: ParamError| Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() };
        entry.build(&overrides, setup).map_err(refused)?;
        Ok(Controllers { entry, overrides })
    }

    pub(super) fn build(&self, setup: Setup) -> Box<dyn Controller> {
        // The same settings made a controller before; a seed is refused by none.
        self.entry.build(&self.overrides, setup).unwrap_or_else(|error| unreachable!("bug: {error}"))
    }
}

impl Template {
    /// The connections of a flow; a packet of its full size crosses the empty path in `empty`.
    ///
    /// # Errors
    /// A transport, a controller or a parameter that is refused.
    pub fn new(spec: &Spec, empty: impl FnOnce(u32) -> Span) -> Result<Template, Error> {
        let sizes = spec.packet_format();
        let protocol = spec.transport.protocol()?;
        let ecn = matches!(protocol, Protocol::Tcp(options) if options.ecn);
        let format = Format {
            flow: 0,
            overhead: sizes.overhead.bytes() as u32,
            payload: sizes.payload.bytes() as u32,
            dscp: spec.dscp().bits(),
            ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct },
        };
        let controllers = |mss, iw| Controllers::new(spec, Setup { mss, seed: 0 }, iw);
        let kind = match protocol {
            Protocol::Tcp(options) => {
                let mss = format.payload.min(u32::from(u16::MAX));
                let controllers = controllers(mss, Some(options.iw))?;
                Which::Tcp(tcp::Options { options, controllers, mss: mss as u16 })
            }
            Protocol::Utp(options) => {
                Which::Utp(utp::Options::new(options, format, controllers(format.payload, None)?))
            }
            Protocol::Udp => {
                let (rate, payload) = match spec.traffic {
                    Traffic::Cbr { rate, payload } => (rate.bits_per_second(), payload.bytes()),
                    _ => (1, 1), // refused when the scenario was checked
                };
                let empty = empty(format.payload + format.overhead);
                Which::Cbr { interval: super::interval(payload, rate), empty }
            }
        };
        Ok(Template { kind, format })
    }

    /// The ends of the connection with this index; `seed` is its controller's, `epoch` tells it from earlier ones there.
    pub(super) fn ends(&self, index: usize, epoch: u16, seed: u64) -> Ends {
        let format = Format { flow: index as u32, ..self.format };
        match &self.kind {
            Which::Tcp(options) => Ends::Tcp(Box::new(tcp::Ends::new(options, format, epoch, seed))),
            Which::Utp(options) => Ends::Utp(Box::new(utp::Ends::new(options, format, epoch, seed))),
            Which::Cbr { interval, empty } => Ends::Cbr(Box::new(cbr::Ends::new(format, *interval, *empty))),
        }
    }
}
