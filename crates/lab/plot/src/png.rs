//! Figures as PNG, with a font of our own: a machine without fonts draws the same picture.

use crate::error::Error;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{fontdb, Options, Tree};
use std::sync::Arc;

/// DejaVu Sans Condensed, see `assets/fonts`.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../assets/fonts/DejaVuSansCondensed.ttf"),
    include_bytes!("../assets/fonts/DejaVuSansCondensed-Bold.ttf"),
];
const FAMILY: &str = "DejaVu Sans Condensed";
/// Dots for each px of the figure: enough for print at a page's width.
const SCALE: f32 = 2.0;

/// Draws an SVG figure as PNG of twice its size.
///
/// # Errors
/// A text that is no SVG.
pub fn png(svg: &str) -> Result<Vec<u8>, Error> {
    let failed = |reason: String| Error::Figure(reason);
    let mut fonts = fontdb::Database::new();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    fonts.set_sans_serif_family(FAMILY);
    let options = Options { fontdb: Arc::new(fonts), font_family: FAMILY.to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let size = size.ok_or_else(|| failed("the figure has no size".to_owned()))?;
    let mut paper = Pixmap::new(size.width(), size.height())
        .ok_or_else(|| failed("the figure has no size".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut paper.as_mut());
    paper.encode_png().map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use resvg::tiny_skia::Color;

    #[test]
    fn text_is_drawn_without_any_font_of_the_machine() {
        let svg = |inside: &str| {
            format!("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"200\" height=\"40\"><rect width=\"200\" height=\"40\" fill=\"#fff\"/>{inside}</svg>")
        };
        let dark = |svg: &str| {
            let picture = Pixmap::decode_png(&png(svg).unwrap()).unwrap();
            assert_eq!((picture.width(), picture.height()), (400, 80));
            let white = Color::WHITE.premultiply().to_color_u8();
            picture.pixels().iter().filter(|pixel| **pixel != white).count()
        };
        assert_eq!(dark(&svg("")), 0);
        for text in ["Queuing delay, µs ≤ 5 ±", "●○■□◆◇▲▼▽★✚✖"] {
            let plain = dark(&svg(&format!(
                "<text x=\"4\" y=\"20\" font-family=\"sans-serif\" font-size=\"14\">{text}</text>"
            )));
            assert!(plain > 40 * text.chars().count(), "{text}: {plain}");
        }
    }

    #[test]
    fn what_is_no_figure_is_refused() {
        assert!(png("not a figure").is_err());
    }
}
