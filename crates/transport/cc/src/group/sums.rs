//! A member of a group, and the sums over members by which a share costs no walk.

use afteryou_base::units::Time;

/// The state of a member, as it last reported it.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub mss: u32,
    pub in_flight: u64,
    pub flightsize: u64,
    pub wants_more: bool,
    pub last_sent: Option<Time>,
    /// When the newest of its packets that have arrived was sent.
    pub newest_acked: Option<Time>,
    pub last_event: Time,
}

impl State {
    pub fn is_newcomer(&self) -> bool {
        self.newest_acked.is_none()
    }
}

/// Sums over members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub members: u64,
    pub in_flight: u64,
    pub flightsize: u64,
    /// Members that have demand.
    pub wanting: u64,
    /// Bytes in flight of the others.
    pub held: u64,
}

impl Sums {
    pub fn of(state: &State) -> Sums {
        Sums {
            members: 1,
            in_flight: state.in_flight,
            flightsize: state.flightsize,
            wanting: u64::from(state.wants_more),
            held: if state.wants_more { 0 } else { state.in_flight },
        }
    }

    pub fn plus(self, other: Sums) -> Sums {
        Sums {
            members: self.members + other.members,
            in_flight: self.in_flight + other.in_flight,
            flightsize: self.flightsize + other.flightsize,
            wanting: self.wanting + other.wanting,
            held: self.held + other.held,
        }
    }

    /// Takes off what [`plus`](Sums::plus) has added before.
    pub fn minus(self, other: Sums) -> Sums {
        Sums {
            members: self.members - other.members,
            in_flight: self.in_flight - other.in_flight,
            flightsize: self.flightsize - other.flightsize,
            wanting: self.wanting - other.wanting,
            held: self.held - other.held,
        }
    }
}

/// Returns the bytes that a newcomer has in flight beyond its one packet.
pub(super) fn excess(state: &State) -> u64 {
    state.in_flight.saturating_sub(state.mss.into())
}
