//! Applications with one connection at a time, which sends by the time table: bulk, a given size, chunks, on and off, a
//! constant rate.

use super::schedule::Schedule;
use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::law::Drawn;
use afteryou_scenario::Gaps;
use afteryou_scenario::{Duration, Flow as Spec, Law, Scenario, Traffic};
use rand_pcg::Pcg64;

/// Such an application.
pub(super) struct Steady {
    schedule: Schedule,
    is_on: bool,
    /// The rest of a transfer of a given size when it paused.
    unsent: u64,
    /// Draws times between datagrams, if they are not equal.
    gaps: Option<Pcg64>,
    /// The piece that is under way, if it sends pieces.
    piece: Option<Transfer>,
}

impl Steady {
    pub(super) fn new(scenario: &Scenario, spec: &Spec) -> Steady {
        let is_random = matches!(spec.traffic, Traffic::Cbr { gaps: Gaps::Exponential, .. });
        let gaps = is_random.then(|| Dialer::random(scenario, spec, "gaps"));
        let schedule = Schedule::new(spec, Time(scenario.duration.0 .0));
        Steady { schedule, is_on: false, unsent: 0, gaps, piece: None }
    }

    /// Returns the time from a datagram to the next one, `mean` if all are equal.
    fn gap(&mut self, mean: Span) -> Span {
        let Some(random) = &mut self.gaps else { return mean };
        // Never no time at all, or a run might not get on.
        Law::Drawn(Drawn::Exponential(Duration(mean))).draw(random).0.max(Span(1))
    }

    /// Starts, stops or sends; returns when it acts next.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        let now = stage.now;
        let next = self.schedule.next_change(now);
        if now >= self.schedule.stop() {
            self.stop(dialer, stage);
            return None;
        }
        let is_on = self.schedule.is_on(now);
        if is_on != self.is_on {
            self.is_on = is_on;
            match is_on {
                true => self.turn_on(dialer, stage),
                false => self.turn_off(dialer, stage),
            }
        }
        let connection = stage.connections.get_mut(dialer.open[0]);
        let packet = is_on.then(|| connection.send_datagram(stage.net, now)).flatten();
        let packet = packet.map(|mean| now + self.gap(mean));
        [next, packet].into_iter().flatten().min()
    }

    fn turn_on(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        let now = stage.now;
        let again = dialer.started.is_some();
        dialer.started.get_or_insert(now);
        let traffic = dialer.spec.traffic.clone();
        if again && dialer.spec.reconnect && !traffic.is_cbr() {
            dialer.hang_up(stage, dialer.open[0]);
            dialer.dial(stage.net, stage.connections);
        }
        let Stage { net, connections, .. } = stage;
        let first = !again || dialer.spec.reconnect;
        let connection = connections.get_mut(dialer.open[0]);
        if first {
            connection.connect(now);
        }
        match traffic {
            Traffic::Size(size) if first => {
                connection.give(size.bytes());
                connection.expect(size.bytes().saturating_sub(dialer.earlier.received_bytes));
            }
            Traffic::Size(_) => connection.give(self.unsent),
            Traffic::Chunk(size) => connection.refill(size.bytes()),
            _ => connection.give(u64::MAX),
        }
        connection.pump(net, now);
        if connection.take_refilled() {
            self.begin_piece(dialer, stage);
        }
    }

    fn turn_off(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        let connection = stage.connections.get_mut(dialer.open[0]);
        if !matches!(dialer.spec.traffic, Traffic::Chunk(_)) {
            self.unsent = connection.take_back();
            return;
        }
        // The rest of the piece is given up.
        self.piece = None;
        dialer.books.closed += connection.give_up();
    }

    /// Begins the next piece, which the connection has given itself.
    fn begin_piece(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        let Traffic::Chunk(size) = dialer.spec.traffic else { return };
        self.piece = Some(dialer.transfers.begin(stage.now, size.bytes()));
        dialer.books.offered += size.bytes();
        let connection = stage.connections.get_mut(dialer.open[0]);
        connection.expect(connection.given());
    }

    /// Reacts to the arrival of the last byte of a transfer or of a piece, or to the begin of the next piece.
    pub(super) fn on_news(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>, news: News) {
        match news {
            News::Flushed => self.begin_piece(dialer, stage),
            News::Arrived => {
                dialer.complete(stage.now);
                if let Some(piece) = self.piece.take() {
                    dialer.transfers.complete(stage.now, piece);
                }
            }
        }
    }

    fn stop(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) {
        self.turn_off(dialer, stage);
        if dialer.started.is_some() {
            dialer.stopped.get_or_insert(stage.now);
            dialer.shut(stage);
        }
        self.is_on = false;
    }
}
