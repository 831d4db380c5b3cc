//! The parts of a file that are the same at every point of its sweep: the tree, its sweep, seed and repetitions, with the assignments of the command line.

use crate::error::{Place, Problem};
use crate::limits::MOST_RUNS;
use crate::read::{count, Result};
use crate::sweep::{self, Axis};
use crate::tree::{check_key, Key, Node, Table};

pub(crate) type Root = (Table, Vec<Axis>, u64, u32);

/// Reads everything that does not depend on the point of the sweep.
pub(crate) fn read_root(source: &str, sets: &[String]) -> Result<Root> {
    let mut root = Table::parse(source)?;
    let mut axes = root.remove("sweep").map_or(Ok(Vec::new()), |node| sweep::axes(&node))?;
    sets.iter().try_for_each(|assignment| set(&mut root, &mut axes, assignment))?;
    let number = |name: &str, least, most| root.get(name).map(|node| count(node, least..=most)).transpose();
    let seed = number("seed", 0, u64::MAX)?.unwrap_or(1);
    let repeat = number("repeat", 1, MOST_RUNS)?.unwrap_or(1) as u32;
    let runs = number_of_points(&axes).saturating_mul(repeat.into());
    if let (Some(axis), true) = (axes.first(), runs > MOST_RUNS) {
        let message =
            format!("the sweep has {runs} runs, repetitions included: 1 to {MOST_RUNS} can be made");
        return Err(Problem::new(&axis.path.place, message));
    }
    Ok((root, axes, seed, repeat))
}

/// Carries out an assignment of the command line.
fn set(root: &mut Table, axes: &mut Vec<Axis>, assignment: &str) -> Result<()> {
    let place = Place::Set(assignment.to_owned());
    let (name, value) = assignment.split_once('=').ok_or_else(|| {
        Problem::new(&place, "this is no assignment: write key=value, such as link.rate=\"5 Mbit/s\"")
    })?;
    let (name, value) = (name.trim(), Node::of_assignment(assignment, value.trim())?);
    let path = |name: &str| Key { name: name.to_owned(), place: place.clone() };
    check_key(&path(name))?;
    let taken_away = sweep::is_none(&value);
    let (varied, is_sweep) = name.strip_prefix("sweep.").map_or((name, false), |varied| (varied, true));
    match name {
        "sweep" if taken_away => axes.clear(),
        "sweep" => *axes = sweep::axes(&value)?,
        _ => axes.retain(|axis| axis.path.name != varied),
    }
    match (is_sweep, taken_away) {
        (true, false) => axes.push(Axis::new(path(varied), &value)?),
        (false, _) if name != "sweep" => sweep::assign(root, &path(name), &value)?,
        _ => {}
    }
    Ok(())
}

pub(crate) fn number_of_points(axes: &[Axis]) -> u64 {
    axes.iter().fold(1, |product: u64, axis| product.saturating_mul(axis.values.len() as u64))
}
