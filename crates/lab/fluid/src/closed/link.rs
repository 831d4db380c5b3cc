//! Consequences of a link, a path and a buffer alone.

/// A link and a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Rate, bit/s.
    pub bits_per_second: f64,
    /// Packets with their headers, bytes.
    pub packet_bytes: f64,
    /// Buffer, packets.
    pub buffer: f64,
    /// Base round-trip time, s.
    pub rtt_s: f64,
}

impl Link {
    /// Returns the link's capacity, packets/s.
    pub fn capacity(&self) -> f64 {
        self.bits_per_second / (8.0 * self.packet_bytes)
    }

    /// Returns the bandwidth-delay product, packets.
    pub fn bdp(&self) -> f64 {
        self.capacity() * self.rtt_s
    }

    /// Returns the link's capacity over a time, bytes.
    pub fn bytes_in(&self, time_s: f64) -> f64 {
        self.bits_per_second / 8.0 * time_s
    }

    /// Returns the number of packets that a queue of this delay holds.
    pub fn packets_in(&self, time_s: f64) -> f64 {
        self.capacity() * time_s
    }

    /// Returns the buffer as a delay, s.
    pub fn buffer_s(&self) -> f64 {
        self.buffer / self.capacity()
    }

    /// Returns the number of targets that fit into the buffer. With fewer LEDBAT flows than that, latecomers stack up theirs
    /// and starve the earlier ones (Carofiglio 2013, Prop. 4.1).
    pub fn targets_in_buffer(&self, target_s: f64) -> f64 {
        self.buffer_s() / target_s
    }

    /// Returns the mean queue of loss-based flows that lose in step and keep `beta` of their windows, packets: windows swing
    /// between `beta·(B + BDP)` and `B + BDP`. At least 0: a short buffer empties.
    pub fn sawtooth_queue(&self, beta: f64) -> f64 {
        let peak = self.buffer + self.bdp();
        ((1.0 + beta) / 2.0 * peak - self.bdp()).max(0.0)
    }

    /// Returns the loss probability at which `flows` Reno flows share the link with the buffer full: `W = √(2/p)`.
    pub fn reno_loss(&self, flows: u32) -> f64 {
        let window = (self.buffer + self.bdp()) / f64::from(flows);
        2.0 / (window * window)
    }

    /// Returns the longest round trip that a window fills, s.
    pub fn filled_by_s(&self, window: f64) -> f64 {
        window / self.capacity()
    }
}
