//! Congestion controllers, written once.
//!
//! A controller is a small pure rule: what just happened on the path → how much may be in flight. The same object serves a
//! real socket, a simulator and a test, because it depends on none of them. Time is an argument, and there is no clock, no
//! thread, no allocation and no random source in here.
//!
//! ```
//! use afteryou_cc::{list, Ack, Setup, Span, Time};
//!
//! let mut ledbat = list::find("ledbat").unwrap().build(&[], Setup::of(1500))?;
//! let before = ledbat.directive().cwnd;
//! // Two packets were acknowledged, and no queue delayed them.
//! ledbat.on_ack(&Ack {
//!     now: Time::from_millis(50),
//!     newly_acked: 3000,
//!     flightsize: 3000,
//!     smoothed_rtt: Some(Span::from_millis(50)),
//!     one_way_delay: Some(25_000),
//!     ..Ack::default()
//! });
//! assert!(ledbat.directive().cwnd > before);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`Controller`] is the interface; [`event`] has its inputs.
//! - One file per algorithm: [`ledbatpp`], [`ledbat`], [`fledbat`], [`libutp`], [`libutp_mod`], [`tcp_lp`], [`nice`],
//!   [`vegas`], [`cubic`], [`newreno`], [`bbr`], [`bbr3`], [`cdg`], [`copa`], [`ebb`], [`proteus`].
//! - Orthogonal parts are files of their own and shared: [`delay_meter`] puts together [`delay_signal`], [`base_delay`],
//!   [`current_delay`], [`clock_drift`], [`clock_skew`] and [`route_change`]; then [`slow_start`], [`hystart`], [`slowdown`],
//!   [`restart`], [`loss_gate`], [`undo`], [`ack_habit`], [`noise`], [`packet_time`],
//!   [`window_use`], [`rtt`]. For rules that model the path: [`delivery_rounds`], [`windowed_max`], [`windowed_min`], [`ack_aggregation`]. For
//!   rules that try rates: [`monitor_intervals`], [`regression`], [`ack_gaps`].
//! - [`rledbat`] runs a rule at the receiver of a TCP connection, which limits its sender by the window that it announces.
//! - [`script`] drives a controller by a list of events, without a path.
//! - [`group`] lets several connections share one controller; [`observed`] shows the events of one to a log, and [`observers`] those of all senders of a run.
//! - [`list`] finds a controller by name and makes it from its [parameter table](afteryou_base::param).
//!
//! # Design
//! The interface is wider than most controllers need. BBR uses delivery rates, packets one by one (version 3), a pacing rate with a quantum,
//! and a seed. The tables of [`afteryou_base::param`] feed constructors, `--controller name,param=value`, `afteryou
//! list` and the schema of scenario files.
//!
//! A rule on top of another holds the controller below it: Vegas and TCP-LP have a NewReno, Nice has a Vegas. libutp-mod is libutp with two
//! other defaults.
//!
//! The LEDBAT family computes in integers ([`fixed`], [`ledbat_core`]), so that a kernel can run the same arithmetic. The controllers around it
//! read parameters, choose and correct delays, and hold the optional parts. Everything else is f64 with + − × ÷ √, and `libm` for the rest. Clippy
//! refuses the platform's functions, whose last bits differ from machine to machine.
//!
//! A window below one packet (Nice, libutp) is a rate. Nice returns it as a [pacing](Pacing) that sends two packets together. libutp leaves it
//! to the transport's spacing and asks to be woken. A sender that the pacer holds back is not idle. A window that has grown need not wait for
//! the spacing of the old one.
//!
//! In a [`group`], `group/events.rs` makes one sender's events of the members': sums, send times as packet numbers, one round per round trip.
//! The rule has no lock. `group/shared.rs` puts a mutex around it and is the only file here that needs `std`.
//!
//! # Tests
//! `tests/all/congested.rs` holds every background controller with a target to "no growth at twice the target". `tests/all/properties.rs` holds all of them
//! to sane windows after any sequence of events. `xtask/recipes` executes the book's page "How to add a controller". A paragraph there
//! that names a file of the crate is followed by a block for it; `/* the others */` stands for what the file has already.
#![cfg_attr(not(test), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod ack_aggregation;
pub mod ack_gaps;
pub mod ack_habit;
pub mod base_delay;
pub mod bbr;
pub mod bbr3;
pub mod cdg;
pub mod clock_drift;
pub mod clock_skew;
mod cold;
pub mod controller;
pub mod copa;
pub mod cubic;
pub mod current_delay;
pub mod delay_meter;
pub mod delay_signal;
pub mod delivery_rounds;
pub mod ebb;
pub mod ebb_core;
#[cfg(feature = "alloc")]
mod entry;
pub mod event;
pub mod fixed;
pub mod fledbat;
#[cfg(feature = "alloc")]
pub mod group;
pub mod hystart;
pub mod ledbat;
pub mod ledbat_core;
pub mod ledbat_shell;
pub mod ledbat_slow_start;
pub mod ledbatpp;
pub mod libutp;
pub mod libutp_mod;
#[cfg(feature = "alloc")]
pub mod list;
pub mod loss_gate;
pub mod monitor_intervals;
pub mod newreno;
pub mod nice;
pub mod noise;
#[cfg(feature = "alloc")]
pub mod observed;
#[cfg(feature = "alloc")]
pub mod observers;
pub mod packet_time;
pub mod proteus;
pub mod regression;
pub mod restart;
pub mod rledbat;
pub mod route_change;
pub mod rtt;
pub mod script;
pub mod slow_start;
pub mod slowdown;
pub mod tcp_lp;
pub mod undo;
pub mod vegas;
pub mod window_use;
pub mod windowed_max;
pub mod windowed_min;

pub use afteryou_base::{Span, Time};
pub use controller::{Controller, Directive, Needs, Pacing, RecoveryWindow, Setup, Snapshot};
pub use event::{Ack, Delivered, DeliveryRate, Idle, Loss, Marks, Sent, SpuriousLoss, Timeout, Totals};
pub use fixed::Bytes16;
#[cfg(feature = "alloc")]
pub use observed::{Observed, Observer};
#[cfg(feature = "alloc")]
pub use observers::{NewSender, Observers};

/// The example in the book's page about the interface is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/src/new-interface.md")]
struct BookPage;
