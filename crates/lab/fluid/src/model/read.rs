//! Models from the words of scenarios.

use super::ledbatpp::{LedbatPp, Slowdowns};
use super::{Cubic, Decrease, Fledbat, Ledbat, Model, NewReno, SlowStart};
use crate::error::Error;
use crate::CONTROLLERS;
use afteryou_base::param::{Settings, Value};
use afteryou_cc::slow_start::rfc5681_initial_window;
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Algorithm, Flow, Traffic};

/// Parameters that choose how delays are measured: the fluid has exact ones.
const MEASURING: &[&str] =
    &["base_history", "current_filter", "signal", "clock_skew", "route_change", "step"];

impl Model {
    /// Returns the model of a flow.
    ///
    /// # Errors
    /// The first of the reasons against it, or a parameter that its controller refuses.
    pub fn of(flow: &Flow) -> Result<Model, Error> {
        if let Some(reason) = unsupported(flow).into_iter().next() {
            return Err(reason.into());
        }
        let format = flow.packet_format();
        let (payload, wire) = (format.payload.bytes(), (format.payload.bytes() + format.overhead.bytes()));
        match (&flow.traffic, &flow.controller) {
            (Traffic::Cbr { rate, .. }, _) => {
                Ok(Model::Constant(rate.bits_per_second() as f64 / 8.0 / payload as f64))
            }
            (_, Some(controller)) => Model::of_controller(controller, flow, wire),
            (_, None) => Err(no_model(flow, "a flow without a controller").into()),
        }
    }

    fn of_controller(controller: &Algorithm, flow: &Flow, wire: u64) -> Result<Model, Error> {
        let (entry, overrides) = controller.controller()?;
        let settings = Settings::new(entry.params, &overrides).map_err(|error| {
            afteryou_scenario::Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() }
        })?;
        let smss = u32::try_from(wire).unwrap_or(u32::MAX);
        match entry.name {
            "ledbat" => Ok(Model::Ledbat(ledbat(&settings))),
            "fledbat" => Ok(Model::Fledbat(fledbat(&settings))),
            "ledbat++" => Ok(Model::LedbatPp(ledbatpp(&settings))),
            "newreno" => Ok(Model::NewReno(NewReno { initial_window: initial_window(&settings, smss) })),
            "cubic" => Ok(Model::Cubic(Cubic {
                c: settings.number("c"),
                beta: settings.number("beta"),
                initial_window: initial_window(&settings, smss),
            })),
            name => Err(no_model(flow, name).into()),
        }
    }
}

/// Returns the parameters that the model of a controller heeds, besides [`MEASURING`]; `None` for a controller without a
/// model.
fn heeded(controller: &str) -> Option<&'static [&'static str]> {
    match controller {
        "ledbat" => Some(LEDBAT),
        "fledbat" => Some(FLEDBAT),
        "ledbat++" => Some(LEDBATPP),
        "newreno" => Some(&["initial_window"]),
        // Fast convergence is not modelled, on or off, and the Reno-friendly region is Linux'; the book says so.
        "cubic" => Some(&["initial_window", "c", "beta", "fast_convergence", "friendly"]),
        _ => None,
    }
}

const LEDBAT: &[&str] = &[
    "target",
    "gain",
    "decrease_gain",
    "decrease",
    "init_cwnd",
    "min_cwnd",
    "slow_start",
    "slow_start_exit",
];
const FLEDBAT: &[&str] =
    &["target", "alpha", "zeta", "init_cwnd", "min_cwnd", "slow_start", "slow_start_exit"];
const LEDBATPP: &[&str] =
    &["target", "gain_divisor_max", "constant", "slow_start_exit", "slowdowns", "restart", "restart_rounds"];

fn no_model(flow: &Flow, name: &str) -> Unsupported {
    let known: Vec<_> = CONTROLLERS.iter().map(|entry| entry.name).collect();
    let reason = format!(
        "flow {:?}: there is no fluid model of {name}: use one of {}, or run it in the simulator",
        flow.name,
        known.join(", ")
    );
    Unsupported::of_flow(flow, "controller", reason)
}

/// Returns why a flow has no model: its controller, or parameters that are neither heeded nor as they are by default.
pub fn unsupported(flow: &Flow) -> Vec<Unsupported> {
    let controller = match (&flow.traffic, &flow.controller) {
        (Traffic::Cbr { .. }, _) => return Vec::new(),
        (_, None) => return vec![no_model(flow, "a flow without a controller")],
        (_, Some(controller)) => controller,
    };
    // An unknown name or a wrong value is a mistake in the scenario, and reported as one.
    let Ok((entry, overrides)) = controller.controller() else { return Vec::new() };
    let Some(heeded) = heeded(entry.name) else { return vec![no_model(flow, entry.name)] };
    let default =
        |name: &str| entry.params.iter().find(|param| param.name == name).map(|param| param.default);
    let ignored = |(name, value): &&(&'static str, Value)| {
        !heeded.contains(name) && !MEASURING.contains(name) && default(name) != Some(*value)
    };
    let reason = |(name, value): &(&'static str, Value)| {
        let of = &controller.kind;
        let reason = format!(
            "the fluid model of {of} does not model {name} = {value}: leave it out, or run it in the simulator"
        );
        Unsupported::of_flow(flow, format!("controller.{name}"), reason)
    };
    overrides.iter().filter(ignored).map(reason).collect()
}

fn initial_window(settings: &Settings<'_>, smss: u32) -> f64 {
    match settings.count("initial_window") {
        0 => rfc5681_initial_window(smss) as f64 / f64::from(smss),
        packets => packets as f64,
    }
}

fn slow_start(settings: &Settings<'_>) -> SlowStart {
    match settings.choice("slow_start") {
        "rfc5681" => SlowStart::UntilLoss,
        "delay" => {
            SlowStart::UntilDelay(settings.number("slow_start_exit") * settings.time("target").as_secs_f64())
        }
        _ => SlowStart::None,
    }
}

fn ledbat(settings: &Settings<'_>) -> Ledbat {
    let decrease = match settings.choice("decrease") {
        "eighth" => Decrease::Eighth,
        _ => Decrease::Proportional(settings.number("decrease_gain")),
    };
    Ledbat {
        target_s: settings.time("target").as_secs_f64(),
        gain: settings.number("gain"),
        decrease,
        floor: settings.count("min_cwnd") as f64,
        initial_window: settings.count("init_cwnd") as f64,
        slow_start: slow_start(settings),
    }
}

fn fledbat(settings: &Settings<'_>) -> Fledbat {
    Fledbat {
        target_s: settings.time("target").as_secs_f64(),
        alpha: settings.number("alpha"),
        zeta: settings.number("zeta"),
        floor: settings.count("min_cwnd") as f64,
        initial_window: settings.count("init_cwnd").max(settings.count("min_cwnd")) as f64,
        slow_start: slow_start(settings),
    }
}

fn ledbatpp(settings: &Settings<'_>) -> LedbatPp {
    let restart_rounds = match settings.flag("restart") {
        true => settings.count("restart_rounds") as f64,
        false => 0.0,
    };
    LedbatPp {
        target_s: settings.time("target").as_secs_f64(),
        gain_divisor_max: settings.count("gain_divisor_max") as f64,
        constant: settings.number("constant"),
        exit: settings.number("slow_start_exit"),
        slowdowns: if settings.flag("slowdowns") { Slowdowns::Events } else { Slowdowns::None },
        restart_rounds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration, Role};

    #[test]
    fn cubic_has_the_friendly_region_of_linux_and_no_hystart() {
        let keys = |name: &str, value: &str| -> Vec<String> {
            let flow = Flow::new("a", Role::Foreground, "cubic", Duration::from_millis(40));
            let controller = Some(Algorithm::named("cubic").with(name, value));
            unsupported(&Flow { controller, ..flow }).into_iter().map(|reason| reason.key).collect()
        };
        assert_eq!(keys("friendly", "linux"), [""; 0]);
        assert_eq!(keys("friendly", "rfc9438"), [""; 0]);
        assert_eq!(keys("hystart", "linux"), ["flow.a.controller.hystart"]);
    }
}
