//! The project's prose keeps its rules, its links to lines lead to their items, and pages show files as they are.

mod lines;
mod prose;
mod shown;
