//! Datagrams at a constant rate: a call, and the probe that feels the delay.

use super::Format;
use crate::instruments::{Delays, StepMean};
use crate::net::Net;
use crate::packet::{Body, Packet};
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Quantiles, Totals};
use std::collections::BTreeMap;

/// The two ends.
pub(super) struct Ends {
    format: Format,
    interval: Span,
    /// Time from one end to the other over each of the empty routes, sending included.
    empty: Vec<Span>,
    /// By index of the window; only those in which anything arrived.
    windows: BTreeMap<usize, Delays>,
    step: StepMean,
    sent: u64,
    received: u64,
}

impl Ends {
    /// Creates ends that send a packet each `interval`; it crosses the empty routes in `empty`.
    pub(super) fn new(format: Format, interval: Span, empty: Vec<Span>) -> Ends {
        Ends {
            format,
            interval,
            empty,
            windows: BTreeMap::new(),
            step: StepMean::default(),
            sent: 0,
            received: 0,
        }
    }

    /// Sends a packet; returns the mean time to the next one.
    pub(super) fn send(&mut self, net: &mut Net, now: Time) -> Span {
        self.sent += 1;
        let body = Body::Cbr { sent_low: now.0 as u32, sent_high: (now.0 >> 32) as u32 };
        net.send_data(now, self.format.packet(self.format.payload, body), self.sent);
        self.interval
    }

    pub(super) fn receive(&mut self, net: &mut Net, now: Time, packet: Packet) {
        let Body::Cbr { sent_low, sent_high } = packet.body else { return net.discard(packet) };
        let sent_at = Time(u64::from(sent_high) << 32 | u64::from(sent_low));
        let delay = now.since(sent_at) - self.empty[net.route_of(&packet)];
        self.received += u64::from(self.format.payload);
        self.step.record(delay);
        for window in net.open_windows() {
            self.windows.entry(window).or_default().record(delay);
        }
    }

    pub(super) fn received(&self) -> u64 {
        self.received
    }

    pub(super) fn totals(&self) -> Totals {
        Totals { packets: self.sent, ..Totals::default() }
    }

    pub(super) fn window_delays(&self, window: usize) -> Option<Quantiles> {
        self.windows.get(&window)?.quantiles()
    }

    pub(super) fn take_step_delay_ms(&mut self) -> Option<f64> {
        self.step.take_ms()
    }
}
