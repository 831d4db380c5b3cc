//! The book's pages on how to add something, executed.

mod controller;
mod element;
mod queue;
