//! Experiments with real packets.
//!
//! ```
//! use afteryou_bed::run::{run, Options};
//! use afteryou_scenario::Experiment;
//!
//! let file = r#"
//! duration = "2 s"
//! link = { rate = "10 Mbit/s", buffer = "100 ms" }
//! flow = { name = "backup", controller = "ledbat++", transport = "utp", rtt = "20 ms", role = "background" }
//! "#;
//! let runs = Experiment::parse(file, "backup.toml", &[])?.runs(Some(1), None)?;
//! // Two seconds of real packets over loopback.
//! let outcome = run(&runs[0].scenario, &Options::default(), &mut |_| true)?;
//! let backup = &outcome.run.windows[0].flows[0];
//! println!("{:.1} Mbit/s arrived", backup.goodput_bit_s / 1e6);
//! # assert!(backup.goodput_bit_s > 1e5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing leaves the machine. [`run`] needs no privileges: programs talk over loopback, and a [`relay`] between their sockets
//! plays the network. The testbed has network namespaces, so the kernel's own TCP can take part. Both take a whole scenario
//! and answer with an outcome.

pub mod clock;
pub mod error;
mod lateness;
#[cfg(target_os = "linux")]
pub mod net;
mod quic_packet;
pub mod relay;
pub mod run;
mod support;
#[cfg(target_os = "linux")]
mod system;
#[cfg(target_os = "linux")]
pub mod testbed;
#[cfg(target_os = "linux")]
pub mod wire;

pub use clock::Clock;
pub use error::Error;
