//! Files that scenarios name.

use std::collections::BTreeMap;
use std::{fs, io};

/// Returns the contents of the traces and samples in `scenarios/` and `scenarios/gallery`, by their names.
pub fn files() -> io::Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for folder in ["scenarios", "scenarios/gallery"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if !path.is_file()
                || path.extension().is_some_and(|extension| extension == "toml" || extension == "md")
            {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(&path)?);
        }
    }
    Ok(files)
}
