//! Which controller of Linux a socket gets.

use crate::fact::{Missing, Rule};
use crate::CONTROLLERS;
use std::io::{self, ErrorKind};

/// The controllers that are afteryou's. A socket that has one keeps it.
const OURS: &[&str] = CONTROLLERS.split_at(4).0;

/// Chooses the best controller. The socket has `now`, the kernel lists `available` (`None`: its list cannot be read), and `set` chooses one by its name.
pub fn choose(
    now: &str,
    available: Option<&str>,
    mut set: impl FnMut(&str) -> io::Result<()>,
) -> Result<Rule, Missing> {
    if let Some(kept) = OURS.iter().find(|name| **name == now) {
        return Ok(Rule::Controller(kept));
    }
    let is_listed =
        |name: &str| available.is_none_or(|list| list.split_whitespace().any(|listed| listed == name));
    let mut forbidden = None;
    for name in CONTROLLERS.into_iter().filter(|name| is_listed(name)) {
        match set(name) {
            Ok(()) => return Ok(Rule::Controller(name)),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => _ = forbidden.get_or_insert(name),
            // It is not there, or is being unloaded.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ResourceBusy) => {}
            Err(error) => return Err(Missing::Refused(error.to_string())),
        }
    }
    let Some(forbidden) = forbidden else { return Err(Missing::NotLoaded) };
    // Everybody may choose what a socket has already, unless its route is locked.
    match set(now) {
        Ok(()) => Err(Missing::NotPermitted(forbidden)),
        Err(_) => Err(Missing::Locked(now.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a kernel that offers some controllers to this user, and has others.
    fn kernel(offered: &'static [&str], others: &'static [&str]) -> impl FnMut(&str) -> io::Result<()> {
        move |name| match (offered.contains(&name), others.contains(&name)) {
            (true, _) => Ok(()),
            (_, true) => Err(ErrorKind::PermissionDenied.into()),
            _ => Err(ErrorKind::NotFound.into()),
        }
    }

    fn chosen(offered: &'static [&str], others: &'static [&str]) -> Result<Rule, Missing> {
        choose("cubic", None, kernel(offered, others))
    }

    #[test]
    fn the_best_that_is_offered_is_chosen() {
        assert_eq!(
            chosen(&["cubic", "vegas", "ay_ledbat", "afteryou"], &[]),
            Ok(Rule::Controller("afteryou"))
        );
        assert_eq!(
            chosen(&["cubic", "vegas", "ay_ledbat"], &["afteryou"]),
            Ok(Rule::Controller("ay_ledbat"))
        );
        assert_eq!(chosen(&["cubic", "vegas"], &["lp"]), Ok(Rule::Controller("vegas")));
    }

    #[test]
    fn neither_lp_nor_cdg_counts_as_one_that_yields() {
        assert_eq!(chosen(&["cubic", "lp", "cdg", "nv", "bbr"], &[]), Err(Missing::NotLoaded));
    }

    #[test]
    fn a_controller_that_is_not_offered_is_named() {
        assert_eq!(chosen(&["cubic"], &["vegas", "ay_ledbatpp"]), Err(Missing::NotPermitted("ay_ledbatpp")));
    }

    #[test]
    fn a_locked_route_is_told_from_a_missing_permission() {
        assert_eq!(chosen(&[], &["cubic", "afteryou"]), Err(Missing::Locked("cubic".to_owned())));
    }

    #[test]
    fn ours_is_kept() {
        let untouched = |_: &str| -> io::Result<()> { panic!("it is set already") };
        assert_eq!(
            choose("ay_ledbat", Some("afteryou ay_ledbat"), untouched),
            Ok(Rule::Controller("ay_ledbat"))
        );
    }

    #[test]
    fn nothing_is_tried_that_the_kernel_does_not_list() {
        let untouched = |_: &str| -> io::Result<()> { panic!("it is not listed") };
        assert_eq!(choose("cubic", Some("reno cubic\n"), untouched), Err(Missing::NotLoaded));
    }

    #[test]
    fn another_error_is_the_reason() {
        let refused = |_: &str| Err(io::Error::other("a filter forbids it"));
        assert_eq!(choose("cubic", None, refused), Err(Missing::Refused("a filter forbids it".to_owned())));
    }
}
