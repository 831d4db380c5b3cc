//! An example for each key of a scenario file, taken from the files of `scenarios/`, which other tests run.

use std::path::Path;
use toml::{Table, Value};

/// A longer example makes way for a shorter one of a later file.
const LONGEST: usize = 70;

/// The example files by name.
pub struct Examples(Vec<(String, Table)>);

impl Examples {
    /// Reads the scenario files of `folder` and of its folders with these names.
    pub fn read(folder: &Path, inner: &[&str]) -> Examples {
        let mut files = Vec::new();
        for inner in [""].iter().chain(inner) {
            let mut paths: Vec<_> = std::fs::read_dir(folder.join(inner))
                .expect("the folder is there")
                .map(|entry| entry.expect("readable").path())
                .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
                .collect();
            paths.sort();
            files.extend(paths.into_iter().map(|path| {
                let text = std::fs::read_to_string(&path).expect("the file is readable");
                let name = path.strip_prefix(folder).expect("a file of the folder").display().to_string();
                (name, text.parse().expect("the file is TOML"))
            }));
        }
        Examples(files)
    }

    /// Returns the first short example of the key in the section with this title, or else the shortest.
    ///
    /// # Panics
    /// If no file has the key.
    pub fn of(&self, title: &str, key: &str) -> String {
        let found = || {
            self.0.iter().flat_map(move |(name, file)| {
                let tables = tables(file, title);
                tables.into_iter().filter_map(move |table| Some((name, table.get(key)?.to_string())))
            })
        };
        let short = found().find(|(_, value)| value.len() <= LONGEST);
        let (name, value) =
            short.or_else(|| found().min_by_key(|(_, value)| value.len())).unwrap_or_else(|| {
                panic!("no file of scenarios/ has {key} of {title}: add it to scenarios/keys")
            });
        format!("`{}` in `{name}`", value.replace('|', "\\|"))
    }
}

/// Returns the tables of a file that a section's title means: `[link]` one link, `[[link]]` a list, `flow.traffic` those of
/// all flows.
fn tables<'a>(file: &'a Table, title: &str) -> Vec<&'a Table> {
    if title == "The file" {
        return vec![file];
    }
    let title = title.trim_matches('`');
    let is_list = title.starts_with("[[");
    let mut segments = title.trim_matches(['[', ']']).split('.').peekable();
    let mut tables = vec![file];
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        tables = tables
            .into_iter()
            .filter_map(|table| table.get(segment))
            .filter(|value| segment != "link" || !is_last || value.is_array() == is_list)
            .flat_map(|value| match value {
                Value::Array(values) => values.iter().filter_map(Value::as_table).collect(),
                value => Vec::from_iter(value.as_table()),
            })
            .collect();
    }
    tables
}
