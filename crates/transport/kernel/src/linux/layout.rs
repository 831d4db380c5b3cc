//! Where the state of a connection has what people ask for, by the types that the object describes (BTF).

use super::error::Error;
use super::loaded::{rule_of, OBJECT};
use super::netlink::{u16_at, u32_at};
use libbpf_rs::btf::types::{MemberAttr, Struct};
use libbpf_rs::btf::Btf;
use std::ffi::OsStr;
use std::time::Duration;

/// The newest samples that a state has places for: `SAMPLES` of c/delay.h.
const SAMPLES: usize = 4;

/// The words for each number of a rule's phases, by rule.
const PHASES: [(&str, &[&str]); 2] = [
    ("ebb", &["ramp", "cruise", "yield"]),
    (
        "ledbatpp",
        &[
            "slow start",
            "climb after a timeout",
            "congestion avoidance",
            "slowdown, at the floor",
            "slowdown, ramp",
        ],
    ),
];

/// The state of a connection's rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Base delay and queuing delay, once there is a sample.
    pub delays: Option<(Duration, Duration)>,
    /// The phase in words, for rules that have phases.
    pub phase: Option<&'static str>,
}

/// Offsets in the value of a map of connections, bytes.
#[derive(Clone, Debug)]
pub struct Layout {
    delays: Delays,
    /// Lowest byte of the phase's number, and its words.
    phase: Option<(usize, &'static [&'static str])>,
}

/// Offsets of delays, which are in us.
#[derive(Clone, Debug)]
enum Delays {
    /// `struct delay`: the first of `since` is the smallest of all minutes. The least of the newest `samples` is the present delay.
    Ledbat { since: usize, samples: usize, count: usize },
    /// `struct ebb_path`
    Ebb { base: usize, queue: usize },
}

impl Layout {
    /// Returns the layout of a map's values in this build's object; `None` if it has no such map of connections.
    ///
    /// # Errors
    /// The object has no types.
    pub fn of(map: &OsStr) -> Result<Option<Layout>, Error> {
        let Some(btf) = Btf::from_raw("afteryou", OBJECT)? else { return Ok(None) };
        let Some(rule) = rule_of(map) else { return Ok(None) };
        let at = |path: &[&str]| offset(&btf, &format!("{rule}_connection"), path);
        let words = PHASES.iter().find(|(name, _)| *name == rule).map(|(_, words)| *words);
        let ledbat = || {
            let since = at(&["state", "delay", "since"])?;
            let samples = at(&["state", "delay", "samples"])?;
            Some(Delays::Ledbat { since, samples, count: at(&["state", "delay", "count"])? })
        };
        let ebb = || {
            let base = at(&["state", "path", "base_us"])?;
            Some(Delays::Ebb { base, queue: at(&["state", "path", "queue_us"])? })
        };
        let Some(delays) = ledbat().or_else(ebb) else { return Ok(None) };
        Ok(Some(Layout { delays, phase: at(&["state", "phase"]).zip(words) }))
    }

    /// Reads a value.
    pub fn read(&self, value: &[u8]) -> State {
        let span = |us: u32| Duration::from_micros(us.into());
        let delays = self.delays.read(value);
        State {
            delays: delays.map(|(base_us, queue_us)| (span(base_us), span(queue_us))),
            phase: self.phase.and_then(|(at, words)| words.get(usize::from(*value.get(at)?)).copied()),
        }
    }
}

impl Delays {
    /// Reads base delay and queuing delay, us.
    fn read(&self, value: &[u8]) -> Option<(u32, u32)> {
        match *self {
            Delays::Ledbat { since, samples, count } => {
                let base_us = u32_at(value, since);
                let above = |place| u32_at(value, samples + 4 * place).wrapping_sub(base_us) as i32;
                let held = usize::from(u16_at(value, count)).min(SAMPLES);
                let queue_us = (0..held).map(above).min()?;
                Some((base_us, queue_us.max(0).unsigned_abs()))
            }
            Delays::Ebb { base, queue } => {
                let base_us = u32_at(value, base);
                // Before the first sample.
                (base_us != u32::MAX).then(|| (base_us, u32_at(value, queue)))
            }
        }
    }
}

/// Returns the offset of a member of a member … of a struct, bytes.
fn offset(btf: &Btf<'_>, name: &str, path: &[&str]) -> Option<usize> {
    let mut of: Struct<'_> = btf.type_by_name(name)?;
    let (last, before) = path.split_last()?;
    let mut sum = 0;
    for member in before {
        let (at, ty) = member_of(&of, member)?;
        sum += at;
        of = btf.type_by_id::<libbpf_rs::btf::BtfType<'_>>(ty)?.skip_mods_and_typedefs().try_into().ok()?;
    }
    Some(sum + member_of(&of, last)?.0)
}

fn member_of(of: &Struct<'_>, name: &str) -> Option<(usize, libbpf_rs::btf::TypeId)> {
    let member = of.iter().find(|member| member.name == Some(OsStr::new(name)))?;
    match member.attr {
        MemberAttr::Normal { offset } => Some((offset as usize / 8, member.ty)),
        MemberAttr::BitField { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(map: &str) -> Option<Layout> {
        Layout::of(OsStr::new(map)).unwrap()
    }

    fn set(value: &mut [u8], at: usize, us: u32) {
        value[at..at + 4].copy_from_slice(&us.to_ne_bytes());
    }

    #[test]
    fn a_state_of_the_family_is_read_where_the_object_has_it() {
        let layout = layout("ledbatpp_connections").expect("a layout");
        let Delays::Ledbat { since, samples, count } = layout.delays else { panic!("{layout:?}") };
        let mut value = vec![0; 512];
        assert_eq!(layout.read(&value), State { delays: None, phase: Some("slow start") });
        set(&mut value, since, 40_000);
        set(&mut value, samples, 55_000);
        set(&mut value, samples + 4, 52_000);
        set(&mut value, layout.phase.unwrap().0, 3);
        value[count] = 2;
        let delays = Some((Duration::from_millis(40), Duration::from_millis(12)));
        assert_eq!(layout.read(&value), State { delays, phase: Some("slowdown, at the floor") });
        assert_eq!(layout.read(&[]).delays, None);
    }

    #[test]
    fn a_state_of_ebb_is_read_where_the_object_has_it() {
        let layout = layout("ebb_connections").expect("a layout");
        let Delays::Ebb { base, queue } = layout.delays else { panic!("{layout:?}") };
        let mut value = vec![0; 1024];
        set(&mut value, base, u32::MAX);
        assert_eq!(layout.read(&value), State { delays: None, phase: Some("ramp") });
        set(&mut value, base, 40_000);
        set(&mut value, queue, 3_000);
        set(&mut value, layout.phase.unwrap().0, 2);
        let delays = Some((Duration::from_millis(40), Duration::from_millis(3)));
        assert_eq!(layout.read(&value), State { delays, phase: Some("yield") });
    }

    #[test]
    fn every_controller_has_a_layout_and_other_maps_have_none() {
        for rule in ["ebb", "ledbat", "fledbat", "ledbatpp"] {
            assert!(layout(&format!("{rule}_connections")).is_some(), "{rule}");
        }
        assert!(layout("others_connections").is_none() && layout("ledbat_ops").is_none());
    }

    #[test]
    fn words_stand_for_the_phases_of_the_sources() {
        let phases = |header: &str, name: &str| -> Vec<String> {
            let (_, text) = crate::HEADERS.iter().find(|(file, _)| *file == header).unwrap();
            let (_, rest) = text.split_once(&format!("enum {name} {{")).unwrap();
            let words = rest.split_once('}').unwrap().0.split(|c: char| !c.is_ascii_uppercase() && c != '_');
            words.filter(|word| word.len() > 1).map(str::to_owned).collect()
        };
        assert_eq!(phases("ebb/state.h", "ebb_phase"), ["EBB_RAMP", "EBB_CRUISE", "EBB_YIELD"]);
        assert_eq!(phases("ledbatpp.h", "phase"), ["SLOW_START", "CLIMB", "AVOIDANCE", "FREEZE", "RAMP"]);
        assert_eq!(PHASES.map(|(_, words)| words.len()), [3, 5]);
    }
}
