//! Experiments with real packets.
//!
//! ```
//! use afteryou_bed::run::{run, Options};
//! use afteryou_scenario_file::Experiment;
//! use std::ops::ControlFlow;
//!
//! let file = r#"
//! duration = "2 s"
//! link = { rate = "10 Mbit/s", buffer = "100 ms" }
//! flow = { name = "backup", controller = "ledbat++", transport = "utp", rtt = "20 ms", role = "background" }
//! "#;
//! let runs = Experiment::parse(file, "backup.toml", &[])?.runs(Some(1), None)?;
//! // Two seconds of real packets over loopback.
//! let outcome = run(&runs[0].scenario, &Options::default(), &mut |_| ControlFlow::Continue(()))?;
//! let backup = &outcome.run.windows[0].flows[0];
//! println!("{:.1} Mbit/s arrived", backup.goodput_bit_s / 1e6);
//! # assert!(backup.goodput_bit_s > 1e5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing leaves the machine. [`run`] needs no privileges: programs talk over loopback, and a [`relay`] between their sockets
//! plays the network. The testbed has network namespaces, so the kernel's own TCP can take part. Both take a whole scenario
//! and answer with an outcome.
//!
//! # The relay
//! The relay waits in `ppoll` with a timer slack of 1 µs and spins for the last 50 µs. Spinning for 100 µs doubled its load and gained
//! nothing. Past 5 ms of lateness at the 99th percentile the verdict is "invalid measurement: the host was too slow".
//!
//! # The testbed
//! The wire has no links of its own: `sim::live` is the simulator's network without applications, driven by real time. A packet's bytes are
//! in the slab that holds uTP headers in a simulation. So every element of a scenario works on real packets once the simulator has it, and
//! the meters at links are the same. The relay keeps its own engine, since its datagrams belong to sockets and it has to run without
//! privileges on any system.
//!
//! Each flow has a route with its TCP settings: segment size, initial window, shortest timeout, quick acknowledgements, ECN. Programs of the
//! user get them, too. The kernel holds little unsent data (TCP_NOTSENT_LOWAT), so a flow that is turned off stops.
//!
//! A link's queue can be the kernel's (`--queue-by kernel`). `net/kernel_queue` is a namespace that forwards each packet back to its only
//! device through htb and the discipline. `sim::live` hands such packets out, and `wire/outside` recognises them when they come back. So the
//! same meter measures their delays, and TCP's limits on local queues do not apply. `tc` is run as a program: it knows every discipline's
//! format, and its words are the record in the result.
//!
//! # Measuring
//! Goodput counts payload when it arrives for the first time, in order or not. Counted in order, it would show a gap and a burst of three
//! times the link's rate around every loss. `bench/agreement.rs` compares the demo with the simulator. The rest that it shows comes from
//! the time at which the upload meets the last slowdown, a matter of milliseconds, and from the phase of CUBIC's sawtooth. A call's goodput
//! in a window depends on the queue at the window's two edges. 100 ms of it are five of its 500 packets.

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
mod way;
#[cfg(target_os = "linux")]
pub mod wire;

pub use clock::Clock;
pub use error::Error;
