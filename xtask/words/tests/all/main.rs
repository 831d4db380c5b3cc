//! The project's prose keeps its rules, and its links to lines their items.

mod lines;
mod prose;
