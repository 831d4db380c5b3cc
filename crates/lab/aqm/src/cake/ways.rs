//! A set-associative hash: each hash has eight places, of which it takes one that is free.
//!
//! # Model
//! The places are in sets of eight. A hash names a place, and with it a set. A queue with that hash takes the named
//! place, or another one of the set if that is taken. Only when all eight are taken, two share a place. A
//! plain hash shares a place as soon as two hashes name it.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | ways | 8 | of 100 flows in 1024 places one in 800 000 shares its place; with a plain hash it is one in eleven |
//!
//! # Source
//! Linux `sch_cake.c`; Høiland-Jørgensen, Täht and Morton 2018 §III.B.

/// Places of a set.
const WAYS: usize = 8;

/// The places.
#[derive(Clone, Debug)]
pub struct Ways {
    /// The hash that each place was last taken for.
    tags: Vec<u32>,
}

/// How a place was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It was taken for the same hash before.
    Own,
    /// Nothing was in it.
    Free,
    /// Something else is in it: all of its set are taken.
    Shared,
}

impl Ways {
    /// Creates `places` free places, a multiple of eight.
    pub fn new(places: usize) -> Ways {
        Ways { tags: vec![0; places] }
    }

    fn named(&self, hash: u32) -> usize {
        hash as usize % self.tags.len()
    }

    /// Returns the places of a hash, the one that it names first.
    fn places(&self, hash: u32) -> impl Iterator<Item = usize> + use<> {
        let named = self.named(hash);
        let set = named - named % WAYS;
        (0..WAYS).map(move |way| set + (named + way) % WAYS)
    }

    /// Returns the place that was last taken for a hash.
    pub fn own(&self, hash: u32) -> Option<usize> {
        self.places(hash).find(|place| self.tags[*place] == hash)
    }

    /// Takes a place for a hash; `is_free` is whether nothing is in a place.
    pub fn take(&mut self, hash: u32, is_free: impl Fn(usize) -> bool) -> (usize, Found) {
        let free = || self.places(hash).find(|place| is_free(*place));
        let (place, found) = match self.own(hash) {
            Some(own) => (own, Found::Own),
            None => free().map_or((self.named(hash), Found::Shared), |free| (free, Found::Free)),
        };
        self.tags[place] = hash;
        (place, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_hashes_of_one_name_have_a_place_each_and_the_ninth_shares() {
        let (mut ways, mut taken) = (Ways::new(64), [false; 64]);
        for i in 0..8 {
            let (place, found) = ways.take(10 + 64 * i, |place| !taken[place]);
            assert_eq!((found, place / 8), (Found::Free, 1));
            assert!(!std::mem::replace(&mut taken[place], true));
        }
        assert_eq!(ways.take(10 + 64 * 8, |place| !taken[place]), (10, Found::Shared));
        // Its place has the ninth's name now; the others are where they were.
        assert_eq!(ways.own(10), None);
        assert_eq!(ways.take(10 + 64, |place| !taken[place]), (11, Found::Own));
    }

    #[test]
    fn a_hash_finds_its_place_again_before_it_takes_a_free_one() {
        let mut ways = Ways::new(16);
        assert_eq!(ways.take(3, |place| place == 5), (5, Found::Free));
        assert_eq!(ways.take(3, |_| true), (5, Found::Own));
        assert_eq!(ways.take(19, |_| true), (3, Found::Free));
    }
}
