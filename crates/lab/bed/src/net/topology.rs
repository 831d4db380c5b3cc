//! Both namespaces with everything in them.

use super::address::{Addresses, Family, Side};
use super::leftover;
use super::namespace::Namespace;
use super::netlink;
use super::plan::Plan;
use super::sysctl::{self, Setting};
use super::tun::Tun;
use crate::error::Error;

/// The network of a run.
#[derive(Debug)]
pub struct Topology {
    senders: Namespace,
    receivers: Namespace,
    tuns: Option<[Tun; 2]>,
    settings: Vec<Setting>,
    families: Vec<Family>,
    mtu: u32,
}

impl Topology {
    /// Builds it, and kills the programs that earlier runs have left behind.
    ///
    /// # Errors
    /// The privilege that the user lacks, with what is missing.
    pub fn build(plan: &Plan) -> Result<Topology, Error> {
        leftover::clean();
        let (senders, receivers) = (Namespace::new()?, Namespace::new()?);
        let (tun_of_senders, settings) = senders.run(|| prepare(Side::Senders, plan))??;
        let (tun_of_receivers, _) = receivers.run(|| prepare(Side::Receivers, plan))??;
        let tuns = Some([tun_of_senders, tun_of_receivers]);
        let families = sysctl::families();
        Ok(Topology { senders, receivers, tuns, settings, families, mtu: plan.mtu })
    }

    /// Returns the namespace of a side.
    pub fn namespace(&self, side: Side) -> &Namespace {
        match side {
            Side::Senders => &self.senders,
            Side::Receivers => &self.receivers,
        }
    }

    /// Returns the address families inside.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Returns the addresses of the flow with this index.
    pub fn addresses(&self, family: Family, flow: usize) -> Addresses {
        Addresses::of(family, flow)
    }

    /// Returns the devices of the senders' and the receivers' side, for the wire between them; `None` if they were taken
    /// before.
    pub fn take_tuns(&mut self) -> Option<[Tun; 2]> {
        self.tuns.take()
    }

    /// Returns the kernel's settings inside.
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// Returns the largest IP packet, bytes.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }
}

fn prepare(side: Side, plan: &Plan) -> Result<(Tun, Vec<Setting>), Error> {
    // Defaults of interfaces come before the interface.
    let settings = sysctl::apply(sysctl::settings(plan))?;
    let tun = Tun::open().map_err(Error::Tun)?;
    netlink::prepare(side, plan)?;
    Ok((tun, settings))
}
