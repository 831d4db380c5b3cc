//! Downloads from a server that is no bottleneck: always the same number of hosts has one. When the last byte of one has
//! arrived, another host, drawn from those without a download, begins one (Carofiglio et al. 2013, §9).

use super::transfers::Transfer;
use super::{draw_index, Dialer, Stage};
use crate::connection::News;
use afteryou_base::Time;
use afteryou_scenario::network::Access;
use afteryou_scenario::{Flow as Spec, Law, Scenario, Size};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;

/// Such an application.
pub(super) struct Downloads {
    downloads: u32,
    sizes: Law<Size>,
    size: Pcg64,
    host: Pcg64,
    stop: Time,
    has_begun: bool,
    hosts: Vec<Access>,
    /// Hosts without a download.
    idle: Vec<usize>,
    /// By connection, the host and its download, if that has not arrived.
    under_way: BTreeMap<usize, (usize, Transfer)>,
}

impl Downloads {
    pub(super) fn new(
        scenario: &Scenario,
        spec: &Spec,
        (downloads, sizes): (u32, &Law<Size>),
        hosts: &[Access],
    ) -> Downloads {
        Downloads {
            downloads,
            sizes: sizes.clone(),
            size: Dialer::random(scenario, spec, "sizes"),
            host: Dialer::random(scenario, spec, "hosts"),
            stop: Time(spec.stop.unwrap_or(scenario.duration).0 .0),
            has_begun: false,
            hosts: hosts.to_vec(),
            idle: (0..hosts.len()).collect(),
            under_way: BTreeMap::new(),
        }
    }

    /// Begins all downloads; returns when they stop.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        if stage.now >= self.stop {
            dialer.stop(stage);
            return None;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            (0..self.downloads).for_each(|_| self.begin(dialer, stage));
        }
        Some(self.stop)
    }

    fn begin(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        if self.idle.is_empty() {
            return;
        }
        let host = self.idle.swap_remove(draw_index(&mut self.host, self.idle.len()));
        let bytes = self.sizes.draw(&mut self.size).bytes().max(1);
        let transfer = dialer.transfers.begin(stage.now, bytes);
        let connection = dialer.dial_over(stage, &self.hosts[host].download(), bytes);
        self.under_way.insert(connection, (host, transfer));
    }

    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) {
        if news == News::Flushed {
            return dialer.hang_up(stage, connection);
        }
        let Some((host, transfer)) = self.under_way.remove(&connection) else { return };
        dialer.transfers.complete(stage.now, transfer);
        if self.idle.is_empty() {
            self.idle.push(host); // every host has one: the next one is its own
            return self.begin(dialer, stage);
        }
        self.begin(dialer, stage);
        self.idle.push(host);
    }
}
