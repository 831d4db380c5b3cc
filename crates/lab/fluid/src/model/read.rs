//! Models from the words of scenarios.

use super::ledbatpp::{LedbatPp, Slowdowns};
use super::{Cubic, Decrease, Fledbat, Ledbat, Model, NewReno, SlowStart};
use crate::error::Error;
use crate::CONTROLLERS;
use afteryou_base::param::{Key, Settings, Value};
use afteryou_base::Span;
use afteryou_cc::ledbat_slow_start::{Policy, SLOW_START, SLOW_START_EXIT};
use afteryou_cc::slow_start::{rfc5681_initial_window, INITIAL_WINDOW};
use afteryou_cc::{clock_skew, cubic, delay_meter, delay_signal, fledbat, ledbat, ledbatpp, route_change};
use afteryou_scenario::support::Unsupported;
use afteryou_scenario::{Algorithm, Flow, Traffic};

/// Parameters that choose how delays are measured: the fluid has exact ones.
const MEASURING: &[&str] = &[
    delay_meter::HISTORY.name(),
    delay_meter::FILTER.name(),
    delay_signal::SIGNAL.name(),
    clock_skew::CLOCK_SKEW.name(),
    route_change::ROUTE_CHANGE.name(),
    ledbatpp::ONCE_A_ROUND.name(),
];

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
                c: settings.get(&cubic::C),
                beta: settings.get(&cubic::BETA),
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
        "newreno" => Some(NEWRENO),
        "cubic" => Some(CUBIC),
        _ => None,
    }
}

const NEWRENO: &[&str] = &[INITIAL_WINDOW.name()];
// Fast convergence is not modelled, on or off, and the Reno-friendly region is Linux'; see the book.
const CUBIC: &[&str] = &[
    INITIAL_WINDOW.name(),
    cubic::C.name(),
    cubic::BETA.name(),
    cubic::FAST_CONVERGENCE.name(),
    cubic::FRIENDLY_AS_LINUX.name(),
];
const LEDBAT: &[&str] = &[
    ledbat::TARGET.name(),
    ledbat::GAIN.name(),
    ledbat::DECREASE_GAIN.name(),
    ledbat::EIGHTHS.name(),
    ledbat::INIT_CWND.name(),
    ledbat::MIN_CWND.name(),
    SLOW_START.name(),
    SLOW_START_EXIT.name(),
];
const FLEDBAT: &[&str] = &[
    fledbat::TARGET.name(),
    fledbat::ALPHA.name(),
    fledbat::ZETA.name(),
    ledbat::INIT_CWND.name(),
    ledbat::MIN_CWND.name(),
    SLOW_START.name(),
    SLOW_START_EXIT.name(),
];
const LEDBATPP: &[&str] = &[
    ledbatpp::TARGET.name(),
    ledbatpp::GAIN_DIVISOR_MAX.name(),
    ledbatpp::CONSTANT.name(),
    ledbatpp::SLOW_START_EXIT.name(),
    ledbatpp::SLOWDOWNS.name(),
    ledbatpp::RESTART.name(),
    ledbatpp::RESTART_ROUNDS.name(),
];

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
    match settings.get(&INITIAL_WINDOW) {
        0 => rfc5681_initial_window(smss) as f64 / f64::from(smss),
        packets => packets as f64,
    }
}

fn slow_start(settings: &Settings<'_>, target: &Key<Span>) -> SlowStart {
    match settings.get(&SLOW_START) {
        Policy::None => SlowStart::None,
        Policy::Rfc5681 => SlowStart::UntilLoss,
        Policy::DelayExit => {
            SlowStart::UntilDelay(settings.get(&SLOW_START_EXIT) * settings.get(target).as_secs_f64())
        }
    }
}

fn ledbat(settings: &Settings<'_>) -> Ledbat {
    let decrease = match settings.get(&ledbat::EIGHTHS) {
        true => Decrease::Eighth,
        false => Decrease::Proportional(settings.get(&ledbat::DECREASE_GAIN)),
    };
    Ledbat {
        target_s: settings.get(&ledbat::TARGET).as_secs_f64(),
        gain: settings.get(&ledbat::GAIN),
        decrease,
        floor: settings.get(&ledbat::MIN_CWND) as f64,
        initial_window: settings.get(&ledbat::INIT_CWND) as f64,
        slow_start: slow_start(settings, &ledbat::TARGET),
    }
}

fn fledbat(settings: &Settings<'_>) -> Fledbat {
    let (first, floor) = (settings.get(&ledbat::INIT_CWND), settings.get(&ledbat::MIN_CWND));
    Fledbat {
        target_s: settings.get(&fledbat::TARGET).as_secs_f64(),
        alpha: settings.get(&fledbat::ALPHA),
        zeta: settings.get(&fledbat::ZETA),
        floor: floor as f64,
        initial_window: first.max(floor) as f64,
        slow_start: slow_start(settings, &fledbat::TARGET),
    }
}

fn ledbatpp(settings: &Settings<'_>) -> LedbatPp {
    let restart_rounds = match settings.get(&ledbatpp::RESTART) {
        true => settings.get(&ledbatpp::RESTART_ROUNDS) as f64,
        false => 0.0,
    };
    let slowdowns = if settings.get(&ledbatpp::SLOWDOWNS) { Slowdowns::Events } else { Slowdowns::None };
    LedbatPp {
        target_s: settings.get(&ledbatpp::TARGET).as_secs_f64(),
        gain_divisor_max: settings.get(&ledbatpp::GAIN_DIVISOR_MAX) as f64,
        constant: settings.get(&ledbatpp::CONSTANT),
        exit: settings.get(&ledbatpp::SLOW_START_EXIT),
        slowdowns,
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
