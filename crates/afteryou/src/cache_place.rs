//! The default place of what is kept of runs.

use std::env;
use std::path::PathBuf;

/// Returns the folder `name` in the user's cache: `XDG_CACHE_HOME`, `LOCALAPPDATA` on Windows, or `~/.cache`; `None` without any of them.
pub(crate) fn cache(name: &str) -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || set("HOME").map(|home| home.join(".cache"));
    let base = set("XDG_CACHE_HOME").or_else(|| set("LOCALAPPDATA")).or_else(home)?;
    Some(base.join("afteryou").join(name))
}
