//! The common properties of all connections of an application, read and checked once, so that opening one cannot fail.

use super::controllers::Controllers;
use super::{cbr, outside, tcp, utp, Dial, Ends, Format, Id, Opening};
use crate::instruments::Onlookers;
use afteryou_aqm::Ecn;
use afteryou_base::{Dscp, Span};
use afteryou_scenario::network::Route;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Algorithm, EndRule, Error, Flow as Spec, Traffic};
use std::borrow::Cow;

/// The common properties of all connections of an application.
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
        /// Time from one end to the other over each of the empty routes, sending included.
        empty: Vec<Span>,
    },
    Outside {
        dial: Dial,
        /// Index of the flow.
        flow: usize,
        /// Mean time between two datagrams, of a constant rate.
        interval: Option<Span>,
    },
}

/// Returns a flow with the controller that its sender has once it is steered from outside. For BBR a bounded rate is what the path has, so NewReno
/// has its place.
fn as_steered(spec: &Spec) -> Cow<'_, Spec> {
    let is_bbr = |controller: &&Algorithm| controller.kind.starts_with("bbr");
    match spec.controller.as_ref().filter(is_bbr).and(spec.sender.as_ref()) {
        Some(_) => Cow::Owned(Spec { controller: Some(Algorithm::named("newreno")), ..spec.clone() }),
        None => Cow::Borrowed(spec),
    }
}

impl Template {
    /// Describes the connections of a flow; a packet of its full size crosses the empty routes in `empty`, `onlookers` see
    /// its senders.
    ///
    /// # Errors
    /// A transport, a controller or a parameter that is refused.
    pub fn new(
        spec: &Spec,
        empty: impl FnOnce(u32) -> Vec<Span>,
        onlookers: Onlookers,
    ) -> Result<Template, Error> {
        let sizes = spec.packet_format();
        let protocol = spec.transport.protocol()?;
        let format = Format {
            flow: 0,
            overhead: sizes.overhead.bytes() as u32,
            payload: sizes.payload.bytes() as u32,
            dscp: spec.dscp().0,
            ecn: if protocol.uses_ecn() { Ecn::Ect0 } else { Ecn::NotEct },
        };
        let controllers = |iw| Controllers::new(&as_steered(spec), iw, onlookers);
        let kind = match protocol {
            Protocol::Tcp(options) => {
                let mss = format.payload.min(u32::from(u16::MAX));
                let controllers = controllers(Some(options.iw))?;
                let receiver = spec.receiver.as_ref().map(EndRule::at_receiver).transpose()?;
                Which::Tcp(tcp::Options { options, controllers, mss: mss as u16, receiver })
            }
            Protocol::Utp(options) => Which::Utp(utp::Options::new(options, format, controllers(None)?)),
            Protocol::Quic(_) => {
                let reason = format!("flow {:?}: the simulator has no QUIC: use utp or tcp", spec.name);
                return Err(Error::Contradiction(reason));
            }
            Protocol::Udp => {
                let (rate, payload) = match spec.traffic {
                    Traffic::Cbr { rate, payload, .. } => (rate.bits_per_second(), payload.bytes()),
                    _ => (1, 1), // refused when the scenario was checked
                };
                let empty = empty(format.payload + format.overhead);
                Which::Cbr { interval: super::interval(payload, rate), empty }
            }
        };
        Ok(Template { kind, format })
    }

    /// Describes the connections of the flow with the index `flow`, which `dial` opens elsewhere.
    pub fn outside(spec: &Spec, flow: usize, dial: Dial) -> Template {
        let interval = match spec.traffic {
            Traffic::Cbr { rate, payload, .. } => {
                Some(super::interval(payload.bytes(), rate.bits_per_second()))
            }
            _ => None,
        };
        // Their packets are never the simulator's own.
        let format = Format { flow: 0, overhead: 0, payload: 0, dscp: Dscp::DEFAULT, ecn: Ecn::NotEct };
        Template { kind: Which::Outside { dial, flow, interval }, format }
    }

    /// Creates the ends of the connection with this index over `route`. `seed` is its controller's; `epoch` distinguishes it
    /// from earlier ones there.
    pub(super) fn ends(&self, (index, epoch): (usize, u16), seed: u64, route: &Route) -> Ends {
        let format = Format { flow: index as u32, ..self.format };
        match &self.kind {
            Which::Tcp(options) => Ends::Tcp(Box::new(tcp::Ends::new(options, format, epoch, seed))),
            Which::Utp(options) => Ends::Utp(Box::new(utp::Ends::new(options, format, epoch, seed))),
            Which::Cbr { interval, empty } => {
                Ends::Cbr(Box::new(cbr::Ends::new(format, *interval, empty.clone())))
            }
            Which::Outside { dial, flow, interval } => {
                let id = Id { number: index, generation: epoch };
                Ends::Outside(outside::Ends {
                    remote: dial(Opening { flow: *flow, id, route }),
                    interval: *interval,
                })
            }
        }
    }
}
