//! Colours of a map: from dark to light, so that they stay in order for colour-blind readers and on a grey printer.

/// Viridis (Smith and van der Walt, 2015, CC0) at equal steps.
const STOPS: [[u8; 3]; 9] = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// Returns the colour at a part of the scale, 0 to 1, as "#rrggbb".
pub fn colour(part: f64) -> String {
    let place = part.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let first = (place as usize).min(STOPS.len() - 2);
    let rest = place - first as f64;
    let channel = |i: usize| {
        let (from, to) = (f64::from(STOPS[first][i]), f64::from(STOPS[first + 1][i]));
        (from + (to - from) * rest).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0), channel(1), channel(2))
}

/// Returns whether text on it is white.
pub fn is_dark(part: f64) -> bool {
    part < 0.55
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_goes_from_dark_to_light() {
        assert_eq!([colour(0.0), colour(1.0), colour(7.0)], ["#440154", "#fde725", "#fde725"]);
        let lightness = |part: f64| {
            let hex = colour(part);
            let channel = |i: usize| f64::from(u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        assert!((0..20).all(|i| lightness(f64::from(i) / 20.0) < lightness(f64::from(i + 1) / 20.0)));
    }
}
