//! Releases of the kernel.

/// The oldest kernel with `cong_control` of four arguments, as the programs read them.
pub const OLDEST: (u32, u32) = (6, 10);

/// Returns whether a kernel's release is older than [`OLDEST`]. One that cannot be read is tried.
pub fn is_older(release: &str) -> bool {
    let mut numbers = release.split(['.', '-']).map_while(|number| number.trim().parse::<u32>().ok());
    numbers.next().zip(numbers.next()).is_some_and(|release| release < OLDEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_as_numbers() {
        for (release, older) in
            [("6.18.44-fc", false), ("6.10.0", false), ("6.9.13", true), ("5.15\n", true), ("?", false)]
        {
            assert_eq!(is_older(release), older, "{release}");
        }
    }
}
