//! The paper's equations, by the fluid engine: flows N and ζ in, one number out, with the settings of section 6.

use crate::exact::Function;
use afteryou_fluid::carofiglio::{
    common, fall, settled, staggered, swing, undamped, Swing, Undamped, TARGET_S,
};
use afteryou_fluid::closed::{fledbat, ledbat};
use afteryou_fluid::orbit::{spread, Point};
use afteryou_fluid::{Options, RoundTrip};

/// Swings of LEDBAT that are followed, and how far its windows begin above their equilibrium.
const PERIODS: u32 = 20;
const OFF: f64 = 0.05;
/// A small disturbance of fLEDBAT: its equations are linear there.
const SLIGHTLY_OFF: f64 = 0.01;
/// Starts all over the phase plane, of a table's row and of the statement about all of them.
const FEW_STARTS: u32 = 3;
const STARTS: u32 = 200;
const SEED: u64 = 1;
/// The time for which V and its derivative are followed from each start, s.
const FALL_S: f64 = 2.0;
const FALLS: u32 = 6;
/// Gap between the two starts of figure 2, its end, and from when its means are taken, s.
const FIG2_GAP_S: f64 = 2.0;
const FIG2_END_S: f64 = 60.0;
const FIG2_FROM_S: f64 = 10.0;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "ledbat_omega",
        help: "N; frequency of N LEDBAT flows from the closed form of eq. 3-4, √(N·α/(C·τ·R²)), rad/s",
        inputs: 1,
        compute: |inputs| ledbats(inputs).pair().omega(),
    },
    Function {
        name: "ledbat_period",
        help: "N; period of N LEDBAT flows from the closed form of eq. 3-4, s",
        inputs: 1,
        compute: |inputs| ledbats(inputs).pair().period_s().unwrap_or(f64::NAN),
    },
    Function {
        name: "ledbat_printed_omega",
        help: "N; frequency of N LEDBAT flows as obs. 4.3 prints it, √(N/(R·τ)), rad/s",
        inputs: 1,
        compute: |inputs| ledbats(inputs).printed_omega(),
    },
    Function {
        name: "ledbat_swing_period",
        help: "N; period of the queue where eq. 3-4 are integrated over 20 periods from 5 % off the equilibrium, s",
        inputs: 1,
        compute: |inputs| of_swing(inputs, |undamped| undamped.period_s),
    },
    Function {
        name: "ledbat_swing_change",
        help: "N; relative change of the swing's height over these 20 periods",
        inputs: 1,
        compute: |inputs| of_swing(inputs, |undamped| undamped.amplitude_change),
    },
    Function {
        name: "ledbat_difference_change",
        help: "N; relative change of the difference between two windows over these 20 periods",
        inputs: 1,
        compute: |inputs| of_swing(inputs, |undamped| undamped.difference_change),
    },
    Function {
        name: "fledbat_queue",
        help: "N, ζ; queue at rest from eq. 10, constant round trips, packets",
        inputs: 2,
        compute: |inputs| fledbats(inputs).equilibrium().queue,
    },
    Function {
        name: "fledbat_delay",
        help: "N, ζ; the same as a delay, ms",
        inputs: 2,
        compute: |inputs| fledbats(inputs).equilibrium().queuing_s * 1e3,
    },
    Function {
        name: "fledbat_excess",
        help: "N, ζ; how far the delay at rest is above the target, ms (obs. 5.9)",
        inputs: 2,
        compute: |inputs| (fledbats(inputs).equilibrium().queuing_s - TARGET_S) * 1e3,
    },
    Function {
        name: "fledbat_queue_inside",
        help: "N, ζ; queue at rest with the queue inside the round trip, packets",
        inputs: 2,
        compute: |inputs| fledbats(inputs).equilibrium_with_queue().queue,
    },
    Function {
        name: "fledbat_delay_inside",
        help: "N, ζ; the same as a delay, ms",
        inputs: 2,
        compute: |inputs| fledbats(inputs).equilibrium_with_queue().queuing_s * 1e3,
    },
    Function {
        name: "fledbat_off",
        help: "N, ζ; eq. 8-9 integrated for 60 s from three starts: largest relative distance of queue and windows from eq. 10",
        inputs: 2,
        compute: |inputs| farthest(inputs, RoundTrip::Constant, FEW_STARTS, 60.0),
    },
    Function {
        name: "fledbat_off_inside",
        help: "N, ζ; the same with the queue inside the round trip",
        inputs: 2,
        compute: |inputs| farthest(inputs, RoundTrip::WithQueue, FEW_STARTS, 60.0),
    },
    Function {
        name: "fledbat_off_of_many",
        help: "N, ζ; eq. 8-9 integrated for 120 s from 200 random starts: largest relative distance from eq. 10",
        inputs: 2,
        compute: |inputs| farthest(inputs, RoundTrip::Constant, STARTS, 120.0),
    },
    Function {
        name: "lyapunov_rises",
        help: "N, ζ; steps at the target or above in which V rises, of six starts followed for 2 s",
        inputs: 2,
        compute: |inputs| falls(inputs).iter().map(|fall| fall.rises as f64).sum(),
    },
    Function {
        name: "lyapunov_compared",
        help: "N, ζ; points of the same tracks at which the numeric derivative of V has the digits to be compared",
        inputs: 2,
        compute: |inputs| falls(inputs).iter().map(|fall| fall.compared as f64).sum(),
    },
    Function {
        name: "lyapunov_slope_off",
        help: "N, ζ; the largest relative difference between that derivative and −(α/R²)·Σ (X − X*)²/(X·X*)",
        inputs: 2,
        compute: |inputs| falls(inputs).iter().map(|fall| fall.worst).fold(0.0, f64::max),
    },
    Function {
        name: "fledbat_a",
        help: "N, ζ; a = N·α/(C·R²) of the Jacobian, 1/s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).a(),
    },
    Function {
        name: "fledbat_omega",
        help: "N, ζ; frequency from the closed form, rad/s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).pair().omega(),
    },
    Function {
        name: "fledbat_period",
        help: "N, ζ; period from the closed form, s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).pair().period_s().unwrap_or(f64::NAN),
    },
    Function {
        name: "fledbat_rate",
        help: "N, ζ; rate of the slowest part from the closed form, 1/s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).rate(),
    },
    Function {
        name: "fledbat_critical_zeta",
        help: "N, ζ; ζ* = N²·α²·τ/(4·C²·R³), below which nothing oscillates",
        inputs: 2,
        compute: |inputs| fledbats(inputs).critical_zeta(),
    },
    Function {
        name: "fledbat_swing_period",
        help: "N, ζ; period of the queue where eq. 8-9 are integrated from 1 % off the equilibrium, s",
        inputs: 2,
        compute: |inputs| of_return(inputs, |swing| swing.period_s),
    },
    Function {
        name: "fledbat_envelope_rate",
        help: "N, ζ; rate at which these swings of the queue die away, 1/s",
        inputs: 2,
        compute: |inputs| of_return(inputs, |swing| swing.envelope_rate),
    },
    Function {
        name: "fledbat_difference_rate",
        help: "N, ζ; rate at which a difference between two flows dies away, 1/s",
        inputs: 2,
        compute: |inputs| of_return(inputs, |swing| swing.difference_rate),
    },
    Function {
        name: "fledbat_printed_period",
        help: "N, ζ; period by prop. 5.5 as printed, s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).printed_pair().period_s().unwrap_or(f64::NAN),
    },
    Function {
        name: "fledbat_printed_rate",
        help: "N, ζ; rate by prop. 5.5 as printed, 1/s",
        inputs: 2,
        compute: |inputs| fledbats(inputs).printed_pair().rate(),
    },
    Function {
        name: "fledbat_printed_critical_zeta",
        help: "N, ζ; ζ* by prop. 5.7 as printed",
        inputs: 2,
        compute: |inputs| fledbats(inputs).printed_critical_zeta(),
    },
    Function {
        name: "fig2_queue",
        help: "round trips with the queue inside (1) or constant (0); two fLEDBAT flows, ζ = 0.1, 2 s apart: mean queue of eq. 8-9 \
               from 10 to 60 s, packets",
        inputs: 1,
        compute: |inputs| mean_queue(inputs[0] != 0.0),
    },
    Function {
        name: "fig2_rate",
        help: "flow, 0 or 1; the same two flows, constant round trips: rate at 60 s, Mbit/s",
        inputs: 1,
        compute: |inputs| last_rate(inputs[0] as usize),
    },
];

fn ledbats(inputs: &[f64]) -> ledbat::Closed {
    ledbat::Closed { at: common(inputs[0] as u32), target_s: TARGET_S, gain: 1.0 }
}

fn fledbats(inputs: &[f64]) -> fledbat::Closed {
    fledbat::Closed { at: common(inputs[0] as u32), target_s: TARGET_S, alpha: 1.0, zeta: inputs[1] }
}

fn of_swing(inputs: &[f64], of: fn(Undamped) -> f64) -> f64 {
    undamped(&ledbats(inputs), OFF, PERIODS).map_or(f64::NAN, of)
}

fn of_return(inputs: &[f64], of: fn(Swing) -> f64) -> f64 {
    swing(&fledbats(inputs), SLIGHTLY_OFF).map_or(f64::NAN, of)
}

fn starts(closed: &fledbat::Closed, starts: u32) -> Vec<Point> {
    spread(&closed.equilibrium(), closed.at.flows, starts, SEED)
}

fn farthest(inputs: &[f64], round_trip: RoundTrip, number: u32, at_s: f64) -> f64 {
    let closed = fledbats(inputs);
    let off = |start: &Point| settled(&closed, round_trip, start, at_s).off;
    // A distance that is not a number must not be lost among the others.
    starts(&closed, number).iter().map(off).fold(0.0, |most, off| if off <= most { most } else { off })
}

fn falls(inputs: &[f64]) -> Vec<afteryou_fluid::carofiglio::Fall> {
    let closed = fledbats(inputs);
    starts(&closed, FALLS).iter().map(|start| fall(&closed, start, FALL_S)).collect()
}

fn mean_queue(inside: bool) -> f64 {
    let round_trip = if inside { RoundTrip::WithQueue } else { RoundTrip::Constant };
    let options = Options { round_trip, ..Options::PAPERS };
    let orbit = staggered(&fledbats(&[2.0, 0.1]), options, FIG2_GAP_S, FIG2_END_S);
    orbit.queue.since(FIG2_FROM_S).mean().unwrap_or(f64::NAN)
}

fn last_rate(flow: usize) -> f64 {
    let orbit = staggered(&fledbats(&[2.0, 0.1]), Options::PAPERS, FIG2_GAP_S, FIG2_END_S);
    let rate = orbit.rates.get(flow).and_then(|rate| rate.last());
    rate.map_or(f64::NAN, |packets| packets * 12_000.0 / 1e6)
}
