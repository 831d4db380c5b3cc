//! The rule, without sockets and clocks: readings of connections go in, windows and rates come out.
//!
//! A group is all connections of a job in one direction. [`law`] has the window of the group, [`turns`] which of the connections may use
//! it, [`group`] what each connection gets, and [`rate`] makes a sender's rate of that. [`opposite`] takes the host's own traffic the other
//! way off the queue, and [`fair`] yields where a fair queue hides others.

pub mod about;
pub mod fair;
pub mod group;
pub mod law;
pub mod members;
pub mod opposite;
pub mod rate;
pub mod recent;
pub mod turns;

pub use about::ABOUT;
pub use group::{Granted, Group, Part};
pub use law::Params;
pub use members::{Direction, Id, Reading};
