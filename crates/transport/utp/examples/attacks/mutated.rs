//! A million packets with a few bytes changed, under the ids of connections that exist and of others.

use crate::attacker::{address, cpu_time, encode, Attacker};
use crate::target::{Failure, Target, Verdict};
use afteryou_utp::packet::Kind;
use rand_core::Rng;
use rand_pcg::Pcg64Mcg;
use std::thread;
use std::time::Duration;

const PACKETS: u32 = 1_000_000;
const PEERS: u32 = 100;
const HONEST: u8 = 10;
const WITHIN: Duration = Duration::from_secs(1);
const KINDS: [Kind; 5] = [Kind::Data, Kind::State, Kind::Fin, Kind::Syn, Kind::Reset];

pub async fn run() -> Result<Verdict, Failure> {
    let target = Target::start()?;
    let to = target.address;
    let attack = thread::spawn(move || {
        let mut attacker = Attacker::new(to)?;
        let connected = attacker.connect((0..PEERS).map(address));
        let mut random = Pcg64Mcg::new(1);
        for i in 0..PACKETS {
            let (from, next) = connected[i as usize % connected.len().max(1)];
            attacker.send(from, &mutated(&mut random, next), usize::MAX);
        }
        Ok::<_, Failure>((connected.len(), cpu_time()))
    });
    let (mut served, mut of) = (Vec::new(), 0);
    while of == 0 || (!attack.is_finished() && of < 200) {
        served.extend(target.serve_honest(HONEST, WITHIN).await);
        of += HONEST;
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let Ok(attack) = attack.join() else { return Err("the attacker's thread has failed".into()) };
    let (connected, cpu) = attack?;
    served.extend(target.serve_honest(HONEST, WITHIN).await);
    of += HONEST;
    let attack = format!(
        "{PACKETS} changed packets of {connected} connections; the attacker took {:.2} s of CPU time",
        cpu.as_secs_f64()
    );
    Ok(target.verdict(&served, of, WITHIN, attack, connected == PEERS as usize))
}

/// Returns a packet near what the target expects, with up to three bytes of its head changed and sometimes cut.
fn mutated(random: &mut Pcg64Mcg, next: u16) -> Vec<u8> {
    let mut below = |n: u32| random.next_u32() % n;
    let kind = KINDS[below(5) as usize];
    let payload = vec![below(256) as u8; below(1400) as usize];
    let ahead = below(40) as u16;
    let mut packet = encode(kind, 2, 2 + ahead, next.wrapping_sub(1), &payload);
    let head = packet.len().min(40) as u32;
    for _ in 0..below(4) {
        packet[below(head) as usize] = below(256) as u8;
    }
    if below(10) == 0 {
        packet.truncate(below(head + 1) as usize);
    }
    packet
}
