//! The network of a scenario: links, each in one direction, and each flow's route over them.
//!
//! A scenario writes its links in one of two forms. The short form has one link with a reverse direction, and a flow's data
//! cross one of the two. Named links go one way each, and every flow has a path of them. [`Scenario::network`] makes the
//! same [`Network`] of both, so that an engine needs only one form.
//!
//! ```text
//!   short form                        named links
//!   up:    data ▶ bottleneck          path = { forward = ["up", "core"], reverse = ["down"] }
//!          acks ▶ reverse path        data ▶ up ▶ core ▶ delay ▶ receiver
//!   down:  data ▶ reverse path        acks ▶ down ▶ delay ▶ sender
//!          acks ▶ bottleneck
//! ```

use crate::element::Propagation;
use crate::hosts::{Host, Hosts};
use crate::path::Direction;
use crate::random;
pub use crate::route::{Access, Rerouted, Route};
use crate::route_change::RouteChange;
use crate::scenario::{Flow, Link, PacketFormat, Scenario};
use crate::traffic::Traffic;
use afteryou_aqm::Queue;
use afteryou_base::{Span, Time};
use afteryou_notation::{unknown, Error};
use rand_pcg::Pcg64;
use std::collections::HashMap;

/// The name in results of the short form's link in the direction of `link`.
pub const BOTTLENECK: &str = "bottleneck";
/// The name in results of the short form's link in the other direction.
pub const REVERSE_PATH: &str = "reverse path";

/// Most links in each direction of a path.
pub const MOST_HOPS: usize = 100;
/// Most links of a scenario.
pub const MOST_LINKS: usize = 10_000;

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct OneWay {
    /// Its name in results.
    pub name: String,
    /// Rate, buffer, queue and loss.
    pub link: Link,
    /// Names of its random streams: each link has its own, so that another link changes no other's losses.
    queue_stream: String,
    loss_stream: String,
    /// The ending of its elements' streams' names.
    of_way: String,
}

/// All links, and the route of each flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The links; figures that describe one link alone describe the first.
    pub links: Vec<OneWay>,
    /// One for each flow of the scenario; of a flow on hosts, that of the first of them.
    pub routes: Vec<Route>,
    /// For each flow, the routes that it takes later, in order of time.
    pub rerouted: Vec<Vec<Rerouted>>,
    /// For each flow, the hosts that it runs on; none for most.
    pub hosts: Vec<Vec<Access>>,
}

impl OneWay {
    fn named(name: &str, link: &Link) -> OneWay {
        OneWay {
            name: name.to_owned(),
            link: link.clone(),
            queue_stream: format!("queue of link {name}"),
            loss_stream: format!("loss of link {name}"),
            of_way: format!("of link {name}"),
        }
    }

    /// Returns its queue, empty.
    ///
    /// # Errors
    /// As [`Link::build_queue`].
    pub fn build_queue<T: Send + 'static>(&self, seed: u64) -> Result<Box<dyn Queue<T>>, Error> {
        self.link.build_queue(seed, &self.queue_stream)
    }

    /// Returns the random stream of one of its elements.
    pub fn stream_of(&self, element: &str, seed: u64) -> Pcg64 {
        random::stream(seed, &format!("{element} {}", self.of_way))
    }

    /// Returns the random stream of its losses.
    pub fn losses(&self, seed: u64) -> Pcg64 {
        random::stream(seed, &self.loss_stream)
    }
}

/// Returns the two directions of the short form's link.
fn both_directions(link: &Link) -> Vec<OneWay> {
    let direction = |name: &str, way: &str, link: Link| OneWay {
        name: name.to_owned(),
        link,
        queue_stream: format!("queue {way}"),
        loss_stream: format!("link {way} loss"),
        of_way: format!("of the {way} direction"),
    };
    let forward = Link { reverse: None, ..link.clone() };
    vec![direction(BOTTLENECK, "forward", forward), direction(REVERSE_PATH, "reverse", link.back())]
}

impl Network {
    /// Returns the least rate of the links that the data of this flow cross, bit/s.
    pub fn rate_of_flow(&self, flow: usize) -> u64 {
        let rates =
            self.routes[flow].forward.iter().map(|link| self.links[*link].link.rate.bits_per_second());
        rates.min().unwrap_or_default()
    }

    /// Returns the same links with the routes of these flows alone.
    pub(crate) fn of_flows(&self, flows: &[usize]) -> Network {
        fn chosen<T: Clone>(all: &[T], flows: &[usize]) -> Vec<T> {
            flows.iter().map(|flow| all[*flow].clone()).collect()
        }
        Network {
            links: self.links.clone(),
            routes: chosen(&self.routes, flows),
            rerouted: chosen(&self.rerouted, flows),
            hosts: chosen(&self.hosts, flows),
        }
    }

    /// Returns the time that a data packet of `bytes` takes over the flow's path without queues: sending on each link,
    /// then propagation.
    fn empty_path(&self, flow: usize, bytes: u32) -> Span {
        self.empty_route(&self.routes[flow], bytes)
    }

    /// Returns the same for each route of the flow, in the order in which it takes them.
    pub fn empty_paths(&self, flow: usize, bytes: u32) -> Vec<Span> {
        self.routes_of(flow).map(|route| self.empty_route(route, bytes)).collect()
    }

    /// Returns how long a data packet of `bytes` takes over a route while all is empty.
    pub fn empty_route(&self, route: &Route, bytes: u32) -> Span {
        self.over(&route.forward, route.forward_delay, bytes)
    }

    /// Returns the routes of a flow, in the order in which it takes them.
    pub fn routes_of(&self, flow: usize) -> impl Iterator<Item = &Route> {
        let later = self.rerouted[flow].iter().map(|rerouted| &rerouted.route);
        std::iter::once(&self.routes[flow]).chain(later)
    }

    /// Returns the time that `bytes` take over empty links with `delay` behind the last.
    fn over(&self, links: &[usize], delay: Span, bytes: u32) -> Span {
        let sending = |link: &usize| {
            if self.links[*link].link.elements.burst.is_some() {
                return Span(1); // a packet comes out as its time on the link begins
            }
            let nanos = u128::from(bytes) * 8_000_000_000
                / u128::from(self.links[*link].link.rate.bits_per_second().max(1));
            // Never no time at all, as in the simulator.
            Span(u64::try_from(nanos).unwrap_or(u64::MAX).max(1))
        };
        let own = |link: &usize| self.links[*link].link.elements.delay.as_ref().map(Propagation::least);
        links.iter().fold(delay, |sum, link| sum + sending(link) + own(link).unwrap_or_default().0)
    }

    /// Returns the round-trip time of the flow's path without queues: a full data packet one way, an acknowledgement
    /// the other.
    pub fn empty_round_trip(&self, flow: usize, packet: PacketFormat) -> Span {
        let (payload, overhead) = (packet.payload.bytes(), packet.overhead.bytes());
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let Route { reverse, reverse_delay, .. } = &self.routes[flow];
        self.empty_path(flow, bytes(payload + overhead)) + self.over(reverse, *reverse_delay, bytes(overhead))
    }

    /// Returns the flows whose data cross this link.
    pub fn flows_with_data_on(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let crosses = move |flow: &usize| self.routes_of(*flow).any(|route| route.forward.contains(&link));
        (0..self.routes.len()).filter(crosses)
    }

    /// Returns the flows of which any packet crosses this link.
    pub fn flows_on(&self, link: usize) -> impl Iterator<Item = usize> + '_ {
        let crosses = move |route: &Route| route.forward.contains(&link) || route.reverse.contains(&link);
        let accesses = move |hosts: &[Access]| hosts.iter().any(|host| [host.up, host.down].contains(&link));
        let any = move |flow: &usize| self.routes_of(*flow).any(crosses) || accesses(&self.hosts[*flow]);
        (0..self.routes.len()).filter(any)
    }
}

impl Scenario {
    /// Returns every link that the scenario writes: that of the short form alone, or all named ones.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        std::iter::once(&self.link).chain(&self.further_links)
    }

    /// Returns whether it has named links, and a path for each flow.
    pub fn has_named_links(&self) -> bool {
        self.link.name.is_some() || !self.further_links.is_empty()
    }

    /// Makes the network that engines run: links in one direction each, and each flow's route.
    ///
    /// # Errors
    /// Named links beside one without a name, a path with links that are not there, a flow that has no path or one too many.
    pub fn network(&self) -> Result<Network, Error> {
        let links = match self.has_named_links() {
            false => both_directions(&self.link),
            true => self
                .links()
                .map(|link| OneWay::named(link.name.as_deref().unwrap_or_default(), link))
                .collect(),
        };
        let by_name = self.links_by_name();
        let routes = self.flow.iter().map(|flow| self.route(flow, &by_name)).collect::<Result<_, _>>()?;
        let hosts = self.flow.iter().map(|flow| self.hosts_of(flow, &by_name)).collect::<Result<_, _>>()?;
        let rerouted =
            self.flow.iter().map(|flow| self.rerouted(flow, &by_name)).collect::<Result<_, _>>()?;
        Ok(Network { links, routes, rerouted, hosts })
    }

    /// Returns the named links by their place; nothing in the short form.
    pub fn links_by_name(&self) -> HashMap<&str, usize> {
        let named = self.links().enumerate().filter_map(|(i, link)| Some((link.name.as_deref()?, i)));
        named.collect()
    }

    /// Checks that there is a route for `flow`. If not, returns the reason.
    pub(crate) fn check_path(&self, flow: &Flow) -> Result<(), Error> {
        self.route(flow, &self.links_by_name()).map(drop)
    }

    /// Returns the route of a flow; of one on hosts, that of the first of them.
    fn route(&self, flow: &Flow, by_name: &HashMap<&str, usize>) -> Result<Route, Error> {
        let hosts = self.hosts_of(flow, by_name)?;
        match (&flow.traffic, hosts.as_slice()) {
            (Traffic::Downloads { downloads, .. }, [first, ..]) if *downloads as usize <= hosts.len() => {
                Ok(first.download())
            }
            (Traffic::Downloads { downloads, .. }, [_, ..]) => Err(Error::Contradiction(format!(
                "flow {:?} has {downloads} downloads on {} hosts: each has one at most",
                flow.name,
                hosts.len()
            ))),
            (_, [first, second, ..]) => Ok(first.to(second)),
            (_, [alone]) => Ok(alone.upload()),
            (_, []) => route(flow, by_name),
        }
    }

    /// Returns the routes that a flow takes later. Each change begins with what the one before has left.
    fn rerouted(&self, flow: &Flow, by_name: &HashMap<&str, usize>) -> Result<Vec<Rerouted>, Error> {
        let mut changes: Vec<_> = self.route_change.iter().filter(|change| change.concerns(flow)).collect();
        changes.sort_by_key(|change| change.at);
        let mut flow = flow.clone();
        let after = |change: &RouteChange| {
            flow.path = change.path.clone().or(flow.path.take());
            flow.rtt = change.rtt.unwrap_or(flow.rtt);
            Ok(Rerouted { at: Time(change.at.0 .0), route: route(&flow, by_name)? })
        };
        changes.into_iter().map(after).collect()
    }

    /// Checks that `flow` has routes after each change of routes. If not, returns the reason.
    pub(crate) fn check_rerouted(&self, flow: &Flow) -> Result<(), Error> {
        self.rerouted(flow, &self.links_by_name()).map(drop)
    }

    /// Returns the hosts that a flow runs on.
    fn hosts_of(&self, flow: &Flow, by_name: &HashMap<&str, usize>) -> Result<Vec<Access>, Error> {
        let Some(name) = &flow.hosts else { return Ok(Vec::new()) };
        let names: Vec<&str> = self.hosts.iter().map(|hosts| hosts.name.as_str()).collect();
        let hosts = self.hosts.iter().find(|hosts| hosts.name == *name);
        let Hosts { host, .. } = hosts.ok_or_else(|| unknown("hosts", name, &names))?;
        let link = |name: &str| by_name.get(name).copied().ok_or_else(|| unknown_link(name, by_name));
        let access =
            |host: &Host| Ok(Access { up: link(&host.up)?, down: link(&host.down)?, rtt: host.rtt.0 });
        match host.is_empty() {
            true => Err(Error::Contradiction(format!("there are no hosts {name:?}: write one at least"))),
            false => host.iter().map(access).collect(),
        }
    }
}

impl RouteChange {
    /// Returns whether it is about this flow. Routes between hosts do not change.
    pub fn concerns(&self, flow: &Flow) -> bool {
        match &self.flow {
            Some(name) => flow.name == *name || flow.group.as_ref() == Some(name),
            None => flow.hosts.is_none(),
        }
    }
}

/// Returns the route of a flow; `by_name` has the named links, or nothing in the short form.
fn route(flow: &Flow, by_name: &HashMap<&str, usize>) -> Result<Route, Error> {
    let wrong = |what: &str| Err(Error::Contradiction(format!("flow {:?} {what}", flow.name)));
    let half = flow.rtt.0 / 2;
    let Some(path) = &flow.path else {
        let (forward, reverse) = match flow.direction {
            _ if !by_name.is_empty() => {
                return wrong(
                    "has no path: links have names, so write path = { forward = […], reverse = […] }",
                )
            }
            Direction::Up => (0, 1),
            Direction::Down => (1, 0),
        };
        let (forward_delay, reverse_delay) = (half, flow.rtt.0 - half);
        return Ok(Route { forward: vec![forward], reverse: vec![reverse], forward_delay, reverse_delay });
    };
    if by_name.is_empty() {
        return wrong(
            "has a path, but no link has a name: write [[link]] with name = …, or direction instead of path",
        );
    }
    if flow.direction == Direction::Down {
        return wrong(
            "has a path and a direction: the path says which links data cross, so leave direction out",
        );
    }
    if by_name.contains_key(flow.name.as_str()) {
        return wrong("has the name of a link: rename one, since figures go by these names");
    }
    let forward_delay = path.delay.map_or(half, |delay| delay.0);
    if forward_delay > flow.rtt.0 {
        return wrong("has a path.delay longer than its rtt: the delay is the forward path's part of it");
    }
    Ok(Route {
        forward: links_of(flow, "forward", &path.forward, by_name)?,
        reverse: links_of(flow, "reverse", &path.reverse, by_name)?,
        forward_delay,
        reverse_delay: flow.rtt.0 - forward_delay,
    })
}

/// Returns the indices of the links in one direction of a path.
fn links_of(
    flow: &Flow,
    way: &str,
    names: &[String],
    by_name: &HashMap<&str, usize>,
) -> Result<Vec<usize>, Error> {
    let wrong = |what: String| Err(Error::Contradiction(format!("flow {:?} {what}", flow.name)));
    if names.is_empty() {
        return wrong(format!("has a path without links: write path.{way} = [\"…\"] with one link at least"));
    }
    if names.len() > MOST_HOPS {
        return wrong(format!("has a path.{way} of more than {MOST_HOPS} links: use fewer"));
    }
    let mut links = Vec::new();
    for name in names {
        let link = *by_name.get(name.as_str()).ok_or_else(|| unknown_link(name, by_name))?;
        if links.contains(&link) {
            return wrong(format!("crosses link {name:?} twice in path.{way}: name it once"));
        }
        links.push(link);
    }
    Ok(links)
}

/// Returns the error for a link that is not there.
pub fn unknown_link(name: &str, by_name: &HashMap<&str, usize>) -> Error {
    let mut links: Vec<(usize, &str)> = by_name.iter().map(|(name, index)| (*index, *name)).collect();
    links.sort_unstable();
    let names: Vec<&str> = links.into_iter().map(|(_, name)| name).collect();
    unknown("link", name, &names)
}
