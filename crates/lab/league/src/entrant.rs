//! Entrants: controllers by name, with parameters.

use crate::error::{Error, Result};
use afteryou_cc::list::Class;
use afteryou_notation::{catalogue, Algorithm};

/// A controller that takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entrant {
    /// Its name in tables: "ledbat++", or "ledbat++,target=25ms".
    pub name: String,
    /// The controller.
    pub controller: Algorithm,
    /// Its name stands for the same code as long as the program is the same, so a cache may keep its runs.
    pub lasts: bool,
}

/// Returns the entrants of these names, "name" or "name,parameter=value,…"; every background controller of the catalogue where there are none.
///
/// # Errors
/// A controller or a parameter that does not exist, and one that is named twice.
pub fn entrants(names: &[String]) -> Result<Vec<Entrant>> {
    if names.is_empty() {
        let background =
            catalogue::controllers().into_iter().filter(|entry| entry.class == Class::Background);
        return Ok(background.map(|entry| Entrant::of(Algorithm::named(entry.name))).collect());
    }
    let mut entrants: Vec<Entrant> = Vec::with_capacity(names.len());
    for name in names {
        let controller: Algorithm = name.parse()?;
        controller.controller()?;
        let entrant = Entrant::of(controller);
        if entrants.contains(&entrant) {
            return Err(Error::Twice(entrant.name));
        }
        entrants.push(entrant);
    }
    Ok(entrants)
}

impl Entrant {
    fn of(controller: Algorithm) -> Entrant {
        Entrant { name: controller.to_string(), controller, lasts: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Result<Vec<Entrant>> {
        entrants(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn without_names_every_background_controller_takes_part() {
        let all = named(&[]).unwrap();
        assert!(all.iter().any(|entrant| entrant.name == "ledbat++") && all.len() >= 8);
        assert!(all.iter().all(|entrant| entrant.name != "cubic"));
    }

    #[test]
    fn a_foreground_controller_may_take_part_and_parameters_count() {
        let both = named(&["cubic", "ledbat++,target=25ms", "ledbat++"]).unwrap();
        assert_eq!(both[1].name, "ledbat++,target=25ms");
    }

    #[test]
    fn wrong_names_are_answered_with_the_nearest_and_none_takes_part_twice() {
        let refused = |names: &[&str]| named(names).unwrap_err().to_string();
        assert!(refused(&["ledbatt"]).contains("did you mean"));
        assert!(refused(&["ledbat,targett=3ms"]).contains("did you mean"));
        assert!(refused(&["vegas", "vegas"]).contains("twice"));
    }
}
