//! The fluid engine against closed forms, papers and runs.

mod carofiglio;
mod checked;
mod closed_forms;
mod explain;
mod models;
mod runs;
mod trajectories;
