//! A picture of the workspace: each crate is a room, above all rooms that it uses.
//!
//! A room's floor is the longest way down to a crate that uses no other. A line leads from a room to each one that it
//! uses directly and not through another: the rest follows. Crates that only tests use are left out, and so are crates
//! that are alone.

use crate::error::Error;
use crate::packages::{manifest, packages};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use toml::Table;

const ROOM: (usize, usize) = (124, 36);
const GAP: (usize, usize) = (18, 58);
const MARGIN: usize = 24;
/// Floors are shifted against each other, so that a line past a floor seldom runs through the middle of a room.
const SHIFTS: [usize; 3] = [0, 48, 96];
const COMMON: &str = "afteryou-";

type Uses = BTreeMap<String, BTreeSet<String>>;

/// Draws the packages of the workspace at `root` as an SVG picture.
///
/// # Errors
/// A manifest that cannot be read.
pub fn house(root: &Path) -> Result<String, Error> {
    let mut uses = uses(root)?;
    // Crates that only check the source are apart.
    let used: BTreeSet<String> = uses.values().flatten().cloned().collect();
    uses.retain(|room, below| used.contains(room) || !below.is_empty());
    let floors = floors(&uses);
    let widest = floors.iter().map(Vec::len).max().unwrap_or_default();
    let width = 2 * MARGIN + SHIFTS[2] + widest * (ROOM.0 + GAP.0) - GAP.0.min(widest * GAP.0);
    let height = 2 * MARGIN + floors.len() * (ROOM.1 + GAP.1) - GAP.1.min(floors.len() * GAP.1);
    let mut places = BTreeMap::new();
    for (floor, rooms) in floors.iter().enumerate() {
        let taken = rooms.len() * (ROOM.0 + GAP.0) - GAP.0;
        for (place, room) in rooms.iter().enumerate() {
            let x = (width - taken - SHIFTS[2]) / 2 + SHIFTS[floor % 3] + place * (ROOM.0 + GAP.0);
            let y = height - MARGIN - ROOM.1 - floor * (ROOM.1 + GAP.1);
            places.insert(room.as_str(), (x, y));
        }
    }
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-label=\"The crates of afteryou: each one uses only those below it\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (room, used) in &uses {
        let (x, y) = places[room.as_str()];
        for below in direct(used, &uses) {
            let (to_x, to_y) = places[below];
            let _ = writeln!(
                svg,
                "<path d=\"M{} {}L{} {}\" stroke=\"#9aa3ad\" fill=\"none\"/>",
                x + ROOM.0 / 2,
                y + ROOM.1,
                to_x + ROOM.0 / 2,
                to_y
            );
        }
    }
    for (room, (x, y)) in &places {
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"#eef3f8\" stroke=\"#3b5b7a\"/>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#1d2733\">{room}</text>",
            ROOM.0,
            ROOM.1,
            x + ROOM.0 / 2,
            y + ROOM.1 / 2 + 5
        );
    }
    svg += "</svg>\n";
    Ok(svg)
}

/// Returns each crate of the house, without the words that all names have in common, and those that it uses. Programs that
/// judge, examples and checks of the source are outside.
fn uses(root: &Path) -> Result<Uses, Error> {
    let mut uses = Uses::new();
    for folder in packages(root)? {
        if !["crates", "web"].iter().any(|wing| folder.starts_with(root.join(wing))) {
            continue;
        }
        let manifest = manifest(&folder)?;
        let Some(name) = manifest["package"]["name"].as_str() else { continue };
        uses.insert(short(name), ours(&manifest));
    }
    Ok(uses)
}

/// Returns the dependencies on crates of the workspace, those of one system included.
fn ours(manifest: &Table) -> BTreeSet<String> {
    let of_systems = manifest.get("target").and_then(|targets| targets.as_table());
    let tables = of_systems
        .into_iter()
        .flat_map(|targets| targets.values().filter_map(|target| target.get("dependencies")));
    let names = manifest.get("dependencies").into_iter().chain(tables).filter_map(|table| table.as_table());
    names
        .flat_map(|table| table.keys())
        .filter(|name| name.starts_with(COMMON))
        .map(|name| short(name))
        .collect()
}

fn short(name: &str) -> String {
    name.strip_prefix(COMMON).unwrap_or(name).to_owned()
}

/// Returns the rooms of each floor, the lowest first.
fn floors(uses: &Uses) -> Vec<Vec<String>> {
    fn floor(room: &str, uses: &Uses) -> usize {
        uses.get(room).into_iter().flatten().map(|below| floor(below, uses) + 1).max().unwrap_or(0)
    }
    let mut floors: Vec<Vec<String>> = Vec::new();
    for room in uses.keys() {
        let number = floor(room, uses);
        floors.resize(floors.len().max(number + 1), Vec::new());
        floors[number].push(room.clone());
    }
    floors
}

/// Returns the names in `used` that no other of them uses, however indirectly.
fn direct<'a>(used: &'a BTreeSet<String>, uses: &'a Uses) -> impl Iterator<Item = &'a str> {
    fn reaches(from: &str, to: &str, uses: &Uses) -> bool {
        uses.get(from).into_iter().flatten().any(|next| next == to || reaches(next, to, uses))
    }
    used.iter().filter(move |below| !used.iter().any(|other| reaches(other, below, uses))).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_above_all_that_it_uses_and_lines_leave_out_what_follows() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
        let uses: Uses = [("base", set(&[])), ("cc", set(&["base"])), ("sim", set(&["base", "cc"]))]
            .map(|(name, used)| (name.to_owned(), used))
            .into();
        assert_eq!(floors(&uses), [["base"], ["cc"], ["sim"]]);
        assert_eq!(direct(&uses["sim"], &uses).collect::<Vec<_>>(), ["cc"]);
    }
}
