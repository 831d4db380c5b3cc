//! The expected behaviour of a scenario, in plain words.

use super::groups::{Group, Rest};
use crate::closed::Link;

/// Least ratio of the buffer to a flow's target delay at which the flow sees others before they overflow the buffer.
const ROOM: f64 = 1.5;

/// Returns a sentence or two for each group; `loss` is random, `link` that of a group.
pub fn expect(groups: &[Group], loss: f64, link: impl Fn(&Group) -> Link) -> Vec<String> {
    let stays = |group: &&Group| group.passing_load(&link(group)).is_none();
    let filler = groups.iter().filter(stays).find(|group| group.fills_buffer(&link(group), loss));
    let mut sentences = Vec::new();
    for group in groups {
        let (link, name) = (link(group), group.name());
        if let Some(load) = group.passing_load(&link) {
            sentences.push(format!(
                "{name}: transfers that end, {:.0} % of the link while they start: what they do to the queue as they come and go is \
                 not modelled",
                load * 100.0
            ));
            continue;
        }
        if group.fills_buffer(&link, loss) {
            sentences.push(format!(
                "{name}: expect it to fill the buffer again and again: up to {:.0} ms of delay for everybody",
                link.buffer_s() * 1e3
            ));
        }
        let Some(Rest { queuing_s: rest_s, is_reached }) = group.rest(&link) else { continue };
        let fits = rest_s < link.buffer_s() && !group.path_is_too_long(&link);
        if fits && !is_reached {
            sentences.push(format!(
                "{name}: while nobody else sends, expect the delay to swing from little to {:.0} ms and more: with constant round \
                 trips nothing makes it settle",
                rest_s * 1e3
            ));
        }
        if fits && is_reached {
            let use_of_link = group.utilisation_alone(&link).map_or_else(String::new, |utilisation| {
                format!(", and {:.0} % of the link", utilisation * 100.0)
            });
            sentences.push(format!(
                "{name}: while nobody else sends, expect about {:.0} ms of delay for everybody{use_of_link}",
                rest_s * 1e3
            ));
        }
        if let Some(filler) = filler {
            sentences.push(beside(&name, rest_s, &link, &filler.name()));
        }
    }
    sentences
}

/// Describes a delay-based group beside one that fills the buffer.
fn beside(name: &str, rest_s: f64, link: &Link, filler: &str) -> String {
    let (rest_ms, buffer_ms) = (rest_s * 1e3, link.buffer_s() * 1e3);
    match link.buffer_s() >= ROOM * rest_s {
        true => format!(
            "{name}: beside {filler} expect it to step aside: a buffer of {buffer_ms:.0} ms shows more delay than the {rest_ms:.0} ms \
             that it wants, long before it overflows"
        ),
        false => format!(
            "{name}: beside {filler} expect it to take a share, at most as TCP does: the buffer of {buffer_ms:.0} ms overflows before much \
             more delay shows than the {rest_ms:.0} ms that it wants"
        ),
    }
}
