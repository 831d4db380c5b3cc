//! A flow's direction and its path over named links.

use crate::error::Problem;
use crate::keys::{PATH, ROUTE_CHANGE};
use crate::read::{at, check_keys, list, needed, optional, quantity, table, text, Result};
use crate::tree::{Node, Table};
use afteryou_notation::{unknown, Duration};
use afteryou_scenario::network::{unknown_link, MOST_HOPS};
use afteryou_scenario::path::{Direction, Path};
use afteryou_scenario::route_change::RouteChange;
use std::collections::HashMap;

/// The named links of a file by their place; nothing in the short form.
pub(crate) type LinkNames<'a> = HashMap<&'a str, usize>;

/// Reads which links the packets of a flow cross. Errors point at the key that is wrong, at the flow where one is missing.
pub(crate) fn path_and_direction(
    flow: &Node,
    fields: &Table,
    links: &LinkNames<'_>,
) -> Result<(Direction, Option<Path>)> {
    let refused = |node: &Node, message: &str| Err(Problem::new(&node.place, message));
    let direction =
        fields.get("direction").map(|node| direction(node).map(|read| (node, read))).transpose()?;
    match (fields.get("path"), direction) {
        (None, None) if links.is_empty() => Ok((Direction::Up, None)),
        (None, Some((_, direction))) if links.is_empty() => Ok((direction, None)),
        (Some(path), _) if links.is_empty() => refused(
            path,
            "the link of [link] has no name: write direction = \"up\" or \"down\", or give links names in [[link]]",
        ),
        (_, Some((node, _))) => refused(
            node,
            "direction is for the two directions of one [link]: with [[link]], path says which links data cross",
        ),
        (Some(node), None) => Ok((Direction::Up, Some(path(node, links)?))),
        (None, None) => refused(
            flow,
            "path is missing, since links have names: write path = { forward = [\"…\"], reverse = [\"…\"] }",
        ),
    }
}

/// Reads `[[route_change]]` in a run over `links` that lasts for `duration`.
pub(crate) fn changing_route(node: &Node, links: &LinkNames<'_>, duration: Duration) -> Result<RouteChange> {
    let fields = table(node)?;
    check_keys(fields, "route_change", ROUTE_CHANGE)?;
    let written = needed(fields, "at", node, "\"30 s\"")?;
    let begins: Duration = quantity(written)?;
    if begins >= duration {
        let message = format!("{begins} is not in the run: use a time below {duration}");
        return Err(Problem::new(&written.place, message));
    }
    let path = match fields.get("path") {
        Some(node) if links.is_empty() => {
            let message =
                "the link of [link] has no name: write rtt = … alone, or give links names in [[link]]";
            return Err(Problem::new(&node.place, message));
        }
        node => node.map(|node| path(node, links)).transpose()?,
    };
    let delay = path.as_ref().and_then(|path| path.delay);
    let by_delay = delay.map(|delay| Duration(delay.0 * 2).min(Duration::LONGEST));
    Ok(RouteChange {
        at: begins,
        flow: fields.get("flow").map(text).transpose()?.map(str::to_owned),
        path,
        rtt: optional(fields, "rtt")?.or(by_delay),
    })
}

fn direction(node: &Node) -> Result<Direction> {
    match text(node)? {
        "up" => Ok(Direction::Up),
        "down" => Ok(Direction::Down),
        other => at(node, Err(unknown("direction", other, &["up", "down"]))),
    }
}

fn path(node: &Node, links: &LinkNames<'_>) -> Result<Path> {
    let fields = table(node)?;
    check_keys(fields, "path", PATH)?;
    let way = |name: &str| names(needed(fields, name, node, "[\"…\"], a list of links")?, links);
    Ok(Path {
        forward: way("forward")?,
        reverse: way("reverse")?,
        delay: fields.get("delay").map(quantity).transpose()?,
    })
}

/// Reads the links in one direction of a path.
fn names(node: &Node, links: &LinkNames<'_>) -> Result<Vec<String>> {
    let written = list(node)?;
    if written.is_empty() {
        return Err(Problem::new(&node.place, "a path without links: name one at least"));
    }
    if written.len() > MOST_HOPS {
        return Err(Problem::new(
            &node.place,
            format!("more than {MOST_HOPS} links are too many for a path"),
        ));
    }
    let mut names: Vec<String> = Vec::new();
    for node in written {
        let name = text(node)?;
        if !links.contains_key(name) {
            return at(node, Err(unknown_link(name, links)));
        }
        if names.iter().any(|other| other == name) {
            return Err(Problem::new(&node.place, format!("link {name:?} is there twice: take one away")));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}
