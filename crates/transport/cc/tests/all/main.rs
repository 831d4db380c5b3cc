//! Every controller of the list, in loops of acks and losses.
#![cfg(feature = "alloc")]

mod ack_batches;
mod closed_loop;
mod congested;
mod driver;
mod ebb;
mod ebb_hostile;
mod ebb_vectors;
mod line;
mod no_allocation;
mod one_way;
mod path;
mod properties;
mod receiver;
mod scripts;
mod undo;
mod vectors;
