//! Carofiglio et al. (2013): steps of the controllers' windows, arithmetic of buffers, and the equations.

mod fluid;
mod rules;

use super::Function;

pub(super) const EQUATIONS: &[Function] = fluid::FUNCTIONS;

pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "fledbat_step",
        help: "window in packets, queuing delay in ms; our fLEDBAT with target 25 ms, ζ = 0.1: change of the window by one packet's \
               ack, packets (eq. 5)",
        inputs: 2,
        compute: |inputs| rules::step("fledbat", inputs[0], inputs[1]),
    },
    Function {
        name: "ledbat_step",
        help: "window in packets, queuing delay in ms; our LEDBAT with target 25 ms: change of the window by one packet's ack, \
               packets (eq. 2)",
        inputs: 2,
        compute: |inputs| rules::step("ledbat", inputs[0], inputs[1]),
    },
    Function {
        name: "fledbat_after_loss",
        help: "window in packets; our fLEDBAT's window after a loss, packets (eq. 5)",
        inputs: 1,
        compute: |inputs| rules::after_loss("fledbat", inputs[0]),
    },
    Function {
        name: "fledbat_growth",
        help: "queuing delay in ms; our fLEDBAT with target 25 ms: growth of a window of 40 packets by the acks of one round trip, \
               packets (§8.1)",
        inputs: 1,
        compute: |inputs| rules::growth("fledbat", inputs[0]),
    },
    Function {
        name: "ledbat_growth",
        help: "queuing delay in ms; our LEDBAT with target 25 ms: growth of a window of 40 packets by the acks of one round trip, \
               packets (§8.1)",
        inputs: 1,
        compute: |inputs| rules::growth("ledbat", inputs[0]),
    },
    Function {
        name: "buffer_over_target",
        help: "buffer in packets, packet size in bytes, rate in bit/s, target in ms: B/(τ·C) (prop. 4.1)",
        inputs: 4,
        compute: |inputs| inputs[0] * inputs[1] * 8.0 / inputs[2] / (inputs[3] / 1e3),
    },
    Function {
        name: "target_bytes",
        help: "delay in ms, rate in bit/s: what the queue holds, kB (§8.1)",
        inputs: 2,
        compute: |inputs| inputs[0] / 1e3 * inputs[1] / 8.0 / 1e3,
    },
    Function {
        name: "chunk_packets",
        help: "chunk in kB, payload of a packet in bytes: packets of a chunk (§8.1)",
        inputs: 2,
        compute: |inputs| inputs[0] * 1e3 / inputs[1],
    },
];
