//! Functions of the exact entries of Bagnulo and García-Martínez (2022): `rules` drives our LEDBAT++ by scripts, `model` has the
//! closed forms of the appendix.

use super::Function;

mod model;
mod rules;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "bagnulo_gain_divisor",
        help: "base round-trip time, ms: 1/GAIN of our controller (equation 2)",
        inputs: 1,
        compute: |inputs| rules::gain_divisor(inputs[0]),
    },
    Function {
        name: "bagnulo_window_step",
        help: "queuing delay, ms: change in a round trip of 100 packets of our controller, packets (equations 3, 4)",
        inputs: 1,
        compute: |inputs| rules::window_step(100.0, inputs[0]),
    },
    Function {
        name: "bagnulo_resting_delay",
        help: "window, packets: queuing delay at which our controller leaves it as it is, ms (equation 3)",
        inputs: 1,
        compute: |inputs| rules::resting_delay(inputs[0]),
    },
    Function {
        name: "bagnulo_slow_start_factor",
        help: "base round-trip time, ms: growth of our controller's window in a round trip of slow start (section 3)",
        inputs: 1,
        compute: |inputs| rules::slow_start_factor(inputs[0]),
    },
    Function {
        name: "bagnulo_floor_rtts",
        help: "round-trip time, ms; window, packets: our controller's time at the floor, round trips (section 3)",
        inputs: 2,
        compute: |inputs| rules::slow_down(inputs[0], inputs[1]).floor_rtts,
    },
    Function {
        name: "bagnulo_floor_packets",
        help: "round-trip time, ms; window, packets: our controller's window at the floor, packets (section 3)",
        inputs: 2,
        compute: |inputs| rules::slow_down(inputs[0], inputs[1]).floor_packets,
    },
    Function {
        name: "bagnulo_wait_rtts",
        help: "round-trip time, ms; window, packets: wait of our controller for the next slow-down less nine times the slow-down, round trips (section 3)",
        inputs: 2,
        compute: |inputs| rules::slow_down(inputs[0], inputs[1]).wait_rtts,
    },
    Function {
        name: "bagnulo_eq9",
        help: "capacity, Mbit/s; base round-trip time, ms; BUFF, ms: rate over capacity (equation 9)",
        inputs: 3,
        compute: |inputs| model::rate(inputs[0], inputs[1], inputs[2]),
    },
    Function {
        name: "bagnulo_eq12_beta",
        help: "capacity, Mbit/s; segment, B; k: window left after a ramp to the root above 2^k, 0 to 1 (equation 12)",
        inputs: 3,
        compute: |inputs| model::beta(inputs[0], inputs[1], model::root(inputs[0], inputs[1], inputs[2])),
    },
    Function {
        name: "bagnulo_eq13_root",
        help: "capacity, Mbit/s; segment, B; k: root between 2^k and 2^(k+1), segments (equation 13)",
        inputs: 3,
        compute: |inputs| model::root(inputs[0], inputs[1], inputs[2]),
    },
    Function {
        name: "bagnulo_eq13_kib",
        help: "as bagnulo_eq13_root, and bytes counted of a segment: the root, KiB",
        inputs: 4,
        compute: |inputs| model::root(inputs[0], inputs[1], inputs[2]) * inputs[3] / 1024.0,
    },
    Function {
        name: "bagnulo_eq13_kb",
        help: "as bagnulo_eq13_root, and bytes counted of a segment: the root, kB",
        inputs: 4,
        compute: |inputs| model::root(inputs[0], inputs[1], inputs[2]) * inputs[3] / 1e3,
    },
    Function {
        name: "bagnulo_eq14_threshold",
        help: "capacity, Mbit/s; segment, B; k: largest base round-trip time that the window after a ramp fills, ms (equation 14)",
        inputs: 3,
        compute: |inputs| model::threshold_ms(inputs[0], inputs[1], inputs[2]),
    },
    Function {
        name: "bagnulo_two_packets",
        help: "rate, Mbit/s; frame, B: round-trip time that two frames fill, ms (section 5.1.1)",
        inputs: 2,
        compute: |inputs| 2.0 * inputs[1] * 8.0 / inputs[0] / 1e3,
    },
];
