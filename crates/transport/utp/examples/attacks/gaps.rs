//! Peers that leave out the first packet and send 8 MiB beyond it.

use crate::attacker::{address, cpu_time, encode, Attacker};
use crate::target::{Failure, Target, Verdict};
use afteryou_utp::packet::Kind;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

const PEERS: u32 = 300;
const BEYOND: usize = 8 << 20;
const PAYLOAD: usize = 1400;
/// Datagrams of one call.
const TRAIN: usize = 40;
const HONEST: u8 = 10;
const WITHIN: Duration = Duration::from_secs(1);

pub async fn run() -> Result<Verdict, Failure> {
    let target = Target::start()?;
    let to = target.address;
    let attack = thread::spawn(move || {
        let mut attacker = Attacker::new(to)?;
        let connected = attacker.connect((0..PEERS).map(address));
        connected.iter().for_each(|(from, next)| leave_gap(&attacker, *from, *next));
        Ok::<_, Failure>((connected.len(), cpu_time()))
    });
    // Some are served while the gaps fill, and as many after.
    let mut served = Vec::new();
    let mut of = 0;
    while !attack.is_finished() || of == 0 {
        served.extend(target.serve_honest(HONEST, WITHIN).await);
        of += HONEST;
        tokio::time::sleep(Duration::from_millis(500)).await;
        if of >= 200 {
            break;
        }
    }
    let Ok(attack) = attack.join() else { return Err("the attacker's thread has failed".into()) };
    let (connected, cpu) = attack?;
    served.extend(target.serve_honest(HONEST, WITHIN).await);
    of += HONEST;
    let attack = format!(
        "{connected} peers sent 8 MiB beyond a gap each; the attacker took {:.2} s of CPU time",
        cpu.as_secs_f64()
    );
    Ok(target.verdict(&served, of, WITHIN, attack, connected == PEERS as usize))
}

fn leave_gap(attacker: &Attacker, from: Ipv4Addr, next: u16) {
    let payload = [7; PAYLOAD];
    let mut packets = (0..BEYOND / PAYLOAD)
        .map(|i| encode(Kind::Data, 2, 3u16.wrapping_add(i as u16), next.wrapping_sub(1), &payload));
    loop {
        let train: Vec<u8> = packets.by_ref().take(TRAIN).flatten().collect();
        if train.is_empty() {
            return;
        }
        attacker.send(from, &train, PAYLOAD + 20);
    }
}
