//! Delay-based groups beside each other and beside constant rates: who keeps the queue, and who is starved.

use super::groups::Group;
use super::Analysis;
use crate::closed::together::{Law, Party, Share, Together};
use crate::network::Network;
use crate::options::{Base, RoundTrip};

/// Explains the equilibrium of several groups together.
pub fn explain(groups: &[Group], network: &Network, analysis: &mut Analysis) {
    // The rest of several is a matter of what the queue adds to their round trips.
    if network.options.round_trip == RoundTrip::Constant {
        return;
    }
    let Some(parties) = groups.iter().map(Group::party).collect::<Option<Vec<_>>>() else { return };
    let steered = parties.iter().filter(|party| !matches!(party.law, Law::Constant(_))).count();
    if parties.len() < 2 || steered == 0 {
        return;
    }
    let Some(rest) = Together::of(&parties, network.capacity) else { return };
    if rest.queuing_s >= network.buffer / network.capacity {
        analysis.notes.push(format!(
            "together: the queue at rest, {:.0} ms, does not fit into the buffer: losses rule, not the delay",
            rest.queuing_s * 1e3
        ));
        return;
    }
    analysis.add("together", "delay at rest", rest.queuing_s * 1e3, "ms", "q: Σ W/(R + q) = C");
    analysis
        .notes
        .push(format!("together: expect about {:.0} ms of delay for everybody", rest.queuing_s * 1e3));
    shares(groups, &parties, &rest, network, analysis);
    doubts(groups, &parties, &rest, network, analysis);
}

/// Returns the part of the link that constant rates take.
pub fn constant_load(groups: &[Group], network: &Network) -> f64 {
    groups.iter().filter_map(Group::constant_rate).sum::<f64>() / network.capacity
}

/// Describes the effect of constant rates that fill the link or exceed it.
pub fn nothing_left(groups: &[Group], load: f64, network: &Network, analysis: &mut Analysis) {
    let percent = load * 100.0;
    let others = groups.iter().any(|group| group.constant_rate().is_none());
    if load == 1.0 && !others {
        analysis
            .notes
            .push("constant rates are just what the link carries: the queue stays as it is".to_owned());
        return;
    }
    let full_ms = network.buffer / network.capacity * 1e3;
    let mut note = format!(
        "constant rates are {percent:.0} % of the link: expect a full buffer, {full_ms:.0} ms of delay for everybody"
    );
    if load > 1.0 {
        note.push_str(&format!(", and {:.0} % of all packets lost", (1.0 - 1.0 / load) * 100.0));
    }
    if others {
        note.push_str(
            "; nothing is left over: a flow that yields sinks to its smallest window and loses as much of it",
        );
    }
    analysis.notes.push(note);
}

/// Adds a number and a sentence for each group that yields.
fn shares(groups: &[Group], parties: &[Party], rest: &Together, network: &Network, analysis: &mut Analysis) {
    let open = rest.shares.iter().filter(|share| **share == Share::Rest).count();
    for ((group, party), share) in groups.iter().zip(parties).zip(&rest.shares) {
        let target_s = match party.law {
            Law::Constant(_) => continue,
            Law::At(target_s) | Law::Above { target_s, .. } => target_s,
        };
        let (name, target_ms) = (group.name(), target_s * 1e3);
        let flows = f64::from(party.flows);
        let round_trip_s = party.rtt_s + rest.queuing_s;
        let rate = match share {
            Share::Window(window) | Share::Floor(window) => Some(window / round_trip_s),
            Share::Rest if open == 1 => Some(rest.left_over * network.capacity / party.size / flows),
            Share::Rest => None,
        };
        if let Some(value) = rate {
            analysis.add(&name, "rate of a flow, together", value, "packets/s", "W/(R + q)");
        }
        let part = |rate: f64| flows * rate * party.size / network.capacity * 100.0;
        let sentence = match share {
            Share::Rest if open == 1 => format!(
                "keeps the queue at its target of {target_ms:.0} ms and takes what is left, {:.0} % of the link",
                rest.left_over * 100.0
            ),
            Share::Rest => format!(
                "keeps the queue at its target of {target_ms:.0} ms; all that do divide {:.0} % of the link by how they began",
                rest.left_over * 100.0
            ),
            Share::Floor(window) => format!(
                "is starved: the queue is longer than the {target_ms:.0} ms that it wants, and it sinks to its smallest window, \
                 {window:.0} packets: {:.1} % of the link",
                part(window / round_trip_s)
            ),
            Share::Window(window) => format!(
                "has windows of {window:.1} packets where its target is {target_ms:.0} ms: {:.0} % of the link",
                part(window / round_trip_s)
            ),
        };
        analysis.notes.push(format!("{name}: together it {sentence}"));
    }
}

/// Adds the limits of these statements.
fn doubts(groups: &[Group], parties: &[Party], rest: &Together, network: &Network, analysis: &mut Analysis) {
    let mut doubt = |sentence: &str| analysis.notes.push(format!("together: {sentence}"));
    let yields = |group: &&Group| group.constant_rate().is_none();
    let starts: Vec<_> = groups.iter().filter(yields).map(Group::common_start).collect();
    if network.options.base == Base::Measured
        && starts.iter().any(|start| start.is_none() || *start != starts[0])
    {
        doubt(
            "this is for flows that know the path; who begins while others hold a queue takes it for the path until it sees \
             it empty, and wants its target on top",
        );
    }
    let slows_down = groups.iter().any(Group::slows_down);
    if slows_down {
        doubt("this holds between slowdowns; what a slowdown leaves free others take for a while");
    }
    if parties.iter().enumerate().any(|(i, party)| hangs_on_packets(i, party, parties, rest, network)) {
        doubt(
            "what holds the queue above its target is less than a packet: single packets decide the shares, and may keep up a \
             flow that should sink",
        );
    }
    let wins = |target_s: f64| parties.iter().any(|party| party.law == Law::At(target_s));
    if slows_down && parties.iter().any(|party| party.always_adds().is_some_and(wins)) {
        doubt(
            "LEDBAT loses to a rule of the same target that always adds, but wins in slowdowns: shares do not follow from the \
             rest",
        );
    }
}

/// Returns whether the party shares with others by an excess over its target that is less than a packet.
fn hangs_on_packets(
    index: usize,
    party: &Party,
    parties: &[Party],
    rest: &Together,
    network: &Network,
) -> bool {
    let Some(target_s) = party.always_adds() else { return false };
    let is_fine = (rest.queuing_s - target_s) * network.capacity < party.size;
    let shares = |(other, (party, share)): (usize, (&Party, &Share))| {
        let has_window = party.always_adds().is_some() && matches!(share, Share::Window(_));
        other != index && (has_window || party.law == Law::At(target_s))
    };
    is_fine && parties.iter().zip(&rest.shares).enumerate().any(shares)
}
