//! A bound on a run, found before it begins: a page must not run for an hour or take all memory.
//!
//! A link that is busy all the time forwards rate × duration / packet. Links with less traffic than that make the estimate too high, which
//! errs on the safe side.

use crate::error::Error;
use afteryou_engines::find;
use afteryou_scenario::{Checked, Scenario};

/// Most packets of a run on the page: about a minute, in which a change of the scenario cancels it.
pub const MOST_PACKETS: f64 = 1e8;
/// Most flows, whose curves and senders take memory.
const MOST_FLOWS: usize = 2000;
/// A full packet, bytes.
const PACKET: f64 = 1500.0;

/// Returns how many packets the links of `scenario` forward at most, its baseline included.
pub fn packets(scenario: &Scenario) -> f64 {
    let bits: f64 = scenario.links().map(|link| link.rate.bits_per_second() as f64).sum();
    let runs = if scenario.baseline { 2.0 } else { 1.0 };
    bits / 8.0 / PACKET * scenario.duration.as_secs_f64() * runs
}

/// Returns whether the page runs `scenario`. Not if it asks for real packets, or is too large.
pub fn takes(scenario: &Checked) -> bool {
    check(scenario).is_ok() && find("sim").is_ok_and(|sim| sim.supports(scenario).is_ok())
}

/// Refuses a run that is too large for a page.
///
/// # Errors
/// A sentence with the number and a way to run it.
pub fn check(scenario: &Scenario) -> Result<(), Error> {
    let (packets, flows) = (packets(scenario), scenario.flow.len());
    let too_large = |what: String, remedy: &str| {
        let message = format!("{what}: {remedy}, or copy the command and run it there");
        Err(Error::TooLarge(message))
    };
    if packets > MOST_PACKETS {
        let what = format!("this run is about {packets:.0} packets, and the page takes {MOST_PACKETS:.0}");
        return too_large(what, "lower the rate or the duration");
    }
    if flows > MOST_FLOWS {
        return too_large(
            format!("this run has {flows} flows, and the page takes {MOST_FLOWS}"),
            "use fewer",
        );
    }
    Ok(())
}
