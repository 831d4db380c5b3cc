//! Gong et al. (2012): arithmetic of buffers.

use super::Function;

pub(super) const FUNCTIONS: &[Function] = &[Function {
    name: "buffer_delay",
    help: "buffer in packets, packet size in bytes, rate in bit/s: the delay of a full buffer, s",
    inputs: 3,
    compute: |inputs| inputs[0] * inputs[1] * 8.0 / inputs[2],
}];
