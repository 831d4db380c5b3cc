//! A job's state in plain words, from its congestion controller's snapshot.
//!
//! # The rule
//! The first that holds is printed:
//!
//! 1. *no connection*, or *paused*: nothing else applies. A side that waits reports both.
//! 2. *measuring*: LEDBAT++ is in a slowdown, which it makes now and then so that the queue empties.
//! 3. *yielding*: somebody else fills the queue. That is so
//!    - if the queuing delay is more than a quarter above the controller's target. Alone, the controller holds the delay
//!      at its target, a few milliseconds over and under; it takes somebody else to hold it well above;
//!    - or if the window is at its floor of two packets, whose own share of any queue is small, and the delay is over
//!      half the target all the same. A controller without a target (Vegas, Nice, TCP-LP) yields if its window is at the
//!      floor, which it is for no other reason once it has found the path;
//!    - or if the controller itself reports that it is below a packet or two ("stalled", "below two packets").
//! 4. *held*: it moves at three quarters or more of the smallest limit that somebody set.
//! 5. *still*: nothing moves.
//! 6. *finding out* in slow start, and otherwise *full speed*: as fast as the path gives without a queue above the target.
//!
//! A foreground controller (`--controller cubic`) takes a share and never yields; it is never called yielding.
//!
//! # Known bad cases
//! The controller cannot see who fills a queue, and no more can these words. Where the bottleneck keeps its queue short
//! (CoDel, a small buffer), no delay shows other demand for the path. "full speed" is then the controller's attempt,
//! and losses give it a fair share.

use super::figures::{delay, time, RateUnit};
use afteryou_transfer::pace::Owner;
use afteryou_transfer::wire::{ControllerState, PAUSED};
use std::time::Duration;

/// Two of the largest packets that Ethernet carries.
const FLOOR_BYTES: u64 = 2 * 1500;

/// The connection, as far as words need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Link {
    /// There was none yet.
    #[default]
    Connecting,
    /// This side listens, and nobody is there.
    Waiting {
        /// Why the last one went before the end of the job.
        reason: Option<String>,
    },
    /// The connection is open.
    Up,
    /// It is gone.
    Down {
        /// One sentence.
        reason: String,
        /// Until the next attempt.
        retry_in: Duration,
    },
}

/// A limit that holds, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Bytes a second.
    pub max_rate: u64,
    /// The owner of the limit.
    pub owner: Owner,
}

/// All that words depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Situation {
    /// The connection.
    pub link: Link,
    /// The smallest limit.
    pub hold: Option<Hold>,
    /// The owner of the pause.
    pub paused_by: Option<Owner>,
    /// When the timetable's limit changes, as a time of day.
    pub until: Option<String>,
    /// Bytes of content a second, lately.
    pub rate: u64,
    /// The unit in which rates are shown.
    pub unit: RateUnit,
    /// The sender's controller.
    pub state: Option<ControllerState>,
    /// Name of the controller, if it is one that never yields.
    pub never_yields: Option<String>,
    /// A file that another job is storing.
    pub busy: Option<String>,
}

/// A job's state, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// No connection.
    Away,
    /// Somebody paused it.
    Paused,
    /// A slowdown of LEDBAT++.
    Measuring,
    /// Somebody else fills the queue.
    Yielding,
    /// Somebody limits its rate.
    Held,
    /// Nothing moves.
    Still,
    /// Slow start.
    FindingOut,
    /// As fast as the path gives without a queue above the target.
    FullSpeed,
    /// A foreground controller.
    Sharing,
}

/// Returns the job's mood by the rule above.
pub fn mood(situation: &Situation) -> Mood {
    if situation.link != Link::Up {
        return Mood::Away;
    }
    let state = situation.state.as_ref();
    if situation.paused_by.is_some() || state.is_some_and(|state| state.phase == PAUSED) {
        return Mood::Paused;
    }
    if situation.never_yields.is_none() {
        if state.is_some_and(|state| state.phase.starts_with("slowdown")) {
            return Mood::Measuring;
        }
        if state.is_some_and(is_yielding) {
            return Mood::Yielding;
        }
    }
    if situation.hold.is_some_and(|hold| situation.rate >= hold.max_rate / 4 * 3) {
        return Mood::Held;
    }
    if situation.rate == 0 || state.is_none() {
        return Mood::Still;
    }
    if situation.never_yields.is_some() {
        return Mood::Sharing;
    }
    match state.is_some_and(is_starting) {
        true => Mood::FindingOut,
        false => Mood::FullSpeed,
    }
}

/// Returns the job's state, in a sentence without a full stop.
pub fn words(situation: &Situation) -> String {
    let state = situation.state.clone().unwrap_or_default();
    match mood(situation) {
        Mood::Away if matches!(situation.link, Link::Waiting { .. }) && situation.paused_by.is_some() => {
            format!("{}; {}", paused(situation), away(&situation.link))
        }
        Mood::Away => away(&situation.link),
        Mood::Paused => paused(situation),
        Mood::Measuring if state.phase == "slowdown freeze" => {
            "pausing a moment to measure the base delay".to_owned()
        }
        Mood::Measuring => format!("speeding up again after measuring the base delay{}", queue(&state)),
        Mood::Yielding => match queue(&state) {
            queue if queue.is_empty() => "yielding: the window is at its smallest".to_owned(),
            queue => format!("yielding{queue}"),
        },
        Mood::Held => held(situation),
        Mood::Still => match (situation.rate, &situation.busy) {
            (0, Some(path)) => format!("waiting for another job that is storing {path}"),
            (0, None) => {
                "nothing moves at the moment: files are being checked, or the path is silent".to_owned()
            }
            _ => "moving".to_owned(),
        },
        Mood::FindingOut => format!("finding out how fast the path is{}", queue(&state)),
        Mood::FullSpeed => format!("full speed{}{}", queue(&state), target(&state)),
        Mood::Sharing => {
            let name = situation.never_yields.as_deref().unwrap_or_default();
            format!("taking a share like everybody, for {name} does not yield{}", queue(&state))
        }
    }
}

fn is_starting(state: &ControllerState) -> bool {
    state.phase.ends_with("slow start") || matches!(state.phase.as_str(), "startup" | "ramp")
}

fn is_yielding(state: &ControllerState) -> bool {
    if matches!(state.phase.as_str(), "stalled" | "below two packets" | "moving down" | "yield") {
        return true;
    }
    let at_floor = state.cwnd <= FLOOR_BYTES && !is_starting(state);
    match (state.queue_us, state.target_us) {
        (Some(queue), Some(target)) => {
            queue > target.saturating_add(target / 4) || (at_floor && queue > target / 2)
        }
        _ => at_floor,
    }
}

fn away(link: &Link) -> String {
    match link {
        Link::Down { reason, retry_in } if retry_in.as_secs() > 0 => {
            format!("no connection: {reason}, trying again in {}", time(*retry_in))
        }
        Link::Down { reason, .. } => format!("no connection: {reason}, trying again"),
        Link::Waiting { reason: Some(reason) } => {
            format!("waiting for the other machine to come back: {reason}")
        }
        Link::Waiting { reason: None } => "waiting for files to move".to_owned(),
        Link::Connecting | Link::Up => "connecting".to_owned(),
    }
}

/// Returns the owner of the pause. Without an owner here it was the sender at the peer.
pub fn paused(situation: &Situation) -> String {
    match situation.paused_by {
        None | Some(Owner::FarEnd) => "paused by the peer".to_owned(),
        Some(Owner::Timetable) => format!("paused by the timetable{}", until(situation)),
        _ => "paused by ctl: `afteryou ctl resume` resumes it".to_owned(),
    }
}

fn held(situation: &Situation) -> String {
    let Some(hold) = situation.hold else { return String::new() };
    let by = match hold.owner {
        Owner::User => "--max-rate".to_owned(),
        Owner::Timetable => format!("the timetable{}", until(situation)),
        Owner::Control => "ctl".to_owned(),
        Owner::FarEnd => "the peer".to_owned(),
    };
    format!("held to {} by {by}", situation.unit.rate(hold.max_rate))
}

fn until(situation: &Situation) -> String {
    situation.until.as_ref().map(|time| format!(" until {time}")).unwrap_or_default()
}

/// Returns the queue's words: ": queue is 48 ms over base 21 ms", as far as it is known.
fn queue(state: &ControllerState) -> String {
    match (state.queue_us, state.base_us) {
        (Some(queue), Some(base)) => format!(": queue is {} over base {}", delay(queue), delay(base)),
        (Some(queue), None) => format!(": queue is {}", delay(queue)),
        (None, _) => String::new(),
    }
}

fn target(state: &ControllerState) -> String {
    match state.queue_us.and(state.target_us) {
        Some(target) => format!(" (target {})", delay(target)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
