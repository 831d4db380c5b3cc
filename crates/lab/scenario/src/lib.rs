//! The words of an experiment and of its result.
//!
//! A [`Scenario`] says what happens: a link, its queue, some flows, a time table, what to measure. Every engine takes
//! the same scenario and answers with the same [`Outcome`], which carries the whole scenario and is enough to draw
//! every figure again. Quantities have their unit in the type; as text they are written with it ("20 Mbit/s").
//!
//! ```
//! use afteryou_scenario::Experiment;
//!
//! let text = r#"
//! duration = "60 s"
//! link = { rate = "10 Mbit/s", buffer = "300 ms" }
//! flow = { name = "backup", controller = "ledbat++", rtt = "50 ms", role = "background" }
//! sweep."link.buffer" = ["50 ms", "300 ms"]
//! "#;
//! let runs = Experiment::parse(text, "backup.toml", &[])?.runs(Some(1), None)?;
//! assert_eq!(runs.len(), 2);
//! assert_eq!(runs[1].scenario.flow[0].name, "backup");
//! let wrong = Experiment::parse(&text.replace("rtt", "rrt"), "backup.toml", &[]).unwrap_err();
//! assert!(wrong.to_string().contains("rtt"), "the error names the word that was meant");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Design
//! A [`Scenario`] is concrete: every flow with the times and the path it has. A file is declarative. Sweeps, counts, random starts and paths
//! are decided when runs are made of it ([`Experiment::runs`]), so an engine draws nothing but losses. A result carries exactly what was run.
//!
//! | file | has |
//! |---|---|
//! | `file/tree.rs` | a file as a tree whose nodes know their place, so an error in a swept value points at that value |
//! | `file/keys.rs` | every key once, for checker, schema and manual |
//! | `outcome.rs`, `outcome/` | figures of every link and flow; a link goes one way, so its figures are those of a direction |
//! | `outcome/crossing.rs` | which flows' data cross a link: shares count these |
//! | `outcome/read.rs`, `schema1.rs`, `schema2.rs` | earlier formats, read into today's types |
//! | `random.rs`, `draw.rs` | named PCG streams of one seed; times drawn from them, with `libm` |
//! | [`passage`](Passage) | single packets at links, for files in other formats |
//! | `support.rs`, `traps.rs` | what an engine cannot run, and warnings |
//!
//! [`catalogue`] is the only place where controllers are looked up by name: the built-in list, then what the process has registered. It only
//! grows. It is the one global of the project, because names in files, flags and results must have one meaning. The content hash of an outcome is
//! made of engine, version and scenario, the seed included.

pub mod algorithm;
pub mod catalogue;
pub mod content;
pub mod draw;
pub mod dscp;
pub mod element;
pub mod error;
mod faults;
pub mod file;
pub mod flow_set;
pub mod fluid;
pub mod hosts;
pub mod law;
pub mod network;
pub mod outcome;
pub mod passage;
pub mod path;
pub mod plain;
pub mod points;
pub mod random;
pub mod record;
mod route;
pub mod route_change;
mod runaway;
mod sample;
pub mod scenario;
mod sets;
pub mod support;
pub mod traffic;
pub mod transport;
pub mod traps;
pub mod units;
pub mod words;

pub use algorithm::Algorithm;
pub use dscp::Dscp;
pub use element::Elements;
pub use error::Error;
pub use file::Experiment;
pub use flow_set::FlowSet;
pub use fluid::Fluid;
pub use law::Law;
pub use network::Network;
pub use outcome::Outcome;
pub use passage::Passage;
pub use path::{Direction, Path};
pub use plain::{Plain, Unit};
pub use record::Record;
pub use route_change::RouteChange;
pub use scenario::{Flow, Link, Role, Scenario, Window};
pub use traffic::{Gaps, Traffic};
pub use transport::{Transport, TransportKind};
pub use units::{Buffer, Duration, Probability, Rate, Size};
