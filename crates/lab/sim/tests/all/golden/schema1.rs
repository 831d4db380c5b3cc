//! A run as the fields of outcome schema 1, one by one: fields that later schemas add move no hash.

use afteryou_scenario::outcome::{
    ClassCounts, ClassFigures, FlowFigures, Lateness, LinkTotals, Mark, Packets, Quantiles, Run, Series,
    Totals, WindowFigures, REVERSE_PATH,
};
use serde_json::{json, Value};

/// Quantities of a flow's curves in schema 1. Of a link there was one curve, `queuing_delay` of "link".
const QUANTITIES: [&str; 4] = ["goodput", "queuing_delay", "cwnd", "base_delay"];

/// Returns the name of a link, or of a curve's link, in schema 1.
fn named(name: &str) -> &str {
    if name == REVERSE_PATH {
        return "way back";
    }
    name
}

pub fn run(run: &Run) -> Value {
    let curves = run.series.iter().filter(|curve| QUANTITIES.contains(&curve.quantity.as_str()));
    let fields = json!({
        "duration_s": run.duration_s,
        "windows": all(&run.windows, window),
        "series": curves.map(series).collect::<Vec<_>>(),
        "marks": all(&run.marks, mark),
        "packets": run.bottleneck().and_then(|link| link.packets).map(packets),
        "lateness": run.lateness.map(lateness),
    });
    // Format 1 counted at these only.
    let with_ledger: Vec<_> = run.links.iter().filter(|link| link.ledger.is_some()).cloned().collect();
    let with_queue: Vec<_> = run.links.iter().filter(|link| !link.classes.is_empty()).cloned().collect();
    let later = [
        ("totals", some(&run.totals, totals)),
        ("ledger", some(&with_ledger, ledger)),
        ("queues", some(&with_queue, queue)),
    ];
    with(fields, later)
}

fn window(window: &WindowFigures) -> Value {
    let link = window.bottleneck().cloned().unwrap_or_default();
    let fields = json!({
        "window": window.window,
        "from_s": window.from_s,
        "to_s": window.to_s,
        "utilisation": link.utilisation,
        "queuing_delay": link.queuing_delay.map(quantiles),
        "flows": all(&window.flows, flow),
    });
    let later = [
        ("queue_packets", link.queue_packets.map(Value::from)),
        ("classes", some(&link.classes, class_figures)),
        ("fairness", link.fairness.map(Value::from)),
        ("foreground_fairness", link.foreground_fairness.map(Value::from)),
        ("harvest", link.harvest.map(Value::from)),
        ("foreground_share", link.foreground_share.map(Value::from)),
    ];
    with(fields, later)
}

fn flow(flow: &FlowFigures) -> Value {
    json!({
        "flow": flow.flow,
        "role": flow.role,
        "goodput_bit_s": flow.goodput_bit_s,
        "share_of_payload_capacity": flow.share_of_payload_capacity,
        "queuing_delay": flow.queuing_delay.map(quantiles),
    })
}

fn class_figures(class: &ClassFigures) -> Value {
    let fields = json!({ "class": class.class, "queuing_delay": class.queuing_delay.map(quantiles) });
    with(fields, [("queue_packets", class.queue_packets.map(Value::from))])
}

fn quantiles(quantiles: Quantiles) -> Value {
    json!({
        "samples": quantiles.samples,
        "mean_ms": quantiles.mean_ms,
        "p50_ms": quantiles.p50_ms,
        "p95_ms": quantiles.p95_ms,
        "p99_ms": quantiles.p99_ms,
        "max_ms": quantiles.max_ms,
    })
}

fn series(series: &Series) -> Value {
    json!({
        "of": named(&series.of),
        "quantity": series.quantity,
        "unit": series.unit,
        "start_s": series.start_s,
        "step_s": series.step_s,
        "values": series.values,
    })
}

fn mark(mark: &Mark) -> Value {
    json!({ "at_s": mark.at_s, "of": mark.of, "what": mark.what })
}

fn packets(packets: Packets) -> Value {
    json!({
        "arrived": packets.arrived,
        "delivered": packets.delivered,
        "dropped": packets.dropped,
        "lost": packets.lost,
        "unfinished": packets.unfinished,
    })
}

fn lateness(lateness: Lateness) -> Value {
    json!({ "departures": quantiles(lateness.departures), "bound_ms": lateness.bound_ms })
}

fn totals(totals: &Totals) -> Value {
    let fields = json!({
        "flow": totals.flow,
        "packets": totals.packets,
        "retransmissions": totals.retransmissions,
        "losses": totals.losses,
        "spurious": totals.spurious,
        "timeouts": totals.timeouts,
        "received_bytes": totals.received_bytes,
    });
    with(fields, [("completed_in_s", totals.completed_in_s.map(Value::from))])
}

fn ledger(link: &LinkTotals) -> Value {
    let ledger = link.ledger.clone().unwrap_or_default();
    json!({
        "link": named(&link.link),
        "arrived": ledger.arrived,
        "delivered": ledger.delivered,
        "dropped": ledger.dropped,
        "lost": ledger.lost,
        "queued": ledger.queued,
        "in_flight": ledger.in_flight,
    })
}

fn queue(link: &LinkTotals) -> Value {
    json!({
        "link": named(&link.link),
        "discipline": link.discipline,
        "classes": all(&link.classes, class_counts),
    })
}

fn class_counts(class: &ClassCounts) -> Value {
    json!({
        "class": class.class,
        "arrived": class.arrived,
        "enqueued": class.enqueued,
        "dequeued": class.dequeued,
        "dropped_full": class.dropped_full,
        "dropped_early": class.dropped_early,
        "dropped_head": class.dropped_head,
        "marked": class.marked,
        "backlog_packets": class.backlog_packets,
        "backlog_bytes": class.backlog_bytes,
        "sojourns": class.sojourns,
    })
}

fn all<T>(items: &[T], project: fn(&T) -> Value) -> Value {
    items.iter().map(project).collect()
}

/// Returns `None` of an empty list: schema 1 left it out.
fn some<T>(items: &[T], project: fn(&T) -> Value) -> Option<Value> {
    (!items.is_empty()).then(|| all(items, project))
}

/// Returns `fields` and those of `later` that are there.
fn with<const N: usize>(mut fields: Value, later: [(&str, Option<Value>); N]) -> Value {
    for (name, value) in later {
        if let Some(value) = value {
            fields[name] = value;
        }
    }
    fields
}
