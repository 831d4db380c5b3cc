//! All connections: a slab of places that are used again.
//!
//! A connection that has closed costs nothing: its ends are freed at once and its place goes to the next one of its flow that is
//! opened over the same route. Packets carry the place and its generation, so that those which outlive their connection are
//! discarded at the end of their path. Until then they are on that path: a place whose route changed would send them over other
//! links than the one that has counted them in.

use super::{Connection, Ends, Id, Template, Timers};
use crate::net::Net;
use afteryou_scenario::network::Route;
use std::collections::BTreeMap;

/// The connections of all applications, by their number.
#[derive(Default)]
pub struct Connections {
    places: Vec<Connection>,
    /// How many connections each place has had.
    generations: Vec<u16>,
    /// By flow, the number of each route that its connections take.
    routes: Vec<BTreeMap<Route, usize>>,
    /// By place, the number of its route.
    route_of: Vec<usize>,
    /// By route, places without a connection; the last one is used first.
    free: Vec<Vec<u32>>,
    /// Places without a connection.
    closed: usize,
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
        let number = self.number_of(owner, route);
        let index = match self.free[number].pop() {
            Some(index) => {
                self.closed -= 1;
                index as usize
            }
            None => self.add(number),
        };
        let place = &mut self.places[index];
        place.ends = template.ends((index, self.generations[index]), seed, route);
        place.owner = owner as u32;
        (place.is_shut, place.given, place.refill) = (false, 0, 0);
        (place.expected, place.awaits_flush, place.has_refilled) = (u64::MAX, false, false);
        net.lay(index, owner, route);
        index
    }

    /// Returns the number of a flow's route, a new one if none of its connections has taken it.
    fn number_of(&mut self, owner: usize, route: &Route) -> usize {
        self.routes.resize_with(self.routes.len().max(owner + 1), BTreeMap::new);
        let routes = &mut self.routes[owner];
        if let Some(number) = routes.get(route) {
            return *number;
        }
        self.free.push(Vec::new());
        routes.insert(route.clone(), self.free.len() - 1);
        self.free.len() - 1
    }

    fn add(&mut self, route: usize) -> usize {
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
            has_refilled: false,
        });
        self.generations.push(0);
        self.route_of.push(route);
        index
    }

    /// Closes a connection: its packets that are still under way are nobody's.
    pub fn close(&mut self, index: usize) {
        self.places[index].ends = Ends::Closed;
        self.generations[index] = self.generations[index].wrapping_add(1);
        self.free[self.route_of[index]].push(index as u32);
        self.closed += 1;
    }

    /// Returns the number of open connections.
    pub fn number_of_open(&self) -> usize {
        self.places.len() - self.closed
    }

    /// Returns the number of places: as many as connections were ever open at the same time.
    #[cfg(test)]
    pub fn number_of_places(&self) -> usize {
        self.places.len()
    }

    /// Returns whether it is open.
    pub fn is_open(&self, id: Id) -> bool {
        self.generations.get(id.number) == Some(&id.generation)
            && !matches!(self.places[id.number].ends, Ends::Closed)
    }

    /// Returns how many connections a place has had before the present one, modulo 2^16.
    pub fn generation(&self, index: usize) -> u16 {
        self.generations[index]
    }

    /// Returns the connection with this number.
    pub fn get(&self, index: usize) -> &Connection {
        &self.places[index]
    }

    /// Returns the connection with this number.
    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut Connection {
        &mut self.places[index]
    }
}
