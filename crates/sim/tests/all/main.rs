//! Whole scenarios in the simulator.

mod background;
mod books;
mod codel;
mod completion_cost;
mod copies;
mod elements;
mod fair_queues;
mod golden;
mod grid;
mod handshakes;
mod hystart;
mod libutp_recovery;
mod live;
mod paths;
mod pie;
mod records;
mod recovery;
mod red;
mod routes;
mod sampling;
mod sets;
mod skew;
mod support;
mod tcp;
mod theory;
mod traffic;
