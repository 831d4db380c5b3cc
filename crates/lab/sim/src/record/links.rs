//! Figures of links in a window, from their meters alone: the same for every sender.

use crate::instruments::sent_at;
use crate::net::Net;
use afteryou_aqm::Class;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{class_name, round, ClassFigures, LinkFigures, Quantiles};
use afteryou_scenario::{Buffer, Network, Scenario, Window};

/// Returns the mean rate at which a link could have sent in a window, bit/s.
pub fn capacity(net: &Net, link: usize, window: &Window) -> f64 {
    net.capacity(link, Time(window.from.0 .0), Time(window.to.0 .0))
}

/// Returns the mean rate at which a link could have sent what arrives in a window, after `delay`, bit/s.
pub fn capacity_of_arrivals(net: &Net, link: usize, window: &Window, delay: Span) -> f64 {
    let [from, to] = [window.from, window.to].map(|at| sent_at(Time(at.0 .0), delay));
    match from < to {
        true => net.capacity(link, from, to),
        // The window ends before anything can have arrived.
        false => capacity(net, link, window),
    }
}

/// Returns what a link could have sent of that which arrives between two times, after `delay`, bits.
pub fn bits_of_arrivals(net: &Net, link: usize, between: (Time, Time), delay: Span) -> f64 {
    let [from, to] = [between.0, between.1].map(|at| sent_at(at, delay));
    match from < to {
        true => net.capacity(link, from, to) * to.since(from).as_secs_f64(),
        false => 0.0,
    }
}

/// Returns the part of a capacity that is used. None of a link that was idle for the whole window is.
pub fn share(used: f64, capacity: f64) -> f64 {
    match capacity > 0.0 {
        true => round(used / capacity, 4),
        false => 0.0,
    }
}

/// Returns the figures of every link in the window with this index, which is over.
pub fn figures(scenario: &Scenario, network: &Network, net: &Net, window: usize) -> Vec<LinkFigures> {
    (0..network.links.len()).map(|link| figures_of(scenario, network, net, link, window)).collect()
}

fn figures_of(scenario: &Scenario, network: &Network, net: &Net, link: usize, window: usize) -> LinkFigures {
    let (spec, measured) = (&network.links[link], &scenario.measure[window]);
    let seconds = (measured.to.0 - measured.from.0).as_secs_f64();
    let capacity_bit_s = capacity(net, link, measured);
    let passed = net.meter(link).window(window);
    let lengths = net.meter(link).lengths.as_deref();
    let names = scenario.flow.iter().map(|flow| flow.name.as_str());
    let classes = passed.by_class.map(|delays| classes(delays, passed.packet_seconds, seconds));
    let queue_packets = passed.packet_seconds.iter().sum::<f64>() / seconds;
    let of_buffer = match spec.link.buffer {
        Buffer::Packets(packets) if packets > 0 => Some(round(queue_packets / packets as f64, 6)),
        _ => None,
    };
    LinkFigures {
        link: spec.name.clone(),
        capacity_bit_s,
        utilisation: share(passed.bytes, capacity_bit_s * seconds / 8.0),
        queuing_delay: passed.delays,
        queue_packets: Some(round(queue_packets, 3)),
        queue_of_buffer: of_buffer,
        buckets: lengths.and_then(|lengths| lengths.buckets(window)),
        queue_length: lengths.and_then(|lengths| lengths.length(window)),
        flows: lengths.map(|lengths| lengths.flows(window, names)).unwrap_or_default(),
        classes: classes.unwrap_or_default(),
        ..LinkFigures::default()
    }
}

/// Returns the figures of each class.
fn classes(delays: [Option<Quantiles>; 2], packet_seconds: [f64; 2], seconds: f64) -> Vec<ClassFigures> {
    let figures = |class: Class| ClassFigures {
        class: class_name(class).to_owned(),
        queuing_delay: delays[class as usize],
        queue_packets: Some(round(packet_seconds[class as usize] / seconds, 3)),
    };
    Class::BOTH.map(figures).to_vec()
}
