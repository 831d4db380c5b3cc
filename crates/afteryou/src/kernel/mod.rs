//! `afteryou kernel`: the background controllers in the kernel of this machine, for every program's TCP.

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod part;
#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod report;

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
use part::run_command;

use afteryou_terminal::Failure;
use clap::{Args, Subcommand};

/// Whether this build can load controllers into a kernel.
pub const IS_IN_THIS_BUILD: bool =
    cfg!(all(feature = "kernel", target_os = "linux", target_endian = "little"));

/// How to get a build with the kernel part.
pub const HOW_TO_BUILD: &str = "on Linux, build one with: cargo build --release --features kernel";

/// Arguments of `afteryou kernel`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct KernelArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: KernelCommand,
}

/// The subcommands of `afteryou kernel`.
#[derive(Clone, Debug, Subcommand)]
pub enum KernelCommand {
    /// Load the controllers, which stay after this command until they are unloaded or the machine restarts.
    Load(LoadArgs),
    /// Show loaded controllers, the connections that use them, and what else chooses controllers.
    Status(StatusArgs),
    /// Unload the controllers; connections that use one keep it to their end.
    Unload,
}

/// Arguments of `afteryou kernel load`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_LOAD)]
pub struct LoadArgs {
    /// Let users without privileges choose the controllers, too
    #[arg(long)]
    pub allow_users: bool,
}

/// Arguments of `afteryou kernel status`.
#[derive(Args, Clone, Debug)]
pub struct StatusArgs {
    /// Print a JSON object
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
Examples:
  sudo afteryou kernel load
  sudo ip route change default via 192.0.2.1 congctl afteryou   all that leaves by this route
  sudo afteryou kernel status
  sudo afteryou kernel unload

The controllers are afteryou (ebb), ay_ledbatpp (LEDBAT++), ay_ledbat and ay_fledbat. A program chooses one for a socket by
TCP_CONGESTION. Loading changes no connection by itself. It requires Linux 6.10 or newer with BTF, and root or CAP_BPF,
CAP_PERFMON and CAP_NET_ADMIN.";

const AFTER_LOAD: &str = "\
The pins are in /sys/fs/bpf/afteryou, which only root may enter. bpffs is mounted there if it is not.

Without --allow-users a socket needs CAP_NET_ADMIN to choose one of the controllers. --allow-users adds their names to
net.ipv4.tcp_allowed_congestion_control; unloading takes them out again.";

/// Runs a subcommand.
///
/// # Errors
/// A build without the kernel part, and what the kernel refuses.
pub fn run(args: &KernelArgs) -> Result<(), Failure> {
    run_command(&args.command)
}

#[cfg(not(all(feature = "kernel", target_os = "linux", target_endian = "little")))]
fn run_command(_: &KernelCommand) -> Result<(), Failure> {
    Err(Failure::from(anyhow::anyhow!("this build has no kernel part; {HOW_TO_BUILD}")))
}
