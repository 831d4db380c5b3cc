//! The terminal, as every command of afteryou uses it: text on stdout and stderr, and failures with their exit codes.
//!
//! ```
//! assert_eq!(afteryou_terminal::cut("a name that is long", 8), "a name …");
//! ```
//!
//! Nothing that is printed here has the secret of a ticket in it, and nothing from elsewhere steers the terminal.

mod complaint;
pub mod environment;
pub mod failure;
pub mod output;
mod redact;
pub mod width;

pub use environment::{is_dumb, no_color};
pub use failure::Failure;
pub use redact::redact;
pub use width::cut;
