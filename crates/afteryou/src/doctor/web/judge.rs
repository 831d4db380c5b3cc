//! Checks of path, server and kernel, by a download that was watched.

use crate::doctor::Check;
use afteryou_base::Span;
use afteryou_outside::probe::{Held, Reason, Sender};
use std::time::Duration;

/// Measures of a download.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How the window was held.
    pub held: Option<Held>,
    /// The server's sender.
    pub sender: Sender,
    /// Shortest round trip.
    pub least: Option<Span>,
    /// Round trips while the download was steered, in ascending order.
    pub loaded: Vec<Span>,
    /// Rate meanwhile, bytes a second.
    pub rate: f64,
    /// Payload received, bytes.
    pub bytes: u64,
    /// Time from connection to end.
    pub took: Duration,
    /// The reason, if the kernel refused an option.
    pub failed: Option<String>,
}

/// Judges a download.
pub fn checks(measured: &Measured, is_proxied: bool) -> Vec<Check> {
    let mut checks = vec![round_trip(measured), sender(measured, is_proxied), steering(measured)];
    checks.push(Check::ok("data of this check", amount(measured)));
    checks
}

fn amount(measured: &Measured) -> String {
    format!(
        "{:.1} MB in {:.1} s; nothing was stored",
        measured.bytes as f64 / 1e6,
        measured.took.as_secs_f64()
    )
}

fn ms(span: Span) -> String {
    format!("{:.1} ms", span.as_millis_f64())
}

fn round_trip(measured: &Measured) -> Check {
    const NAME: &str = "round trip";
    let Some(least) = measured.least else {
        return Check::warn(NAME, "the kernel has measured none", "name a larger file");
    };
    let seen = format!("{} at its shortest", ms(least));
    let loaded = &measured.loaded;
    match (loaded.get(loaded.len() / 2), loaded.get(loaded.len().saturating_sub(1) * 95 / 100)) {
        (Some(median), Some(late)) => Check::ok(
            NAME,
            format!(
                "{seen}; {} while the download ran in the background at {:.1} Mbit/s (median; 95th percentile {})",
                ms(*median),
                measured.rate * 8e-6,
                ms(*late)
            ),
        ),
        _ => Check::warn(NAME, format!("{seen}; the download was too short to load the path"), "name a larger file"),
    }
}

fn sender(measured: &Measured, is_proxied: bool) -> Check {
    let name = if is_proxied { "sender of the proxy" } else { "sender of the server" };
    let reason = match measured.sender {
        Sender::LossBased => {
            return Check::ok(name, "loss-based, as CUBIC and reno are: it grows until packets are lost")
        }
        Sender::ModelBased => {
            return Check::ok(name, "model-based, as BBR is: it follows the rate that it measures")
        }
        Sender::Unknown(reason) => reason,
    };
    let nothing = "nothing must be done: both kinds are steered";
    match reason {
        Reason::Short => Check::warn(name, "unknown: the download was too short", "name a larger file"),
        Reason::Unfilled => {
            Check::warn(name, "unknown: the server sends less than a window of four packets", nothing)
        }
        Reason::Bounded => Check::warn(
            name,
            "unknown: server or path give little more than a window of four packets",
            nothing,
        ),
        Reason::Losses => {
            Check::warn(name, "unknown: packets are lost, and the time was too short for that", nothing)
        }
        Reason::Between => Check::warn(name, "unknown: it grows unlike CUBIC, reno and BBR", nothing),
        Reason::Near => Check::warn(name, "unknown: the server is nearer than 3 ms", nothing),
    }
}

fn steering(measured: &Measured) -> Check {
    const NAME: &str = "steering of downloads";
    if let Some(reason) = &measured.failed {
        let todo = "use --max-rate: this kernel or sandbox forbids SO_RCVLOWAT, TCP_WINDOW_CLAMP or TCP_INFO";
        return Check::warn(NAME, format!("the window cannot be set: {reason}"), todo);
    }
    let Some(held) = measured.held else {
        return Check::warn(NAME, "the download was too short to see", "name a larger file");
    };
    let seen = format!("with a window of {} bytes {:.0} arrived per round trip", held.window, held.arrived);
    match held.obeyed() {
        Some(true) => Check::ok(NAME, format!("works: {seen}")),
        Some(false) => {
            let todo = "use --max-rate: something between this machine and the server answers for it, such as a VPN or an optimiser of a satellite link";
            Check::warn(NAME, format!("does not work: {seen}"), todo)
        }
        None => Check::warn(
            NAME,
            format!("not seen: {seen}, which the server did not fill"),
            "name a larger file, or one that the server has at hand",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;

    fn measured() -> Measured {
        Measured {
            held: Some(Held { window: 5792, arrived: 5700.0 }),
            sender: Sender::ModelBased,
            least: Some(Span::from_micros(40_100)),
            loaded: (41..141).map(Span::from_millis).collect(),
            rate: 2.5e6,
            bytes: 3_140_000,
            took: Duration::from_millis(2500),
            failed: None,
        }
    }

    #[test]
    fn a_download_that_shows_everything_is_reported_in_numbers() {
        let checks = checks(&measured(), false);
        let seen: Vec<&str> = checks.iter().map(|check| check.seen.as_str()).collect();
        assert!(checks.iter().all(|check| check.state == Severity::Ok), "{checks:?}");
        assert!(seen[0].starts_with("40.1 ms at its shortest; 91.0 ms while"), "{seen:?}");
        assert!(seen[0].contains("20.0 Mbit/s") && seen[0].contains("95th percentile 135.0 ms"), "{seen:?}");
        assert!(seen[1].contains("BBR") && seen[2].contains("5700 arrived"), "{seen:?}");
        assert_eq!(seen[3], "3.1 MB in 2.5 s; nothing was stored");
    }

    #[test]
    fn a_window_that_nobody_obeys_or_fills_is_a_warning() {
        for (arrived, word) in [(50_000.0, "does not work"), (100.0, "not seen")] {
            let held = Some(Held { window: 5792, arrived });
            let check = steering(&Measured { held, ..measured() });
            assert!(check.state == Severity::Warn && check.seen.contains(word), "{check:?}");
        }
        let failed = Some("Operation not permitted".to_owned());
        assert!(steering(&Measured { failed, ..measured() }).seen.contains("cannot be set"));
    }
}
