//! Measures of a sender in a window: `flow` names it. The scenario must record senders.

use super::{is, known, nothing, set, window, Measure};
use crate::entry::Args;
use crate::error::Result;
use crate::reading::Reading;
use afteryou_scenario::outcome::{round, Levels, Outcome, SenderFigures, SetFigures};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "cwnd",
        help: "congestion window of `flow` over time, kB: `stat` is mean, p5, p50, p95 or max",
        take: cwnd,
    },
    Measure {
        name: "flight",
        help: "payload in flight of `flow` over time, kB: `stat` is mean, p5, p50, p95 or max",
        take: flight,
    },
    Measure {
        name: "flight_packets",
        help: "payload in flight of `flow`, packets: `stat` as for cwnd",
        take: flight_packets,
    },
    Measure {
        name: "flight_on_link",
        help: "payload in flight of `flow` with its headers, kB: `stat` as for cwnd",
        take: flight_on_link,
    },
    Measure {
        name: "rtt",
        help: "round-trip times of `flow`, one of each ack, ms: `stat` is mean, p50, p95, p99 or max",
        take: rtt,
    },
    Measure {
        name: "own_delay",
        help: "`flow`'s own estimate of the queuing delay, ms: `stat` as for cwnd",
        take: own_delay,
    },
    Measure {
        name: "base_error",
        help: "mean base delay of `flow` less the path's base RTT, ms",
        take: base_error,
    },
    Measure {
        name: "delay_error",
        help: "`flow`'s own estimate of the queuing delay less the RTT's excess over the base RTT, mean over acks, ms",
        take: delay_error,
    },
    Measure {
        name: "longest_stall",
        help: "longest time of `flow` without progress of the cumulative ack, s",
        take: longest_stall,
    },
    Measure {
        name: "stalls",
        help: "number of stalls of `flow` that are longer than the window's `stall`",
        take: stalls,
    },
    Measure {
        name: "starved",
        help: "longest time of the set's flows below `starved` of the fair share, s",
        take: starved,
    },
    Measure { name: "start_up", help: "time until the set reaches `reach` of its rate, s", take: start_up },
    Measure {
        name: "completion",
        help: "completion time of the set's transfers with handshake, s, mean or `stat`",
        take: completion,
    },
    Measure {
        name: "dropped_after",
        help: "D_p(N), N = 1…40: how often the N-th packet after a drop is dropped",
        take: dropped_after,
    },
    Measure {
        name: "retransmitted_after",
        help: "R_p(N), N = 1…40: how often the N-th packet after a drop is its retransmission",
        take: retransmitted_after,
    },
];

fn sender<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a SenderFigures> {
    let name = args.needed_text("flow")?;
    let mut flows = window(outcome, args)?.flows.iter();
    let found = flows.find(|flow| is(outcome, &flow.flow, name)).and_then(|flow| flow.sender.as_ref());
    found.ok_or_else(|| nothing(format!("no sender {name:?} was recorded in this window")))
}

fn level(levels: &Levels, args: &Args) -> Result<Reading> {
    scaled(levels, args, 1.0)
}

fn scaled(levels: &Levels, args: &Args, scale: f64) -> Result<Reading> {
    let value = match args.text("stat").unwrap_or("mean") {
        "mean" => levels.mean,
        "p5" => levels.p5,
        "p50" => levels.p50,
        "p95" => levels.p95,
        "max" => levels.max,
        other => return Err(nothing(format!("there is no statistic {other:?}"))),
    };
    Ok((value * scale).into())
}

fn cwnd(outcome: &Outcome, args: &Args) -> Result<Reading> {
    level(&sender(outcome, args)?.cwnd_kb, args)
}

fn flight(outcome: &Outcome, args: &Args) -> Result<Reading> {
    level(&sender(outcome, args)?.in_flight_kb, args)
}

fn flight_packets(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let payload = known(outcome, args.needed_text("flow")?)?.packet_format().payload.bytes() as f64;
    let packets = scaled(&sender(outcome, args)?.in_flight_kb, args, 1e3 / payload)?;
    // The distribution's bins are a thousandth wide.
    Ok(round(packets.number().unwrap_or(f64::NAN), 2).into())
}

fn flight_on_link(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let packet = known(outcome, args.needed_text("flow")?)?.packet_format();
    let (payload, overhead) = (packet.payload.bytes() as f64, packet.overhead.bytes() as f64);
    scaled(&sender(outcome, args)?.in_flight_kb, args, (payload + overhead) / payload)
}

fn rtt(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let rtt = sender(outcome, args)?.rtt.as_ref().ok_or_else(|| nothing("no ack had a round-trip time"))?;
    Ok(match args.text("stat").unwrap_or("mean") {
        "mean" => rtt.mean_ms,
        "p50" => rtt.p50_ms,
        "p95" => rtt.p95_ms,
        "p99" => rtt.p99_ms,
        "max" => rtt.max_ms,
        other => return Err(nothing(format!("there is no statistic {other:?}"))),
    }
    .into())
}

fn own_delay(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let levels = sender(outcome, args)?.queuing_delay_ms.as_ref();
    level(levels.ok_or_else(|| nothing("this controller has no estimate of the queuing delay"))?, args)
}

fn base_error(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let error = sender(outcome, args)?.base_delay_error_ms;
    error.map(Reading::One).ok_or_else(|| nothing("this controller reports no base delay"))
}

fn delay_error(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let error = sender(outcome, args)?.delay_error_ms;
    error.map(Reading::One).ok_or_else(|| nothing("this controller has no estimate of the queuing delay"))
}

fn longest_stall(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok(sender(outcome, args)?.longest_stall_s.into())
}

fn stalls(outcome: &Outcome, args: &Args) -> Result<Reading> {
    Ok((sender(outcome, args)?.stalls.count as f64).into())
}

fn starved(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let starved = set(outcome, args)?.starved.as_ref();
    Ok(starved.map_or(0.0, |starved| starved.longest_s).into())
}

fn start_up(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let time = set(outcome, args)?.start_up_s;
    time.map(Reading::One).ok_or_else(|| nothing("the set did not reach that rate"))
}

fn completion(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let times = set(outcome, args)?.transfers.as_ref().and_then(|transfers| transfers.time.as_ref());
    let times = times.ok_or_else(|| nothing("no transfer of the set was completed in this window"))?;
    Ok(match args.text("stat").unwrap_or("mean") {
        "mean" => times.mean_ms / 1e3,
        "max" => times.max_ms / 1e3,
        other => return Err(nothing(format!("there is no statistic {other:?}"))),
    }
    .into())
}

fn after_loss<'a>(outcome: &'a Outcome, args: &Args) -> Result<&'a SetFigures> {
    let set = set(outcome, args)?;
    match set.after_loss.is_some() {
        true => Ok(set),
        false => Err(nothing("the scenario records no losses")),
    }
}

fn dropped_after(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let after = after_loss(outcome, args)?.after_loss.as_ref();
    Ok(Reading::List(after.map(|after| after.dropped.clone()).unwrap_or_default()))
}

fn retransmitted_after(outcome: &Outcome, args: &Args) -> Result<Reading> {
    let after = after_loss(outcome, args)?.after_loss.as_ref();
    Ok(Reading::List(after.map(|after| after.retransmitted.clone()).unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::outcome::{FlowFigures, Quantiles, Run, WindowFigures};
    use afteryou_scenario::{Flow, Link, Role, Scenario};

    /// Returns an outcome with a flow with packets of 1448 B and 52 B of headers, two packets in flight and round trips of
    /// 30 ms.
    fn outcome() -> Outcome {
        let sender = SenderFigures {
            in_flight_kb: Levels { p50: 2.897, ..Levels::default() },
            rtt: Some(Quantiles { p99_ms: 30.0, ..Quantiles::default() }),
            ..SenderFigures::default()
        };
        let flow = FlowFigures {
            flow: "a".to_owned(),
            role: Role::Background,
            goodput_bit_s: 0.0,
            share_of_payload_capacity: 0.0,
            queuing_delay: None,
            sender: Some(sender),
        };
        let window = WindowFigures { flows: vec![flow], ..WindowFigures::default() };
        let link = Link::new("20 Mbit/s".parse().unwrap(), "100 ms".parse().unwrap());
        let mut scenario = Scenario::new("made up", "10 s".parse().unwrap(), link);
        scenario.flow = vec![Flow::new("a", Role::Background, "ledbat", "20 ms".parse().unwrap())];
        let run = Run { windows: vec![window], ..Run::default() };
        Outcome::new("sim", "0", scenario, run, None)
    }

    #[test]
    fn a_flight_is_counted_in_packets_and_with_headers() {
        let read = |take: fn(&Outcome, &Args) -> Result<Reading>, stat: &str| {
            let args = toml::from_str(&format!("flow = \"a\"\nstat = \"{stat}\"")).unwrap();
            take(&outcome(), &args).unwrap().number().unwrap()
        };
        assert_eq!(read(flight_packets, "p50"), 2.0);
        assert_eq!(read(flight_on_link, "p50"), 2.897 * 1500.0 / 1448.0);
        assert_eq!(read(rtt, "p99"), 30.0);
        let unknown = toml::from_str("flow = \"a\"\nstat = \"p98\"").unwrap();
        assert!(rtt(&outcome(), &unknown).is_err());
    }
}
