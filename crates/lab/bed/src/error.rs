//! Errors of an experiment on real sockets.

use crate::way::Way;
use afteryou_scenario::support::Unsupported;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;

/// Why an experiment could not be set up or finished. The message has the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The relay was asked to send off this machine.
    #[error("{address} is not on this machine: a relay works on loopback only, use 127.0.0.1 or [::1]")]
    NotLoopback {
        /// The address given.
        address: SocketAddr,
    },
    /// A link that carries nothing.
    #[error("link {link:?} carries nothing in its {way} direction: give it a rate of at least 8 bit/s")]
    NoRate {
        /// The link's name.
        link: String,
        /// The direction.
        way: Way,
    },
    /// The scenario asks for what real sockets do not do here yet.
    #[error("{}", .0.reason)]
    Unsupported(#[from] Unsupported),
    /// The observer asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Two links would draw the same random numbers.
    #[error("two links are named {name:?}: rename one")]
    SameName {
        /// The name.
        name: String,
    },
    /// A queue or one of its parameters does not exist.
    #[error("the queue of link {link:?} cannot be made: {reason}")]
    Queue {
        /// The link's name.
        link: String,
        /// The reason.
        reason: String,
    },
    /// The operating system gave no socket on loopback.
    #[error(
        "no udp socket on {address}: {source}; check that loopback is up and allows this address family"
    )]
    Socket {
        /// The requested address; port 0 is any port.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The operating system gave no thread.
    #[error("the relay's thread did not start: {0}; check the limits on threads and memory")]
    Thread(io::Error),
    /// The scenario contradicts itself.
    #[error(transparent)]
    Scenario(#[from] afteryou_scenario::Error),
    /// The file to send cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: std::path::PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A flow broke down.
    #[error("flow {flow:?} failed: {reason}")]
    Flow {
        /// The flow's name.
        flow: String,
        /// The event.
        reason: String,
    },
    /// A transfer did not end within the scenario's duration.
    #[error("flow {flow:?} was not finished after {seconds:.0} s: give it more time or less to send")]
    Unfinished {
        /// The flow's name.
        flow: String,
        /// How long it was given.
        seconds: f64,
    },
    /// A scenario with more flows than there are addresses.
    #[error("more than {most} flows are too many for the testbed: use fewer, or run the scenario with `afteryou sim`")]
    TooManyFlows {
        /// The limit.
        most: usize,
    },
    /// The system gave no network namespace.
    #[error("no network namespace: {0}; run as root, or allow unprivileged user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)")]
    Namespace(io::Error),
    /// The system gave no TUN device.
    #[error("no tun device: {0}; load the module (modprobe tun) and let this user open /dev/net/tun")]
    Tun(io::Error),
    /// An interface of a namespace could not be prepared.
    #[error("the interfaces of the testbed cannot be prepared: {reason}; {}", advice())]
    Interface {
        /// The system's error.
        reason: String,
    },
    /// A setting of a namespace could not be written.
    #[error("cannot set {name} in a network namespace: {source}; {}", advice())]
    Sysctl {
        /// The setting.
        name: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel has no such congestion control, or this user may not use it.
    #[error("flow {flow:?}: the kernel gives no congestion control {name:?}: {reason}; it has {present}; use one of these")]
    Congestion {
        /// The flow.
        flow: String,
        /// The kernel's name of the congestion control.
        name: String,
        /// Those that the kernel has.
        present: String,
        /// The system's error.
        reason: io::Error,
    },
    /// The kernel does not have the rule of a flow, and it cannot be loaded.
    #[error("flow {flow:?}: the kernel's {name} is not loaded: {reason}")]
    NotLoaded {
        /// The flow.
        flow: String,
        /// The kernel's name of the rule.
        name: String,
        /// Why it cannot be loaded, and what to do.
        reason: String,
    },
    /// The wire needs real-time priority and does not get it.
    #[error("no real-time priority: {0}; run as root or grant CAP_SYS_NICE: round-trip times of 10 ms or less need it")]
    RealTime(io::Error),
    /// A packet was larger than the devices allow.
    #[error("a packet of {bytes} bytes is larger than the MTU of {mtu}: an offload is on, so delays would be wrong")]
    Oversized {
        /// The packet's size.
        bytes: usize,
        /// The limit.
        mtu: u32,
    },
    /// There is no program `tc`, or it does not start.
    #[error("the program tc cannot be started: {0}; install iproute2, by which afteryou sets the kernel's queues up")]
    Tc(io::Error),
    /// The program `tc` has refused a command.
    #[error("tc {command}: {reason}")]
    TcRefused {
        /// The command.
        command: String,
        /// The first complaint of `tc`.
        reason: String,
    },
    /// The kernel has no such queue discipline.
    #[error("link {link:?}: this kernel has no queue discipline {kind}: it has {present}; use one of these, or leave --queue-by out")]
    NoQdisc {
        /// The link.
        link: String,
        /// The kernel's name of the queue discipline.
        kind: String,
        /// Those that it has.
        present: String,
    },
    /// The kernel cannot queue for a link.
    #[error("the kernel cannot queue for link {link:?}: {reason}")]
    KernelQueue {
        /// The link.
        link: String,
        /// The reason.
        reason: String,
    },
    /// The links lost count of bytes.
    #[error(transparent)]
    Links(#[from] afteryou_sim::Error),
    /// The relay's thread ended by a panic.
    #[error("the relay stopped by itself, which is a bug: please report it with the message printed above")]
    Crashed,
}

/// Returns the advice where the system refuses what root may do: root itself lacks a part of the kernel or of its capabilities.
fn advice() -> &'static str {
    #[cfg(target_os = "linux")]
    let is_root = nix::unistd::geteuid().is_root();
    // Elsewhere there is no testbed.
    #[cfg(not(target_os = "linux"))]
    let is_root = false;
    match is_root {
        true => "root may not do that here, as in a container without CAP_NET_ADMIN, or this kernel lacks it: see afteryou doctor",
        false => "run as root",
    }
}
