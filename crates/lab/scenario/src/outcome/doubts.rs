//! Reasons to doubt the figures of a run.

use super::{Run, Series, Totals};
use crate::named::named;
use crate::runaway;
use crate::scenario::Scenario;

/// Returns a sentence for each doubt.
pub(super) fn doubts(scenario: &Scenario, run: &Run) -> Vec<String> {
    silent(run).into_iter().chain(ran_away(scenario, run)).collect()
}

/// Reports flows that never connected or never sent.
fn silent(run: &Run) -> Option<String> {
    let silent = |totals: &&Totals| totals.packets == 0 || totals.received_bytes == 0;
    let flows: Vec<&str> = run.totals.iter().filter(silent).map(|totals| totals.flow.as_str()).collect();
    (!flows.is_empty()).then(|| format!("no data arrived in the whole run of {}", named(&flows)))
}

/// Reports windows that ran away, of flows with curves of their own.
fn ran_away(scenario: &Scenario, run: &Run) -> Vec<String> {
    let mut curves = run.series.iter().filter(|curve| curve.quantity == "cwnd").peekable();
    let network = curves.peek().and_then(|_| scenario.network().ok());
    let Some(network) = network else { return Vec::new() };
    let of_curve = |curve: &Series| {
        let totals = run.totals.iter().find(|totals| totals.flow == curve.of)?;
        let flow = scenario.flow.iter().enumerate().find(|(_, flow)| flow.name == curve.of)?;
        let windows: Vec<f64> = curve.values.iter().flatten().map(|kilobytes| kilobytes * 1e3).collect();
        runaway::after(&network, flow, &windows, totals.losses > 0 || totals.retransmissions > 0)
    };
    curves.filter_map(of_curve).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Flow, Link, Role, Size, Traffic, Transport};

    #[test]
    fn flows_of_which_nothing_arrived_are_named() {
        let totals = |flow: &str, packets| Totals {
            flow: flow.to_owned(),
            packets,
            received_bytes: packets * 1448,
            ..Totals::default()
        };
        let run = |totals| Run { totals, ..Run::default() };
        assert_eq!(silent(&run(vec![totals("a", 9)])), None);
        let warning = silent(&run(vec![totals("a", 9), totals("b", 0)])).unwrap();
        assert_eq!(warning, "no data arrived in the whole run of flow \"b\"");
    }

    #[test]
    fn a_window_far_above_what_its_path_holds_has_run_away_and_so_has_one_that_nothing_stops() {
        // 1 Mbit/s over 80 ms and a packet of 12 ms make a product of about 12 kB; the buffer holds 15 kB.
        let warnings = |flow: Flow, windows: &[f64], losses| {
            let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
            let duration = Duration::from_millis(9_000);
            let scenario = Scenario { flow: vec![flow], ..Scenario::new("", duration, link) };
            let values = windows.iter().map(|kilobytes| Some(*kilobytes)).collect();
            let (of, quantity, unit) = ("a".to_owned(), "cwnd".to_owned(), "kB".to_owned());
            let series = vec![Series { of, quantity, unit, start_s: 0.0, step_s: 1.0, values }];
            let totals = vec![Totals {
                flow: "a".to_owned(),
                packets: 9,
                received_bytes: 9,
                losses,
                ..Totals::default()
            }];
            doubts(&scenario, &Run { series, totals, ..Run::default() })
        };
        let flow = |controller| Flow::new("a", Role::Foreground, controller, Duration::from_millis(80));
        let (cubic, vegas) = (|| flow("cubic"), || flow("vegas"));
        let far = warnings(vegas(), &[9.0, 150.0, 9.0], 3).remove(0);
        assert!(
            far.starts_with("the window of flow \"a\" grew to 0.150 MB") && far.contains("rwnd = "),
            "{far}"
        );
        let growing = [10.0, 20.0, 40.0, 60.0];
        assert!(warnings(cubic(), &growing, 0)[0].contains("no packet was lost"));
        let limited = Flow { transport: Transport::tcp().with("rwnd", "90 kB"), ..cubic() };
        let finite = Flow { traffic: Traffic::Size(Size::from_bytes(1_000_000)), ..cubic() };
        for (flow, windows, losses) in [
            (cubic(), &growing[..], 1),
            (cubic(), &[10.0, 60.0, 61.0, 62.0], 0),
            (cubic(), &[10.0, 20.0, 30.0, 40.0], 0),
            (vegas(), &growing, 0),
            (finite, &growing, 0),
            (limited, &[9.0, 150.0, 9.0], 0),
        ] {
            let what = format!("{flow:?} {windows:?}");
            assert_eq!(warnings(flow, windows, losses), [""; 0], "{what}");
        }
    }
}
