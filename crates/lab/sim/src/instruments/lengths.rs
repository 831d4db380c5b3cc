//! The length of a queue over time, and each flow's part of it: recorded on demand (`record = ["queues"]`).
//!
//! Each change of the queue adds the time since the last one to the length that lasted so long. Windows are differences of two
//! states of these counters, so nothing is done for a window while it is open. As in the mean queue, the packet in transmission
//! is not part of the queue.

use afteryou_base::Time;
use afteryou_scenario::outcome::{round, BucketFigures, FlowAtLink, QueueLength};

/// Counters since the run began.
#[derive(Clone, Debug, Default)]
struct Counters {
    /// Nanoseconds during which the queue had the place's number of packets.
    lasted: Vec<u64>,
    /// By flow.
    flows: Vec<FlowCounters>,
}

#[derive(Clone, Copy, Debug, Default)]
struct FlowCounters {
    /// Packets × ns in the queue.
    area: u128,
    /// Bytes that left the queue onto the link.
    left: u64,
}

/// A window's edges and the counters that belong to it.
#[derive(Clone, Debug)]
struct Window {
    from: Time,
    to: Time,
    /// As it began; once it is over, what passed in it.
    counters: Counters,
    /// As it ended.
    end: Edge,
}

/// The state at the end of a window.
#[derive(Clone, Debug, Default)]
struct Edge {
    /// Packets in the queue, by flow.
    queued: Vec<u64>,
    buckets: Option<BucketFigures>,
}

/// Records the length of one queue.
#[derive(Debug)]
pub struct Lengths {
    windows: Vec<Window>,
    counters: Counters,
    /// By connection, the flow that it belongs to. A place whose next connection belongs to another flow takes the few packets
    /// along that its last one has left in the queue.
    owners: Vec<u32>,
    /// Packets of each connection in the queue, and since when.
    queued: Vec<(u64, Time)>,
    /// When the newest packet of each connection came.
    came: Vec<Option<Time>>,
    length: usize,
    changed: Time,
}

impl Lengths {
    /// Records the queue of a link in windows `(from, to)`, for `flows` flows.
    pub fn new(windows: impl Iterator<Item = (Time, Time)>, flows: usize) -> Lengths {
        let counters = Counters { lasted: vec![0], flows: vec![FlowCounters::default(); flows] };
        let windows = windows.map(|(from, to)| Window {
            from,
            to,
            counters: Counters::default(),
            end: Edge::default(),
        });
        Lengths {
            windows: windows.collect(),
            counters,
            owners: Vec::new(),
            queued: Vec::new(),
            came: Vec::new(),
            length: 0,
            changed: Time::ZERO,
        }
    }

    /// Notes that a connection of the flow `owner` may send over this link.
    pub fn opened(&mut self, connection: usize, owner: usize) {
        if self.owners.len() <= connection {
            self.owners.resize(connection + 1, 0);
            self.queued.resize(connection + 1, (0, Time::ZERO));
            self.came.resize(connection + 1, None);
        }
        self.owners[connection] = owner as u32;
    }

    /// Notes that a packet of a connection has come into the queue.
    pub fn arrived(&mut self, now: Time, connection: u32) {
        self.change(now, connection);
        self.length += 1;
        self.queued[connection as usize].0 += 1;
        self.came[connection as usize] = Some(now);
    }

    /// Notes that a packet of `connection` has been dropped from the queue.
    pub fn dropped(&mut self, now: Time, connection: u32) {
        self.change(now, connection);
        self.length -= 1;
        self.queued[connection as usize].0 -= 1;
    }

    /// Notes that a packet of `connection` has left the queue onto the link.
    pub fn left(&mut self, now: Time, connection: u32, bytes: u32) {
        self.dropped(now, connection);
        self.counters.flows[self.owners[connection as usize] as usize].left += u64::from(bytes);
    }

    /// Brings the counters of the queue and of `connection` up to `now`.
    fn change(&mut self, now: Time, connection: u32) {
        self.count_length(now);
        self.count_connection(now, connection as usize);
    }

    fn count_length(&mut self, now: Time) {
        if self.counters.lasted.len() <= self.length {
            self.counters.lasted.resize(self.length + 1, 0);
        }
        self.counters.lasted[self.length] += now.since(self.changed).0;
        self.changed = now;
    }

    fn count_connection(&mut self, now: Time, connection: usize) {
        let (packets, since) = &mut self.queued[connection];
        self.counters.flows[self.owners[connection] as usize].area +=
            u128::from(*packets) * u128::from(now.since(*since).0);
        *since = now;
    }

    /// Begins and ends windows here; `bucket` returns the bucket of a connection, where the queue has buckets.
    pub fn at_edge(&mut self, now: Time, bucket: impl Fn(u32) -> Option<usize>) {
        self.count_length(now);
        (0..self.queued.len()).for_each(|connection| self.count_connection(now, connection));
        for window in &mut self.windows {
            if window.from == now {
                window.counters = self.counters.clone();
            }
            if window.to == now {
                window.counters = self.counters.since(&window.counters);
                let mut queued = vec![0; self.counters.flows.len()];
                for (owner, (packets, _)) in self.owners.iter().zip(&self.queued) {
                    queued[*owner as usize] += packets;
                }
                window.end = Edge { queued, buckets: sharing(&self.came, window.from, &bucket) };
            }
        }
    }

    /// Returns the distribution of the length in a window that is over.
    pub fn length(&self, window: usize) -> Option<QueueLength> {
        let lasted = &self.windows[window].counters.lasted;
        let total: u64 = lasted.iter().sum();
        if total == 0 {
            return None;
        }
        let quantile = |q: f64| {
            let wanted = total as f64 * q;
            let mut passed = 0;
            let reached = lasted.iter().position(|ns| {
                passed += ns;
                passed as f64 >= wanted
            });
            reached.unwrap_or(lasted.len() - 1) as u64
        };
        Some(QueueLength {
            empty: round(lasted[0] as f64 / total as f64, 6),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: lasted.iter().rposition(|ns| *ns > 0).unwrap_or(0) as u64,
        })
    }

    /// Returns how many connections shared a bucket as the window ended.
    pub fn buckets(&self, window: usize) -> Option<BucketFigures> {
        self.windows[window].end.buckets
    }

    /// Returns each flow's part in a window that is over; flows of which nothing passed are left out.
    pub fn flows<'a>(&'a self, window: usize, names: impl Iterator<Item = &'a str>) -> Vec<FlowAtLink> {
        let Window { from, to, counters, end } = &self.windows[window];
        let ns = to.since(*from).0.max(1) as f64;
        let all: u64 = counters.flows.iter().map(|flow| flow.left).sum();
        let parts = names.zip(&counters.flows).zip(&end.queued);
        let parts = parts.filter(|((_, flow), _)| flow.left > 0 || flow.area > 0);
        let part = |((name, flow), queued): ((&str, &FlowCounters), &u64)| FlowAtLink {
            flow: name.to_owned(),
            bytes: flow.left,
            share: round(flow.left as f64 / all.max(1) as f64, 6),
            queue_packets: round(flow.area as f64 / ns, 4),
            queued_at_end: *queued,
        };
        parts.map(part).collect()
    }
}

/// Counts the connections of which a packet came since `from`, and those of them that share a bucket with another one.
fn sharing(
    came: &[Option<Time>],
    from: Time,
    bucket: &impl Fn(u32) -> Option<usize>,
) -> Option<BucketFigures> {
    let active = came.iter().enumerate().filter(|(_, came)| came.is_some_and(|came| came >= from));
    let mut buckets: Vec<usize> = active.filter_map(|(connection, _)| bucket(connection as u32)).collect();
    if buckets.is_empty() {
        return None;
    }
    buckets.sort_unstable();
    let groups = buckets.chunk_by(|one, other| one == other);
    let sharing: usize = groups.filter(|group| group.len() > 1).map(<[usize]>::len).sum();
    Some(BucketFigures { connections: buckets.len() as u64, sharing: sharing as u64 })
}

impl Counters {
    fn since(&self, earlier: &Counters) -> Counters {
        let before = earlier.lasted.iter().copied().chain(std::iter::repeat(0));
        let lasted = self.lasted.iter().zip(before).map(|(now, before)| now - before);
        let flows = self
            .flows
            .iter()
            .zip(&earlier.flows)
            .map(|(now, before)| FlowCounters { area: now.area - before.area, left: now.left - before.left });
        Counters { lasted: lasted.collect(), flows: flows.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::from_millis(s * 1000)
    }

    /// 0 on [0, 1), 2 on [1, 3), 1 on [3, 4): the mean is 1.25, and a quarter of the time the queue is empty.
    #[test]
    fn a_length_counts_for_as_long_as_it_lasts() {
        let mut lengths = Lengths::new([(at(0), at(4)), (at(1), at(3))].into_iter(), 2);
        (0..2).for_each(|flow| lengths.opened(flow, flow));
        lengths.at_edge(at(0), |_| Some(3));
        lengths.at_edge(at(1), |_| Some(3));
        lengths.arrived(at(1), 0);
        lengths.arrived(at(1), 1);
        lengths.at_edge(at(3), |_| Some(3));
        lengths.left(at(3), 0, 1500);
        lengths.at_edge(at(4), |_| Some(3));
        let whole = lengths.length(0).unwrap();
        assert_eq!(whole, QueueLength { empty: 0.25, p50: 1, p95: 2, p99: 2, max: 2 });
        assert_eq!(lengths.length(1).unwrap(), QueueLength { empty: 0.0, p50: 2, p95: 2, p99: 2, max: 2 });
        let names = || ["a", "b"].into_iter();
        let parts = lengths.flows(0, names());
        assert_eq!((parts[0].bytes, parts[0].share, parts[0].queue_packets), (1500, 1.0, 0.5));
        assert_eq!((parts[1].bytes, parts[1].queue_packets), (0, 0.75));
        assert_eq!(lengths.flows(1, names())[0].bytes, 0, "it left as the window ended");
        assert_eq!([parts[0].queued_at_end, parts[1].queued_at_end], [0, 1]);
        assert_eq!(lengths.buckets(0), Some(BucketFigures { connections: 2, sharing: 2 }));
    }

    /// Buckets 0, 1, 0, 2, 1, 0: of the five connections with packets since 1 s, the last one had none, two pairs share.
    #[test]
    fn connections_that_share_a_bucket_are_counted() {
        let bucket = |connection: u32| Some([0, 1, 0, 2, 1, 0][connection as usize]);
        let mut came = vec![Some(at(1)); 5];
        came.push(Some(at(0)));
        let figures = sharing(&came, at(1), &bucket);
        assert_eq!(figures, Some(BucketFigures { connections: 5, sharing: 4 }));
        assert_eq!(sharing(&came, at(2), &bucket), None);
        assert_eq!(sharing(&came, at(1), &|_| None), None);
    }
}
