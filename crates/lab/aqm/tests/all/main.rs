//! Every queue of the list.

mod fairness;
mod lower_effort;
mod no_allocation;
mod properties;
mod scripts;
