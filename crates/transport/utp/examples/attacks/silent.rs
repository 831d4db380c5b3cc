//! Peers that connect, each from an address of its own, and say nothing.

use crate::attacker::{address, cpu_time, Attacker};
use crate::target::{Failure, Target, Verdict};
use std::time::Duration;

const SILENT: u32 = 3000;
const HONEST: u8 = 10;
const WITHIN: Duration = Duration::from_secs(1);

pub async fn run() -> Result<Verdict, Failure> {
    let target = Target::start()?;
    let to = target.address;
    let connected = tokio::task::spawn_blocking(move || {
        let connected = Attacker::new(to)?.connect((0..SILENT).map(address)).len();
        Ok::<_, Failure>((connected, cpu_time()))
    });
    let (connected, cpu) = connected.await??;
    let served = target.serve_honest(HONEST, WITHIN).await;
    let attack = format!(
        "{connected} peers have connected and are silent; the attacker took {:.2} s of CPU time",
        cpu.as_secs_f64()
    );
    Ok(target.verdict(&served, HONEST, WITHIN, attack, connected == SILENT as usize))
}
