//! All connections: a slab of places that are used again.
//!
//! A connection that has closed costs nothing: its ends are freed at once and its place goes to the next one that is opened.
//! Packets carry the place and its generation, so that those which outlive their connection are discarded.

use super::{Connection, Ends, Template, Timers};
use crate::net::Net;
use afteryou_scenario::network::Route;

/// The connections of all applications, by their number.
#[derive(Default)]
pub struct Connections {
    places: Vec<Connection>,
    /// How many connections each place has had.
    generations: Vec<u16>,
    /// Places without a connection; the last one is used first.
    free: Vec<u32>,
}

impl Connections {
    /// Opens a connection over `route` for the application with the index `owner`; `seed` is its controller's. Returns its
    /// number. The first ones that are opened get the numbers from 0 on.
    pub fn open(
        &mut self,
        net: &mut Net,
        template: &Template,
        (owner, route): (usize, &Route),
        seed: u64,
    ) -> usize {
        let index = self.free.pop().map_or_else(|| self.add(), |index| index as usize);
        let place = &mut self.places[index];
        place.ends = template.ends(index, self.generations[index], seed);
        place.owner = owner as u32;
        (place.is_shut, place.given, place.refill) = (false, 0, 0);
        (place.expected, place.awaits_flush) = (u64::MAX, false);
        net.lay(index, owner, route);
        index
    }

    fn add(&mut self) -> usize {
        let index = self.places.len();
        self.places.push(Connection {
            ends: Ends::Closed,
            timers: Timers::new(index),
            owner: 0,
            is_shut: false,
            given: 0,
            refill: 0,
            expected: u64::MAX,
            awaits_flush: false,
        });
        self.generations.push(0);
        index
    }

    /// Closes a connection: its packets that are still under way are nobody's.
    pub fn close(&mut self, index: usize) {
        self.places[index].ends = Ends::Closed;
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.free.push(index as u32);
    }

    /// Connections that are open.
    pub fn number_of_open(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Places that there are: as many as connections were ever open at once.
    #[cfg(test)]
    pub fn number_of_places(&self) -> usize {
        self.places.len()
    }

    /// The connection with this number.
    pub fn get(&self, index: usize) -> &Connection {
        &self.places[index]
    }

    /// The connection with this number.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut Connection {
        &mut self.places[index]
    }
}
