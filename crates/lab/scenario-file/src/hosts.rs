//! `[[hosts]]`: hosts with access links of their own.

use crate::error::Problem;
use crate::keys::HOSTS;
use crate::read::{check_keys, count, needed, quantity, table, tables, text, Result};
use crate::traffic::law;
use crate::tree::{Node, Table};
use afteryou_notation::{Duration, Rate};
use afteryou_scenario::hosts::{Host, Hosts};
use afteryou_scenario::random::stream;
use afteryou_scenario::scenario::Link;
use rand_pcg::Pcg64;
use std::collections::BTreeSet;

/// Most hosts of one name: each has two links with figures of their own.
const MOST_HOSTS: u64 = 1000;

/// Reads all hosts, with rates and round-trip times drawn from streams of `seed`, and makes their links.
pub(crate) fn hosts(root: &Table, seed: u64) -> Result<(Vec<Hosts>, Vec<Link>)> {
    let (mut all, mut links, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for node in root.get("hosts").map_or(Ok(Vec::new()), tables)? {
        let hosts = read(node, seed, &mut links)?;
        if !names.insert(hosts.name.clone()) {
            return Err(Problem::new(
                &node.place,
                format!("two hosts are named {:?}: rename one", hosts.name),
            ));
        }
        all.push(hosts);
    }
    Ok((all, links))
}

fn read(node: &Node, seed: u64, links: &mut Vec<Link>) -> Result<Hosts> {
    let fields = table(node)?;
    check_keys(fields, "hosts", HOSTS)?;
    let name = text(needed(fields, "name", node, "\"peers\"")?)?;
    let number = fields.get("count").map_or(Ok(1), |node| count(node, 1..=MOST_HOSTS))?;
    let rates = |way: &str, example| {
        let written = needed(fields, way, node, example)?;
        rates(written, number, stream(seed, &format!("{way} of hosts {name}")))
    };
    let (up, down) = (rates("up", "\"1 Mbit/s\"")?, rates("down", "\"8 Mbit/s\"")?);
    let queue = quantity(needed(fields, "queue", node, "\"100 packets\"")?)?;
    let (rtt, ways) = match (fields.get("rtt"), fields.get("delay")) {
        (Some(_), Some(delay)) => {
            let message = "delay is half of rtt: write one of them";
            return Err(Problem::new(&delay.place, message));
        }
        (None, Some(delay)) => (delay, 2),
        _ => (needed(fields, "rtt", node, "\"50 ms\"")?, 1),
    };
    let law = law::<Duration>(rtt)?;
    let mut random = stream(seed, &format!("rtt of hosts {name}"));
    let mut host = |number: u64| {
        let link = |way: &str| format!("{name} {} {way}", number + 1);
        let rtt = Duration(law.draw(&mut random).0 * ways).min(Duration::LONGEST);
        let host = Host { up: link("up"), down: link("down"), rtt };
        links.push(Link::new(up[number as usize], queue).named(&host.up));
        links.push(Link::new(down[number as usize], queue).named(&host.down));
        host
    };
    Ok(Hosts { name: name.to_owned(), host: (0..number).map(&mut host).collect() })
}

/// Returns the rates of `number` links.
fn rates(node: &Node, number: u64, mut random: Pcg64) -> Result<Vec<Rate>> {
    let law = law::<Rate>(node)?;
    let rate = |_| match law.draw(&mut random) {
        rate if rate.bytes_per_second() == 0 => {
            Err(Problem::new(&node.place, format!("{rate} carries nothing: use at least 8 bit/s")))
        }
        rate => Ok(rate),
    };
    (0..number).map(rate).collect()
}
