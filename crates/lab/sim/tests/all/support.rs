//! Scenarios in a line.

use afteryou_scenario::outcome::{FlowFigures, Totals, WindowFigures};
use afteryou_scenario::{Buffer, Duration, Flow, Link, Outcome, Rate, Role, Scenario, Transport, Window};
use std::ops::ControlFlow;

pub fn seconds(s: f64) -> Duration {
    Duration::from_secs_f64(s)
}

pub fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn link(rate: &str, buffer: &str) -> Link {
    Link::new(rate.parse::<Rate>().unwrap(), buffer.parse::<Buffer>().unwrap())
}

/// Returns bulk traffic over TCP of today.
pub fn flow(name: &str, controller: &str, rtt_ms: u64) -> Flow {
    let role = if controller.starts_with("ledbat") { Role::Background } else { Role::Foreground };
    Flow { controller: Some(controller.parse().unwrap()), ..Flow::new(name, role, "", ms(rtt_ms)) }
}

/// Returns the same over TCP of the ns-2 era.
pub fn classic(name: &str, controller: &str, rtt_ms: u64) -> Flow {
    Flow { transport: Transport::tcp().with("preset", "classic"), ..flow(name, controller, rtt_ms) }
}

/// Returns the same over uTP.
pub fn utp(name: &str, controller: &str, rtt_ms: u64) -> Flow {
    Flow { transport: Transport::utp(), ..flow(name, controller, rtt_ms) }
}

/// Returns a scenario that measures from `from_s` to its end.
pub fn scenario(link: Link, duration_s: f64, from_s: f64, flow: Vec<Flow>) -> Scenario {
    Scenario {
        measure: vec![window("all", from_s, duration_s)],
        flow,
        ..Scenario::new("test", seconds(duration_s), link)
    }
}

pub fn window(name: &str, from_s: f64, to_s: f64) -> Window {
    Window { name: name.to_owned(), from: seconds(from_s), to: seconds(to_s) }
}

pub fn run(scenario: &Scenario) -> Outcome {
    let scenario = scenario.clone().checked().unwrap_or_else(|fault| panic!("{fault}"));
    afteryou_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

/// Looks into an outcome.
pub trait Look {
    fn window(&self, name: &str) -> &WindowFigures;
    fn totals(&self, flow: &str) -> &Totals;
    /// Returns the values of a curve with their times, s.
    fn curve(&self, of: &str, quantity: &str) -> Vec<(f64, f64)>;
}

impl Look for Outcome {
    fn window(&self, name: &str) -> &WindowFigures {
        self.run.windows.iter().find(|window| window.window == name).expect("measured")
    }

    fn totals(&self, flow: &str) -> &Totals {
        self.run.totals.iter().find(|totals| totals.flow == flow).expect("a flow")
    }

    fn curve(&self, of: &str, quantity: &str) -> Vec<(f64, f64)> {
        let series = self.run.series.iter().find(|series| series.of == of && series.quantity == quantity);
        let series = series.expect("a curve");
        let at = |i: usize| series.start_s + (i + 1) as f64 * series.step_s;
        series.values.iter().enumerate().filter_map(|(i, value)| Some((at(i), (*value)?))).collect()
    }
}

/// Returns the figures of a flow in a window.
pub fn of<'a>(window: &'a WindowFigures, flow: &str) -> &'a FlowFigures {
    window.flows.iter().find(|figures| figures.flow == flow).expect("a flow")
}

/// Returns the shares of the flows in the goodput that they have together.
pub fn shares_of(outcome: &Outcome) -> Vec<f64> {
    let rates: Vec<f64> = outcome.window("all").flows.iter().map(|flow| flow.goodput_bit_s).collect();
    let sum: f64 = rates.iter().sum();
    rates.iter().map(|rate| rate / sum).collect()
}

/// Returns the same of flows on a link of 20 Mbit/s after a minute, with `buffer` for a queue.
pub fn shares_on_20_mbit(buffer: &str, flows: Vec<Flow>) -> Vec<f64> {
    shares_of(&run(&scenario(link("20 Mbit/s", buffer), 180.0, 60.0, flows)))
}
