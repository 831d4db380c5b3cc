//! quinn's settings for background transfers.

use crate::factory::{background, Factory};
use quinn::{AckFrequencyConfig, TransportConfig, VarInt};
use std::sync::Arc;
use std::time::Duration;

/// How long the peer is asked to wait with an acknowledgement at most.
///
/// quinn acknowledges every second packet at once, so only a packet that travels alone waits, for 25 ms if nobody asks
/// for less. That is what a small window sends, just when the queue is to be measured. Not less than 5 ms: with 1 ms
/// every packet of a paced sender below 12 Mbit/s would be acknowledged by itself.
pub const MAX_ACK_DELAY: Duration = Duration::from_millis(5);

/// Twice the 31 MB that 1 Gbit/s holds in 250 ms: a packet that is sent again blocks its stream for a round trip.
const WINDOW_BYTES: u32 = 64 << 20;

/// Returns the settings for background transfers. They are [`background`] as controller, prompt acknowledgements from a peer
/// that can be asked, and windows for 1 Gbit/s over 250 ms. The path's MTU is searched for, which is quinn's default. Up to
/// 64 MiB may wait in each direction of a connection whose program does not read.
///
/// Keep-alive is off and connections end after 30 s of silence, as quinn has it: whether an idle connection shall live is
/// the program's business.
pub fn background_transport() -> TransportConfig {
    transport(background())
}

/// Returns the settings of [`background_transport`] with a controller of your own.
pub fn transport(factory: Arc<Factory>) -> TransportConfig {
    let mut acks = AckFrequencyConfig::default();
    acks.max_ack_delay(Some(MAX_ACK_DELAY));
    let mut transport = TransportConfig::default();
    transport
        .congestion_controller_factory(factory)
        .ack_frequency_config(Some(acks))
        .stream_receive_window(VarInt::from_u32(WINDOW_BYTES))
        .receive_window(VarInt::from_u32(WINDOW_BYTES))
        .send_window(WINDOW_BYTES.into());
    transport
}
