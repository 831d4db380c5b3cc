//! Colours and marks of the live view, by role. Without colours the curves differ in what they are drawn with.

use super::Curve;
use afteryou_scenario::Role;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;

/// How curves and words look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Whether it has colours.
    pub colour: bool,
}

/// How one curve looks.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Colour of the curve and of its name.
    pub style: Style,
    /// The characters and colours of the drawing.
    pub marker: Marker,
    /// Its mark before its name.
    pub mark: &'static str,
}

/// Colours of the fixed part of the 256: the first sixteen are whatever the user's theme makes of them. All of these are
/// visible on black and on white.
const FOREGROUND: [u8; 2] = [32, 36];
const BACKGROUND: [u8; 2] = [166, 172];
const OTHER: [u8; 1] = [133];

impl Look {
    /// Returns the pen of `curves[i]`.
    pub fn pen(self, curves: &[Curve], i: usize) -> Pen {
        let role = curves.get(i).and_then(|curve| curve.role);
        let before = curves.iter().take(i).filter(|curve| curve.role == role).count();
        let (colours, mark): (&[u8], _) = match role {
            Some(Role::Foreground) => (&FOREGROUND, "●"),
            Some(Role::Background) => (&BACKGROUND, "◆"),
            None => (&OTHER, "▲"),
        };
        if self.colour {
            let style = Style::new().fg(Color::Indexed(colours[before % colours.len()]));
            return Pen { style, marker: Marker::Braille, mark };
        }
        let (marker, mark) = match (role, before) {
            // A single curve needs no distinction.
            _ if curves.len() == 1 => (Marker::Braille, "⠒"),
            (Some(Role::Foreground), 0) => (Marker::Dot, "•"),
            (Some(Role::Background), 0) => (Marker::Braille, "⠒"),
            (Some(Role::Background), _) => (Marker::Custom('×'), "×"),
            _ => (Marker::Custom('+'), "+"),
        };
        Pen { style: Style::new(), marker, mark }
    }

    /// Returns the style of what steps back: axes and units.
    pub fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Returns the style of what matters: values and the stage.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }
}
