//! Windows that run away: nothing on the path ever stops their growth.
//!
//! Before a run this is known of a buffer that cannot fill. Each acknowledgement lets at most two packets out for one
//! that left. So the queue of a sender under acknowledgement clocking grows by at most the link's rate. A buffer that
//! is at least as long as the sender's life therefore never overflows, and a controller that reacts to losses alone
//! never reacts.
//!
//! After a run the windows themselves are known.

use crate::buffer::Buffer;
use crate::checked::Checked;
use crate::named::named;
use crate::network::Network;
use crate::scenario::{Flow, Link, Scenario};
use crate::traffic::Traffic;

/// Controllers that reduce their window after losses and marks alone.
const LOSS_BASED: [&str; 2] = ["cubic", "newreno"];
/// Queue disciplines that drop nothing before their buffer is full, and mark nothing.
const DROP_WHEN_FULL: [&str; 3] = ["droptail", "sfq", "drr"];
/// A window above this multiple of the packets that its path holds has run away. Slow start overshoots by a factor of two, and learns of its
/// losses one round trip later.
const SEVERAL: f64 = 4.0;
/// The window still grows at the end if its second half is higher by this factor than its first.
const STILL_GROWS: f64 = 1.1;
/// The remedy.
const LIMIT: &str = "limit the window, such as transport = { kind = \"tcp\", rwnd = \"1 MiB\" }";

/// Returns a sentence if flows' windows can meet no limit.
pub fn before(scenario: &Checked) -> Option<String> {
    let network = scenario.network();
    let flows = scenario.flow.iter().enumerate();
    let flows = flows.filter(|(index, _)| meets_no_limit(scenario, network, *index));
    let flows: Vec<&str> = flows.map(|(_, flow)| flow.name.as_str()).collect();
    (!flows.is_empty()).then(|| {
        let flows = named(&flows);
        format!("the buffer is longer than the run, so no loss ever stops {flows}: {LIMIT}, or use a smaller buffer")
    })
}

fn meets_no_limit(scenario: &Scenario, network: &Network, index: usize) -> bool {
    let flow = &scenario.flow[index];
    let forward = &network.routes[index].forward;
    let links = || forward.iter().map(|link| &network.links[*link].link);
    let bottleneck = links().min_by_key(|link| link.rate);
    let can_grow = flow.traffic == Traffic::Bulk && flow.active.is_empty() && reacts_to_loss_alone(flow);
    let loses = flow.elements.loss.is_some() || links().any(loses) || !scenario.drop.is_empty();
    let life_s = flow.stop.unwrap_or(scenario.duration).as_secs_f64() - flow.start.as_secs_f64();
    let never_fills = |link: &Link| {
        let is_constant = link.elements.rate.is_none() && DROP_WHEN_FULL.contains(&link.queue.kind.as_str());
        is_constant && held(flow, link) >= link.rate.bits_per_second() as f64 / 8.0 * life_s
    };
    can_grow && !has_limit(flow) && !loses && bottleneck.is_some_and(never_fills)
}

fn reacts_to_loss_alone(flow: &Flow) -> bool {
    flow.controller.as_ref().is_some_and(|controller| LOSS_BASED.contains(&controller.kind.as_str()))
}

/// Returns whether a receive window or a rule of one of its ends limits a flow beside its controller.
fn has_limit(flow: &Flow) -> bool {
    flow.transport.params.contains_key("rwnd") || flow.receiver.is_some() || flow.sender.is_some()
}

fn loses(link: &Link) -> bool {
    link.loss.ratio() > 0.0 || link.elements.loss.is_some() || link.elements.arq.is_some()
}

/// Returns the bytes that the link's buffer holds of the flow's full packets.
fn held(flow: &Flow, link: &Link) -> f64 {
    match link.buffer {
        Buffer::Packets(packets) => packets as f64 * packet_bytes(flow),
        Buffer::Size(size) => size.bytes() as f64,
        Buffer::Time(time) => time.as_secs_f64() * link.rate.bytes_per_second() as f64,
    }
}

fn packet_bytes(flow: &Flow) -> f64 {
    let format = flow.packet_format();
    (format.payload.bytes() + format.overhead.bytes()) as f64
}

/// Returns a sentence if the window of this flow ran away; `windows` are its values over the run, bytes.
pub(crate) fn after(
    network: &Network,
    (index, flow): (usize, &Flow),
    windows: &[f64],
    has_lost_packets: bool,
) -> Option<String> {
    if has_limit(flow) {
        return None;
    }
    let (first, second) = windows.split_at(windows.len() / 2);
    let (before, after) = (largest(first), largest(second));
    let window = before.max(after);
    let product = network.rate_of_flow(index) as f64 / 8.0
        * network.empty_round_trip(index, flow.packet_format()).as_secs_f64();
    let links = network.routes[index].forward.iter().map(|link| &network.links[*link].link);
    let whole = product + links.map(|link| held(flow, link)).sum::<f64>();
    let name = named(&[flow.name.as_str()]);
    let megabytes = |bytes: f64| format!("{:.3} MB", bytes / 1e6);
    if window > SEVERAL * (whole + packet_bytes(flow)) {
        let (window, whole) = (megabytes(window), megabytes(whole));
        return Some(format!("the window of {name} grew to {window}, and its path holds {whole}: {LIMIT}"));
    }
    let grows = before > 0.0 && after > before * STILL_GROWS && window > SEVERAL * product;
    let is_endless = flow.traffic == Traffic::Bulk && reacts_to_loss_alone(flow);
    (is_endless && !has_lost_packets && grows).then(|| {
        let (window, product) = (megabytes(window), megabytes(product));
        format!(
            "the window of {name} grew to {window} until the run ended, over a path of {product} without its buffers, and \
             no packet was lost: {LIMIT}, use a smaller buffer, or run for longer"
        )
    })
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
