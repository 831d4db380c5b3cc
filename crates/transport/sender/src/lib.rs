//! A sender without a wire: the rules that every transport needs between its packets and its congestion controller.
//!
//! ```
//! use afteryou_base::{Span, Time};
//! use afteryou_cc::{list, Setup};
//! use afteryou_sender::Congestion;
//!
//! let controller = list::find("ledbat++").unwrap().build(&[], Setup::of(1448))?;
//! let mut congestion = Congestion::new(controller, 1448);
//! congestion.start(Time::from_millis(0));
//! congestion.take_rtt(Span::from_millis(40));
//! assert!(congestion.has_room(1448, 0, false), "the first packet may leave");
//! assert!(!congestion.has_room(1448, congestion.window(), true), "and none beyond the window");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A transport composes the parts; it keeps its packet format, its acknowledgements and its handshake. TCP in the simulator and
//! uTP are built this way. Nothing here does I/O or reads a clock: time is an argument.
//!
//! ```text
//!   ack ──▶ board: packets arrived and lost ──▶ congestion: reports it to the controller ──▶ window, pacing
//!                       ▲                                                                             │
//!                       └──────────── packet leaves ◀── room in the window, and its turn ◀────────────┘
//! ```
//! - [`board`] is the scoreboard: packets by their place in the connection, transmissions by their number. Losses are found in
//!   the order of transmissions ([RFC 8985](https://www.rfc-editor.org/rfc/rfc8985)) or by duplicate acks (RFC 6675).
//! - [`congestion`] is the only place that calls the controller. Window, pacing, idle times and application limits follow from
//!   its answers.
//! - [`departures`] is the [`pacer`] under the controller's directive.
//! - [`delivery`] stamps packets and computes delivery rates; [`rounds`] counts round trips; [`app_limited`] marks what is
//!   no evidence about the path.
//! - [`episode`], [`doubts`] and [`prr`] belong to a recovery; [`reordering`] and [`tail`] to RACK-TLP; [`timers`] to all.
//!
//! # Design
//! Transmissions are kept until their packet arrives, so a late packet has its own number, sending time and stamp. The controller's directive
//! is asked for once after each event. [`doubts`] keeps the losses of the latest recovery by name until they turn out to be real.
//!
//! Two rules end an application-limited period ([`app_limited`]). With the draft's rule for both, a flow that sends in chunks would lose one
//! round of growth at each chunk.
//!
//! # Tests
//! `board/model.rs` compares the scoreboard with a plain list of packets. A property test of [`delivery`] compares it with the draft's
//! pseudo-code.

pub mod app_limited;
pub mod board;
pub mod congestion;
pub mod delivery;
pub mod departures;
pub mod doubts;
pub mod ecn;
pub mod episode;
pub mod pacer;
pub mod prr;
pub mod ranges;
pub mod reordering;
pub mod rounds;
pub mod tail;
pub mod timers;

pub use board::{AckProgress, Board, Flight};
pub use congestion::Congestion;

/// Returns the number nearest to `near` whose low 32 bits are `low`.
pub fn expand(near: u64, low: u32) -> u64 {
    near.wrapping_add_signed(i64::from(low.wrapping_sub(near as u32) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_expand_to_the_nearest_one() {
        for near in [0u64, 5, 1 << 32, (1 << 32) - 2, 7 << 33] {
            for offset in [-3i64, -1, 0, 1, 1000, i64::from(i32::MAX)] {
                let Some(number) = near.checked_add_signed(offset) else { continue };
                assert_eq!(expand(near, number as u32), number, "{near} {offset}");
            }
        }
    }
}
