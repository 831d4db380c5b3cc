//! Pages, figures, text and files, all made from the same outcomes.

mod common;
mod files;
mod links;
mod pictures;
mod plots;
mod rows;
mod sweeps;
mod words;
