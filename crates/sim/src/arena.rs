//! Lists whose entries lie in one arena. A place that has become free is used again first, while the cache holds it: what is in
//! use stays there, however many lists there are.

/// The end of a list.
pub const NONE: u32 = u32::MAX;

/// The entries of all lists.
#[derive(Debug)]
pub struct Arena<T> {
    entries: Vec<Entry<T>>,
    /// The place that is used next.
    free: u32,
}

#[derive(Clone, Copy, Debug)]
// A key of the calendar takes half a line of the cache, a packet with its time one line or two halves.
#[repr(align(32))]
struct Entry<T> {
    value: T,
    /// The next entry of the list, or the next free place.
    next: u32,
}

impl<T> Default for Arena<T> {
    fn default() -> Arena<T> {
        Arena { entries: Vec::new(), free: NONE }
    }
}

impl<T: Copy> Arena<T> {
    /// Keeps an entry that `next` follows; returns its place.
    #[inline(always)]
    pub fn insert(&mut self, value: T, next: u32) -> u32 {
        let entry = Entry { value, next };
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

    /// From now on `next` follows the entry at `place`.
    #[inline]
    pub fn follow(&mut self, place: u32, next: u32) {
        self.entries[place as usize].next = next;
    }

    /// The entry at a place, and the one that follows; none at the end of a list.
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

    /// Places that there are: as many as were ever in use at once.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.entries.len()
    }
}
