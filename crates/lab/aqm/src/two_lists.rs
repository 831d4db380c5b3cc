//! The scheduler of FQ-CoDel and FQ-PIE: flows in two lists, new ones first.
//!
//! # Model
//! Flows with packets take turns of a quantum of bytes each (a deficit round robin that lets a flow overdraw). A flow
//! that has just become active goes into a list of *new* flows. That list is served before that of the *old* ones until
//! the flow's first quantum is used up. So flows that send less than a quantum per round, such as calls, name look-ups
//! and first packets of connections, never wait behind bulk.
//!
//! ```text
//!             a packet comes                  credits used up: + quantum, to the tail
//!   no list ─────────────────▶ new ─────────────────────────────────────────────────▶ old ──┐ credits used up:
//!      ▲       credits =        └── empty: to the tail (Linux: only if old has any) ──▶  │  ◀─┘ + quantum, to the tail
//!      │       quantum                                                                    │
//!      └──────────────────────────────────── empty ───────────────────────────────────────┘
//! ```
//! An emptied new flow has to pass through the old list. Otherwise a flow that sends a packet at a time would be new
//! indefinitely and starve the others.
//!
//! # Source
//! RFC 8290 §4.1, §4.2; where Linux differs ([`Rules`]).

use std::collections::VecDeque;

/// Where the sources differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// A turn is over when the credits are zero, not only when they are negative.
    pub ends_at_zero: bool,
    /// A new flow that is empty leaves at once if there are no old ones.
    pub new_may_leave: bool,
}

impl Rules {
    /// `sch_fq_codel.c` and `sch_fq_pie.c`.
    pub const LINUX: Rules = Rules { ends_at_zero: true, new_may_leave: true };
    /// RFC 8290 §4.2 to the letter, and FreeBSD's FQ-PIE.
    pub const RFC8290: Rules = Rules { ends_at_zero: false, new_may_leave: false };
}

/// Whose turn it is.
#[derive(Clone, Debug)]
pub struct TwoLists {
    rules: Rules,
    quantum: i64,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    accounts: Vec<Account>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// Bytes that the flow may still send in its turn; negative if it has sent too much.
    credits: i64,
    /// In one of the lists.
    is_listed: bool,
}

impl TwoLists {
    /// Creates the lists for flows numbered from 0, with `quantum` bytes a turn: at least one, or no turn would ever begin.
    pub fn new(flows: usize, quantum: u64, rules: Rules) -> TwoLists {
        // Each flow is in one list at most, so that neither ever grows.
        let list = || VecDeque::with_capacity(flows);
        let quantum = i64::try_from(quantum).unwrap_or(i64::MAX / 2).max(1);
        TwoLists { rules, quantum, new: list(), old: list(), accounts: vec![Account::default(); flows] }
    }

    /// Lists a flow for which a packet has come: if it is in no list, it is a new one. Returns whether it is.
    pub fn activate(&mut self, flow: usize) -> bool {
        let account = &mut self.accounts[flow];
        if account.is_listed {
            return false;
        }
        *account = Account { credits: self.quantum, is_listed: true };
        self.new.push_back(flow as u32);
        true
    }

    /// Returns the flow whose turn it is; it may be empty.
    // A packet takes one or two of these. Measured together with those of `fq_codel.rs` and `codel.rs`: a seventh of its cost.
    #[inline(always)]
    pub fn turn(&mut self) -> Option<usize> {
        loop {
            let list = if self.new.is_empty() { &mut self.old } else { &mut self.new };
            let flow = *list.front()?;
            let credits = &mut self.accounts[flow as usize].credits;
            if *credits > 0 || (*credits == 0 && !self.rules.ends_at_zero) {
                return Some(flow as usize);
            }
            *credits += self.quantum;
            list.pop_front();
            self.old.push_back(flow);
        }
    }

    /// Charges `flow`, which has sent a packet in its turn.
    pub fn charge(&mut self, flow: usize, bytes: u32) {
        self.accounts[flow].credits -= i64::from(bytes);
    }

    /// Takes the flow out of its list whose turn it is and which has nothing to send. Returns whether it has left the lists.
    pub fn emptied(&mut self) -> bool {
        let (list, was_new) =
            if self.new.is_empty() { (&mut self.old, false) } else { (&mut self.new, true) };
        let Some(flow) = list.pop_front() else { return false };
        if was_new && !(self.rules.new_may_leave && self.old.is_empty()) {
            self.old.push_back(flow);
            return false;
        }
        self.accounts[flow as usize].is_listed = false;
        true
    }

    /// Returns the flows in the lists: all that have packets, and some that have none.
    pub fn listed(&self) -> impl Iterator<Item = usize> + '_ {
        self.new.iter().chain(&self.old).map(|flow| *flow as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Packet;
    use crate::store::Store;
    use afteryou_base::Time;

    const FLOWS: usize = 4;

    /// The lists over a store, without any AQM.
    struct Bench {
        lists: TwoLists,
        store: Store<()>,
    }

    impl Bench {
        fn new(quantum: u64, rules: Rules) -> Bench {
            Bench { lists: TwoLists::new(FLOWS, quantum, rules), store: Store::new(FLOWS) }
        }

        fn arrive(&mut self, flow: usize, packets: usize, size: u32) {
            for _ in 0..packets {
                self.store.push(Time::ZERO, flow, Packet::from_tos(size, 0, 0, ()));
                self.lists.activate(flow);
            }
        }

        /// Sends `packets` packets and returns the class of each.
        fn send(&mut self, packets: usize) -> String {
            let mut sent = String::new();
            while sent.len() < packets {
                let Some(flow) = self.lists.turn() else { break };
                match self.store.pop_front(Time::ZERO, flow) {
                    Some((packet, _)) => {
                        self.lists.charge(flow, packet.size);
                        sent.push((b'A' + flow as u8) as char);
                    }
                    None => drop(self.lists.emptied()),
                }
            }
            sent
        }
    }

    #[test]
    fn a_used_up_quantum_ends_the_turn_at_zero_or_below_it() {
        for (rules, order) in [(Rules::LINUX, "ABAAA"), (Rules::RFC8290, "AABAA")] {
            let mut bench = Bench::new(1514, rules);
            bench.arrive(0, 4, 1514);
            let first = bench.send(1);
            bench.arrive(1, 1, 100);
            assert_eq!(first + &bench.send(10), order, "{rules:?}");
        }
    }

    #[test]
    fn a_flow_that_is_new_again_and_again_does_not_starve_the_others() {
        for rules in [Rules::LINUX, Rules::RFC8290] {
            let mut bench = Bench::new(1514, rules);
            bench.arrive(0, 1000, 1514);
            bench.send(1);
            let mut sent = String::new();
            for _ in 0..100 {
                // B never has more than one packet in the queue, and always one.
                bench.arrive(1, usize::from(bench.store.backlog_of(1).packets == 0), 1000);
                sent += &bench.send(1);
            }
            let of_a = sent.bytes().filter(|flow| *flow == b'A').count();
            assert!((35..65).contains(&of_a), "{rules:?}: {sent}");
        }
    }

    #[test]
    fn a_flow_that_comes_back_has_a_quantum_whatever_it_had_left_or_overdrawn() {
        for first in [1, 2] {
            let mut bench = Bench::new(1514, Rules::LINUX);
            bench.arrive(0, first, 1000);
            assert_eq!(bench.send(10).len(), first);
            assert_eq!(bench.lists.listed().count(), 0);
            bench.arrive(0, 4, 1000);
            bench.arrive(1, 4, 1000);
            assert_eq!(bench.send(4), "AABB", "after {first}");
        }
    }

    #[test]
    fn an_emptied_new_flow_leaves_at_once_only_by_linux_rules_and_only_if_none_is_old() {
        for (rules, leaves) in [(Rules::LINUX, true), (Rules::RFC8290, false)] {
            let mut bench = Bench::new(1514, rules);
            bench.arrive(0, 1, 100);
            bench.send(1);
            bench.lists.turn();
            assert_eq!(bench.lists.emptied(), leaves, "{rules:?}");
            assert_eq!(bench.lists.listed().count(), usize::from(!leaves), "{rules:?}");
        }
        let mut bench = Bench::new(1514, Rules::LINUX);
        bench.arrive(0, 3, 1514);
        bench.send(1);
        bench.arrive(1, 1, 100);
        assert_eq!(bench.send(1), "B");
        bench.lists.turn();
        assert!(!bench.lists.emptied(), "an old one waits");
        assert_eq!(bench.lists.listed().collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn nothing_is_allocated_whichever_flows_come_and_go() {
        for rules in [Rules::LINUX, Rules::RFC8290] {
            let mut bench = Bench::new(300, rules);
            let capacities = |bench: &Bench| (bench.lists.new.capacity(), bench.lists.old.capacity());
            let before = capacities(&bench);
            for i in 0..1000 {
                bench.arrive(i * i % FLOWS, i % 3, 400);
                bench.send(i % 5 / 2);
            }
            assert_eq!(capacities(&bench), before, "{rules:?}");
        }
    }

    #[test]
    fn a_quantum_below_a_packet_is_saved_up_over_several_turns() {
        let mut bench = Bench::new(300, Rules::LINUX);
        bench.arrive(0, 10, 1500);
        bench.arrive(1, 50, 300);
        let sent = bench.send(36);
        let bytes = |flow, size| sent.bytes().filter(|sent| *sent == flow).count() * size;
        assert!(bytes(b'A', 1500).abs_diff(bytes(b'B', 300)) <= 1800, "{sent}");
    }
}
