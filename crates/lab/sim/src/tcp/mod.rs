//! TCP endpoints: a sender and a receiver without I/O, as the simulator runs them. The sender is `afteryou_sender` with TCP's
//! segments, acknowledgements and handshake.

mod acks;
mod outside;
mod receiver;
mod sender;
mod window;

pub use acks::Incoming;
pub use outside::Socket;
#[cfg(test)]
pub use receiver::Acknowledgement;
pub use receiver::{Arrival, Receiver};
pub use sender::{Sender, Transmit};
pub use window::{After, ReceiveWindow, Rule};

#[cfg(test)]
mod tests;
