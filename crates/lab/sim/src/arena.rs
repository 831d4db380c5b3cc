//! Lists whose entries are in one arena. A place that has become free is used again first, while the cache holds it: what is in
//! use stays there, however many lists there are.

/// The end of a list.
pub const NONE: u32 = u32::MAX;

/// The entries of all lists. `A` is the part of a cache line that an entry fills, so that none lies on two lines for
/// nothing.
#[derive(Debug)]
pub struct Arena<T, A> {
    entries: Vec<Entry<T, A>>,
    /// The place that is used next.
    free: u32,
}

/// An entry takes up to half a line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub struct HalfLine;

/// An entry takes up to a line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct WholeLine;

#[derive(Clone, Copy, Debug)]
struct Entry<T, A> {
    value: T,
    /// The next entry of the list, or the next free place.
    next: u32,
    _aligned: [A; 0],
}

impl<T, A> Default for Arena<T, A> {
    fn default() -> Arena<T, A> {
        Arena { entries: Vec::new(), free: NONE }
    }
}

impl<T: Copy, A: Copy> Arena<T, A> {
    /// Keeps an entry that `next` follows; returns its place.
    #[inline(always)]
    pub fn insert(&mut self, value: T, next: u32) -> u32 {
        let entry = Entry { value, next, _aligned: [] };
        match self.free {
            NONE => {
                self.entries.push(entry);
                self.entries.len() as u32 - 1
            }
            place => {
                self.free = self.entries[place as usize].next;
                self.entries[place as usize] = entry;
                place
            }
        }
    }

    /// Links entries: from now on `next` follows the entry at `place`.
    #[inline]
    pub fn follow(&mut self, place: u32, next: u32) {
        self.entries[place as usize].next = next;
    }

    /// Returns the entry at a place, and the one that follows; `None` at the end of a list.
    #[inline]
    pub fn get(&self, place: u32) -> Option<(&T, u32)> {
        self.entries.get(place as usize).map(|entry| (&entry.value, entry.next))
    }

    /// Removes the entry at a place; returns it and the one that follows.
    #[inline]
    pub fn remove(&mut self, place: u32) -> (T, u32) {
        let entry = &mut self.entries[place as usize];
        let next = std::mem::replace(&mut entry.next, self.free);
        self.free = place;
        (entry.value, next)
    }

    /// Returns the number of places: as many as were ever in use at the same time.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.entries.len()
    }
}
