//! The closed forms of the appendix: what slow-downs cost, and the window beyond which a ramp loses more than is regained.

/// Payload of a packet, bytes.
const MSS: f64 = 1390.0;
/// TARGET, s.
const TARGET: f64 = 0.060;

/// Returns the rate over capacity by equation 9, where slow start doubles the window in a round trip. `capacity` in Mbit/s,
/// times in ms.
///
/// ```text
///   W = C (RTT + BUFF)     n = log2(W / 2 MSS)     R = (4 MSS + 2 W + 9 n W) / (2 C RTT + 10 n W)
/// ```
pub(super) fn rate(capacity: f64, rtt_ms: f64, buffer_ms: f64) -> f64 {
    let bytes_per_ms = capacity * 1e6 / 8.0 / 1e3;
    let window = bytes_per_ms * (rtt_ms + buffer_ms);
    let rounds = libm::log2(window / (2.0 * MSS));
    let sent = 4.0 * MSS + 2.0 * window + 9.0 * rounds * window;
    sent / (2.0 * bytes_per_ms * rtt_ms + 10.0 * rounds * window)
}

/// Returns the part of a window of `segments` that is left after the ramp (equation 12). Its last round adds the segments
/// above the power of two; they queue, and the excess over TARGET shrinks the window in proportion.
pub(super) fn beta(capacity: f64, segment: f64, segments: f64) -> f64 {
    let added = segments - libm::exp2(libm::log2(segments).floor());
    let queue = added * segment * 8.0 / (capacity * 1e6);
    1.0 - (queue / TARGET - 1.0)
}

/// Returns the window at which the loss after a ramp equals the growth of nine ramps, s (1 − β) = 9 log2(s) (equation 13).
/// It is in the octave that begins at 2^k segments. The loss grows within an octave, from less than nothing.
pub(super) fn root(capacity: f64, segment: f64, k: f64) -> f64 {
    let excess = |s: f64| s * (1.0 - beta(capacity, segment, s)) - 9.0 * libm::log2(s);
    let (mut low, mut high) = (libm::exp2(k), libm::exp2(k + 1.0) * (1.0 - 1e-12));
    if excess(high) < 0.0 {
        return f64::NAN;
    }
    while high - low > 1e-9 * high {
        let middle = (low + high) / 2.0;
        match excess(middle) < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// Returns the base round-trip time that the reduced window fills, ms (equation 14).
pub(super) fn threshold_ms(capacity: f64, segment: f64, k: f64) -> f64 {
    let window = root(capacity, segment, k);
    beta(capacity, segment, window) * window * segment * 8.0 / (capacity * 1e6) * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_tenths_is_the_limit_of_the_rate() {
        let of = |rtt_ms: f64| rate(20.0, rtt_ms, 60.0);
        assert!(of(10.0) > of(100.0) && of(100.0) > of(1e6) && of(1e6) > 0.9);
        assert!((of(1e12) - 0.9).abs() < 0.01);
    }

    #[test]
    fn a_root_balances_loss_and_growth() {
        let window = root(20.0, 1456.0, 9.0);
        let (loss, growth) = (window * (1.0 - beta(20.0, 1456.0, window)), 9.0 * libm::log2(window));
        assert!((loss - growth).abs() < 1e-4, "{loss} and {growth}");
        assert!(root(20.0, 1456.0, 7.0).is_nan(), "added packets of this octave stay below the target");
    }
}
