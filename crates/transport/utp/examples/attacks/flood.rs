//! SYNs as fast as asked for, from one address or from as many as there are.

use crate::attacker::{cpu_time, encode, Attacker};
use crate::run::Options;
use crate::target::{Failure, Target, Verdict};
use afteryou_sockets::MOST_SEGMENTS;
use afteryou_utp::packet::{Kind, HEADER_LEN};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

/// Honest peers, and the time for all of them.
const HONEST: u8 = 30;
const WITHIN: Duration = Duration::from_secs(10);
/// SYNs from one of the random addresses: one core could not send enough of them one by one.
const OF_ONE_ADDRESS: u64 = 4;
/// Head start of the flood: it takes all half-open places.
const BEFORE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy)]
pub enum From {
    OneAddress,
    RandomAddresses,
}

/// Counters of the attacker's thread.
struct Flood {
    sent: u64,
    took: Duration,
    cpu: Duration,
}

pub async fn run(options: &Options, from: From) -> Result<Verdict, Failure> {
    let target = Target::start()?;
    let (to, rate, lasts) = (target.address, options.rate, BEFORE + options.flood);
    let flood = thread::spawn(move || flood(to, rate, lasts, from));
    tokio::time::sleep(BEFORE).await;
    let served = target.serve_honest(HONEST, WITHIN).await;
    let Ok(flood) = flood.join() else { return Err("the attacker's thread has failed".into()) };
    let Flood { sent, took, cpu } = flood?;
    let a_second = sent as f64 / took.as_secs_f64();
    let attack = format!(
        "{sent} SYNs in {:.1} s, {a_second:.0} a second; the attacker took {:.2} of a core",
        took.as_secs_f64(),
        cpu.as_secs_f64() / took.as_secs_f64()
    );
    // A machine that cannot send at this rate has not shown anything.
    let attacked = a_second >= 0.95 * rate as f64;
    Ok(target.verdict(&served, HONEST, WITHIN, attack, attacked))
}

fn flood(to: SocketAddr, rate: u64, lasts: Duration, from: From) -> Result<Flood, Failure> {
    let attacker = Attacker::new(to)?;
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let mut sent = 0;
    while began.elapsed() < lasts {
        let due = began.elapsed().as_micros() as u64 * rate / 1_000_000;
        if sent >= due {
            thread::sleep(Duration::from_micros(500));
        }
        while sent < due {
            sent += match from {
                From::OneAddress => send(&attacker, Ipv4Addr::new(127, 16, 0, 1), sent, MOST_SEGMENTS as u64),
                From::RandomAddresses => send(&attacker, random_address(sent), sent, OF_ONE_ADDRESS),
            };
        }
    }
    Ok(Flood { sent, took: began.elapsed(), cpu: cpu_time().saturating_sub(cpu_before) })
}

/// Sends SYNs of several connections from one address, in one call of the system.
fn send(attacker: &Attacker, from: Ipv4Addr, sent: u64, count: u64) -> u64 {
    let syns: Vec<u8> = (0..count).flat_map(|i| syn(sent + i)).collect();
    attacker.send(from, &syns, HEADER_LEN);
    count
}

fn random_address(sent: u64) -> Ipv4Addr {
    // A multiplier that is coprime to 2^32 passes through all addresses in an order without a pattern.
    let host = ((sent / OF_ONE_ADDRESS) as u32).wrapping_mul(2_654_435_761) >> 8;
    Ipv4Addr::from(0x7F00_0000 | host)
}

/// Returns the `i`-th SYN.
fn syn(i: u64) -> Vec<u8> {
    encode(Kind::Syn, (i * 2) as u16, 1, 0, &[])
}
