//! The queue at the bottleneck, and how much it holds.

/// A queue discipline of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its name in files.
    pub name: &'static str,
    /// It drops or marks before it is full, so that it may hold more than the path needs.
    pub is_active: bool,
    /// It can mark packets, and its parameter for that has the name `ecn`.
    pub marks: bool,
}

const fn queue(name: &'static str, is_active: bool, marks: bool) -> Queue {
    Queue { name, is_active, marks }
}

/// Every queue with its share of the grid. Half is DropTail, which most home routers still have.
pub const SHARES: &[(Queue, f64)] = &[
    (queue("droptail", false, false), 50.0),
    (queue("red", true, true), 5.0),
    (queue("codel", true, true), 6.0),
    (queue("pie", true, true), 6.0),
    (queue("fq_codel", true, true), 9.0),
    (queue("fq_pie", true, true), 4.0),
    (queue("dualpi2", true, false), 4.0),
    (queue("cake", true, true), 8.0),
    (queue("le_threshold", false, false), 1.6),
    (queue("le_two_queues", false, false), 1.6),
    (queue("le_red", true, false), 1.6),
    (queue("le_pie", true, false), 1.6),
    (queue("le_fq_codel", true, false), 1.6),
];

/// Packets that a queue holds at least: a start-up's first round.
const LEAST_PACKETS: f64 = 10.0;
/// Most packets of an active queue, as Linux has it by default.
const ACTIVE_PACKETS: f64 = 1000.0;
/// Times of buffers, ms, and their bandwidth-delay products.
pub const TIMES_MS: (f64, f64) = (5.0, 500.0);
pub const PRODUCTS: (f64, f64) = (0.2, 5.0);
/// Bytes of a full packet.
pub const PACKET: f64 = 1500.0;

/// Returns the packets that a queue holds. `by_time` takes 5 to 500 ms of the link's rate, otherwise it is 0.2 to 5 bandwidth-delay
/// products; `at` in [0, 1) goes through the range.
pub fn buffer_packets(queue: Queue, rate_bit_s: f64, rtt_ms: f64, by_time: bool, at: f64) -> u64 {
    let ms = match by_time {
        true => super::lots::log_between(TIMES_MS.0, TIMES_MS.1, at),
        false => super::lots::log_between(PRODUCTS.0, PRODUCTS.1, at) * rtt_ms,
    };
    let packets = rate_bit_s * ms / 1e3 / 8.0 / PACKET;
    let least = if queue.is_active { ACTIVE_PACKETS } else { LEAST_PACKETS };
    packets.max(least).round() as u64
}

/// Returns the queue as a value of a file.
pub fn file(queue: Queue, marks: bool) -> String {
    match queue.marks {
        true => format!("{{ kind = \"{}\", ecn = {marks} }}", queue.name),
        false => format!("\"{}\"", queue.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_has_its_time_or_its_products_and_some_packets_at_least() {
        let (droptail, codel) = (SHARES[0].0, SHARES[2].0);
        assert_eq!(buffer_packets(droptail, 12e6, 100.0, true, 0.5), 50); // 50 ms of 1000 packets a second
        assert_eq!(buffer_packets(droptail, 12e6, 100.0, false, 0.5), 100);
        assert_eq!(buffer_packets(droptail, 0.5e6, 5.0, false, 0.0), 10);
        assert_eq!(buffer_packets(codel, 12e6, 100.0, false, 0.5), 1000);
    }
}
