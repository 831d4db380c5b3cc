//! The folder of a sweep: its files and its finished runs. The example of sweeps and the command's tests use it.

use std::collections::BTreeMap;
use std::io::Result;
use std::path::Path;

/// Returns every file below a folder with its content.
pub fn files(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    collect(dir, "", &mut files)?;
    Ok(files)
}

fn collect(dir: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type()?.is_dir() {
            true => collect(&entry.path(), &format!("{name}/"), files)?,
            false => _ = files.insert(name, std::fs::read(entry.path())?),
        }
    }
    Ok(())
}

/// Returns how many runs have ended: the lines of the journal. A folder without a journal has none.
pub fn finished(dir: &Path) -> usize {
    let journal = std::fs::read(dir.join("journal")).unwrap_or_default();
    journal.iter().filter(|byte| **byte == b'\n').count()
}
