//! Checks of links: each by itself, their names, and their buffers with the flows that cross them.

use crate::network::{Network, MOST_LINKS};
use crate::scenario::{Flow, Link, Scenario};
use afteryou_aqm::Backlog;
use afteryou_notation::Error;
use std::collections::HashMap;

/// A link that is wrong, by its place among the scenario's links, and why.
pub(super) struct WrongLink {
    pub(super) link: usize,
    pub(super) error: Error,
}

/// A buffer that holds no packet of a flow.
struct TooSmall {
    link: usize,
    flow: String,
    bytes: u64,
}

impl Scenario {
    /// Checks the links by themselves, without the flows.
    pub(super) fn check_links(&self) -> Result<(), WrongLink> {
        let named = self.has_named_links();
        let mut seen = HashMap::new();
        for (i, link) in self.links().enumerate() {
            let wrong = |message: String| Err(WrongLink { link: i, error: Error::Contradiction(message) });
            match &link.name {
                None if named => {
                    return wrong("a link has no name: write name = …, since there are several".to_owned())
                }
                // Figures of the short form's link have this name.
                Some(name) if name == "link" => {
                    return wrong("a link is named \"link\": use another name".to_owned())
                }
                Some(name) if name.is_empty() => {
                    return wrong("a link has an empty name: write one".to_owned())
                }
                Some(name) if seen.insert(name.as_str(), i).is_some() => {
                    return wrong(format!("two links are named {name:?}: rename one"))
                }
                Some(name) if link.reverse.is_some() => {
                    return wrong(format!(
                        "link {name:?} has a reverse, but a named link goes one way: write another [[link]]"
                    ))
                }
                _ => check_alone(link).map_err(|error| WrongLink { link: i, error })?,
            }
        }
        match seen.len() > MOST_LINKS {
            true => Err(WrongLink {
                link: 0,
                error: Error::Contradiction(format!("more than {MOST_LINKS} links are too many")),
            }),
            false => Ok(()),
        }
    }

    /// Checks that each buffer holds a packet of each flow that crosses it. One that does not passes nothing.
    pub(super) fn check_buffers(&self, network: &Network) -> Result<(), WrongLink> {
        let Some(TooSmall { link, flow, bytes }) = too_small(network, &self.flow) else { return Ok(()) };
        let Link { rate, buffer, name, .. } = &network.links[link].link;
        let (written, index) = match (name, link) {
            (Some(name), _) => (format!("link.{name}"), link),
            (None, 0) => ("link".to_owned(), 0),
            (None, _) => ("link.reverse".to_owned(), 0),
        };
        let message = format!(
            "{written}.buffer = {buffer} at {rate} holds no packet of flow {flow:?}: use at least {bytes} B"
        );
        Err(WrongLink { link: index, error: Error::Contradiction(message) })
    }
}

/// Finds a link whose buffer holds no packet of a flow that crosses it: such a link passes nothing.
fn too_small(network: &Network, flows: &[Flow]) -> Option<TooSmall> {
    let too_small = |link: usize, flow: &Flow, bytes: u64| {
        let Link { rate, buffer, .. } = network.links[link].link;
        let size = u32::try_from(bytes).unwrap_or(u32::MAX);
        let holds = buffer.limit(rate).admits(Backlog::default(), size);
        (!holds).then(|| TooSmall { link, flow: flow.name.clone(), bytes })
    };
    let routes = (0..flows.len()).flat_map(|flow| network.routes_of(flow).map(move |route| (flow, route)));
    let mut routes = routes.map(|(flow, route)| (&flows[flow], route));
    routes.find_map(|(flow, route)| {
        let format = flow.packet_format();
        let (ack, data) = (format.overhead.bytes(), format.payload.bytes() + format.overhead.bytes());
        let data = route.forward.iter().map(move |link| (*link, data));
        let mut packets = data.chain(route.reverse.iter().map(move |link| (*link, ack)));
        packets.find_map(|(link, bytes)| too_small(link, flow, bytes))
    })
}

/// Checks both directions of a link.
fn check_alone(both: &Link) -> Result<(), Error> {
    let forward = both.name.as_ref().map_or("link".to_owned(), |name| format!("link.{name}"));
    for (link, name) in [(both, forward), (&both.back(), "link.reverse".to_owned())] {
        if link.rate.bytes_per_second() == 0 {
            let rate = link.rate;
            return Err(Error::Contradiction(format!(
                "{name}.rate = {rate} carries nothing: use at least 8 bit/s"
            )));
        }
        link.build_queue::<()>(0, "")?;
        let wrong = |(element, why)| Error::Contradiction(format!("{name}.{element}: {why}"));
        link.elements.check().map_err(wrong)?;
    }
    Ok(())
}
