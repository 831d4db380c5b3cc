//! Instruments at one place each: links, senders and applications carry them, and the recorder reads them.

mod after_loss;
mod delays;
mod edges;
mod lengths;
mod levels;
mod meter;
mod onlookers;
mod sender_log;
mod watched;

pub use after_loss::LossOrder;
pub use delays::{Delays, StepMean};
pub use edges::{edges, edges_at, edges_of, sent_at};
pub use meter::Meter;
pub use onlookers::Onlookers;
pub use sender_log::{SenderLog, Settings, STALL};
