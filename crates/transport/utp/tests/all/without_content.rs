//! Connections whose packets have no content, as a simulator runs them, in virtual time: they do what any other does.

use crate::support::{Path, Plan, Side, World};
use afteryou_base::Time;
use afteryou_cc::list::CONTROLLERS;
use afteryou_utp::packet::{Header, Packet};
use afteryou_utp::{Config, Statistics};
use std::cell::RefCell;
use std::rc::Rc;

/// A datagram as it leaves: when, whose, what, with which bitmap, how much payload.
type Departure = (Time, Side, Header, Option<Vec<u8>>, usize);

/// Returns everything that leaves, and both ends' counters.
fn run(path: Path, plan: Plan) -> (Vec<Departure>, [Statistics; 2]) {
    let departures = Rc::new(RefCell::new(Vec::new()));
    let mut world = World::new(path, vec![plan]);
    let log = Rc::clone(&departures);
    world.filter = Some(Box::new(move |now, _, side, packet: &Packet<'_>| {
        let mask = packet.sack.map(|sack| sack.mask().to_vec());
        log.borrow_mut().push((now, side, packet.header, mask, packet.payload.len()));
        true
    }));
    assert!(world.run_to_completion(1_200_000));
    let flow = &world.flows[0];
    let statistics = [flow.client().statistics(), flow.server().statistics()];
    let departures = departures.borrow().clone();
    (departures, statistics)
}

fn assert_same(what: &str, path: impl Fn() -> Path, plan: impl Fn() -> Plan) -> [Statistics; 2] {
    let (with, without) = (run(path(), plan()), run(path(), plan().without_content()));
    let differs = with.0.iter().zip(&without.0).find(|(with, without)| with != without);
    assert_eq!(differs, None, "{what}");
    assert_eq!(with, without, "{what}");
    with.1
}

#[test]
fn the_same_datagrams_leave_at_the_same_times_with_and_without_content() {
    for controller in CONTROLLERS {
        for (rtt_ms, loss) in [(5, 0.0), (50, 0.01), (200, 0.05)] {
            let what = format!("{}, {rtt_ms} ms, loss {loss}", controller.name);
            let plan = || Plan::bulk(controller.name, rtt_ms).sending(5_000_000);
            let [client, _] = assert_same(&what, || Path::new(50, 50).lossy(loss), plan);
            assert!(loss == 0.0 || client.losses > 0, "{what}: {client:?}");
        }
    }
}

#[test]
fn so_they_do_when_the_receive_buffer_is_the_limit() {
    for recv_buffer in [3_000, 20_000, 100_000] {
        for loss in [0.0, 0.02] {
            let config = Config { recv_buffer, ..Config::default() };
            let plan = || Plan { config: config.clone(), ..Plan::bulk("cubic", 40).sending(500_000) };
            let what = format!("{recv_buffer} bytes, loss {loss}");
            let [_, server] = assert_same(&what, || Path::new(50, 50).lossy(loss), plan);
            assert_eq!(server.bytes_received, 500_000, "{what}");
        }
    }
}
