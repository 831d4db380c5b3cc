//! Samples of the kernel's TCP in a sender's log: TCP_INFO of a connection every few milliseconds.
//!
//! | in the log | from |
//! |---|---|
//! | window, flight size | `snd_cwnd`, `unacked` in segments |
//! | RTT | `rtt`, the kernel's smoothed one, once a sample |
//! | base delay | `min_rtt` |
//! | cut, phase | window, threshold and state of two samples |
//! | loss | each segment that was sent again since the last sample |
//! | timeout | the state becomes Loss |
//! | stall | samples without progress of `bytes_acked` while data are outstanding |
//!
//! Times are those of the samples. Not there: the kernel's own estimate of the queue, for it has none, and marks that were echoed.

use crate::system::TcpInfo;
use crate::testbed::recorded::FlowLog;
use afteryou_base::{Span, Time};
use afteryou_cc::{Ack, Sent, Snapshot};

/// States of `tcpi_ca_state` (linux/tcp.h).
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// A connection in the log of its flow.
#[derive(Debug)]
pub(super) struct Sampled {
    of: FlowLog,
    number: usize,
    last: Option<TcpInfo>,
}

impl Sampled {
    pub(super) fn new(of: FlowLog) -> Sampled {
        Sampled { number: of.number(), of, last: None }
    }

    /// Notes a sample.
    pub(super) fn sample(&mut self, at: Span, info: TcpInfo) {
        let (log, number, now) = (&self.of.log, self.number, Time::ZERO + at);
        let state = snapshot(&info);
        let Some(last) = self.last.replace(info) else { return log.opened(number, state) };
        (last.retransmissions..info.retransmissions).for_each(|_| log.lost(number, now));
        if info.state == LOSS && last.state != LOSS {
            log.timed_out(number, now);
        }
        log.state(number, now, state);
        if last.unacked == 0 {
            // Until now no progress was possible.
            log.sent(number, &Sent { now, ..Sent::default() });
        }
        let newly_acked = info.bytes_acked.saturating_sub(last.bytes_acked);
        let left = u64::from(info.unacked) * u64::from(info.mss);
        let rtt = (info.srtt_us > 0).then(|| Span::from_micros(info.srtt_us.into()));
        log.ack(number, &Ack { now, newly_acked, in_flight: left + newly_acked, rtt, ..Ack::default() });
    }

    /// Logs that the connection is closed.
    pub(super) fn close(self, at: Span) {
        self.of.log.closed(self.number, Time::ZERO + at);
    }
}

fn snapshot(info: &TcpInfo) -> Snapshot {
    let bytes = |segments: u32| u64::from(segments) * u64::from(info.mss);
    let phase = match info.state {
        LOSS => "timeout",
        RECOVERY => "recovery",
        _ if info.cwnd < info.ssthresh => "slow start",
        _ => "congestion avoidance",
    };
    // The kernel's threshold is the largest number until the first loss, and its minimum before the first sample.
    let ssthresh = (info.ssthresh < i32::MAX as u32).then(|| bytes(info.ssthresh));
    let base_delay = (info.min_rtt_us < u32::MAX).then(|| Span::from_micros(info.min_rtt_us.into()));
    Snapshot { phase, cwnd: bytes(info.cwnd), ssthresh, base_delay, ..Snapshot::default() }
}
