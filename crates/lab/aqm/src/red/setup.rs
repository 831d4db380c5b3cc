//! The values that RED computes from the link's rate, and the parameters that all of its relatives share.

use super::law::Shape;
use crate::error::Error;
use crate::site::Site;
use afteryou_base::param::{Key, Settings, Value};
use afteryou_base::Span;
use rand_core::Rng;

/// Fewest packets of an automatic `min_th` (ns-2 `initialize_params`).
const LEAST_AUTOMATIC_MIN_TH: f64 = 5.0;
/// Automatic `max_th` in `min_th`s (ns-2 `initialize_params`).
const MAX_TO_MIN: f64 = 3.0;
/// Shortest round trip that the automatic weight reckons with, s, and over how many of them it averages.
const LEAST_RTT_S: f64 = 0.1;
const AVERAGED_RTTS: f64 = 10.0;
/// The round trip in times that a packet takes on the link; ns-2 adds the link's delay to it, which a queue does not have.
const RTT_PACKETS: f64 = 3.0;
/// tc tries weights from 1/2 to this power of it.
const LAST_TC_SHIFT: i32 = 31;

/// The parameter `min_th`.
pub const MIN_TH: Key<f64> = Key::number("min_th", "packets", 0.0, (0.0, 1e5))
    .explained("average from which on packets are dropped; 0: by target_delay", "ns-2 thresh_");
/// The parameter `max_th`.
pub const MAX_TH: Key<f64> = Key::number("max_th", "packets", 0.0, (0.0, 1e5))
    .explained("average at which the probability is max_p; 0: three times min_th", "ns-2 maxthresh_");
/// The parameter `max_p`.
pub const MAX_P: Key<f64> =
    Key::number("max_p", "", 0.1, (0.0001, 1.0)).explained("probability at max_th", "ns-2 1/linterm_");
/// The parameter `queue_weight`.
pub const QUEUE_WEIGHT: Key<f64> = Key::number("queue_weight", "", 0.0, (0.0, 1.0))
    .explained("weight of the newest length in the average; 0: by queue_weight_rule", "ns-2 q_weight_");
/// The parameter `queue_weight_rule`.
pub const WEIGHT_OF_TC: Key<bool> = Key::choice("queue_weight_rule", &["rate", "tc"], &[false, true])
    .explained("automatic weight: a second's worth of packets, or by the thresholds as tc does", "ns-2, tc");
/// The parameter `wait`.
pub const WAIT: Key<bool> =
    Key::flag("wait", true).explained("drops are 1/p to 2/p packets apart instead of 1 to 1/p", "ns-2 wait_");
/// The parameter `mean_packet`.
pub const MEAN_PACKET: Key<u64> = Key::bytes("mean_packet", 1500, (40, 65_535))
    .explained("size of a packet, for automatic values and idle times", "ns-2 mean_pktsize_, there 500 B");
/// The parameter `target_delay`.
pub const TARGET_DELAY: Key<Span> = Key::millis("target_delay", 5, (1, 10_000))
    .explained("an automatic min_th is half of it, at least 5 packets", "ns-2 targetdelay_");
/// The parameter `ecn`.
pub const ECN: Key<bool> = Key::flag("ecn", false)
    .explained("mark packets that support ECN instead of dropping them at random", "ns-2 setbit_");

/// Reads the shape of non-gentle RED in packets from the rows above; a discipline adds its own rows.
pub(crate) fn shape(settings: &Settings<'_>, site: &Site<impl Rng>) -> Result<Shape, Error> {
    let mean_packet = settings.get(&MEAN_PACKET);
    let bits_per_second = site.bits_per_second.max(1);
    let packets_per_second = bits_per_second as f64 / (8.0 * mean_packet as f64);
    let (min_th, max_th) = thresholds(settings, packets_per_second)?;
    Ok(Shape {
        min_th,
        max_th,
        weight: weight(settings, packets_per_second, min_th, max_th)?,
        max_p: settings.get(&MAX_P),
        gentle: false,
        wait: settings.get(&WAIT),
        in_bytes: false,
        by_size: false,
        adaptive: false,
        mean_packet,
        bits_per_second,
    })
}

fn thresholds(settings: &Settings<'_>, packets_per_second: f64) -> Result<(f64, f64), Error> {
    let half_target = settings.get(&TARGET_DELAY).as_secs_f64() * packets_per_second / 2.0;
    let min_th = match settings.get(&MIN_TH) {
        0.0 => half_target.max(LEAST_AUTOMATIC_MIN_TH),
        packets => packets,
    };
    let max_th = match settings.get(&MAX_TH) {
        0.0 => MAX_TO_MIN * min_th,
        packets => packets,
    };
    if min_th < max_th {
        return Ok((min_th, max_th));
    }
    Err(Error::Together {
        name: "min_th",
        value: Value::Number(min_th),
        other: format!("max_th = {max_th} packets"),
        valid: format!(
            "more than 0 and less than {max_th} packets, or a larger max_th (0: three times min_th)"
        ),
    })
}

fn weight(settings: &Settings<'_>, packets_per_second: f64, min_th: f64, max_th: f64) -> Result<f64, Error> {
    match (settings.get(&QUEUE_WEIGHT), settings.get(&WEIGHT_OF_TC)) {
        (0.0, true) => tc_weight(min_th, max_th).ok_or_else(|| Error::Together {
            name: "queue_weight_rule",
            value: Value::Choice("tc"),
            other: format!("min_th = {min_th} packets and max_th = {max_th} packets"),
            valid: "min_th of 2 packets or more and max_th of at least min_th + 3 packets, or a queue_weight above 0"
                .to_owned(),
        }),
        (0.0, false) => Ok(rate_weight(packets_per_second)),
        (weight, _) => Ok(weight),
    }
}

/// Returns the weight of ns-2's `q_weight_ = -1`: the average is over ten round trips.
fn rate_weight(packets_per_second: f64) -> f64 {
    let rtt_s = (RTT_PACKETS / packets_per_second).max(LEAST_RTT_S);
    -libm::expm1(-1.0 / (AVERAGED_RTTS * rtt_s * packets_per_second))
}

/// Returns the weight of tc's `tc_red_eval_ewma`: the largest 2⁻ⁿ with which the average of a burst into an empty queue
/// stays below `min_th`.
fn tc_weight(min_th: f64, max_th: f64) -> Option<f64> {
    let burst = ((2.0 * min_th + max_th) / 3.0).floor();
    let wanted = burst + 1.0 - min_th;
    let weights = (1..=LAST_TC_SHIFT).map(|shift| libm::ldexp(1.0, -shift));
    let fits = |weight: &f64| wanted <= (1.0 - libm::pow(1.0 - weight, burst)) / weight;
    if wanted < 1.0 {
        return None;
    }
    weights.into_iter().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backlog::Limit;
    use crate::red::PARAMS;

    /// Makes the shape at 10 Mbit/s.
    fn made(overrides: &[(&'static str, Value)]) -> Result<Shape, Error> {
        shape(&Settings::new(PARAMS, overrides).unwrap(), &Site::test(Limit::Packets(100)))
    }

    #[test]
    fn thresholds_and_weight_follow_the_rate() {
        let made = made(&[("mean_packet", Value::Bytes(500))]).unwrap();
        assert_eq!((made.min_th, made.max_th), (6.25, 18.75));
        assert!((made.weight - 3.9992e-4).abs() < 1e-8, "{}", made.weight);
        // 5 packets at the least; 12 packets a second take a round trip of 250 ms.
        let slow = Site { bits_per_second: 144_000, ..Site::test(Limit::Packets(100)) };
        let slow = shape(&Settings::defaults(PARAMS), &slow).unwrap();
        assert_eq!((slow.min_th, slow.max_th), (5.0, 15.0));
        assert!((slow.weight - (1.0 - libm::exp(-1.0 / 30.0))).abs() < 1e-12, "{}", slow.weight);
    }

    #[test]
    fn tc_takes_the_largest_power_of_two_that_lets_the_burst_pass() {
        // burst 50, wanted 21: (1 - (15/16)^50) 16 = 15.4 and (1 - (31/32)^50) 32 = 25.5.
        assert_eq!(tc_weight(30.0, 90.0), Some(1.0 / 32.0));
        // burst 8, wanted 4: 3.9844 with 1/4 is not enough.
        assert_eq!(tc_weight(5.0, 15.0), Some(1.0 / 8.0));
        assert_eq!(tc_weight(5.2, 5.5), None, "wanted 0.8");
        assert_eq!(tc_weight(0.5, 30.0), None, "more than the burst");
        for (min_th, max_th) in [(2.0, 5.0), (2.9, 5.9), (2.0, 1e5), (1e5 - 3.0, 1e5)] {
            assert!(
                tc_weight(min_th, max_th).is_some(),
                "{min_th} to {max_th}: the message says that it works"
            );
        }
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        let number = Value::Number;
        let cases = [
            (
                vec![("min_th", number(15.0)), ("max_th", number(15.0))],
                "min_th = 15 does not go with max_th = 15 packets",
            ),
            // The automatic one is 5 packets.
            (vec![("max_th", number(4.0))], "min_th = 5 does not go with max_th = 4 packets"),
        ];
        for (overrides, start) in cases {
            let error = made(&overrides).unwrap_err().to_string();
            assert!(error.starts_with(start) && error.contains("less than"), "{error}");
        }
        assert_eq!(made(&[("min_th", number(7.0))]).unwrap().max_th, 21.0);
    }

    #[test]
    fn a_weight_that_tc_cannot_find_is_refused() {
        let tc = ("queue_weight_rule", Value::Choice("tc"));
        let narrow = [tc, ("min_th", Value::Number(5.2)), ("max_th", Value::Number(5.5))];
        let error = made(&narrow).unwrap_err().to_string();
        assert!(error.contains("queue_weight_rule = tc") && error.contains("min_th + 3 packets"), "{error}");
        let given = made(&[narrow[0], narrow[1], narrow[2], ("queue_weight", Value::Number(0.25))]);
        assert_eq!(given.unwrap().weight, 0.25);
    }
}
