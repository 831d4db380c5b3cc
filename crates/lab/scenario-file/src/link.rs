//! The links and the script.

use crate::choice::queue;
use crate::element::{imperfections, rate, Context, Imperfections};
use crate::error::Problem;
use crate::keys::{Key, DELAY, DROP, LINK, NAMED_LINK, REVERSE};
use crate::limits::MOST_LINKS;
use crate::read::{check_keys, count, needed, optional, quantity, table, text, Result};
use crate::tree::{Node, Table, Value};
use afteryou_notation::{Duration, Rate};
use afteryou_scenario::scenario::{Delay, Drop, Every, Link, Reverse};
use std::collections::BTreeSet;

/// Reads `[link]`, or all of `[[link]]`: the first link and the others.
pub(crate) fn links(node: &Node, context: &Context<'_>) -> Result<(Link, Vec<Link>)> {
    let Value::List(nodes) = &node.value else {
        return Ok((link(node, "the link", LINK, context)?, Vec::new()));
    };
    if nodes.len() > MOST_LINKS {
        return Err(Problem::new(&node.place, format!("more than {MOST_LINKS} links are too many")));
    }
    let mut names = BTreeSet::new();
    let mut links = Vec::new();
    for node in nodes {
        let name = needed(table(node)?, "name", node, "\"up\"")?;
        match text(name)? {
            "" => return Err(Problem::new(&name.place, "a link needs a name: write \"up\", for example")),
            "link" => return Err(Problem::new(&name.place, "\"link\" is the name of [link]: use another")),
            written if !names.insert(written) => {
                return Err(Problem::new(&name.place, format!("two links are named {written:?}: rename one")))
            }
            written => links.push(link(node, "a named link", NAMED_LINK, context)?.named(written)),
        }
    }
    let mut links = links.into_iter();
    let first = links.next().ok_or_else(|| Problem::new(&node.place, "there is no link: write one"))?;
    Ok((first, links.collect()))
}

/// Reads a link's table; `keys` are those that it may have.
fn link(node: &Node, what: &str, keys: &[Key], context: &Context<'_>) -> Result<Link> {
    let fields = table(node)?;
    check_keys(fields, what, keys)?;
    let mut forward = imperfections(fields, Imperfections::default(), context.files)?;
    let written = needed(fields, "rate", node, "\"20 Mbit/s\"")?;
    let name = fields.get("name").map_or("the link".to_owned(), Node::shown);
    let rate = of_direction(written, fields, &mut forward, &name, context)?;
    let buffer = quantity(needed(fields, "buffer", node, "\"100 ms\"")?)?;
    let plain = Link::new(rate, buffer);
    let reverse = fields.get("reverse").map(|node| reverse(node, &forward, context)).transpose()?;
    let link = Link {
        queue: fields.get("queue").map_or(Ok(plain.queue.clone()), queue)?,
        loss: forward.loss,
        elements: forward.elements,
        reverse,
        ..plain
    };
    // A queue is made of parameters, rate and buffer: only together can they be judged.
    let of_queue = |table: &Table| table.get("queue").or(table.get("buffer")).unwrap_or(node).place.clone();
    buildable(&link).map_err(|message| Problem::new(&of_queue(fields), message))?;
    if let Some(node) = fields.get("reverse") {
        let place = of_queue(table(node)?);
        buildable(&link.back()).map_err(|message| Problem::new(&place, message))?;
    }
    Ok(link)
}

fn buildable(link: &Link) -> std::result::Result<(), String> {
    link.build_queue::<()>(0, "").map(drop).map_err(|error| error.to_string())
}

/// Reads the rate of a direction. Elements of a result have been decided already: then the rate is their mean.
fn of_direction(
    node: &Node,
    fields: &Table,
    of: &mut Imperfections,
    name: &str,
    context: &Context<'_>,
) -> Result<Rate> {
    match fields.get("elements") {
        Some(_) => quantity(node),
        None => rate(node, of, name, context),
    }
}

fn reverse(node: &Node, forward: &Imperfections, context: &Context<'_>) -> Result<Reverse> {
    let fields = table(node)?;
    check_keys(fields, "link.reverse", REVERSE)?;
    let mut own = imperfections(fields, forward.clone(), context.files)?;
    let written = fields.get("rate");
    let rate = written
        .map(|node| of_direction(node, fields, &mut own, "the reverse direction", context))
        .transpose()?;
    let Imperfections { loss, elements } = own;
    Ok(Reverse {
        rate,
        buffer: optional(fields, "buffer")?,
        queue: fields.get("queue").map(queue).transpose()?,
        loss: fields.get("loss").map(|_| loss),
        elements: (elements != forward.elements).then_some(elements),
    })
}

/// Reads `[[drop]]`.
pub(crate) fn dropping(node: &Node) -> Result<Drop> {
    let fields = table(node)?;
    check_keys(fields, "drop", DROP)?;
    let flow = fields.get("flow").map(text).transpose()?.map(str::to_owned);
    Ok(Drop { flow, ..chosen(fields)? })
}

/// Reads which packets a rule of the script is for, of any flow.
fn chosen(fields: &Table) -> Result<Drop> {
    let number = |name: &str, most: u64| fields.get(name).map(|node| count(node, 1..=most)).transpose();
    Ok(Drop {
        flow: None,
        packet: number("packet", u64::MAX)?,
        transmission: number("transmission", 1000)?.map(|number| number as u32),
        at: begin(fields)?,
        until: optional(fields, "until")?,
        every: fields.get("every").map(every).transpose()?,
        count: number("count", 1_000_000)?,
    })
}

/// Reads a number of packets, or a time.
fn every(node: &Node) -> Result<Every> {
    match &node.value {
        Value::Text(_) => quantity(node).map(Every::Time),
        _ => count(node, 1..=u64::MAX).map(Every::Packets),
    }
}

/// Reads when a rule that repeats begins: at once by default.
fn begin(fields: &Table) -> Result<Option<Duration>> {
    let at_once = fields.get("every").map(|_| Duration::default());
    Ok(optional(fields, "at")?.or(at_once))
}

/// Reads `[[delay]]`.
pub(crate) fn delaying(node: &Node) -> Result<Delay> {
    let fields = table(node)?;
    check_keys(fields, "delay", DELAY)?;
    let flow = text(needed(fields, "flow", node, "\"name\"")?)?.to_owned();
    let Drop { flow: _, packet, transmission, at, until, every, count } = chosen(fields)?;
    let by = quantity(needed(fields, "by", node, "\"30 ms\"")?)?;
    Ok(Delay { flow, packet, transmission, at, until, every, count, by })
}
