//! Where the two processes of a transfer are: on loopback, or in two network namespaces with a veth pair between them.

use super::work::HERE;
use std::process::Command;

/// The addresses of the two ends of the pair.
const ADDRESSES: [&str; 2] = ["192.0.2.1", "192.0.2.2"];

/// A path between two processes.
pub enum Path {
    Loopback,
    Veth(Namespaces),
}

/// The two ends of a transfer.
#[derive(Clone, Copy)]
pub enum End {
    Receiver,
    Sender,
}

impl Path {
    pub fn name(&self) -> &'static str {
        match self {
            Path::Loopback => "loopback",
            Path::Veth(_) => "veth",
        }
    }

    /// Returns a command that runs `program` at that end.
    pub fn command(&self, end: End, program: &std::path::Path) -> Command {
        let Path::Veth(namespaces) = self else { return Command::new(program) };
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &namespaces.name(end)]).arg(program);
        command.env(HERE, ADDRESSES[end as usize]);
        command
    }
}

/// Two namespaces, which end with this.
pub struct Namespaces(u32);

impl Namespaces {
    /// Makes them, and the pair between them.
    pub fn new() -> anyhow::Result<Namespaces> {
        let namespaces = Namespaces(std::process::id());
        let [receiver, sender] = [End::Receiver, End::Sender].map(|end| namespaces.name(end));
        ip(&format!("netns add {receiver}"))?;
        ip(&format!("netns add {sender}"))?;
        ip(&format!("-n {receiver} link add veth0 type veth peer name veth0 netns {sender}"))?;
        for (name, address) in [(receiver, ADDRESSES[0]), (sender, ADDRESSES[1])] {
            ip(&format!("-n {name} address add {address}/24 dev veth0"))?;
            ip(&format!("-n {name} link set veth0 up"))?;
        }
        Ok(namespaces)
    }

    fn name(&self, end: End) -> String {
        format!("peers-{}-{}", self.0, end as usize)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        // One that was not made cannot be deleted, and the pair goes with them.
        _ = ip(&format!("netns delete {}", self.name(End::Receiver)));
        _ = ip(&format!("netns delete {}", self.name(End::Sender)));
    }
}

/// Runs `ip`.
fn ip(arguments: &str) -> anyhow::Result<()> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| anyhow::anyhow!("ip {arguments}: {error}; install iproute2"))?;
    let reason = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "ip {arguments}: {}; run as root", reason.trim());
    Ok(())
}
