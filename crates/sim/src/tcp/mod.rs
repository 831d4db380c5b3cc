//! TCP endpoints: a sender and a receiver without I/O, as the simulator runs them.

mod acks;
mod board;
mod prr;
mod rack;
mod receiver;
mod sender;
mod timers;

pub use acks::Incoming;
pub use receiver::{Arrival, Receiver};
pub use sender::{Sender, Transmit};

#[cfg(test)]
mod tests;
