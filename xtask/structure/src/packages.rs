//! The folders of the workspace's packages, from the root manifest.

use crate::error::Error;
use std::path::{Path, PathBuf};
use toml::Table;

/// Returns the folders of all packages of the workspace at `root`, sorted. A member that ends in `/*` stands for each folder
/// that has a manifest.
///
/// # Errors
/// The root manifest or a folder that it names cannot be read.
pub fn packages(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let manifest = manifest(root)?;
    let members = manifest.get("workspace").and_then(|workspace| workspace.get("members"));
    let mut folders = Vec::new();
    for member in members.and_then(|members| members.as_array()).into_iter().flatten() {
        let Some(member) = member.as_str() else { continue };
        match member.strip_suffix("/*") {
            Some(wing) => folders.extend(inside(&root.join(wing))?),
            None => folders.push(root.join(member)),
        }
    }
    folders.sort();
    Ok(folders)
}

/// Returns the manifest in `folder`.
pub(crate) fn manifest(folder: &Path) -> Result<Table, Error> {
    let file = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&file).map_err(|source| Error::Read { file: file.clone(), source })?;
    text.parse().map_err(|error: toml::de::Error| Error::Read { file, source: std::io::Error::other(error) })
}

fn inside(wing: &Path) -> Result<Vec<PathBuf>, Error> {
    let unread = |source| Error::Read { file: wing.to_owned(), source };
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(wing).map_err(unread)? {
        folders.push(entry.map_err(unread)?.path());
    }
    folders.retain(|folder| folder.join("Cargo.toml").is_file());
    Ok(folders)
}
