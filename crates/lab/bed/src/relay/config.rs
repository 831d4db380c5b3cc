//! The link that a relay emulates.

use super::datagram::Datagram;
use super::record::{FlowId, LinkId};
use crate::error::Error;
use crate::way::Way;
use afteryou_aqm::Queue;
use afteryou_base::Span;
use afteryou_scenario::{self as scenario, Probability, Rate};
use std::net::SocketAddr;

/// One direction of a link.
pub struct Direction {
    /// Rate, counted in IP packets: UDP payload + 28 bytes over IPv4, + 48 bytes over IPv6.
    pub rate: Rate,
    /// Probability that an arriving packet is lost before it reaches the queue. The fate of the n-th packet depends on
    /// the seed and n alone, not on the timing of the machine.
    pub loss: Probability,
    /// Where packets wait for the link.
    pub queue: Box<dyn Queue<Datagram>>,
}

/// A link.
pub struct Link {
    /// Its name, unique in the relay: the random streams are named after it.
    pub name: String,
    /// From clients to servers of flows that go up, from servers to clients of those that go down.
    pub forward: Direction,
    /// The other one.
    pub reverse: Direction,
}

/// A flow through a link, between one client and one server.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// The link it goes through.
    pub link: LinkId,
    /// Where the server listens, on loopback.
    pub server: SocketAddr,
    /// Round-trip propagation time without serialisation; half of it passes each way, behind the queue.
    pub rtt: Span,
    /// Which direction of the link packets from the client cross: up the forward one, down the reverse one.
    pub direction: scenario::Direction,
}

/// The link that a relay emulates.
pub struct Config {
    /// Seed of the random losses.
    pub seed: u64,
    /// Keep a record of every packet for [`Relay::drain_records`](super::Relay::drain_records). Without draining they
    /// pile up, 64 bytes each.
    pub records: bool,
    /// Every flow's client is a host of its own: its server over IPv4 sees the flows come from 127.1.0.0, 127.1.0.1 and so on,
    /// instead of all from 127.0.0.1. Linux answers at all of 127.0.0.0/8; elsewhere the relay does not start with it.
    pub hosts: bool,
    pub(super) links: Vec<Link>,
    pub(super) flows: Vec<Flow>,
}

impl Link {
    /// Returns the link of a scenario with both directions; `seed` is that of the queues' random numbers.
    ///
    /// # Errors
    /// [`Error::Queue`] if the queue discipline does not suit the link's rate or buffer.
    pub fn of_scenario(name: &str, link: &scenario::Link, seed: u64) -> Result<Link, Error> {
        let direction = |way: Way, link: &scenario::Link| {
            let queue = link.build_queue(seed, &format!("queue {name} {way}"));
            let queue =
                queue.map_err(|error| Error::Queue { link: name.to_owned(), reason: error.to_string() })?;
            Ok::<_, Error>(Direction { rate: link.rate, loss: link.loss, queue })
        };
        Ok(Link {
            name: name.to_owned(),
            forward: direction(Way::Forward, link)?,
            reverse: direction(Way::Reverse, &link.back())?,
        })
    }

    pub(super) fn direction(&self, way: Way) -> &Direction {
        match way {
            Way::Forward => &self.forward,
            Way::Reverse => &self.reverse,
        }
    }
}

impl Flow {
    /// Returns the direction of the link that the flow's packets of this way cross; also the way of its packets in that
    /// direction.
    pub(super) fn on_link(&self, way: Way) -> Way {
        match self.direction {
            scenario::Direction::Up => way,
            scenario::Direction::Down => way.opposite(),
        }
    }

    /// Returns the propagation delay one way; the two ways add up to the round-trip time.
    pub(super) fn propagation(&self, way: Way) -> Span {
        let half = self.rtt / 2;
        match way {
            Way::Forward => half,
            Way::Reverse => self.rtt - half,
        }
    }
}

impl Config {
    /// Creates a configuration without links; records are kept.
    pub fn new(seed: u64) -> Config {
        Config { seed, records: true, hosts: false, links: Vec::new(), flows: Vec::new() }
    }

    /// Adds a link.
    pub fn add_link(&mut self, link: Link) -> LinkId {
        self.links.push(link);
        LinkId(self.links.len() as u32 - 1)
    }

    /// Adds a flow up `link` to the server at `server`, with the propagation delay `rtt`.
    ///
    /// # Panics
    /// If `link` is not of this configuration.
    pub fn add_flow(&mut self, link: LinkId, server: SocketAddr, rtt: Span) -> FlowId {
        self.add(Flow { link, server, rtt, direction: scenario::Direction::Up })
    }

    /// Adds a flow.
    ///
    /// # Panics
    /// If its link is not of this configuration.
    pub fn add(&mut self, flow: Flow) -> FlowId {
        assert!(
            (flow.link.0 as usize) < self.links.len(),
            "{:?} belongs to another configuration",
            flow.link
        );
        self.flows.push(flow);
        FlowId(self.flows.len() as u32 - 1)
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        for (i, link) in self.links.iter().enumerate() {
            if self.links[..i].iter().any(|other| other.name == link.name) {
                return Err(Error::SameName { name: link.name.clone() });
            }
            for way in Way::BOTH {
                if link.direction(way).rate.bytes_per_second() == 0 {
                    return Err(Error::NoRate { link: link.name.clone(), way });
                }
            }
        }
        match self.flows.iter().find(|flow| !flow.server.ip().is_loopback()) {
            Some(flow) => Err(Error::NotLoopback { address: flow.server }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::Buffer;

    fn link(name: &str, bits: u64) -> Link {
        let buffer = Buffer::Packets(10);
        let link = afteryou_scenario::Link::new(Rate::from_bits(bits), buffer);
        Link::of_scenario(name, &link, 1).unwrap()
    }

    fn refusal(links: Vec<Link>, server: &str) -> String {
        let mut config = Config::new(1);
        let ids: Vec<_> = links.into_iter().map(|link| config.add_link(link)).collect();
        config.add_flow(ids[0], server.parse().unwrap(), Span::ZERO);
        config.check().unwrap_err().to_string()
    }

    #[test]
    fn nothing_is_sent_off_this_machine() {
        let text = refusal(vec![link("uplink", 1_000_000)], "192.0.2.1:9");
        assert!(text.starts_with("192.0.2.1:9 is not on this machine"), "{text}");
    }

    #[test]
    fn links_need_a_rate_and_a_name_of_their_own() {
        let text = refusal(vec![link("uplink", 7)], "127.0.0.1:9");
        assert!(text.starts_with("link \"uplink\" carries nothing in its forward direction"), "{text}");
        let text = refusal(vec![link("a", 8), link("a", 8)], "127.0.0.1:9");
        assert_eq!(text, "two links are named \"a\": rename one");
    }

    #[test]
    fn the_two_ways_add_up_to_the_round_trip_time() {
        let direction = scenario::Direction::Up;
        let flow = Flow { link: LinkId(0), server: "[::1]:9".parse().unwrap(), rtt: Span(41), direction };
        assert_eq!(flow.propagation(Way::Forward) + flow.propagation(Way::Reverse), Span(41));
    }
}
