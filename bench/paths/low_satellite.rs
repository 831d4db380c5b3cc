//! A low satellite: every 15 s the base delay jumps by 10 to 40 ms and the capacity is another one. Both are drawn, not recorded.

use crate::support::{file, head, line, median, outcomes, with_rule, Result};
use afteryou_notation::Algorithm;
use afteryou_scenario::outcome::WindowFigures;
use afteryou_scenario::random::{stream, uniform};
use afteryou_scenario_file::Experiment;

const FILE: &str = "low-satellite.toml";
const LENGTH_S: u64 = 300;
/// Seconds between two jumps.
const JUMP_S: u64 = 15;
/// Sizes of jumps, and the largest delay beyond the base, ms.
const JUMPS_MS: (f64, f64) = (10.0, 40.0);
const MOST_MS: f64 = 45.0;
/// Mean rates between two jumps, Mbit/s.
const MEANS_MBIT: (f64, f64) = (40.0, 160.0);
/// From second to second the rate's logarithm is a first-order autoregressive process around the mean.
const CORRELATION: f64 = 0.8;
const SIGMA: f64 = 0.3;
/// The least rate, Mbit/s.
const LEAST_MBIT: f64 = 10.0;

/// Returns the rate of each second of a draw, Mbit/s.
pub fn rates_mbit(draw: u64) -> Vec<f64> {
    let mut random = stream(draw, "low satellite rates");
    let (mut mean, mut level) = (0.0, 0.0);
    let rate = |second: u64| {
        if second.is_multiple_of(JUMP_S) {
            mean = MEANS_MBIT.0 + (MEANS_MBIT.1 - MEANS_MBIT.0) * uniform(&mut random);
        }
        // The sum of twelve uniform numbers is close to normal, with a variance of one.
        let normal = (0..12).map(|_| uniform(&mut random)).sum::<f64>() - 6.0;
        level = CORRELATION * level + (1.0 - CORRELATION * CORRELATION).sqrt() * normal;
        (mean * libm::exp(SIGMA * level)).max(LEAST_MBIT)
    };
    (0..LENGTH_S).map(rate).collect()
}

/// Returns the delay beyond the base from each jump on, ms.
pub fn delays_ms(draw: u64) -> Vec<f64> {
    let mut random = stream(draw, "low satellite delays");
    let mut delay = MOST_MS * uniform(&mut random);
    let mut next = |_| {
        let before = delay;
        loop {
            let jump = JUMPS_MS.0 + (JUMPS_MS.1 - JUMPS_MS.0) * uniform(&mut random);
            let sign = if uniform(&mut random) < 0.5 { 1.0 } else { -1.0 };
            let after = before + sign * jump;
            if (0.0..=MOST_MS).contains(&after) {
                delay = after;
                return before;
            }
        }
    };
    (0..LENGTH_S / JUMP_S).map(&mut next).collect()
}

/// Returns the capacity of a draw as a file of rates.
pub fn csv(draw: u64) -> String {
    let rates = rates_mbit(draw);
    let lines = rates.iter().enumerate().map(|(second, rate)| format!("{second} s,{rate:.2} Mbit/s\n"));
    format!("time,rate\n{}", lines.collect::<String>())
}

/// Returns the delays of a draw as a value of a scenario file.
pub fn delay_steps(draw: u64) -> String {
    let delays = delays_ms(draw);
    let step = |(i, ms): (usize, &f64)| format!("[\"{} s\", \"{ms:.1} ms\"]", i as u64 * JUMP_S);
    let steps: Vec<String> = delays.iter().enumerate().map(step).collect();
    format!("{{ steps = [{}] }}", steps.join(", "))
}

/// Prints a draw as the scenario's files have it.
pub fn print_draw(draw: u64) {
    print!("{}", csv(draw));
    println!("delay = {}", delay_steps(draw));
}

/// Prints share and delays of each rule, medians over draws.
pub fn print(rules: &[Algorithm], draws: u64) -> Result<()> {
    head(
        &["rule", "share alone", "least of the draws", "call's p95, ms", "largest of the draws, ms"]
            .map(str::to_owned),
    );
    for rule in rules {
        let (mut shares, mut delays) = (Vec::new(), Vec::new());
        for draw in 1..=draws {
            let (share, delay_ms) = measured(rule, draw)?;
            shares.push(share);
            delays.push(delay_ms);
        }
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = delays.iter().copied().fold(0.0, f64::max);
        line([
            rule.to_string(),
            format!("{:.2}", median(shares)),
            format!("{least:.2}"),
            format!("{:.1}", median(delays)),
            format!("{largest:.1}"),
        ]);
    }
    Ok(())
}

/// Returns the share of the capacity that a rule takes alone, and the 95th percentile of a call's queuing delay beside it, ms.
pub fn measured(rule: &Algorithm, draw: u64) -> Result<(f64, f64)> {
    let rates = rates_mbit(draw);
    let steps =
        rates.iter().enumerate().map(|(second, rate)| format!("[\"{second} s\", \"{rate:.2} Mbit/s\"]"));
    let sets = [
        format!("link.rate={{ steps = [{}] }}", steps.collect::<Vec<_>>().join(", ")),
        format!("link.delay={}", delay_steps(draw)),
        with_rule("backup", rule),
    ];
    let experiment = Experiment::read(&file(FILE), &sets)?;
    let outcome = outcomes(&experiment, draw, 1)?.swap_remove(0);
    let window = |name: &str| outcome.run.windows.iter().find(|window| window.window == name);
    let flow = |window: &WindowFigures, name: &str| {
        window
            .flows
            .iter()
            .find(|flow| flow.flow == name)
            .map(|flow| (flow.share_of_payload_capacity, flow.queuing_delay))
    };
    let (share, _) = window("alone").and_then(|window| flow(window, "backup")).ok_or("no backup")?;
    let (_, delay) = window("with a call").and_then(|window| flow(window, "call")).ok_or("no call")?;
    Ok((share, delay.ok_or("no packet of the call arrived")?.p95_ms))
}
