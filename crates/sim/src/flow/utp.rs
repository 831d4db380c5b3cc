//! stub
use super::{Format, Timers};
use crate::calendar::Kind;
use crate::link::Way;
use crate::net::Net;
use crate::packet::Packet;
use afteryou_cc::{Snapshot, Time};
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::transport::UtpOptions;
use afteryou_scenario::{Error, Flow as Spec, Traffic};
pub(super) struct Ends;
impl Ends {
    pub(super) fn new(_: &Spec, _: UtpOptions, _: Format) -> Result<Ends, Error> { Err(Error::Scenario("not yet".into())) }
    pub(super) fn reconnect(&mut self, _: &Spec) -> Result<(), Error> { Ok(()) }
    pub(super) fn turn_on(&mut self, _: Time, _: &Traffic, _: bool) {}
    pub(super) fn turn_off(&mut self) {}
    pub(super) fn on_timer(&mut self, _: Time, _: Kind) {}
    pub(super) fn receive(&mut self, _: &mut Net, _: Time, _: Packet, _: Way, _: bool) {}
    pub(super) fn pump(&mut self, _: &mut Net, _: Time, _: &mut Timers, _: bool, _: &Traffic) {}
    pub(super) fn pump_receiver(&mut self, _: &mut Net, _: Time, _: &mut Timers) {}
    pub(super) fn received(&self) -> u64 { 0 }
    pub(super) fn snapshot(&self) -> Snapshot { Snapshot::default() }
    pub(super) fn totals(&self) -> Totals { Totals::default() }
}
