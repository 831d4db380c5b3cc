//! Seeds of the grid that follow from a commit, so that nobody can choose the draw on which a rule is judged.

use afteryou_scenario::content::ContentHash;

/// Digits of a commit's hash that count: an abbreviation gives the same seed as the whole.
const DIGITS: usize = 12;
/// Most seeds of a commit: with many, one could be chosen.
const MOST: u32 = 9;

/// Reads `HASH` or `HASH,K` and returns the K-th seed of that commit, the first by default: the first 32 bits of the BLAKE3 hash of
/// `"league grid K of HASH"`, with twelve lower-case digits of the hash.
///
/// # Errors
/// Fewer digits, other signs, and a K that is not 1 to 9.
pub fn seed_of_commit(text: &str) -> Result<u64, String> {
    let (hash, number) = text.split_once(',').unwrap_or((text, "1"));
    let is_hash = hash.len() >= DIGITS && hash.chars().all(|digit| digit.is_ascii_hexdigit());
    if !is_hash {
        return Err(format!(
            "write at least {DIGITS} digits of the commit's hash, as `git rev-parse HEAD` prints it"
        ));
    }
    let number: Option<u32> = number.parse().ok().filter(|number| (1..=MOST).contains(number));
    let Some(number) = number else {
        return Err(format!(
            "write a number from 1 to {MOST} behind the comma: which of the commit's seeds it is"
        ));
    };
    let digits = hash[..DIGITS].to_ascii_lowercase();
    let hash = ContentHash::of_text(&format!("league grid {number} of {digits}"));
    let bits = hash.as_bytes().iter().take(4);
    Ok(bits.fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "59efc998a1b2c3d4e5f60718293a4b5c6d7e8f90";

    #[test]
    fn a_commit_has_seeds_of_its_own_which_its_abbreviation_has_too() {
        let seeds: Vec<u64> = (1..=3).map(|k| seed_of_commit(&format!("{COMMIT},{k}")).unwrap()).collect();
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds.iter().all(|seed| *seed < 1 << 32));
        assert_eq!(seed_of_commit(COMMIT), Ok(seeds[0]));
        assert_eq!(seed_of_commit(&COMMIT[..12].to_uppercase()), Ok(seeds[0]));
        assert_ne!(seed_of_commit("59efc998a1b3"), Ok(seeds[0]));
    }

    #[test]
    fn what_is_no_commit_is_refused_with_what_to_write() {
        assert!(seed_of_commit("59efc998").unwrap_err().contains("at least 12 digits"));
        assert!(seed_of_commit("HEAD~1, please").unwrap_err().contains("git rev-parse"));
        for number in ["0", "10", "x", ""] {
            let refused = seed_of_commit(&format!("{COMMIT},{number}")).unwrap_err();
            assert!(refused.contains("1 to 9"), "{refused}");
        }
    }
}
