//! A background transfer over quinn beside nobody, and beside quinn's CUBIC.

use crate::common::{client, connect, link, pour, runtime, server, sink};
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Fate, FlowId, Record, Relay, Way, TOS_IS_KEPT};
use afteryou_bed::Clock;
use afteryou_quic::background_transport;
use quinn::{Endpoint, TransportConfig};
use std::time::Duration;

/// 20 Mbit/s.
const LINK_BYTES_PER_SECOND: f64 = 2_500_000.0;

/// What one flow had between two times.
struct Part<'a>(&'a [Record], FlowId, Time, Time);

impl Part<'_> {
    /// Returns sizes and waiting times of what the link sent to the server.
    fn sent(&self) -> impl Iterator<Item = (u32, Span)> + '_ {
        let Part(records, flow, from, to) = *self;
        records.iter().filter(move |record| record.flow == flow && record.way == Way::Forward).filter_map(
            move |record| match record.fate {
                Fate::Sent { dequeued_at, sojourn, .. } if from <= dequeued_at && dequeued_at < to => {
                    Some((record.size_bytes, sojourn))
                }
                _ => None,
            },
        )
    }

    fn utilisation(&self) -> f64 {
        let bytes: u64 = self.sent().map(|(bytes, _)| u64::from(bytes)).sum();
        bytes as f64 / LINK_BYTES_PER_SECOND / self.3.since(self.2).as_secs_f64()
    }

    fn mean_queue_ms(&self) -> f64 {
        let (sum, count) = self
            .sent()
            .fold((0.0, 0), |(sum, count), (_, sojourn)| (sum + sojourn.as_millis_f64(), count + 1));
        sum / f64::from(count.max(1))
    }
}

/// What was measured of one run.
struct Outcome {
    alone: f64,
    alone_queue_ms: f64,
    background: f64,
    foreground: f64,
    /// The machine was too late too often.
    spoiled: bool,
}

/// Runs ten seconds of background alone, then ten beside quinn's CUBIC.
async fn run() -> Outcome {
    let server = || server("127.0.0.1:0", background_transport()).0;
    let servers = [server(), server()];
    let mut config = Config::new(1);
    let link = config.add_link(link("uplink", "20 Mbit/s", "500 ms", "0 %"));
    let mut flow =
        |server: &Endpoint| config.add_flow(link, server.local_addr().unwrap(), Span::from_millis(40));
    let flows = [flow(&servers[0]), flow(&servers[1])];
    let relay = Relay::start(config, Clock::start()).unwrap();
    servers.into_iter().for_each(|server| drop(tokio::spawn(sink(server))));

    let client = client("127.0.0.1:0").0;
    let background = connect(&client, relay.front(flows[0]), background_transport()).await.unwrap();
    tokio::spawn(pour(background.clone()));
    tokio::time::sleep(Duration::from_secs(10)).await;
    let foreground = connect(&client, relay.front(flows[1]), TransportConfig::default()).await.unwrap();
    tokio::spawn(pour(foreground.clone()));
    tokio::time::sleep(Duration::from_secs(10)).await;
    background.close(0u32.into(), b"");
    foreground.close(0u32.into(), b"");

    let (statistics, records) = relay.stop_with_records().unwrap();
    let part = |flow, from, to| Part(&records, flow, Time::from_millis(from), Time::from_millis(to));
    let alone = part(flows[0], 4_000, 10_000);
    Outcome {
        alone: alone.utilisation(),
        alone_queue_ms: alone.mean_queue_ms(),
        background: part(flows[0], 13_000, 20_000).utilisation(),
        foreground: part(flows[1], 13_000, 20_000).utilisation(),
        spoiled: statistics.lateness.is_none_or(|lateness| lateness.spoiled()),
    }
}

#[test]
fn ledbat_plus_plus_keeps_its_target_alone_and_gives_way_to_cubic() {
    if !TOS_IS_KEPT {
        println!("not tested: this platform's clock is too coarse");
        return;
    }
    let mut outcome = runtime().block_on(run());
    for _ in 0..2 {
        // Once more; if the machine stays that busy, the figures are judged all the same.
        if outcome.spoiled {
            outcome = runtime().block_on(run());
        }
    }
    let Outcome { alone, alone_queue_ms, background, foreground, spoiled } = outcome;
    println!("alone: {alone:.3} of the link, {alone_queue_ms:.1} ms queue");
    println!("beside CUBIC: {background:.3} and {foreground:.3}; spoiled: {spoiled}");
    // A slowdown costs a tenth of the time at most, and the target is 60 ms.
    assert!(alone > 0.75, "{alone}");
    assert!((20.0..70.0).contains(&alone_queue_ms), "{alone_queue_ms} ms");
    assert!(background < 0.1, "{background}");
    assert!(foreground > 0.8, "{foreground}");
}
