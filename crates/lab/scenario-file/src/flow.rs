//! Flows: one table may stand for many, with times and paths that are drawn.

use crate::choice::{controller, receiver, sender, transport};
use crate::distribution::distribution;
use crate::element::elements_of_flow;
use crate::error::Problem;
use crate::keys::{FLOW, PACKET};
use crate::limits::{MOST_FLOWS, MOST_INTERVALS};
use crate::names::member;
use crate::noise::Noise;
use crate::outside::Outside;
use crate::path::{path_and_direction, LinkNames};
use crate::read::{at, check_keys, count, flag, list, needed, pair, quantity, table, text, time, Result};
use crate::traffic::{check_programs, traffic};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{unknown, Dscp, Duration};
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::hosts::{Host, Hosts};
use afteryou_scenario::path::{Direction, Path};
use afteryou_scenario::scenario::{Flow, PacketFormat, Role};
use afteryou_scenario::traffic::Traffic;
use afteryou_scenario::transport::Transport;

/// A flow's table, read as far as it goes without drawing.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    /// Everything that is the same for all of its flows.
    flow: Flow,
    count: u64,
    rtt: Distribution,
    /// The hosts that they run from, one each; not those of a swarm or of downloads.
    from: Option<&'a Hosts>,
    fields: &'a Table,
}

/// Reads a flow that is called `name`; `links` are those that it may cross.
pub(crate) fn read<'a>(
    node: &'a Node,
    name: &str,
    links: &LinkNames<'_>,
    hosts: &'a [Hosts],
    files: &Outside,
) -> Result<Written<'a>> {
    let fields = table(node)?;
    check_keys(fields, "a flow", FLOW)?;
    let traffic =
        fields.get("traffic").map_or(Ok(Traffic::Bulk), |node| traffic(node, Duration::default()))?;
    check_programs(fields.get("traffic"), &traffic, files)?;
    let chosen = fields.get("controller").map(controller).transpose()?;
    let by_default = if traffic.is_cbr() { Transport::udp() } else { Transport::tcp() };
    let transport = fields.get("transport").map_or(Ok(by_default), transport)?;
    let hosts = fields.get("hosts").map(|node| on_hosts(node, hosts)).transpose()?;
    // A swarm and downloads run between hosts. Other flows run from hosts, over a path.
    let (between, from) = if traffic.needs_hosts() { (hosts, None) } else { (None, hosts) };
    let (direction, path) =
        match (between, ["path", "direction", "rtt"].iter().find_map(|name| fields.get(name))) {
            (Some(_), Some(node)) => {
                return Err(Problem::new(
                    &node.place,
                    "the hosts of the flow say where its packets go: leave it out",
                ))
            }
            (Some(_), None) => (Direction::Up, None),
            (None, _) => path_and_direction(node, fields, links)?,
        };
    let rtt = match (fields.get("rtt"), path.as_ref().and_then(|path| path.delay)) {
        _ if between.is_some() => Distribution::Fixed(between.map(mean_rtt).unwrap_or_default()),
        (None, Some(delay)) => Distribution::Fixed(Duration(delay.0 * 2).min(Duration::LONGEST)),
        (None, None) if from.is_some() => Distribution::Fixed(Duration::default()),
        _ => distribution(needed(fields, "rtt", node, "\"40 ms\"")?, files)?,
    };
    fields.get("name").map(text).transpose()?;
    let flow = Flow {
        group: fields.get("group").map(text).transpose()?.map(str::to_owned),
        controller: chosen,
        transport,
        receiver: fields.get("receiver").map(receiver).transpose()?,
        sender: fields.get("sender").map(sender).transpose()?,
        direction,
        path,
        hosts: between.map(|hosts| hosts.name.clone()),
        host: fields.get("host").map(text).transpose()?.map(str::to_owned),
        reconnect: fields.get("reconnect").map_or(Ok(false), flag)?,
        traffic,
        packet: fields.get("packet").map(packet).transpose()?,
        dscp: fields.get("dscp").map(dscp).transpose()?,
        elements: elements_of_flow(fields, files)?,
        ..Flow::new(name, fields.get("role").map_or(Ok(Role::Foreground), role)?, "", Duration::default())
    };
    let most = from.map_or(MOST_FLOWS, |hosts| hosts.host.len() as u64);
    let by_default = from.map_or(1, |_| most);
    let count = fields.get("count").map_or(Ok(by_default), |node| count(node, 0..=most))?;
    Ok(Written { flow, count, rtt, from, fields })
}

fn on_hosts<'a>(node: &Node, hosts: &'a [Hosts]) -> Result<&'a Hosts> {
    let name = text(node)?;
    let names: Vec<&str> = hosts.iter().map(|hosts| hosts.name.as_str()).collect();
    let known = hosts.iter().find(|hosts| hosts.name == name);
    at(node, known.ok_or_else(|| unknown("hosts", name, &names)))
}

fn mean_rtt(hosts: &Hosts) -> Duration {
    let sum: u128 = hosts.host.iter().map(|host| u128::from(host.rtt.0 .0)).sum();
    Duration(afteryou_base::Span((sum / hosts.host.len().max(1) as u128) as u64))
}

/// Reads a flow's role.
pub(crate) fn role(node: &Node) -> Result<Role> {
    match text(node)? {
        "foreground" => Ok(Role::Foreground),
        "background" => Ok(Role::Background),
        other => at(node, Err(unknown("role", other, &["foreground", "background"]))),
    }
}

fn packet(node: &Node) -> Result<PacketFormat> {
    let fields = table(node)?;
    check_keys(fields, "packet", PACKET)?;
    Ok(PacketFormat {
        payload: quantity(needed(fields, "payload", node, "\"1448 B\"")?)?,
        overhead: quantity(needed(fields, "overhead", node, "\"52 B\"")?)?,
    })
}

/// Reads a code point: a word, or a number as a number or as text.
fn dscp(node: &Node) -> Result<Dscp> {
    match &node.value {
        Value::Number(number) => at(node, number.parse()),
        _ => at(node, text(node)?.parse()),
    }
}

impl Written<'_> {
    /// Returns the number of flows that it describes.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Draws its flows from the streams of `seed` that belong to its name.
    pub(crate) fn draw(&self, seed: u64, noise: &Noise, flows: &mut Vec<Flow>) -> Result<()> {
        let Written { flow, fields, .. } = self;
        let stream =
            |what: &str| afteryou_scenario::random::stream(seed, &format!("flow {} {what}", flow.name));
        let (mut rtts, mut starts) = (stream("rtt"), stream("start"));
        for number in 0..self.count {
            let rtt = self.rtt.draw(&mut rtts);
            let host = self.from.and_then(|hosts| hosts.host.get(number as usize));
            let (path, rtt) = host.map_or_else(|| (flow.path.clone(), rtt), |host| self.over(host, rtt));
            let (name, group) = match self.count {
                1 => (flow.name.clone(), flow.group.clone()),
                _ => (member(&flow.name, number), Some(flow.name.clone())),
            };
            let start = match fields.get("start") {
                Some(node) => start(node, rtt, number, &mut starts)?,
                None => noise.start(rtt, &mut starts),
            };
            let mut elements = flow.elements.clone();
            if fields.get("jitter").or(fields.get("elements")).is_none() {
                elements.jitter = noise.jitter();
            }
            flows.push(Flow {
                name,
                group,
                rtt,
                path,
                start,
                elements,
                stop: fields.get("stop").map(|node| time(node, rtt)).transpose()?,
                active: fields.get("active").map_or(Ok(Vec::new()), |node| active(node, rtt))?,
                traffic: fields.get("traffic").map_or(Ok(Traffic::Bulk), |node| traffic(node, rtt))?,
                ..flow.clone()
            });
        }
        Ok(())
    }

    /// Returns the path from a host and its round-trip time; `rtt` is that of the path behind the host's own links.
    fn over(&self, host: &Host, rtt: Duration) -> (Option<Path>, Duration) {
        let path = self.flow.path.as_ref().map(|path| Path {
            forward: std::iter::once(&host.up).chain(&path.forward).cloned().collect(),
            reverse: path.reverse.iter().chain([&host.down]).cloned().collect(),
            delay: path.delay.map(|delay| Duration(delay.0 + host.rtt.0 / 2)),
        });
        (path, Duration(rtt.0 + host.rtt.0).min(Duration::LONGEST))
    }
}

fn active(node: &Node, rtt: Duration) -> Result<Vec<[Duration; 2]>> {
    let interval = |node: &Node| {
        let [from, to] = pair(node)?;
        Ok([time(from, rtt)?, time(to, rtt)?])
    };
    let intervals = list(node)?;
    if intervals.len() > MOST_INTERVALS {
        let message = format!("more than {MOST_INTERVALS} times of activity are too many");
        return Err(Problem::new(&node.place, message));
    }
    intervals.iter().map(interval).collect()
}

/// Reads a time, an interval of starts, or a time anywhere in an interval.
fn start(node: &Node, rtt: Duration, index: u64, random: &mut rand_pcg::Pcg64) -> Result<Duration> {
    let Value::Table(fields) = &node.value else { return time(node, rtt) };
    let names: Vec<&str> = fields.entries.iter().map(|(key, _)| key.name.as_str()).collect();
    match names.as_slice() {
        ["uniform"] => {
            let range = &fields.entries[0].1;
            let [from, to] = pair(range)?;
            let (from, to) = (time(from, rtt)?, time(to, rtt)?);
            match from <= to {
                true => Ok(Distribution::Uniform(from, to).draw(random)),
                false => {
                    Err(Problem::new(&range.place, "the first value is larger than the second: swap them"))
                }
            }
        }
        ["every"] | ["every", "first"] | ["first", "every"] => staggered(fields, rtt, index),
        _ => Err(Problem::new(
            &node.place,
            "write a time, { every = \"10 s\", first = \"0 s\" } or { uniform = [\"0 s\", \"10 s\"] }",
        )),
    }
}

fn staggered(fields: &Table, rtt: Duration, index: u64) -> Result<Duration> {
    let get = |name: &str| fields.get(name).map_or(Ok(Duration::default()), |node| time(node, rtt));
    Ok(Duration(get("first")?.0 + get("every")?.0 * index).min(Duration::LONGEST))
}
