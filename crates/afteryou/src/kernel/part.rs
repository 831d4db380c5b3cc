//! The subcommands, in a build that has the kernel part.

use super::report::{self, Report};
use super::{KernelCommand, LoadArgs, StatusArgs};
use afteryou_kernel::{pinned, sockets, Error, NAMES};
use afteryou_terminal::{output, Failure};

/// Runs a subcommand.
pub fn run_command(command: &KernelCommand) -> Result<(), Failure> {
    match command {
        KernelCommand::Load(args) => load(args),
        KernelCommand::Status(args) => status(args),
        KernelCommand::Unload => unload(),
    }
}

fn load(args: &LoadArgs) -> Result<(), Failure> {
    pinned::load(args.allow_users)?;
    let chosen_by = if args.allow_users { "every user" } else { "root and CAP_NET_ADMIN" };
    output::print(&format!("loaded for {chosen_by}: {}\n", NAMES.join(" ")))
}

fn status(args: &StatusArgs) -> Result<(), Failure> {
    let report = Report::of_this_machine()?;
    output::print(&match args.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => report::text(&report),
    })
}

fn unload() -> Result<(), Failure> {
    pinned::unload()?;
    let all = sockets::connections(&[]).map_err(|error| Error::listing("connections", error))?;
    let kept = all.iter().filter(|connection| NAMES.contains(&connection.controller.as_str())).count();
    output::print(&match kept {
        0 => "unloaded\n".to_owned(),
        1 => "unloaded; 1 connection keeps its controller to its end\n".to_owned(),
        kept => format!("unloaded; {kept} connections keep their controllers to their end\n"),
    })
}
