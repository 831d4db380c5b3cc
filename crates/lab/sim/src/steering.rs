//! Jobs whose connections are steered from outside, as `afteryou run` does: the rule of [`afteryou_outside`], which reads the connections a hundred
//! times a second and sets their windows or rates.
//!
//! A rule at the receiver's end is that of a program that downloads, at the sender's end that of one that uploads.

use crate::application::Application;
use crate::calendar::{Calendar, Kind, Slot};
use crate::connection::{Connection, Connections};
use afteryou_base::{Span, Time};
use afteryou_outside::rule::rate::rate;
use afteryou_outside::rule::{law, Direction, Granted, Group, Id, Reading};
use afteryou_scenario::{Error, Flow, Member, Scenario};
use std::net::{IpAddr, Ipv4Addr};

/// Time between two looks at the connections.
const TICK: Span = Span::from_millis(10);
/// Low bits of a connection's name: its generation; the others have its number.
const GENERATION_BITS: u32 = 16;

/// The jobs of a scenario.
pub struct Steering {
    jobs: Vec<Job>,
}

/// A job.
struct Job {
    direction: Direction,
    group: Group,
    /// Its flows, and the address of each one's peer.
    flows: Vec<(usize, IpAddr)>,
    start: Time,
}

impl Steering {
    /// Creates the jobs of a scenario.
    ///
    /// # Errors
    /// A parameter that is refused.
    pub fn new(scenario: &Scenario) -> Result<Steering, Error> {
        let jobs = afteryou_scenario::jobs(&scenario.flow)?;
        Ok(Steering { jobs: jobs.into_iter().map(|job| Job::new(&scenario.flow, &job)).collect() })
    }

    /// Enters the first tick of each job into the calendar.
    pub fn prepare(&self, calendar: &mut Calendar) {
        for (index, job) in self.jobs.iter().enumerate() {
            calendar.push(job.start, Slot::new(Kind::Steering, index));
        }
    }

    /// Reads the connections of a job and sets their windows or rates. Returns when the next tick is.
    pub fn tick(
        &mut self,
        job: usize,
        now: Time,
        applications: &[Application],
        connections: &mut Connections,
    ) -> Time {
        let job = &mut self.jobs[job];
        let places: Vec<(Id, usize, IpAddr)> = job
            .flows
            .iter()
            .flat_map(|(flow, peer)| applications[*flow].open().iter().map(move |place| (*place, *peer)))
            .map(|(place, peer)| {
                let generation = u64::from(connections.generation(place));
                (Id((place as u64) << GENERATION_BITS | generation), place, peer)
            })
            .collect();
        let readings: Vec<Reading> = places
            .iter()
            .filter_map(|(id, place, peer)| connections.get_mut(*place).reading(job.direction, *id, *peer))
            .collect();
        let granted = job.group.tick(now, &readings);
        for granted in &granted {
            if let Some((_, place, _)) = places.iter().find(|(id, ..)| *id == granted.id) {
                job.set(connections.get_mut(*place), granted);
            }
        }
        now + TICK
    }
}

impl Job {
    fn new(all: &[Flow], job: &afteryou_scenario::Job) -> Job {
        let peer = |member: &Member| (member.flow, IpAddr::V4(Ipv4Addr::from_bits(member.peer as u32)));
        let flows: Vec<_> = job.flows.iter().map(peer).collect();
        let start = flows.iter().map(|(flow, _)| Time(all[*flow].start.0 .0)).min().unwrap_or(Time::ZERO);
        Job { direction: job.direction, group: Group::new(job.direction, job.params), flows, start }
    }

    fn set(&self, connection: &mut Connection, granted: &Granted) {
        if self.direction == Direction::Down {
            return connection.set_window(granted.window as u64);
        }
        let Some(member) = self.group.member(granted.id) else { return };
        let Some(base) = self.group.base_of(member) else { return };
        let is_starting = self.group.law().phase() == law::Phase::SlowStart;
        connection.set_max_rate(rate(member, granted, base, is_starting) as u64);
    }
}
