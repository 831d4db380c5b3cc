//! The place in the file of a scenario's first fault.

use crate::error::{Place, Problem};
use crate::read::{table, tables};
use crate::tree::{Node, Table};
use afteryou_scenario::{Fault, Part};

/// Shows a fault where it was written; `owners` are the tables of the flows.
pub(crate) fn problem(root: &Table, owners: &[&Node], fault: &Fault) -> Problem {
    of_part(root, owners, fault).unwrap_or_else(|| {
        // Too many figures: each window has its own for each flow.
        let suspect = ["measure", "name"].iter().find_map(|name| root.get(name));
        Problem::new(suspect.map_or(&Place::At(0..0), |node| &node.place), fault.error.to_string())
    })
}

/// Returns the fault at the part that is wrong by itself.
fn of_part(root: &Table, owners: &[&Node], fault: &Fault) -> Option<Problem> {
    let (part, error) = &**fault.part.as_ref()?;
    let wrong = |node: &Node| Problem::new(&node.place, error.to_string());
    let line = |list: &str, index: usize| tables(root.get(list)?).ok()?.get(index).copied().map(wrong);
    match part {
        Part::Setting { flow, name, key } => {
            let node = owners.get(*flow)?;
            let written = table(node).ok().and_then(|fields| fields.get(key));
            let whole = || Problem::new(&node.place, format!("flow {name:?}: {key}: {error}"));
            Some(written.map_or_else(whole, wrong))
        }
        Part::Path(flow) => owners.get(*flow).map(|node| wrong(node)),
        Part::Buffer(link) => {
            let links = root.get("link")?;
            let link = tables(links).ok().and_then(|links| links.get(*link).copied()).unwrap_or(links);
            Some(wrong(table(link).ok().and_then(|link| link.get("buffer")).unwrap_or(link)))
        }
        Part::Drop(index) => line("drop", *index),
        Part::Delay(index) => line("delay", *index),
        Part::RouteChange(index) => line("route_change", *index),
    }
}
