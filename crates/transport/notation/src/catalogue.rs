//! The controllers that this process has by name: the built-in ones, and those that a program has registered.
//!
//! Everything that looks a controller up by its name asks here: scenario files, `--controller`, `afteryou list`. So a
//! controller in a crate of its own runs wherever a built-in one does, once it has been [registered](register). The
//! schema of scenario files is the exception: it is that of the built-in list, whoever has registered what.
//!
//! ```
//! use afteryou_base::About;
//! use afteryou_cc::list::{Class, Entry};
//! use afteryou_cc::newreno::{self, NewReno};
//! use afteryou_notation::{catalogue, Algorithm};
//!
//! static EAGER: Entry = Entry {
//!     about: About {
//!         name: "eager",
//!         summary: "NewReno under another name",
//!         source: "an example",
//!         params: newreno::PARAMS,
//!         presets: &[],
//!     },
//!     class: Class::Foreground,
//!     make: |settings, setup| Box::new(NewReno::new(settings, setup.mss)),
//! };
//!
//! catalogue::register(&EAGER)?;
//! let written: Algorithm = "eager,initial_window=4".parse()?;
//! assert_eq!(written.controller()?.0.source, "an example");
//! # Ok::<(), afteryou_notation::Error>(())
//! ```

use crate::error::Error;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::param::Param;
use afteryou_cc::list::{self, Entry};
use std::sync::RwLock;

/// The registered entries, in that order. Entries are only ever added.
static REGISTERED: RwLock<Vec<&'static Entry>> = RwLock::new(Vec::new());

/// In a sweep or an assignment this value takes a setting, or a whole flow, away: no controller can have the name.
pub const NONE: &str = "none";

/// The key that names the controller in a file's table, so no parameter can have it.
const KIND: &str = "kind";

/// Makes a controller known by its name, in this process and for good. Make its entry a `static`: registering the same
/// entry once more changes nothing, so tests that share a process need no order.
///
/// # Errors
/// A name that another controller has, or a name or a parameter that could not be written in a scenario file. A
/// parameter whose default is not in its own range. Nothing is registered then.
pub fn register(entry: &'static Entry) -> Result<(), Error> {
    let refused = |reason: String| Error::Controller { name: entry.name.to_owned(), reason };
    check_name(entry.name).map_err(refused)?;
    check_params(entry.params).map_err(refused)?;
    // Between the look and the push nobody else may register the name.
    let mut registered = REGISTERED.write().even_poisoned();
    match find_in(&registered, entry.name) {
        None => registered.push(entry),
        Some(other) if std::ptr::eq(other, entry) => {}
        Some(other) => {
            return Err(refused(format!("the name is taken ({}): choose another", other.summary)));
        }
    }
    Ok(())
}

/// Returns every controller: the built-in ones, then the registered ones in the order of their registration.
pub fn controllers() -> Vec<&'static Entry> {
    let registered = REGISTERED.read().even_poisoned();
    list::CONTROLLERS.iter().chain(registered.iter().copied()).collect()
}

/// Returns the controller of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    find_in(&REGISTERED.read().even_poisoned(), name)
}

fn find_in(registered: &[&'static Entry], name: &str) -> Option<&'static Entry> {
    list::find(name).or_else(|| registered.iter().copied().find(|entry| entry.name == name))
}

/// Checks a name, which must survive `--controller name,parameter=value` and a sweep's list of values.
fn check_name(name: &str) -> Result<(), String> {
    let signs =
        "a name is a lower-case letter, then lower-case letters, digits, \"+\", \"-\", \"_\" or \".\"";
    match name {
        NONE => Err(format!("in a sweep {NONE:?} means no controller: choose another name")),
        _ if well_formed(name, "+-_.") => Ok(()),
        _ => Err(signs.to_owned()),
    }
}

fn check_params(params: &'static [Param]) -> Result<(), String> {
    for (i, param) in params.iter().enumerate() {
        let name = param.name;
        if !well_formed(name, "-_") || name == KIND {
            return Err(format!(
                "parameter {name:?}: a name is a lower-case letter, then lower-case letters, digits, \"-\" or \"_\", \
                 and not {KIND:?}"
            ));
        }
        if params[..i].iter().any(|other| other.name == name) {
            return Err(format!("parameter {name:?} is in its table twice: remove one"));
        }
        param
            .check(param.default)
            .map_err(|error| format!("the default of a parameter is wrong: {error}"))?;
    }
    Ok(())
}

fn well_formed(name: &str, signs: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || signs.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::param::{Key, Value};

    #[test]
    fn the_built_in_controllers_would_pass_the_checks_of_a_registration() {
        for entry in list::CONTROLLERS {
            assert_eq!(check_name(entry.name), Ok(()));
            assert_eq!(check_params(entry.params), Ok(()), "{}", entry.name);
        }
    }

    #[test]
    fn a_name_is_one_word_that_needs_no_quotes_on_a_command_line() {
        for good in ["polite", "ledbat++", "tcp-lp", "bbr_v1.2"] {
            assert!(check_name(good).is_ok(), "{good}");
        }
        for bad in ["", " ", "Polite", "two words", "a,b", "a=b", "none", "3g", "+", "höflich", "a\"b"] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_table_is_refused_for_its_names_and_its_defaults() {
        const GOOD: Param = Key::millis("limit", 20, (1, 100)).row();
        const REVERSED: Param = Key::count("reversed", "packets", 3, (9, 1)).row();
        const NO_NUMBER: Param = Key::number("ratio", "", f64::NAN, (0.0, 1.0)).row();
        const WRONG_WORD: Param =
            Param { default: Value::Choice("smoke"), ..Key::word("signal", &["rtt", "one-way"]).row() };
        const NAMED_KIND: Param = Key::flag("kind", true).row();
        const NAMELESS: Param = Key::flag("", true).row();
        assert_eq!(check_params(&[GOOD]), Ok(()));
        let reason = |table: &'static [Param]| check_params(table).unwrap_err();
        assert!(reason(&[GOOD, REVERSED]).contains("reversed = 3 is outside its range"));
        assert!(reason(&[NO_NUMBER]).contains("ratio = NaN is outside"));
        assert!(reason(&[WRONG_WORD]).contains("signal"));
        assert!(reason(&[NAMED_KIND]).contains("not \"kind\""));
        assert!(reason(&[NAMELESS]).starts_with("parameter \"\""));
        assert!(reason(&[GOOD, GOOD]).contains("\"limit\" is in its table twice"));
    }
}
