//! The engine of the lab page: JSON in, JSON out.
//!
//! The page's worker sends a [`Request`] and shows the answer. Scenarios are read, run and drawn by the same crates as on the command
//! line, so an outcome has the same bits. Nothing here reads a clock, a file or a socket.
//!
//! ```
//! let text = "duration = '2 s'\nlink = { rate = '5 Mbit/s', buffer = '50 packets' }\n\
//!             flow = { name = 'a', controller = 'cubic', rtt = '20 ms' }";
//! let request = serde_json::json!({ "ask": "run", "scenario": { "text": text } });
//! let answer = afteryou_page::answer(&request.to_string(), &mut |_| {});
//! assert!(answer.contains("\"hash\""), "{answer}");
//! ```

mod controls;
mod edit;
mod error;
mod packets;
mod request;
mod run;
#[cfg(target_family = "wasm")]
mod wasm;

pub use packets::{takes, MOST_PACKETS};
pub use request::{answer, Request};
pub use run::Written;
