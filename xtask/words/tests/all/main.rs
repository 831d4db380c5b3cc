//! The project's prose keeps its rules.

mod prose;
