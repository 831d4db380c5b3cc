//! The rule's name and parameters, for files and lists.

use super::law::Params;
use afteryou_base::param::{Key, Settings};
use afteryou_base::{params, About, Span};

params! {
    /// Parameters.
    pub table PARAMS;

    const TARGET: Key<Span> = Key::millis("target", 25, (1, 1000))
        .explained("queuing delay to stay below", "draft-irtf-iccrg-ledbat-plus-plus-01 §4.5, with 60 ms");
    const TARGET_MIN: Key<Span> = Key::millis("target_min", 5, (1, 1000))
        .explained("least target in a short buffer, of whose largest queue the target is half", "found by trial");
}

/// Its name and parameters.
pub const ABOUT: About = About {
    name: "outside",
    summary: "afteryou run: one window for all connections of a program, set on their sockets",
    source: "RFC 9840, with the differences in the documentation of its code",
    params: PARAMS,
    presets: &[],
};

impl Params {
    /// Returns the parameters that `settings` of [`PARAMS`] have.
    pub fn of(settings: &Settings<'_>) -> Params {
        let target = settings.get(&TARGET);
        Params { target, target_min: settings.get(&TARGET_MIN).min(target) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_law() {
        assert_eq!(Params::of(&Settings::new(PARAMS, &[]).unwrap()), Params::default());
    }
}
