//! Events of a controller: one plain struct for each thing that can happen on a path.
//!
//! All sizes are payload bytes. Packet numbers count transmissions (a retransmission gets a new one), so
//! that "sent later" and "has a larger packet number" mean the same.

use afteryou_base::units::{Span, Time};

/// A packet left, and the sender's state at that moment. The same value comes back with the packet's delivery or loss.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sent {
    /// When it left.
    pub now: Time,
    /// Its payload, bytes.
    pub bytes: u64,
    /// Its number in order of transmission.
    pub packet_number: u64,
    /// Its place in the connection's data: a retransmission has that of the packet it repeats. None if the transport does not name
    /// it, as with QUIC, or the controller does not [need](crate::Needs::per_packet) packets one by one.
    pub sequence: Option<u64>,
    /// Bytes believed to be in the network, this packet included.
    pub in_flight: u64,
    /// The application had nothing more to send although the window would have allowed it.
    pub app_limited: bool,
    /// Totals of the connection; zeros unless the controller [needs](crate::Needs) them.
    pub totals: Totals,
}

/// The sender's counters when a packet leaves (draft-cheng-iccrg-delivery-rate-estimation-02 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Totals {
    /// Bytes delivered so far on this connection (P.delivered).
    pub delivered: u64,
    /// When the latest of them were delivered (P.delivered_time).
    pub delivered_at: Time,
    /// When the newest of them had left (P.first_sent_time).
    pub first_sent_at: Time,
    /// Bytes found lost so far, without those that a needless timeout had declared lost and that are in flight again (P.lost of
    /// draft-ietf-ccwg-bbr).
    pub lost: u64,
}

/// A packet has been delivered. Comes once for each packet that an ack reports, before that ack's [`Ack`], and only to a
/// controller that [needs](crate::Needs) packets one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Delivered {
    /// When the ack arrived.
    pub now: Time,
    /// The packet's newest transmission, and the sender's state when it left.
    pub sent: Sent,
    /// Bytes delivered so far on this connection, this packet included.
    pub delivered: u64,
    /// Its round-trip time, unless it was sent more than once.
    pub rtt: Option<Span>,
    /// Its one-way delay as in [`Ack::one_way_delay`]: only for the packet whose timestamp the ack echoes.
    pub one_way_delay: Option<u32>,
    /// Its delays may have a receiver's waiting in them: for a second packet, or for the timer of delayed acks.
    pub may_have_waited: bool,
}

/// Marks of Congestion Experienced, as a receiver reports them.
///
/// A classic TCP receiver echoes (RFC 3168 §6.1.3): how many packets were marked is unknown. QUIC (RFC 9000 §13.4) and AccECN
/// (RFC 9768) count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// No mark.
    #[default]
    None,
    /// The receiver echoes a mark: at least one packet. Reported once per window of data.
    Echo,
    /// The number of packets that were marked.
    Count(u32),
}

impl Marks {
    /// Returns whether any packet is marked.
    #[inline]
    pub fn any(self) -> bool {
        self.packets() > 0
    }

    /// Returns the number of marked packets to reckon with: an echo reports one at least.
    #[inline]
    pub fn packets(self) -> u32 {
        match self {
            Marks::None => 0,
            Marks::Echo => 1,
            Marks::Count(packets) => packets,
        }
    }
}

/// How fast data was delivered while the newest acknowledged packet was in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeliveryRate {
    /// Bytes delivered in the interval.
    pub delivered: u64,
    /// The longer of the send interval and the ack interval.
    pub interval: Span,
    /// Bytes in flight when the packet was sent.
    pub in_flight_at_send: u64,
    /// The sample was taken while the application limited the sender.
    pub app_limited: bool,
}

/// An acknowledgement with news.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes that it acknowledges cumulatively and that no SACK had reported before.
    pub newly_acked: u64,
    /// Bytes that it reports by SACK for the first time.
    pub newly_sacked: u64,
    /// Bytes sent and not yet acknowledged in order, before this ack: the FlightSize of RFC 5681 §2. Packets that SACK
    /// has reported and lost packets count until the cumulative ack passes them.
    pub flightsize: u64,
    /// Bytes believed to be in the network before this ack (lost ones excluded): the pipe of RFC 6675.
    pub in_flight: u64,
    /// When the newest acknowledged packet was sent.
    pub sent_at: Time,
    /// Number of the newest acknowledged packet.
    pub packet_number: u64,
    /// Round-trip time of the newest acknowledged packet, if it is unambiguous.
    pub rtt: Option<Span>,
    /// The transport's smoothed round-trip time with this sample taken in; none before the first one.
    pub smoothed_rtt: Option<Span>,
    /// The transport's smallest round-trip time so far, of every sample in `smoothed_rtt`; none before the first one. The handshake and
    /// a time stamp give samples that no ack has as its `rtt`.
    pub min_rtt: Option<Span>,
    /// One-way delay sample in µs as the peer measured it, modulo 2^32 and with an unknown constant offset.
    pub one_way_delay: Option<u32>,
    /// The round-trip time and the one-way delay may have a receiver's waiting in them (delayed acks).
    pub may_have_waited: bool,
    /// One-way delay of this ack itself in µs, by our clock less the peer's: modulo 2^32, with the opposite offset.
    pub reverse_delay: Option<u32>,
    /// Delivery rate sample, if the transport takes one.
    pub delivery: Option<DeliveryRate>,
    /// Marks of Congestion Experienced that this ack reports.
    pub marks: Marks,
    /// A round trip has passed: this is the first ack of a packet sent after the previous round began.
    pub round_start: bool,
    /// The sender is limited by its application, not by the window.
    pub app_limited: bool,
}

impl Ack {
    /// Returns the bytes that this ack reports as delivered for the first time.
    pub fn delivered(&self) -> u64 {
        self.newly_acked.saturating_add(self.newly_sacked)
    }

    /// Returns an ack of one packet of 1500 B at time zero, without any delay sample.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Ack {
        Ack {
            newly_acked: 1500,
            flightsize: 150_000,
            in_flight: 150_000,
            packet_number: 1,
            smoothed_rtt: Some(Span::from_millis(50)),
            ..Ack::default()
        }
    }
}

/// One packet was found lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// The lost transmission, and the sender's state when it left.
    pub sent: Sent,
    /// FlightSize as in [`Ack::flightsize`], when it was found.
    pub flightsize: u64,
    /// The queue that the packet met: the round-trip time of the newest packet that arrived in order, less the
    /// connection's smallest round-trip time. The newest such packet is the one ahead of the gap. None without such
    /// samples.
    pub queuing_delay: Option<Span>,
    /// The path was dead for several timeouts (RFC 9002 §7.6); transports without the notion pass `false`.
    pub persistent: bool,
}

/// A packet that was reported lost has arrived after all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpuriousLoss {
    /// When that was found.
    pub now: Time,
    /// The transmission that had been reported lost.
    pub sent: Sent,
    /// With this packet, every packet that was reported lost at `since` or later has arrived, and a timeout since then was
    /// needless: what the window lost then, it lost for nothing. The recovery may be over.
    pub undo: bool,
    /// With `undo`: when the first reduction happened that was needless.
    pub since: Time,
}

/// The retransmission timer expired.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timeout {
    /// When.
    pub now: Time,
    /// FlightSize as in [`Ack::flightsize`], before anything in flight is declared lost.
    pub flightsize: u64,
    /// 1 for the first expiry since an ack made progress, 2 for the next, and so on.
    pub consecutive: u32,
}

/// The sender starts again after it had nothing in flight for a while, however short: time in which the window could not grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Idle {
    /// When it starts again.
    pub now: Time,
    /// How long nothing was sent.
    pub idle_for: Span,
    /// The transport's retransmission timeout, the usual threshold for forgetting the window.
    pub rto: Span,
}
