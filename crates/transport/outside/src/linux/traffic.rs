//! The host's traffic, from its interfaces' counters.

use std::fs;
use std::time::{Duration, Instant};

/// Time between two readings of the counters.
const PERIOD: Duration = Duration::from_millis(100);
/// Acknowledgements are this part of what they acknowledge at most: 66 bytes for each packet of 1500.
const OF_ACKS: f64 = 0.05;
/// Columns of /proc/net/dev behind the name: bytes received and bytes sent.
const RECEIVED: usize = 0;
const SENT: usize = 8;

/// Traffic of the busiest interface but the loopback.
#[derive(Debug, Default)]
pub struct Traffic {
    /// When the counters were read, and what they had.
    last: Option<(Instant, Vec<Counters>)>,
    /// Bytes a second, received and sent.
    rates: (f64, f64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Counters {
    name: String,
    received: u64,
    sent: u64,
}

impl Traffic {
    /// Reads the counters if it is time: those of the network of `pid`, or of this thread if that one is gone.
    pub fn read(&mut self, now: Instant, pid: i32) {
        if self.last.as_ref().is_some_and(|(at, _)| now.duration_since(*at) < PERIOD) {
            return;
        }
        let text = fs::read_to_string(format!("/proc/{pid}/net/dev"))
            .or_else(|_| fs::read_to_string("/proc/thread-self/net/dev"));
        self.note(now, &text.unwrap_or_default());
    }

    fn note(&mut self, now: Instant, text: &str) {
        let counters = parse(text);
        if let Some((at, before)) = &self.last {
            let passed = now.duration_since(*at).as_secs_f64().max(1e-3);
            let grown = counters.iter().filter_map(|counters| {
                let before = before.iter().find(|before| before.name == counters.name)?;
                let received = counters.received.saturating_sub(before.received);
                Some((received, counters.sent.saturating_sub(before.sent)))
            });
            let (received, sent) =
                grown.max_by_key(|(received, sent)| received.saturating_add(*sent)).unwrap_or_default();
            self.rates = (received as f64 / passed, sent as f64 / passed);
        }
        self.last = Some((now, counters));
    }

    /// Returns what is sent besides acknowledgements of what is received, bytes a second.
    pub fn sent_per_s(&self) -> f64 {
        self.rates.1 - OF_ACKS * self.rates.0
    }

    /// Returns what is received besides acknowledgements of what is sent, bytes a second.
    pub fn received_per_s(&self) -> f64 {
        self.rates.0 - OF_ACKS * self.rates.1
    }
}

fn parse(text: &str) -> Vec<Counters> {
    let lines = text.lines().filter_map(|line| {
        let (name, columns) = line.split_once(':')?;
        let columns: Vec<&str> = columns.split_whitespace().collect();
        let column = |index: usize| columns.get(index)?.parse().ok();
        Some(Counters { name: name.trim().to_owned(), received: column(RECEIVED)?, sent: column(SENT)? })
    });
    lines.filter(|counters| counters.name != "lo").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "Inter-|   Receive                                                |  Transmit\n \
        face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n";

    fn text(eth0: (u64, u64), veth1: (u64, u64)) -> String {
        let line = |name: &str, (received, sent): (u64, u64)| {
            format!("{name:>6}: {received} 10 0 0 0 0 0 0 {sent} 10 0 0 0 0 0 0\n")
        };
        format!("{HEAD}{}{}{}", line("lo", (1 << 40, 1 << 40)), line("eth0", eth0), line("veth1", veth1))
    }

    #[test]
    fn the_busiest_interface_counts_and_its_acknowledgements_do_not() {
        let mut traffic = Traffic::default();
        let began = Instant::now();
        traffic.note(began, &text((1000, 5000), (0, 0)));
        assert_eq!((traffic.received_per_s(), traffic.sent_per_s()), (0.0, 0.0), "one reading is no rate");
        traffic.note(began + Duration::from_secs(1), &text((1_001_000, 65_000), (10, 20)));
        assert!((traffic.sent_per_s() - 10_000.0).abs() < 1.0, "{traffic:?}");
        assert!((traffic.received_per_s() - 997_000.0).abs() < 1.0, "{traffic:?}");
    }

    #[test]
    fn a_counter_that_began_anew_and_a_text_that_is_none_are_no_traffic() {
        let mut traffic = Traffic::default();
        let began = Instant::now();
        traffic.note(began, &text((1000, 5000), (0, 0)));
        traffic.note(began + PERIOD, &text((10, 50), (0, 0)));
        assert_eq!(traffic.rates, (0.0, 0.0));
        traffic.note(began + 2 * PERIOD, "eth0: many\n: :\n");
        assert_eq!(traffic.rates, (0.0, 0.0));
    }
}
