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
//!
//! # Design
//! The page has no second implementation of anything. This crate is the pool of runs without real packets, the report's plan and files
//! without its features, and scenarios. Two functions take text across: `room` and `ask`. The one import is `progress`. A worker runs one
//! request, and the page cancels it by ending the worker, so the engine needs no clock. A run is bounded before it begins (`packets`), and
//! the linker bounds memory at 1 GiB. A trap becomes a sentence and a new worker. `edit` moves one value of a text and keeps the rest, and
//! `controls` makes sliders of the tables of parameters. Files that a scenario names come with the request.
//!
//! The target is `wasm32-wasip1`: on `wasm32-unknown-unknown` plotters brings wasm-bindgen, with 24 imports and 160 kB of exported names. The
//! worker answers WASI's functions with "no such file". `web/build` joins the modules, packs the engine, and writes the hashes of script and
//! style into the page's policy.

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
