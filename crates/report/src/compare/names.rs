//! Short names of two results: the parts of their paths that differ.

use std::path::Path;

/// A run's own file, which every folder of a run has.
const RESULT: &str = "result.json";

/// The parts of two paths that differ, such as "old" and "new" of `/data/old/sweep` and `/data/new/sweep`. A name is never empty, and
/// the two are never the same.
pub fn short_names(paths: [&Path; 2]) -> [String; 2] {
    let parts = paths.map(|path| {
        let parts = path.iter().map(|part| part.to_string_lossy().into_owned());
        parts.filter(|part| part != ".").collect::<Vec<String>>()
    });
    let mut parts = parts.each_ref().map(|parts| &parts[..]);
    if let [[first @ .., one], [second @ .., other]] = parts {
        let of_result = |folder: &[String], name: &str| !folder.is_empty() && name == RESULT;
        parts = [
            if of_result(first, one) { first } else { parts[0] },
            if of_result(second, other) { second } else { parts[1] },
        ];
    }
    let shortest = parts[0].len().min(parts[1].len());
    let same = |(one, other): &(&String, &String)| one == other;
    let after = parts[0].iter().rev().zip(parts[1].iter().rev()).take_while(same).count();
    let before = parts[0].iter().zip(parts[1]).take_while(same).count();
    // One path may be a part of the other: each keeps one part at least.
    let after = after.min(shortest.saturating_sub(1));
    let before = before.min(shortest.saturating_sub(after + 1));
    let names = parts.map(|parts| parts[before..parts.len() - after].join("/"));
    match names {
        [one, other] if one == other => [one.clone(), format!("{other} (again)")],
        names => names,
    }
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
            assert_eq!(short_names(paths.map(Path::new)), names, "{paths:?}");
        }
    }
}
