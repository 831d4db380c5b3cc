//! A concrete scenario, written as TOML, reads back as itself: what a result carries can be run again.

use crate::validator::Validator;
use afteryou_scenario::scenario::{Delay, Drop, PacketFormat, Reverse};
use afteryou_scenario::{
    Algorithm, Buffer, Duration, EndRule, Flow, Link, Probability, Rate, Record, Role, Scenario, Size,
    Traffic, Transport, TransportKind, Window,
};
use afteryou_scenario_file::Experiment;
use proptest::prelude::*;
use std::sync::LazyLock;

static SCHEMA: LazyLock<serde_json::Value> = LazyLock::new(afteryou_scenario_file::schema);

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn any_traffic() -> impl Strategy<Value = Traffic> {
    prop_oneof![
        Just(Traffic::Bulk),
        (0u64..1 << 40).prop_map(|bytes| Traffic::Size(Size::from_bytes(bytes))),
        (1u64..1 << 30).prop_map(|bytes| Traffic::Chunk(Size::from_bytes(bytes))),
        (1u64..100_000, 1u64..100_000).prop_map(|(on, off)| Traffic::OnOff { on: ms(on), off: ms(off) }),
    ]
}

prop_compose! {
    fn any_flow(index: usize)(
        name in "[a-z][a-z .]{0,8}",
        group in prop::option::of("[a-z]{1,5}"),
        host in prop::option::of("[a-z]{1,5}"),
        role in prop::sample::select(vec![Role::Foreground, Role::Background]),
        controller in prop::sample::select(vec!["cubic", "ledbat++,target=40ms", "newreno,hystart=on"]),
        transport in prop::sample::select(vec![Transport::tcp(), Transport::utp(), Transport::tcp().with("iw", "3").with("ack", "every packet")]),
        receiver in prop::option::of(prop::sample::select(vec![
            EndRule::named("rledbat"),
            EndRule::named("rledbat").with("preset", "apple").with("target", "30 ms"),
        ])),
        sender in prop::option::of(prop::sample::select(vec![
            EndRule::named("outside"),
            EndRule::named("outside").with("target", "30 ms"),
        ])),
        traffic in any_traffic(),
        rtt in 0u64..1000,
        start in 0u64..5000,
        stop in prop::option::of(5001u64..9000),
        active: bool,
        reconnect: bool,
        payload in prop::option::of(1u64..9000),
        cbr in 0u8..5,
    ) -> Flow {
        let name = format!("{index}{name}");
        let base = match cbr {
            0 => Flow::cbr(name, role, Rate::from_bits(64_000), Size::from_bytes(160), ms(rtt)),
            _ => Flow {
                controller: Some(controller.parse::<Algorithm>().unwrap()),
                sender: sender.filter(|_| transport.kind == TransportKind::Tcp && receiver.is_none()),
                receiver: receiver.filter(|_| transport.kind == TransportKind::Tcp),
                transport,
                traffic,
                ..Flow::new(name, role, "", ms(rtt))
            },
        };
        let sizes = |payload| PacketFormat { payload: Size::from_bytes(payload), overhead: Size::from_bytes(66) };
        let active = if active { vec![[ms(1), ms(20)], [ms(30), ms(40)]] } else { vec![] };
        Flow { group, host, start: ms(start), stop: stop.map(ms), active, reconnect, packet: payload.map(sizes), ..base }
    }
}

prop_compose! {
    fn any_scenario()(
        flow in (1usize..4).prop_flat_map(|n| (0..n).map(any_flow).collect::<Vec<_>>()),
        name in ".{0,20}",
        seed in 0u64..i64::MAX as u64,
        baseline: bool,
        buffer in prop::sample::select(vec!["7 packets", "64 KiB", "500 ms"]),
        // In 500 ms the slowest still sends an acknowledgement: a smaller buffer is refused.
        reverse in prop::option::of(10u64..1000),
        record in prop::sample::subsequence(Record::ALL.map(|(_, record)| record).to_vec(), 0..=Record::ALL.len()),
        at in prop::option::of(1u64..9000),
    ) -> Scenario {
        let mut link = Link::new(Rate::from_mbit(20), buffer.parse::<Buffer>().unwrap());
        link.loss = "0.1 %".parse::<Probability>().unwrap();
        link.reverse = reverse.map(|kbit| Reverse { rate: Some(Rate::from_bits(kbit * 1000)), ..Reverse::default() });
        let window = |name: &str, from, to| Window { name: name.to_owned(), from: ms(from), to: ms(to) };
        let of = flow[0].name.clone();
        let by_number = Drop { flow: Some(of.clone()), packet: Some(3), transmission: Some(2), count: Some(9), ..Drop::default() };
        let by_time = at.map(|at| Drop { at: Some(ms(at)), until: Some(ms(at + 5)), ..Drop::default() });
        let delay = Delay::of_packet(of, 5, ms(30));
        Scenario {
            seed,
            baseline,
            record,
            measure: vec![window("a", 0, 10), window("b", 5, 9_000)],
            flow,
            drop: std::iter::once(by_number).chain(by_time).collect(),
            delay: vec![delay],
            ..Scenario::new(name, ms(10_000), link)
        }
    }
}

proptest! {
    #[test]
    fn a_scenario_written_as_toml_reads_back_as_itself(scenario in any_scenario()) {
        let text = toml::to_string(&scenario).unwrap();
        let experiment = Experiment::parse(&text, "written", &[]).unwrap_or_else(|error| panic!("{error}\n\n{text}"));
        let runs = experiment.runs(None, None).unwrap();
        prop_assert_eq!(runs.len(), 1);
        prop_assert_eq!(&*runs[0].scenario, &scenario);
        let value = serde_json::to_value(&scenario).unwrap();
        let errors = Validator::new(&SCHEMA).errors(&value);
        prop_assert!(errors.is_empty(), "{errors:?}");
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}=\".a-z0-9 \n]{0,200}") {
        let _ = Experiment::parse(&text, "any", &[]);
    }

    #[test]
    fn no_damage_to_a_good_file_makes_the_reader_panic(at in 0usize..2000, cut in 0usize..40, put in "\\PC{0,6}") {
        for name in ["many-flows", "scripted-loss", "on-and-off", "rtt-sweep", "web-users", "peers"] {
            let path = format!("{}/../../../scenarios/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            let text: Vec<char> = std::fs::read_to_string(path).unwrap().chars().collect();
            let at = at % text.len();
            let rest = &text[(at + cut).min(text.len())..];
            let damaged: String = text[..at].iter().copied().chain(put.chars()).chain(rest.iter().copied()).collect();
            if let Ok(experiment) = Experiment::parse(&damaged, "damaged", &[]) {
                let _ = experiment.runs(None, Some(2));
            }
        }
    }
}
