//! Colours and marks, the same in every figure: this file is the only place that has them.
//!
//! A flow looks like its controller ([`looks`]), links are bars in ink. Every colour has a form for light and one for dark
//! paper.

pub mod heat;
pub mod looks;

use afteryou_scenario::outcome::{BOTTLENECK, REVERSE_PATH};
use afteryou_scenario::{Flow, Scenario};
use serde::Serialize;

/// A colour on light and on dark paper, as "#rrggbb".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Colour {
    /// On light paper.
    pub light: &'static str,
    /// On dark paper.
    pub dark: &'static str,
}

/// The mark of a curve, and of a name in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shape {
    /// ●
    Disc,
    /// ○
    Ring,
    /// ■
    Square,
    /// □
    Box,
    /// ◆
    Diamond,
    /// ◇
    HollowDiamond,
    /// ▲
    Triangle,
    /// △
    HollowTriangle,
    /// ▼
    Down,
    /// ▽
    HollowDown,
    /// ▶
    Right,
    /// ▷
    HollowRight,
    /// ◀
    Left,
    /// ◁
    HollowLeft,
    /// ★
    Star,
    /// ☆
    HollowStar,
    /// ✚
    Plus,
    /// ✖
    Cross,
    /// A link.
    Bar,
}

/// How something with a name looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Style {
    /// The curve's colour.
    pub colour: Colour,
    /// The shape of the marks.
    pub shape: Shape,
}

/// How a kind of moment looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MarkStyle {
    /// The mark's colour.
    pub colour: Colour,
    /// The mark's sign.
    pub glyph: &'static str,
}

const fn colour(light: &'static str, dark: &'static str) -> Colour {
    Colour { light, dark }
}

const OTHER: [Colour; 2] = [colour("#6a6a00", "#cfcf5a"), colour("#666666", "#b5b5b5")];
const LINKS: [Colour; 3] =
    [colour("#3c4148", "#d3d7de"), colour("#7d8695", "#98a1af"), colour("#574a86", "#b7a8ea")];

/// Text.
pub const INK: Colour = colour("#1d2127", "#e6e8eb");
/// Text that steps back: axes.
pub const FAINT_INK: Colour = colour("#59616c", "#a0a8b3");
/// The mark of a curve without a flow's name.
pub const FAINT: Style = Style { colour: FAINT_INK, shape: Shape::Bar };
/// Lines of the grid.
pub const GRID: Colour = colour("#e6e8ec", "#2c3138");
/// Bands of measured windows, thin enough that bands within bands show.
pub const BAND: Colour = colour("#4a6f96", "#9dbde0");
/// How much of [`BAND`] covers the paper, 0 to 1.
pub const BAND_OPACITY: f64 = 0.055;
/// Names of measured windows.
pub const BAND_NAME: Colour = colour("#8a939f", "#7d8793");

const SLOWDOWN: MarkStyle = MarkStyle { colour: colour("#7b3fa0", "#c9a0ee"), glyph: "▼" };
const START: MarkStyle = MarkStyle { colour: colour("#1f7a4d", "#63cf9b"), glyph: "▶" };
const STOP: MarkStyle = MarkStyle { colour: colour("#59616c", "#a0a8b3"), glyph: "■" };
const TROUBLE: MarkStyle = MarkStyle { colour: colour("#b3202c", "#ff7b84"), glyph: "✕" };
const OTHER_MARKS: [MarkStyle; 3] = [
    MarkStyle { colour: colour("#8a6100", "#e0b64a"), glyph: "●" },
    MarkStyle { colour: colour("#006d77", "#67c7d0"), glyph: "◆" },
    MarkStyle { colour: colour("#9c3d6b", "#e79abf"), glyph: "▲" },
];

/// Returns the look of the flow called `name`, or of the link.
pub fn style(scenario: &Scenario, name: &str) -> Style {
    if let Some(place) = place_of_link(scenario, name) {
        return Style { colour: LINKS[place % LINKS.len()], shape: Shape::Bar };
    }
    // A group ("upload", "upload (50 flows)") looks like its first flow.
    let group = name.split(" (").next();
    let named = scenario.flow.iter().find(|flow| flow.name == name);
    let grouped = || scenario.flow.iter().find(|flow| flow.group.is_some() && flow.group.as_deref() == group);
    let Some(flow) = named.or_else(grouped) else {
        return Style { colour: OTHER[spread(name, OTHER.len())], shape: Shape::HollowDiamond };
    };
    let of = |flow: &Flow| flow.controller.as_ref().map(|controller| controller.kind.clone());
    let controller = of(flow);
    let peers = scenario.flow.iter().filter(|other| of(other) == controller);
    let before = peers.take_while(|other| other.name != flow.name).count();
    looks::of(controller.as_deref(), before)
}

/// Returns the place of the link that curves and tables call `name`, among those of the scenario; none for a flow.
fn place_of_link(scenario: &Scenario, name: &str) -> Option<usize> {
    match (name, scenario.has_named_links()) {
        // The short form's link in curves.
        ("link", _) | (BOTTLENECK, false) => Some(0),
        (REVERSE_PATH, false) => Some(1),
        (_, false) => None,
        (_, true) => scenario.links().position(|link| link.name.as_deref() == Some(name)),
    }
}

/// Returns the look of a moment of kind `what`.
pub fn mark(what: &str) -> MarkStyle {
    match what {
        "slowdown" => SLOWDOWN,
        "start" => START,
        "stop" => STOP,
        "timeout" | "loss" | "error" => TROUBLE,
        other => OTHER_MARKS[spread(other, OTHER_MARKS.len())],
    }
}

/// Returns the same place among `places` for the same name, in every run and on every machine.
fn spread(name: &str, places: usize) -> usize {
    name.bytes().fold(0usize, |sum, byte| (sum * 31 + usize::from(byte)) % 9973) % places
}

impl Shape {
    /// Returns the mark as a character, for tables and legends.
    pub fn glyph(self) -> &'static str {
        match self {
            Shape::Disc => "●",
            Shape::Ring => "○",
            Shape::Square => "■",
            Shape::Box => "□",
            Shape::Diamond => "◆",
            Shape::HollowDiamond => "◇",
            Shape::Triangle => "▲",
            Shape::HollowTriangle => "△",
            Shape::Down => "▼",
            Shape::HollowDown => "▽",
            Shape::Right => "▶",
            Shape::HollowRight => "▷",
            Shape::Left => "◀",
            Shape::HollowLeft => "◁",
            Shape::Star => "★",
            Shape::HollowStar => "☆",
            Shape::Plus => "✚",
            Shape::Cross => "✖",
            Shape::Bar => "▬",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns relative luminance as WCAG 2.2 defines it.
    fn luminance(hex: &str) -> f64 {
        let channel = |i: usize| {
            let value = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_and_the_first_colours_stand_out_from_their_paper() {
        let (light_paper, dark_paper) = ("#ffffff", "#14171b");
        for text in [INK, FAINT_INK, SLOWDOWN.colour, START.colour, STOP.colour, TROUBLE.colour] {
            assert!(contrast(text.light, light_paper) >= 4.5, "{text:?}");
            assert!(contrast(text.dark, dark_paper) >= 4.5, "{text:?}");
        }
        let controllers =
            afteryou_notation::catalogue::controllers().into_iter().map(|entry| Some(entry.about.name));
        let flows = controllers.chain([None]).map(|name| looks::of(name, 0).colour);
        for curve in flows.chain(OTHER).chain(LINKS) {
            assert!(contrast(curve.light, light_paper) >= 3.0, "{curve:?}");
            assert!(contrast(curve.dark, dark_paper) >= 3.0, "{curve:?}");
        }
    }
}
