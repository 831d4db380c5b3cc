//! The rules of `afteryou-kernel`, for flows over the kernel's TCP.
//!
//! The kernel has a rule once, for all namespaces. Runs of this process share it, and the last one unloads it. Rules that another program has
//! loaded are used and left as they are. That program has to keep them until the flows of the run have opened their connections.

use super::ready::present;
use crate::error::Error;
use afteryou_scenario::{Flow, Scenario, TransportKind};

/// Controllers of scenarios that the kernel runs as eBPF, and their names there.
const RULES: [(&str, &str); 4] =
    [("ebb", "afteryou"), ("ledbat", "ay_ledbat"), ("fledbat", "ay_fledbat"), ("ledbat++", "ay_ledbatpp")];

/// Returns the kernel's name of a flow's congestion control.
pub(super) fn kernel_name(flow: &Flow) -> &str {
    let controller = flow.controller.as_ref().map_or("cubic", |controller| &controller.kind);
    match controller {
        "newreno" => "reno",
        other => rule(other).unwrap_or(other),
    }
}

/// Returns the kernel's name of a controller that is a rule of ours.
fn rule(controller: &str) -> Option<&'static str> {
    RULES.iter().find(|(name, _)| *name == controller).map(|(_, in_kernel)| *in_kernel)
}

/// The rules that a run requires of the kernel, which has them as long as this value exists.
#[derive(Default)]
pub(super) struct Rules {
    _held: Option<loading::Held>,
}

impl Rules {
    /// Returns the rules of a scenario's flows, loaded now unless the kernel has them.
    ///
    /// # Errors
    /// A rule that is not loaded and cannot be: this build has no part for the kernel, or the kernel refuses.
    pub(super) fn of_scenario(scenario: &Scenario) -> Result<Rules, Error> {
        let over_tcp = scenario
            .flow
            .iter()
            .filter(|flow| flow.transport.kind == TransportKind::Tcp && !flow.traffic.is_command());
        let mut ours = over_tcp.filter(|flow| RULES.iter().any(|(_, name)| *name == kernel_name(flow)));
        let Some(flow) = ours.next() else { return Ok(Rules::default()) };
        let name = kernel_name(flow);
        let is_present = || present().split_whitespace().any(|other| other == name);
        let held = loading::held(is_present);
        let not_loaded = |reason| Error::NotLoaded { flow: flow.name.clone(), name: name.to_owned(), reason };
        Ok(Rules { _held: held.map_err(not_loaded)? })
    }
}

#[cfg(all(feature = "kernel", target_endian = "little"))]
mod loading {
    use afteryou_base::lock::EvenPoisoned;
    use afteryou_kernel::{Error, Loaded};
    use std::sync::{Mutex, MutexGuard};

    /// The rules that this process has loaded, and the number of runs that use them.
    struct Shared {
        loaded: Option<Loaded>,
        runs: u32,
    }

    static SHARED: Mutex<Shared> = Mutex::new(Shared { loaded: None, runs: 0 });

    fn shared() -> MutexGuard<'static, Shared> {
        SHARED.lock().even_poisoned()
    }

    /// A run's part in the loaded rules. Dropping the last one unloads them.
    pub(super) struct Held(());

    impl Drop for Held {
        fn drop(&mut self) {
            let mut shared = shared();
            shared.runs -= 1;
            if shared.runs == 0 {
                shared.loaded = None;
            }
        }
    }

    /// Returns a part in the rules of this process, loaded now if necessary; nothing if the kernel has the rules from elsewhere.
    pub(super) fn held(is_present: impl Fn() -> bool) -> Result<Option<Held>, String> {
        let mut shared = shared();
        if shared.loaded.is_none() {
            if is_present() {
                return Ok(None);
            }
            match Loaded::new() {
                Ok(loaded) => shared.loaded = Some(loaded),
                // Another program was faster.
                Err(Error::Exists) => return Ok(None),
                Err(error) => return Err(error.to_string()),
            }
        }
        shared.runs += 1;
        Ok(Some(Held(())))
    }
}

#[cfg(not(all(feature = "kernel", target_endian = "little")))]
mod loading {
    /// Nothing is loaded.
    pub(super) enum Held {}

    /// Returns nothing if the kernel has the rules from elsewhere.
    pub(super) fn held(is_present: impl Fn() -> bool) -> Result<Option<Held>, String> {
        match is_present() {
            true => Ok(None),
            false => Err(
                "this build has no kernel part; build it with --features kernel, or run the flow over uTP"
                    .to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "kernel", target_endian = "little"))]
    #[test]
    fn every_rule_has_a_name_of_the_kernel() {
        for (_, name) in RULES {
            assert!(afteryou_kernel::NAMES.contains(&name), "{name}");
        }
    }

    #[test]
    fn names_of_the_kernel_that_are_no_rules_pass() {
        for (controller, rule_name) in [("ledbat++", Some("ay_ledbatpp")), ("cubic", None), ("copa", None)] {
            assert_eq!(rule(controller), rule_name);
        }
    }
}
