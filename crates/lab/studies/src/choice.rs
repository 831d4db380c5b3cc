//! Entries by name.

use crate::error::{Error, Result};
use crate::papers;
use crate::plan::Chosen;
use afteryou_notation::nearest;

/// Returns every entry of every paper, in order.
///
/// # Errors
/// Wrong data of a paper.
pub fn all() -> Result<Vec<Chosen>> {
    let of =
        |paper: &'static crate::entry::Paper| paper.entries.iter().map(move |entry| Chosen { paper, entry });
    Ok(papers::all()?.iter().flat_map(of).collect())
}

/// Returns the entries with these names: "gong2012" is a paper, "gong2012/fig2" an entry. No names choose every paper of
/// others; our own questions are chosen by name.
///
/// # Errors
/// A name that nothing has.
pub fn named(names: &[String]) -> Result<Vec<Chosen>> {
    let all = all()?;
    let full = |chosen: &Chosen| format!("{}/{}", chosen.paper.id, chosen.entry.id);
    for name in names {
        if !all.iter().any(|chosen| chosen.paper.id == *name || full(chosen) == *name) {
            let known: Vec<String> =
                all.iter().flat_map(|chosen| [chosen.paper.id.clone(), full(chosen)]).collect();
            let nearest = nearest(name, known.iter().map(String::as_str));
            let nearest = nearest.map(|nearest| format!(", did you mean {nearest:?}?")).unwrap_or_default();
            return Err(Error::Unknown { name: name.clone(), nearest });
        }
    }
    let meant = |chosen: &Chosen| {
        let is_named = names.iter().any(|name| chosen.paper.id == *name || full(chosen) == *name);
        is_named || (names.is_empty() && !chosen.paper.by_name)
    };
    Ok(all.into_iter().filter(meant).collect())
}
