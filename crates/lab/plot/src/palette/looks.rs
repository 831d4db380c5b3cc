//! The look of each controller, the same in every figure: one colour and one mark.
//!
//! Background controllers are warm or muted colours, foreground ones cool. Marks differ, too, so that controllers stay apart on a
//! grey printer. Several flows of one controller keep its mark and differ in lightness.

use crate::palette::{Colour, Shape, Style};

const fn colour(light: &'static str, dark: &'static str) -> Colour {
    Colour { light, dark }
}

/// A controller's name, its mark, and the colours of its first, second and third flow.
type Look = (&'static str, Shape, [Colour; 3]);

#[rustfmt::skip]
const LOOKS: &[Look] = &[
    ("ledbat++", Shape::Diamond, [colour("#d55e00", "#ffa45c"), colour("#ed9a59", "#fbceaa"), colour("#7c3700", "#e17e2f")]),
    ("ledbat", Shape::Triangle, [colour("#a2247e", "#e073c1"), colour("#d06db3", "#ebb5dc"), colour("#5e1549", "#be479c")]),
    ("fledbat", Shape::Square, [colour("#c08a00", "#ffce50"), colour("#ebbf4e", "#fae2a4"), colour("#6f5000", "#dfaa20")]),
    ("libutp", Shape::Down, [colour("#7a4a1c", "#db9d61"), colour("#c78e57", "#e9cbaf"), colour("#472b10", "#bb7e44")]),
    ("libutp-mod", Shape::HollowDown, [colour("#a97142", "#d5b092"), colour("#c8a78c", "#e6d4c5"), colour("#624226", "#b58e6d")]),
    ("tcp-lp", Shape::Cross, [colour("#6a6a00", "#ffff3d"), colour("#e6e61e", "#fafa9e"), colour("#3d3d00", "#dfdf20")]),
    ("nice", Shape::Plus, [colour("#0a7a82", "#4be6f1"), colour("#3ed0db", "#a5eef3"), colour("#06474b", "#2ec7d1")]),
    ("vegas", Shape::Star, [colour("#6b4fc7", "#ae9ee0"), colour("#a799d5", "#d4ccec"), colour("#3a277a", "#8f7ec6")]),
    ("cubic", Shape::Disc, [colour("#0072b2", "#48bdff"), colour("#46afea", "#a0dafa"), colour("#004267", "#209adf")]),
    ("newreno", Shape::Box, [colour("#00805c", "#3dffc8"), colour("#2ae7b2", "#9efae0"), colour("#004a35", "#20dfa9")]),
    ("bbr", Shape::HollowTriangle, [colour("#4338a8", "#a9a2f0"), colour("#8d85d6", "#d3cff6"), colour("#27206b", "#8078d8")]),
    ("bbr3", Shape::HollowStar, [colour("#8a2be2", "#cf9fff"), colour("#b98be8", "#e6d0ff"), colour("#54128f", "#ad6ff0")]),
    ("cdg", Shape::Right, [colour("#1f6f8b", "#7cc7e0"), colour("#6fb0c6", "#bfe2ee"), colour("#0f3f50", "#4fa3bf")]),
    ("copa", Shape::HollowRight, [colour("#9c2f4f", "#e88aa5"), colour("#cf7f97", "#f3c3d1"), colour("#5c1a2e", "#c9587b")]),
    ("ebb", Shape::HollowDiamond, [colour("#b5541c", "#f6a66f"), colour("#d99268", "#f9cfb3"), colour("#6b2f0d", "#d97c43")]),
    ("proteus-s", Shape::Left, [colour("#9c4a2f", "#f0a489"), colour("#c98a74", "#f3cdbf"), colour("#5e2716", "#d97f5f")]),
    ("proteus-p", Shape::HollowLeft, [colour("#14698c", "#74c8ea"), colour("#66aecb", "#bfe6f6"), colour("#083f56", "#3f9fc6")]),
];

/// Controllers that are not in the table, by their names.
const OTHERS: [(Shape, [Colour; 3]); 3] = [
    (
        Shape::HollowDiamond,
        [colour("#b3202c", "#ff7b84"), colour("#d8737b", "#ffb0b5"), colour("#6d1119", "#d65560")],
    ),
    (
        Shape::HollowDiamond,
        [colour("#4d5b8f", "#9fb0ee"), colour("#8c98c4", "#c9d3fa"), colour("#2b355c", "#7586c8")],
    ),
    (
        Shape::HollowDiamond,
        [colour("#5a6b2f", "#b3cc75"), colour("#94a867", "#d4e5a8"), colour("#35401a", "#8aa34c")],
    ),
];

/// Constant-rate traffic, which no controller governs.
const WITHOUT: (Shape, [Colour; 3]) =
    (Shape::Ring, [colour("#3f6f9f", "#9dc3e8"), colour("#7ea3c6", "#c8def2"), colour("#234a70", "#6f9cc7")]);

/// Returns the look of a flow with this controller, if any, which follows `before` flows with the same one.
pub fn of(controller: Option<&str>, before: usize) -> Style {
    let (shape, colours) = match controller {
        None => WITHOUT,
        Some(name) => LOOKS.iter().find(|(known, ..)| *known == name).map_or_else(
            || OTHERS[super::spread(name, OTHERS.len())],
            |(_, shape, colours)| (*shape, *colours),
        ),
    };
    Style { colour: colours[before % colours.len()], shape }
}

/// Returns whether the table has this controller.
pub fn is_known(name: &str) -> bool {
    LOOKS.iter().any(|(known, ..)| *known == name)
}

/// Groups that are about no controller: dark to light, as on a map, so that none is taken for a controller.
const GROUPS: [(Shape, Colour); 8] = [
    (Shape::Square, colour("#440154", "#b98ccc")),
    (Shape::Triangle, colour("#3b518b", "#8ba3de")),
    (Shape::Down, colour("#2c718e", "#7cc0dc")),
    (Shape::Disc, colour("#21908d", "#6fd3d0")),
    (Shape::Star, colour("#1f9a6e", "#7fe0bb")),
    (Shape::Plus, colour("#4fb154", "#a5e8a8")),
    (Shape::Box, colour("#8fae1b", "#d3ee7a")),
    (Shape::HollowDown, colour("#b9a500", "#f3e36a")),
];

/// Returns the look of the group with this index, where groups are about no controller.
pub fn nth(index: usize) -> Style {
    let (shape, colour) = GROUPS[index % GROUPS.len()];
    Style { colour, shape }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_controller_has_a_look_of_its_own() {
        let names: Vec<&str> =
            afteryou_notation::catalogue::controllers().into_iter().map(|entry| entry.about.name).collect();
        for (i, name) in names.iter().enumerate() {
            let own = of(Some(name), 0);
            let same = names[..i].iter().find(|other| of(Some(other), 0).shape == own.shape);
            assert_eq!(same, None, "{name} has the mark of another one: give it a line in LOOKS");
            assert!(names[..i].iter().all(|other| of(Some(other), 0).colour != own.colour), "{name}");
        }
    }

    #[test]
    fn flows_of_one_controller_share_its_mark_and_differ_in_colour() {
        let [first, second] = [0, 1].map(|before| of(Some("fledbat"), before));
        assert_eq!(first.shape, second.shape);
        assert_ne!(first.colour, second.colour);
    }
}
