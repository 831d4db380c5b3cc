//! Short names of results: the parts of their paths that differ.

use std::path::Path;

/// A run's own file, which every folder of a run has.
const RESULT: &str = "result.json";

/// Returns the parts of the paths that differ, such as "old" and "new" of `/data/old/sweep` and `/data/new/sweep`. A name is
/// never empty, and no two are the same.
pub fn short_names(paths: &[&Path]) -> Vec<String> {
    let parts_of = |path: &&Path| -> Vec<String> {
        let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
        let mut parts: Vec<String> = parts.filter(|part| part != ".").collect();
        if parts.len() > 1 && parts.last().is_some_and(|last| last == RESULT) {
            parts.pop();
        }
        parts
    };
    let parts: Vec<Vec<String>> = paths.iter().map(parts_of).collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let same = |place: &dyn Fn(&Vec<String>) -> Option<String>| {
        parts.iter().all(|other| place(other) == parts.first().and_then(place))
    };
    let after = (0..shortest).take_while(|i| same(&|parts| parts.iter().rev().nth(*i).cloned())).count();
    let before = (0..shortest).take_while(|i| same(&|parts| parts.get(*i).cloned())).count();
    // One path may be a part of another: each keeps one part at least.
    let after = after.min(shortest.saturating_sub(1));
    let before = before.min(shortest.saturating_sub(after + 1));
    let mut names: Vec<String> = Vec::new();
    for parts in &parts {
        let name = parts[before..parts.len() - after].join("/");
        let again = std::iter::once(name.clone()).chain((1..).map(|time| match time {
            1 => format!("{name} (again)"),
            _ => format!("{name} (again, {time})"),
        }));
        names.extend(again.filter(|name| !names.contains(name)).take(1).collect::<Vec<_>>());
    }
    names
}

#[cfg(test)]
mod tests {
    use super::short_names;
    use std::path::Path;

    #[test]
    fn names_are_the_parts_of_the_paths_that_differ() {
        let cases = [
            (["/data/a/old/sweep", "/data/a/new/sweep"], ["old", "new"]),
            (["one/runs.csv", "other/runs.csv"], ["one", "other"]),
            (["here/result.json", "there"], ["here", "there"]),
            (["./packets", "equations"], ["packets", "equations"]),
            (["sweep", "sweep/old"], ["sweep", "sweep/old"]),
            (["a/sweep", "b/c/sweep"], ["a", "b/c"]),
            (["same", "same"], ["same", "same (again)"]),
            (["a/x/a", "a"], ["a/x/a", "a"]),
            (["/tmp/a.csv", "/tmp/b.csv"], ["a.csv", "b.csv"]),
            (["result.json", "other/result.json"], ["result.json", "other"]),
        ];
        for (paths, names) in cases {
            assert_eq!(short_names(&paths.map(Path::new)), names, "{paths:?}");
        }
        let three = |paths: [&str; 3]| short_names(&paths.map(Path::new));
        assert_eq!(three(["out/fluid", "out/sim/result.json", "out/bed"]), ["fluid", "sim", "bed"]);
        assert_eq!(three(["a", "a", "a"]), ["a", "a (again)", "a (again, 2)"]);
        assert_eq!(three(["a/x", "a/x", "b/x"]), ["a", "a (again)", "b"]);
    }
}
