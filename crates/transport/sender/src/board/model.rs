//! The scoreboard against a list of packets that is looked through from end to end.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    InFlight,
    Aside,
    Lost,
    Arrived,
}

#[derive(Clone, Debug)]
struct Packet {
    len: u16,
    state: State,
    /// Taken for lost although it was known to be missing: its arrival proves the loss wrong.
    known_missing: bool,
    /// Number and time of each transmission.
    sent: Vec<(u64, Time)>,
}

#[derive(Default)]
struct Model {
    /// All packets of the connection.
    packets: Vec<Packet>,
    una: usize,
    transmissions: u64,
    /// Newest transmission that arrived, and its round-trip time.
    newest: Option<(u64, Span)>,
}

#[derive(Clone, Debug)]
enum Step {
    SendNew(u16),
    SendLost,
    Probe(usize),
    Ack {
        advance: usize,
        sack: (usize, usize),
    },
    Rack,
    Order {
        visible: usize,
    },
    SetAside(usize),
    Lose(usize),
    /// Packets sent within this number of milliseconds may still arrive, if set.
    Timeout(Option<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0u16..3).prop_map(|len| Step::SendNew(len * 100)),
        3 => Just(Step::SendLost),
        1 => (0usize..10).prop_map(Step::Probe),
        6 => (0usize..4, (0usize..12, 0usize..4)).prop_map(|(advance, sack)| Step::Ack { advance, sack }),
        3 => Just(Step::Rack),
        2 => (0usize..10).prop_map(|visible| Step::Order { visible }),
        1 => (0usize..10).prop_map(Step::SetAside),
        1 => (0usize..10).prop_map(Step::Lose),
        1 => prop::option::of(0u64..40).prop_map(Step::Timeout),
    ]
}

impl Model {
    fn transmit(&mut self, seq: usize, now: Time) {
        let packet = &mut self.packets[seq];
        packet.state = State::InFlight;
        packet.sent.push((self.transmissions, now));
        self.transmissions += 1;
    }

    fn outstanding(&self) -> impl Iterator<Item = &Packet> {
        self.packets[self.una..].iter()
    }

    fn first(&self, state: State) -> Option<usize> {
        (self.una..self.packets.len()).find(|seq| self.packets[*seq].state == state)
    }

    /// Takes packets as arrived. Returns bytes that are new, and how many of the packets were lost and not sent again.
    fn arrive(&mut self, seqs: impl Iterator<Item = usize>, now: Time) -> (u64, u64) {
        let (mut bytes, mut late, mut newest) = (0, 0, None);
        for seq in seqs {
            let packet = &mut self.packets[seq];
            if packet.state != State::Arrived {
                bytes += u64::from(packet.len);
                late += u64::from(packet.state == State::Lost && packet.known_missing);
                newest = newest.max(packet.sent.last().copied());
            }
            packet.state = State::Arrived;
        }
        if let Some((number, sent_at)) =
            newest.filter(|(number, _)| self.newest.is_none_or(|(old, _)| old < *number))
        {
            self.newest = Some((number, now.since(sent_at)));
        }
        (bytes, late)
    }

    /// Takes the first packet for lost, and what was sent `patience` ago or earlier; without it, everything (RFC 8985 §6.3).
    fn time_out(&mut self, now: Time, patience: Option<Span>) -> Vec<usize> {
        let mut lost = Vec::new();
        for (seq, packet) in self.packets.iter_mut().enumerate().skip(self.una) {
            let Some((_, sent_at)) = packet.sent.last().copied() else { continue };
            let is_missing = matches!(packet.state, State::InFlight | State::Aside);
            let is_reached = patience.is_none_or(|patience| seq == self.una || sent_at + patience <= now);
            if is_missing && is_reached {
                packet.known_missing = packet.state == State::InFlight;
                packet.state = State::Lost;
                lost.push(seq);
            }
        }
        lost
    }

    /// Takes packets for lost by three later transmissions, or by a later one and time (RFC 9002 §6.1). Packets from `until`
    /// on are not judged.
    fn lose_by_order(&mut self, now: Time, patience: Span, until: usize) -> Vec<usize> {
        let Some((newest, _)) = self.newest else { return Vec::new() };
        let mut lost = Vec::new();
        for (seq, packet) in self.packets.iter_mut().enumerate().skip(self.una) {
            let Some((number, sent_at)) = packet.sent.last().copied() else { continue };
            let is_overtaken = number + 3 <= newest;
            let is_late = number < newest && sent_at + patience <= now;
            let is_lost = match packet.state {
                State::InFlight => seq < until && (is_overtaken || is_late),
                State::Aside => seq < until,
                State::Lost | State::Arrived => false,
            };
            if is_lost {
                packet.known_missing = true;
                packet.state = State::Lost;
                lost.push(seq);
            } else if packet.state == State::InFlight && (is_overtaken || is_late) {
                packet.state = State::Aside;
            }
        }
        lost
    }

    fn check(&self, board: &mut Board) {
        let bytes = |state| -> u64 {
            self.outstanding()
                .filter(|packet| packet.state == state)
                .map(|packet| u64::from(packet.len))
                .sum()
        };
        assert_eq!(board.in_flight(), bytes(State::InFlight));
        assert_eq!(board.sacked_bytes(), bytes(State::Arrived));
        assert_eq!(board.outstanding(), self.outstanding().map(|packet| u64::from(packet.len)).sum::<u64>());
        assert_eq!(board.anything_in_flight(), self.first(State::InFlight).is_some());
        assert_eq!(board.has_lost(), self.first(State::Lost).is_some());
        assert_eq!(board.next_lost().map(|(seq, _)| seq as usize), self.first(State::Lost));
        assert_eq!(board.una() as usize, self.una);
        assert_eq!(board.next_seq() as usize, self.packets.len());
        assert_eq!(board.next_number(), self.transmissions);
        for (seq, packet) in self.packets.iter().enumerate().skip(self.una) {
            let held = board.flight(seq as u64).map(|flight| (flight.number, flight.sent_at));
            let expected = packet.sent.last().copied().filter(|_| packet.state != State::Arrived);
            assert_eq!(held, expected, "packet {seq}");
        }
    }
}

proptest! {
    #[test]
    fn it_agrees_with_a_list_of_packets(
        steps in prop::collection::vec((step(), 0u64..20), 1..150),
        (delivery_rates, per_packet) in any::<(bool, bool)>(),
    ) {
        let needs = Needs { delivery_rates, per_packet };
        let (mut board, mut model, mut now) = (Board::new(needs), Model::default(), Time::from_millis(1));
        for (step, ms) in steps {
            now += Span::from_millis(ms);
            let chosen = |offset: usize| Some(model.una + offset).filter(|seq| *seq < model.packets.len());
            match step {
                Step::SendNew(len) => {
                    board.send_new(now, len);
                    model.packets.push(Packet { len, state: State::Lost, known_missing: true, sent: Vec::new() });
                    model.transmit(model.packets.len() - 1, now);
                }
                Step::SendLost => {
                    if let Some((seq, _)) = board.next_lost() {
                        board.send_again(now, seq);
                        model.transmit(seq as usize, now);
                    }
                }
                Step::Probe(offset) => {
                    if let Some(seq) = chosen(offset).filter(|seq| model.packets[*seq].state != State::Arrived) {
                        board.send_again(now, seq as u64);
                        model.transmit(seq, now);
                    }
                }
                Step::Ack { advance, sack: (start, len) } => {
                    let mut una = (model.una + advance).min(model.packets.len());
                    // A receiver that has all of it acknowledges beyond what it reported out of order.
                    while una < model.packets.len() && model.packets[una].state == State::Arrived {
                        una += 1;
                    }
                    let from = (una + 1 + start).min(model.packets.len());
                    let sack = (from, (from + len).min(model.packets.len()));
                    let timing = Timing { now, ..Timing::default() };
                    let progress = board.acknowledge(una as u64, &[(sack.0 as u64, sack.1 as u64)], timing);
                    let (bytes, late) = model.arrive((model.una..una).chain(sack.0..sack.1), now);
                    model.una = una;
                    prop_assert_eq!(progress.newly_acked + progress.newly_sacked, bytes);
                    prop_assert_eq!(progress.spurious, late);
                    prop_assert_eq!(board.late().len() as u64, late);
                }
                Step::Rack => {
                    let mut lost = Vec::new();
                    board.detect_by_time(now, Span::from_millis(5), &mut lost);
                    let (newest, rtt) = model.newest.unwrap_or_default();
                    let mut expected: Vec<u64> = Vec::new();
                    for packet in &mut model.packets[model.una..] {
                        let Some((number, sent_at)) = packet.sent.last().copied() else { continue };
                        let is_due = number < newest && sent_at + rtt + Span::from_millis(5) <= now;
                        if packet.state == State::InFlight && is_due {
                            packet.known_missing = true;
                            packet.state = State::Lost;
                            expected.push(number);
                        }
                    }
                    expected.sort_unstable();
                    prop_assert_eq!(lost.iter().map(|flight| flight.number).collect::<Vec<_>>(), expected);
                }
                Step::Order { visible } => {
                    let (patience, until) = (Span::from_millis(30), model.una + visible);
                    let mut lost = Vec::new();
                    let order = Order { packets: 3, patience, visible_until: until as u64 };
                    board.detect_by_order(now, &order, &mut lost);
                    let expected = model.lose_by_order(now, patience, until);
                    prop_assert_eq!(lost.iter().map(|flight| flight.seq as usize).collect::<Vec<_>>(), expected);
                }
                Step::SetAside(offset) => {
                    if let Some(seq) = chosen(offset) {
                        board.set_aside(seq as u64);
                        if model.packets[seq].state == State::InFlight {
                            model.packets[seq].state = State::Aside;
                        }
                    }
                }
                Step::Lose(offset) => {
                    if let Some(seq) = chosen(offset) {
                        let lost = board.lose(seq as u64, true).is_some();
                        prop_assert_eq!(lost, model.packets[seq].state != State::Arrived);
                        if lost {
                            model.packets[seq].state = State::Lost;
                            model.packets[seq].known_missing = true;
                        }
                    }
                }
                Step::Timeout(reach) => {
                    let lost = match reach {
                        None => board.lose_everything(),
                        Some(ms) => board.lose_first_and_old(now, Span::from_millis(ms)),
                    };
                    let mut lost: Vec<usize> = lost.iter().map(|flight| flight.seq as usize).collect();
                    lost.sort_unstable();
                    prop_assert_eq!(lost, model.time_out(now, reach.map(Span::from_millis)));
                }
            }
            model.check(&mut board);
        }
    }
}
