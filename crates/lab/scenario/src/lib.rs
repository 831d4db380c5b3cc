//! Experiments and their outcomes as types.
//!
//! A [`Scenario`] defines what happens: links, their queues, some flows, a time table, what to measure.
//! [`Scenario::checked`] makes its [`Network`] and returns a [`Checked`] scenario, which every engine takes. Each engine
//! answers with the same [`Outcome`], which carries the whole scenario and is enough to draw every figure again. Quantities
//! have their unit in the type; as text they are written with it ("20 Mbit/s").
//!
//! ```
//! use afteryou_scenario::{Duration, Flow, Link, Role, Scenario};
//!
//! let link = Link::new("10 Mbit/s".parse()?, "300 ms".parse()?);
//! let backup = Flow::new("backup", Role::Background, "ledbat++", Duration::from_millis(50));
//! let scenario = Scenario { flow: vec![backup], ..Scenario::new("A backup", Duration::from_millis(60_000), link) };
//! let checked = scenario.checked()?;
//! assert_eq!(checked.network().routes[0].forward, [0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Design
//! A [`Scenario`] is concrete: every flow with the times and the path it has. Scenario files, in the crate `afteryou-scenario-file`, may leave
//! these open; they are decided when runs are made of a file, so an engine draws nothing but losses. A result carries exactly what was run.
//!
//! | file | has |
//! |---|---|
//! | `check/`, `fault.rs`, `checked.rs` | the checks, the part of a scenario that is wrong, and what has passed |
//! | `network.rs`, `route.rs` | links in one direction each, and the route of each flow |
//! | `outcome.rs`, `outcome/` | figures of every link and flow; a link goes one way, so its figures are those of a direction |
//! | `outcome/crossing.rs` | which flows' data cross a link: shares count these |
//! | `outcome/read.rs`, `schema1.rs`, `schema2.rs` | earlier formats, read into today's types |
//! | `random.rs`, `draw.rs` | named PCG streams of one seed; times drawn from them, with `libm` |
//! | [`passage`](Passage) | single packets at links, for files in other formats |
//! | `end_rule.rs`, `jobs.rs` | rules of receivers and of senders' hosts, and the flows that share one |
//! | `support.rs`, `runaway.rs` | what an engine cannot run, and windows that nothing stops |
//!
//! The content hash of an outcome is made of engine, version and scenario, the seed included.

mod buffer;
mod check;
mod checked;
pub mod content;
mod discipline;
pub mod draw;
pub mod element;
pub mod end_rule;
mod fault;
pub mod flow_set;
pub mod fluid;
pub mod hosts;
mod jobs;
pub mod law;
mod named;
pub mod network;
pub mod outcome;
pub mod passage;
pub mod path;
pub mod points;
pub mod random;
pub mod record;
mod route;
pub mod route_change;
pub mod runaway;
mod sample;
pub mod scenario;
mod script;
mod sets;
pub mod support;
pub mod traffic;
pub mod transport;

pub use afteryou_notation::{Algorithm, Dscp, Duration, Error, Probability, Rate, Size};
pub use buffer::Buffer;
pub use checked::Checked;
pub use discipline::discipline;
pub use element::Elements;
pub use end_rule::EndRule;
pub use fault::{Fault, Part};
pub use flow_set::FlowSet;
pub use fluid::Fluid;
pub use jobs::{jobs, Job, Member};
pub use law::Law;
pub use named::named;
pub use network::Network;
pub use outcome::Outcome;
pub use passage::Passage;
pub use path::{Direction, Path};
pub use record::Record;
pub use route_change::RouteChange;
pub use scenario::{Flow, Link, Role, Scenario, Window};
pub use traffic::{Gaps, Traffic};
pub use transport::{Transport, TransportKind};
