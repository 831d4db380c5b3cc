//! Peers that connect, each from an address of its own, send a few bytes or none, and then nothing more.

use crate::attacker::{address, cpu_time, encode, Attacker};
use crate::target::{Failure, Target, Verdict};
use afteryou_utp::packet::Kind;
use std::time::Duration;

const SILENT: u32 = 3000;
const HONEST: u8 = 10;

/// Runs the attack; `bytes` are what each peer sends once it is connected. The honest peers are served `within` this time: a
/// connection that has just moved data keeps its place for a second, and a newcomer repeats its first packet until one is
/// free.
pub async fn run(bytes: usize, within: Duration) -> Result<Verdict, Failure> {
    let target = Target::start()?;
    let to = target.address;
    let connected = tokio::task::spawn_blocking(move || {
        let mut attacker = Attacker::new(to)?;
        let connected = attacker.connect((0..SILENT).map(address));
        if bytes > 0 {
            for (from, next) in &connected {
                let said = encode(Kind::Data, 2, 2, next.wrapping_sub(1), &vec![1; bytes]);
                attacker.send(*from, &said, usize::MAX);
            }
        }
        Ok::<_, Failure>((connected.len(), cpu_time()))
    });
    let (connected, cpu) = connected.await??;
    let held = target.statistics().connections;
    let served = target.serve_honest(HONEST, within).await;
    let attack = format!(
        "{connected} peers have connected, sent {bytes} bytes each and are silent; they hold {held} places; the attacker took {:.2} s of CPU time",
        cpu.as_secs_f64()
    );
    Ok(target.verdict(&served, HONEST, within, attack, connected == SILENT as usize))
}
