//! Interfaces, addresses and routes, by netlink messages of the calling thread's namespace.

use super::address::{Family, Side};
use super::plan::{FlowPlan, Plan};
use super::sysctl;
use super::tun;
use crate::error::Error;
use netlink_packet_route::address::{AddressAttribute, AddressFlags};
use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::route::{RouteAttribute, RouteMetric};
use rtnetlink::{new_connection, Handle, LinkUnspec, RouteMessageBuilder};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Packets that the device holds for a wire that comes late; more than any burst.
const DEVICE_QUEUE: u32 = 10_000;
/// Feature of a route: TCP asks for ECN (RTAX_FEATURE_ECN of linux/rtnetlink.h).
const FEATURE_ECN: u32 = 1;

/// Prepares the namespace of a side, in which the TUN device is.
pub fn prepare(side: Side, plan: &Plan) -> Result<(), Error> {
    by_netlink(async |handle| {
        let device = bring_up(&handle, plan.mtu).await?;
        for (flow, of_flow) in plan.flows.iter().enumerate() {
            for family in sysctl::families() {
                add_flow(&handle, device, side, family, (flow, of_flow)).await?;
            }
        }
        Ok(())
    })
}

/// Prepares a namespace that sends everything back to its TUN device.
pub fn prepare_router(mtu: u32) -> Result<(), Error> {
    by_netlink(async |handle| {
        let device = bring_up(&handle, mtu).await?;
        let to_v4 = RouteMessageBuilder::<Ipv4Addr>::new().output_interface(device);
        handle.route().add(to_v4.build()).execute().await?;
        if sysctl::families().contains(&Family::V6) {
            let to_v6 = RouteMessageBuilder::<Ipv6Addr>::new().output_interface(device);
            handle.route().add(to_v6.build()).execute().await?;
        }
        Ok(())
    })
}

/// Does something by netlink in the calling thread's namespace.
fn by_netlink(work: impl AsyncFnOnce(Handle) -> Result<(), rtnetlink::Error>) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(Error::Thread)?;
    runtime.block_on(async {
        let (connection, handle, _) = new_connection().map_err(Error::Thread)?;
        let connection = tokio::spawn(connection);
        let done = work(handle).await;
        connection.abort();
        done.map_err(|error| Error::Interface { reason: error.to_string() })
    })
}

/// Brings loopback and the TUN device up; returns the device's index.
async fn bring_up(handle: &Handle, mtu: u32) -> Result<u32, rtnetlink::Error> {
    let index = |name: &str| {
        nix::net::if_::if_nametoindex(name)
            .map_err(|error| rtnetlink::Error::NamespaceError(format!("no interface {name}: {error}")))
    };
    let loopback = LinkUnspec::new_with_index(index("lo")?).up().build();
    handle.link().set(loopback).execute().await?;
    let device = index(tun::NAME)?;
    let message = LinkUnspec::new_with_index(device)
        .mtu(mtu)
        .txqueuelen(DEVICE_QUEUE)
        // One segment at a time: the wire sees packets, not trains of them.
        .append_extra_attribute(LinkAttribute::GsoMaxSegs(1))
        .multicast(false)
        .up()
        .build();
    handle.link().set(message).execute().await?;
    Ok(device)
}

async fn add_flow(
    handle: &Handle,
    device: u32,
    side: Side,
    family: Family,
    (flow, plan): (usize, &FlowPlan),
) -> Result<(), rtnetlink::Error> {
    let (here, there) = (side.address(family, flow), side.opposite().address(family, flow));
    let mut add = handle.address().add(device, here, family.host_prefix());
    add.message_mut().attributes.push(AddressAttribute::Flags(AddressFlags::Nodad));
    add.execute().await?;
    // Both addresses are of one family, so no message is refused.
    let wrong = |_| rtnetlink::Error::NamespaceError(format!("no route from {here} to {there}"));
    let mut route = RouteMessageBuilder::<IpAddr>::new()
        .destination_prefix(there, family.host_prefix())
        .map_err(wrong)?
        .pref_source(here)
        .map_err(wrong)?
        .output_interface(device);
    let metrics = metrics(plan);
    if !metrics.is_empty() {
        route.get_mut().attributes.push(RouteAttribute::Metrics(metrics));
    }
    handle.route().add(route.build()).execute().await
}

fn metrics(plan: &FlowPlan) -> Vec<RouteMetric> {
    let segment = plan.segment.map(RouteMetric::Advmss);
    let initial = plan.initial_window.map(RouteMetric::InitCwnd);
    let ecn = plan.ecn.then_some(RouteMetric::Features(FEATURE_ECN));
    let timeout = plan.least_timeout_ms.map(RouteMetric::RtoMin);
    let acks = plan.acks_every_packet.then_some(RouteMetric::QuickAck(1));
    [segment, initial, ecn, timeout, acks].into_iter().flatten().collect()
}
