//! The marks of curves and points, as they are drawn.

use super::canvas::Canvas;
use crate::error::Error;
use crate::palette::{Shape, Style};
use std::f64::consts::{PI, TAU};

const PAPER: &str = "#ffffff";
/// Stroke of hollow marks, px.
const STROKE: f64 = 1.6;
/// Inner radius of a star, of its outer one.
const STAR: f64 = 0.45;

/// Draws the mark of `style` around `centre`.
pub fn mark(canvas: &Canvas<'_>, style: Style, (x, y): (f64, f64)) -> Result<(), Error> {
    let colour = style.colour.light;
    let polygon = |corners: &[(f64, f64)], hollow: bool| {
        let corners: Vec<(f64, f64)> = corners.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
        canvas.polygon(&corners, if hollow { PAPER } else { colour })?;
        let outline = corners.iter().chain(corners.first()).copied();
        if hollow {
            canvas.polyline(outline, colour, STROKE)
        } else {
            Ok(())
        }
    };
    match style.shape {
        Shape::Disc => canvas.disc((x, y), 4.0, colour),
        Shape::Ring => {
            canvas.disc((x, y), 4.3, colour)?;
            canvas.disc((x, y), 2.7, PAPER)
        }
        Shape::Square => polygon(&[(-3.8, -3.8), (3.8, -3.8), (3.8, 3.8), (-3.8, 3.8)], false),
        Shape::Box => polygon(&[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)], true),
        Shape::Diamond => polygon(&[(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)], false),
        Shape::HollowDiamond => polygon(&[(0.0, -4.6), (4.6, 0.0), (0.0, 4.6), (-4.6, 0.0)], true),
        Shape::Triangle => polygon(&[(0.0, -4.8), (4.6, 3.4), (-4.6, 3.4)], false),
        Shape::HollowTriangle => polygon(&[(0.0, -4.4), (4.2, 3.0), (-4.2, 3.0)], true),
        Shape::Down => polygon(&[(0.0, 4.8), (4.6, -3.4), (-4.6, -3.4)], false),
        Shape::HollowDown => polygon(&[(0.0, 4.4), (4.2, -3.0), (-4.2, -3.0)], true),
        Shape::Right => polygon(&[(4.8, 0.0), (-3.4, 4.6), (-3.4, -4.6)], false),
        Shape::HollowRight => polygon(&[(4.4, 0.0), (-3.0, 4.2), (-3.0, -4.2)], true),
        Shape::Left => polygon(&[(-4.8, 0.0), (3.4, 4.6), (3.4, -4.6)], false),
        Shape::HollowLeft => polygon(&[(-4.4, 0.0), (3.0, 4.2), (3.0, -4.2)], true),
        Shape::Star => polygon(&star(5.4), false),
        Shape::HollowStar => polygon(&star(5.2), true),
        Shape::Plus => {
            canvas.line((x - 4.4, y), (x + 4.4, y), colour, 2.4)?;
            canvas.line((x, y - 4.4), (x, y + 4.4), colour, 2.4)
        }
        Shape::Cross => {
            canvas.line((x - 3.4, y - 3.4), (x + 3.4, y + 3.4), colour, 2.4)?;
            canvas.line((x - 3.4, y + 3.4), (x + 3.4, y - 3.4), colour, 2.4)
        }
        Shape::Bar => Ok(()),
    }
}

fn star(radius: f64) -> [(f64, f64); 10] {
    std::array::from_fn(|i| {
        let radius = if i % 2 == 0 { radius } else { radius * STAR };
        let angle = TAU * i as f64 / 10.0 - PI / 2.0;
        (radius * angle.cos(), radius * angle.sin())
    })
}
