//! The scenario as tables: what was run.

use crate::links::LINK;
use crate::script_words::{delayed, dropped};
use crate::table::{Cell, Column, Table};
use crate::tables::role;
use afteryou_notation::format::short;
use afteryou_plot::names::{are_several, engine_in_words};
use afteryou_plot::palette;
use afteryou_scenario::law::{Drawn, Lognormal, Pareto};
use afteryou_scenario::network::{OneWay, BOTTLENECK};
use afteryou_scenario::traffic::Command;
use afteryou_scenario::{
    Algorithm, Direction, Duration, Elements, Flow, Law, Link, Outcome, Traffic, TransportKind,
};
use afteryou_scenario_file::element::said;

/// Tabulates the link, the run and who ran it.
pub fn setting(outcome: &Outcome) -> Table {
    let scenario = &outcome.scenario;
    let baseline = if scenario.baseline { "yes, without the background flows" } else { "no" };
    let windows = scenario.measure.iter().map(|w| format!("{} ({} to {})", w.name, w.from, w.to));
    let windows: Vec<_> = windows.collect();
    let mut rows = link_rows(outcome);
    rows.extend(scenario.drop.iter().map(|rule| ("dropped", dropped(rule))));
    rows.extend(scenario.delay.iter().map(|rule| ("delayed", delayed(rule))));
    rows.extend([
        ("duration", scenario.duration.to_string()),
        ("windows", windows.join(", ")),
        ("run a second time", baseline.to_owned()),
        ("in the sweep", point(outcome)),
        ("seed", scenario.seed.to_string()),
        ("engine", engine_in_words(outcome).to_owned()),
        ("afteryou", outcome.afteryou_version.clone()),
    ]);
    rows.retain(|(_, text)| !text.is_empty());
    Table {
        title: "Setting".to_owned(),
        note: "",
        grouped: 0,
        columns: vec![Column::words("what"), Column::words("value")],
        rows: rows.into_iter().map(|(what, text)| vec![Cell::new(what), Cell::new(text)]).collect(),
    }
}

/// Returns the only link that data cross; where there are several they have a table of their own.
fn link_rows(outcome: &Outcome) -> Vec<(&'static str, String)> {
    let link = &outcome.scenario.link;
    match are_several(outcome) || outcome.scenario.has_named_links() {
        true => Vec::new(),
        false => {
            let plain = [
                ("link rate", link.rate.to_string()),
                ("buffer", link.buffer.to_string()),
                ("queue", algorithm(&link.queue)),
                ("random loss", independent_loss(link)),
            ];
            let reverse = link.reverse.as_ref().and_then(|reverse| reverse.elements.as_ref());
            let reverse = reverse.map(|elements| ("on the reverse path", in_one_cell(elements)));
            let queued_by = queued_by(outcome, BOTTLENECK).map(|who| ("queued by", who.to_owned()));
            let plain = plain.into_iter().chain(queued_by);
            plain.chain(said(&link.elements)).chain(reverse).collect()
        }
    }
}

/// Returns the kernel and its queue, if it has queued the packets of a link in place of afteryou.
fn queued_by<'a>(outcome: &'a Outcome, link: &str) -> Option<&'a str> {
    outcome.run.links.iter().find(|totals| totals.link == link)?.queued_by.as_deref()
}

/// Tabulates the links, where data cross several of them or they have names.
pub fn links(outcome: &Outcome) -> Option<Table> {
    if !link_rows(outcome).is_empty() {
        return None;
    }
    let row = |OneWay { name, link, .. }: &OneWay| {
        vec![
            Cell::new(name),
            Cell::new(link.rate.to_string()),
            Cell::new(link.buffer.to_string()),
            Cell::new(algorithm(&link.queue)),
            Cell::new(queued_by(outcome, name).unwrap_or_default()),
            Cell::new(independent_loss(link)),
            Cell::new(in_one_cell(&link.elements)),
        ]
    };
    let columns = vec![
        LINK,
        Column::numbers("rate"),
        Column::numbers("buffer"),
        Column::words("queue"),
        QUEUED_BY,
        Column::numbers("random loss"),
        ELEMENTS,
    ];
    let rows = outcome.scenario.network().ok()?.links.iter().map(row).collect();
    let table = Table { title: "Links".to_owned(), note: "Each goes one way.", grouped: 0, columns, rows };
    Some(without_empty(table, &[ELEMENTS, QUEUED_BY]))
}

/// The kernel's queues.
const QUEUED_BY: Column = Column::words("queued by");

/// The effects of a link or a flow's path on packets.
const ELEMENTS: Column = Column::words("elements");

/// Returns the probability that a packet is lost, unless a law of loss has its place.
fn independent_loss(link: &Link) -> String {
    match link.elements.loss {
        Some(_) => String::new(),
        None => link.loss.to_string(),
    }
}

/// Returns the table without those of `columns` that have nothing in any row.
fn without_empty(mut table: Table, columns: &[Column]) -> Table {
    for i in (0..table.columns.len()).rev() {
        let is_empty = table.rows.iter().all(|row| row[i].text.is_empty());
        if is_empty && columns.contains(&table.columns[i]) {
            table.remove_column(i);
        }
    }
    table
}

/// Returns the flows.
pub fn flows(outcome: &Outcome) -> Option<Table> {
    let flows = &outcome.scenario.flow;
    if flows.is_empty() {
        return None;
    }
    let row = |flow: &Flow| {
        vec![
            Cell::new(&flow.name).styled(palette::style(&outcome.scenario, &flow.name)),
            Cell::new(role(flow.role)),
            Cell::maybe(flow.controller.as_ref(), algorithm),
            Cell::new(transport(flow)),
            Cell::new(path(flow)),
            Cell::new(flow.rtt.to_string()),
            Cell::new(moment(flow.start)),
            Cell::new(flow.stop.map_or("the end".to_owned(), moment)),
            Cell::new(traffic(&flow.traffic)),
            Cell::new(in_one_cell(&flow.elements)),
        ]
    };
    let columns = [
        Column::words("flow"),
        Column::words("role"),
        Column::words("controller"),
        Column::words("over"),
        PATH,
        Column::numbers("RTT"),
        Column::numbers("start"),
        Column::numbers("stop"),
        Column::words("traffic"),
        ELEMENTS,
    ];
    let rows = flows.iter().map(row).collect();
    let mut table = Table { title: "Flows".to_owned(), note: "", grouped: 0, columns: columns.into(), rows };
    if flows.iter().all(|flow| flow.direction == Direction::Up && flow.path.is_none()) {
        table
            .columns
            .iter()
            .position(|column| *column == PATH)
            .into_iter()
            .for_each(|i| table.remove_column(i));
    }
    Some(without_empty(table, &[ELEMENTS]))
}

const PATH: Column = Column::words("path of its data");

/// Returns the links that a flow's data cross, or their direction.
fn path(flow: &Flow) -> String {
    match (&flow.path, flow.direction) {
        (Some(path), _) => path.forward.join(", "),
        (None, Direction::Up) => "up".to_owned(),
        (None, Direction::Down) => "down".to_owned(),
    }
}

/// Returns the point of the sweep and the repetition; empty for a run alone.
pub fn point(outcome: &Outcome) -> String {
    let settings = outcome.point.iter().map(|(name, value)| format!("{name} {value}"));
    let repetition = (outcome.repetition > 1).then(|| format!("repetition {}", outcome.repetition));
    settings.chain(repetition).collect::<Vec<_>>().join(", ")
}

/// Returns an algorithm with its parameters.
fn algorithm(algorithm: &Algorithm) -> String {
    let params: Vec<_> = algorithm.params.iter().map(|(name, value)| format!("{name} {value}")).collect();
    match params.is_empty() {
        true => algorithm.kind.clone(),
        false => format!("{} ({})", algorithm.kind, params.join(", ")),
    }
}

/// Formats a moment of the time table: "0 us" would be odd.
fn moment(at: Duration) -> String {
    match at == Duration::default() {
        true => "0 s".to_owned(),
        false => at.to_string(),
    }
}

fn transport(Flow { transport, receiver, .. }: &Flow) -> String {
    let name = match transport.kind {
        TransportKind::Tcp => "TCP",
        TransportKind::Utp => "uTP",
        TransportKind::Quic => "QUIC",
        TransportKind::Udp => "UDP",
    };
    let params = transport.params.iter().map(|(name, value)| format!(", {name} {value}"));
    let text = params.fold(name.to_owned(), |text, param| text + &param);
    let Some(receiver) = receiver else { return text };
    let params = receiver.params.iter().map(|(name, value)| format!(", {name} {value}"));
    params.fold(format!("{text}; receiver {}", receiver.controller), |text, param| text + &param)
}

/// Describes a law: "exponential, mean 20 ms".
fn law<Q: std::fmt::Display>(law: &Law<Q>) -> String {
    match law {
        Law::Fixed(value) => value.to_string(),
        Law::Drawn(Drawn::Uniform(from, to)) => format!("{from} to {to} (uniform)"),
        Law::Drawn(Drawn::Exponential(mean)) => format!("{mean} on average (exponential)"),
        Law::Drawn(Drawn::Lognormal(Lognormal { median, mean, sigma, .. })) => {
            let median = median.as_ref().map(|median| format!("{median} in the median"));
            let mean = mean.as_ref().map(|mean| format!("{mean} on average"));
            format!("{} (lognormal, σ {})", median.or(mean).unwrap_or_default(), short(*sigma))
        }
        Law::Drawn(Drawn::Pareto(Pareto { shape, min, .. })) => {
            format!("{min} at least (Pareto, shape {})", short(*shape))
        }
        Law::Drawn(Drawn::Listed(values)) => format!("one of {} values", values.len()),
    }
}

fn traffic(traffic: &Traffic) -> String {
    match traffic {
        Traffic::Bulk => "bulk".to_owned(),
        Traffic::Size(size) => format!("{size}, once"),
        Traffic::Chunk(size) => format!("chunks of {size}"),
        Traffic::OnOff { on, off } => format!("{on} on, {off} off"),
        Traffic::Arrivals { arrivals, size } => {
            format!("transfers of {}, one after {}", law(size), law(arrivals))
        }
        Traffic::Peers { chunk, pause, persist } => {
            format!("chunks of {chunk}, {pause} apart, {persist} to the same peer")
        }
        Traffic::Swarm(swarm) if swarm.tit_for_tat => {
            format!("a swarm: chunks of {}, {} slots, tit-for-tat", swarm.chunk, swarm.slots)
        }
        Traffic::Swarm(swarm) => format!(
            "a swarm: chunks of {}, {} slots, {} to the same neighbour",
            swarm.chunk, swarm.slots, swarm.persist
        ),
        Traffic::Downloads { downloads, .. } => format!("{downloads} downloads at a time"),
        Traffic::Web(web) => format!("{} users who fetch pages of {} objects", web.users, web.objects),
        Traffic::Command(Command { command, .. }) => format!("the command {}", command.join(" ")),
        Traffic::Bursts { every, size } => format!("segments of {size} every {every}"),
        Traffic::Cbr { rate, payload, .. } => {
            let bits = payload.bytes() as f64 * 8.0;
            let per_second = rate.bits_per_second() as f64 / bits;
            match per_second.is_finite() {
                true => format!(
                    "{rate} in packets of {payload} ({} a second)",
                    short((per_second * 10.0).round() / 10.0)
                ),
                false => format!("{rate}"),
            }
        }
    }
}

/// Returns all elements in one cell.
fn in_one_cell(of: &Elements) -> String {
    let named = said(of).into_iter().map(|(name, words)| format!("{name}: {words}"));
    named.collect::<Vec<_>>().join("; ")
}
