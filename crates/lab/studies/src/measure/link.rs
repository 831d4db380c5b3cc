//! Measures of a link in a window. `link` names it; without it the bottleneck is meant.

use super::{is, known, nothing, window, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{LinkFigures, Outcome, WindowFigures};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "queue_and_utilisation",
        help: "mean queue in packets, and the utilisation: two numbers",
        take: queue_and_utilisation,
    },
    Measure { name: "utilisation", help: "bytes out over capacity × time, 0 to 1", take: utilisation },
    Measure { name: "queue", help: "time-weighted mean of the queue, packets", take: queue },
    Measure {
        name: "queue_of",
        help: "time-weighted mean of the packets of `flow` in the queue, packets",
        take: queue_of,
    },
    Measure {
        name: "queue_of_buffer",
        help: "mean queue over the buffer, E[Q]/Q_max, 0 to 1",
        take: queue_of_buffer,
    },
    Measure {
        name: "class_queue",
        help: "mean number of packets of `class`, best effort or lower effort, in the queue",
        take: class_queue,
    },
    Measure {
        name: "queue_empty",
        help: "part of the time in which the queue is empty, P(Q = 0)",
        take: queue_empty,
    },
    Measure {
        name: "queuing_delay",
        help: "queuing delay of packets, ms: `stat` is mean, p50, p95 or max",
        take: queuing_delay,
    },
    Measure {
        name: "queuing_delay_growth",
        help: "mean queuing delay in `window` less that in the window `than`, ms",
        take: queuing_delay_growth,
    },
    Measure {
        name: "held",
        help: "most that the path of `flow` holds: the largest queue, and rate × round-trip time, kB with headers",
        take: held,
    },
    Measure { name: "dropped", help: "packets that the queue dropped in the whole run", take: dropped },
];

fn queue_and_utilisation(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let packets =
        link(outcome, args)?.queue_packets.ok_or_else(|| nothing("the queue's length was not recorded"))?;
    Ok(Reading::List(vec![packets, link(outcome, args)?.utilisation]))
}

fn link<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a LinkFigures> {
    link_of(window(outcome, args)?, args)
}

fn link_of<'a>(window: &'a WindowFigures, args: &Args) -> Result<&'a LinkFigures> {
    let links = &window.links;
    let found = match args.text("link") {
        None => links.first(),
        Some(name) => links.iter().find(|link| link.link == name),
    };
    found.ok_or_else(|| nothing("the run has no such link"))
}

fn utilisation(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(link(outcome, args)?.utilisation.into())
}

fn queue(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let packets = link(outcome, args)?.queue_packets;
    packets.map(Reading::One).ok_or_else(|| nothing("the queue's length was not recorded"))
}

fn queue_of(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (link, name) = (link(outcome, args)?, args.needed_text("flow")?);
    if link.queue_length.is_none() {
        return Err(nothing("the queue's length was not recorded"));
    }
    let meant = link.flows.iter().filter(|flow| is(outcome, &flow.flow, name));
    Ok(meant.map(|flow| flow.queue_packets).sum::<f64>().into())
}

fn queue_of_buffer(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let part = link(outcome, args)?.queue_of_buffer;
    part.map(Reading::One)
        .ok_or_else(|| nothing("the queue's length was not recorded, or it has no limit in packets"))
}

fn queue_empty(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let length = link(outcome, args)?.queue_length.as_ref();
    length.map(|length| length.empty.into()).ok_or_else(|| nothing("the queue's length was not recorded"))
}

fn mean_delay(link: &LinkFigures) -> Result<f64> {
    let delay = link.queuing_delay.as_ref();
    delay.map(|delay| delay.mean_ms).ok_or_else(|| nothing("no packet crossed the link in this window"))
}

fn queuing_delay(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let delay = link(outcome, args)?.queuing_delay.as_ref();
    let delay = delay.ok_or_else(|| nothing("no packet crossed the link in this window"))?;
    Ok(match args.text("stat").unwrap_or("mean") {
        "mean" => delay.mean_ms,
        "p50" => delay.p50_ms,
        "p95" => delay.p95_ms,
        "max" => delay.max_ms,
        other => return Err(nothing(format!("there is no statistic {other:?}"))),
    }
    .into())
}

fn class_queue(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let wanted = args.needed_text("class")?;
    let class = link(outcome, args)?.classes.iter().find(|class| class.class == wanted);
    let packets = class.and_then(|class| class.queue_packets);
    packets.map(Reading::One).ok_or_else(|| nothing(format!("the queue of {wanted:?} was not recorded")))
}

fn queuing_delay_growth(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let than = args.needed_text("than")?;
    let earlier = outcome.run.windows.iter().find(|window| window.window == than);
    let earlier = earlier.ok_or_else(|| nothing(format!("the run has no window {than:?}")))?;
    Ok((mean_delay(link(outcome, args)?)? - mean_delay(link_of(earlier, args)?)?).into())
}

fn held(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let (link, flow) = (link(outcome, args)?, known(outcome, args.needed_text("flow")?)?);
    let length = link.queue_length.as_ref().ok_or_else(|| nothing("the queue's length was not recorded"))?;
    let packet = flow.packet_format();
    let queued = length.max as f64 * (packet.payload.bytes() + packet.overhead.bytes()) as f64;
    let in_transit = link.capacity_bit_s / 8.0 * flow.rtt.as_secs_f64();
    Ok(((queued + in_transit) / 1e3).into())
}

fn dropped(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let links = &outcome.run.links;
    let found = match args.text("link") {
        None => links.first(),
        Some(name) => links.iter().find(|link| link.link == name),
    };
    let packets = found.and_then(|link| link.packets.as_ref());
    packets.map(|packets| (packets.dropped as f64).into()).ok_or_else(|| nothing("the run has no such link"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::outcome::{FlowAtLink, Quantiles, QueueLength, Run};
    use afteryou_scenario::{Flow, Link, Role, Scenario};

    fn of_queue((flow, queue_packets): (&str, f64)) -> FlowAtLink {
        FlowAtLink { flow: flow.to_owned(), bytes: 0, share: 0.0, queue_packets, queued_at_end: 0 }
    }

    /// Returns an outcome with a link of 20 Mbit/s with at most 10 packets of 1500 B in its queue. The delay is 5 ms in the
    /// first window and 8 ms in the second one.
    fn outcome() -> Outcome {
        let window = |name: &str, mean_ms: f64| WindowFigures {
            window: name.to_owned(),
            links: vec![LinkFigures {
                capacity_bit_s: 20e6,
                queuing_delay: Some(Quantiles { mean_ms, ..Quantiles::default() }),
                queue_length: Some(QueueLength { max: 10, ..QueueLength::default() }),
                flows: [("a", 4.0), ("b", 1.5)].map(of_queue).into(),
                ..LinkFigures::default()
            }],
            ..WindowFigures::default()
        };
        let run = Run { windows: vec![window("first", 5.0), window("last", 8.0)], ..Run::default() };
        let link = Link::new("20 Mbit/s".parse().unwrap(), "100 ms".parse().unwrap());
        let mut scenario = Scenario::new("made up", "10 s".parse().unwrap(), link);
        scenario.flow = vec![Flow::new("a", Role::Background, "ledbat", "20 ms".parse().unwrap())];
        Outcome::new("sim", "0", scenario, run, None)
    }

    #[test]
    fn a_path_holds_its_queue_and_what_is_in_transit() {
        let read = |take: fn(&Outcome, &Args) -> Result<Reading>, with: &str| {
            take(&outcome(), &toml::from_str(with).unwrap()).unwrap().number().unwrap()
        };
        assert_eq!(read(held, "flow = \"a\""), 15.0 + 50.0);
        assert_eq!(read(queue_of, "flow = \"b\""), 1.5);
        assert_eq!(read(queuing_delay_growth, "window = \"last\"\nthan = \"first\""), 3.0);
        assert!(queuing_delay_growth(&outcome(), &toml::from_str("than = \"none\"").unwrap()).is_err());
    }
}
