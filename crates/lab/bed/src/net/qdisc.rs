//! A link's queue in the words of `tc`: the kernel's queue discipline of the same kind, with the same parameters.
//!
//! | scenario | kernel | parameters |
//! |---|---|---|
//! | droptail | pfifo, bfifo | the buffer, in packets or in bytes |
//! | codel | codel | target, interval, ecn |
//! | fq_codel | fq_codel | flows, quantum, target, interval, ecn, drop_batch |
//! | pie | pie | target, tupdate, alpha, beta, ecn |
//! | fq_pie | fq_pie | flows, quantum, target, tupdate, alpha, beta, ecn |
//! | red | red | min_th, max_th, max_p, mean_packet, ecn |
//! | choke | choke | the same |
//! | sfq | sfq | divisor, flows, depth, quantum, head_drop, perturb |
//! | cake with `unlimited=true` | cake unlimited | tins, isolation, rtt |
//!
//! Everything else of a discipline is the kernel's own. A parameter that a scenario sets and the kernel does not have is refused.
//!
//! # Not implemented
//! `drr`, which Linux has only with a class for each flow, `dualpi2`, which is newer than the tc that was tried, and our own
//! queues for lower effort. CAKE's own shaper: the kernel's link is shaped by htb already, so CAKE does not know the rate. It has its own
//! limit in bytes instead of the buffer.

use afteryou_aqm::pie::params as pie;
use afteryou_aqm::red::setup as red;
use afteryou_aqm::{codel, fq_codel, sfq};
use afteryou_base::param::{Key, Settings, Value};
use afteryou_base::Span;
use afteryou_scenario::{discipline, Buffer, Link};

/// Size of a packet, where a buffer in bytes or in time becomes one in packets, bytes.
const PACKET: u64 = 1500;
/// Presets that are not the kernel's: those of other systems, older kernels and documents.
const FOREIGN: [&str; 6] = ["adaptive", "freebsd", "gentle", "linux-3.17", "ns2", "rfc8290"];
/// The kernel's gains of PIE are multiples of this part, Hz.
const GAIN: f64 = 1.0 / 16.0;

/// A queue discipline and its parameters: `["pfifo", "limit", "100"]`.
pub type Words = Vec<String>;

/// The kernel's disciplines that a queue of a scenario is translated to, each with the parameters without which tc refuses it.
pub const KINDS: [(&str, &[&str]); 10] = [
    ("pfifo", &[]),
    ("bfifo", &[]),
    ("codel", &[]),
    ("fq_codel", &[]),
    ("pie", &[]),
    ("fq_pie", &[]),
    ("red", &["limit", "100000", "avpkt", "1000"]),
    ("choke", &["limit", "100", "bandwidth", "1000"]),
    ("sfq", &[]),
    ("cake", &[]),
];

/// Translates the queue of a link.
///
/// # Errors
/// One clause about what Linux has no queue or no parameter for.
pub fn words_of(link: &Link) -> Result<Words, String> {
    let (entry, overrides) = discipline(&link.queue).map_err(|error| error.to_string())?;
    if entry.name == "cake" && !overrides.contains(&("unlimited", Value::Flag(true))) {
        return Err(
            "htb shapes the link, and Linux' cake would, too: set unlimited=true, or use another queue"
                .to_owned(),
        );
    }
    let translated = translated(entry.name).ok_or_else(|| untranslated(entry.name))?;
    for (name, value) in &overrides {
        let what = match value {
            Value::Choice(preset) if *name == "preset" && !FOREIGN.contains(preset) => continue,
            Value::Choice(preset) if *name == "preset" => format!("preset {preset}"),
            _ if translated.contains(name) => continue,
            _ => format!("parameter {name}"),
        };
        return Err(format!("Linux' {} has no {what}: leave it out, or the option --queue-by", entry.name));
    }
    let settings = Settings::new(entry.params, &overrides).map_err(|error| error.to_string())?;
    let settings = settings.with_preset(entry.presets);
    let words = match entry.name {
        "droptail" => fifo(link),
        "codel" => words(&["codel", "limit", &packets(link)], &[], &delays(&settings, &codel::INTERVAL)),
        "fq_codel" => {
            let batch = settings.get(&fq_codel::DROP_BATCH).to_string();
            let head = ["fq_codel", "limit", &packets(link), "drop_batch", &batch];
            words(&head, &flows(&settings), &delays(&settings, &codel::INTERVAL))
        }
        "pie" => {
            words(&["pie", "limit", &packets(link)], &gains(&settings)?, &delays(&settings, &pie::TUPDATE))
        }
        "fq_pie" => {
            let middle = [flows(&settings), gains(&settings)?].concat();
            words(&["fq_pie", "limit", &packets(link)], &middle, &delays(&settings, &pie::TUPDATE))
        }
        "red" => red(link, &settings)?,
        "choke" => choke(link, &settings)?,
        "cake" => cake(&overrides),
        _ => sfq(link, &settings),
    };
    Ok(words)
}

const CODEL: &[&str] = &[codel::TARGET.name(), codel::INTERVAL.name(), codel::ECN.name()];
const FQ_CODEL: &[&str] = &[
    fq_codel::FLOWS.name(),
    fq_codel::QUANTUM.name(),
    codel::TARGET.name(),
    codel::INTERVAL.name(),
    fq_codel::ECN.name(),
    fq_codel::DROP_BATCH.name(),
];
const PIE: &[&str] =
    &[pie::TARGET.name(), pie::TUPDATE.name(), pie::ALPHA.name(), pie::BETA.name(), pie::ECN.name()];
const FQ_PIE: &[&str] = &[
    fq_codel::FLOWS.name(),
    fq_codel::QUANTUM.name(),
    pie::TARGET.name(),
    pie::TUPDATE.name(),
    pie::ALPHA.name(),
    pie::BETA.name(),
    pie::ECN.name(),
];
const RED: &[&str] =
    &[red::MIN_TH.name(), red::MAX_TH.name(), red::MAX_P.name(), red::MEAN_PACKET.name(), red::ECN.name()];
const SFQ: &[&str] = &[
    sfq::DIVISOR.name(),
    sfq::FLOWS.name(),
    sfq::DEPTH.name(),
    sfq::QUANTUM.name(),
    sfq::HEAD_DROP.name(),
    sfq::PERTURB.name(),
];
const CAKE: &[&str] = &["unlimited", "tins", "isolation", "rtt"];

/// Returns the parameters of a discipline that the kernel has, too; `None` of a discipline that it does not have.
fn translated(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "droptail" => &[],
        "codel" => CODEL,
        "fq_codel" => FQ_CODEL,
        "pie" => PIE,
        "fq_pie" => FQ_PIE,
        "red" | "choke" => RED,
        "sfq" => SFQ,
        "cake" => CAKE,
        _ => return None,
    })
}

/// Returns why a discipline has no words.
fn untranslated(kind: &str) -> String {
    format!(
        "Linux has no queue for {kind}: use droptail, codel, fq_codel, pie, fq_pie, red, choke, sfq or cake"
    )
}

fn words(head: &[&str], middle: &[String], tail: &[String]) -> Words {
    head.iter()
        .map(|word| (*word).to_owned())
        .chain(middle.iter().cloned())
        .chain(tail.iter().cloned())
        .collect()
}

fn pair(name: &str, value: impl ToString) -> [String; 2] {
    [name.to_owned(), value.to_string()]
}

fn micros(span: Span) -> String {
    format!("{}us", span.as_nanos() / 1000)
}

/// Returns CAKE's words, which are those of its parameters.
fn cake(overrides: &[(&'static str, Value)]) -> Words {
    let said = overrides.iter().flat_map(|(name, value)| match value {
        Value::Choice(word) => vec![(*word).to_owned()],
        Value::Time(span) => pair(name, micros(*span)).to_vec(),
        // That it is unlimited.
        _ => vec![(*name).to_owned()],
    });
    ["cake".to_owned()].into_iter().chain(said).collect()
}

/// Returns the buffer in packets.
fn packets(link: &Link) -> String {
    match link.buffer {
        Buffer::Packets(packets) => packets.to_string(),
        _ => bytes(link).div_ceil(PACKET).to_string(),
    }
}

/// Returns the buffer in bytes.
fn bytes(link: &Link) -> u64 {
    match link.buffer {
        Buffer::Packets(packets) => packets * PACKET,
        _ => link.buffer.limit(link.rate).in_bytes().unwrap_or_default(),
    }
}

fn fifo(link: &Link) -> Words {
    match link.buffer {
        Buffer::Packets(packets) => words(&["pfifo"], &pair("limit", packets), &[]),
        _ => words(&["bfifo"], &pair("limit", bytes(link)), &[]),
    }
}

/// Returns the target, a second time, and the treatment of packets that understand ECN.
fn delays(settings: &Settings<'_>, second: &Key<Span>) -> Vec<String> {
    let time = |key: &Key<Span>| pair(key.name(), micros(settings.get(key)));
    let ecn = if settings.get(&codel::ECN) { "ecn" } else { "noecn" };
    [time(&codel::TARGET), time(second)].into_iter().flatten().chain([ecn.to_owned()]).collect()
}

fn flows(settings: &Settings<'_>) -> Vec<String> {
    [pair("flows", settings.get(&fq_codel::FLOWS)), pair("quantum", settings.get(&fq_codel::QUANTUM))]
        .concat()
}

fn gains(settings: &Settings<'_>) -> Result<Vec<String>, String> {
    let gain = |key: &Key<f64>| {
        let (name, steps) = (key.name(), settings.get(key) / GAIN);
        match (steps - steps.round()).abs() < 1e-9 && (0.0..=32.0).contains(&steps) {
            true => Ok(pair(name, steps.round())),
            false => {
                Err(format!("Linux' PIE takes {name} in steps of {GAIN} Hz from 0 to 2: use such a value"))
            }
        }
    };
    Ok([gain(&pie::ALPHA)?, gain(&pie::BETA)?].concat())
}

/// Returns the thresholds in packets.
fn thresholds(settings: &Settings<'_>) -> Result<(f64, f64), String> {
    match (settings.get(&red::MIN_TH), settings.get(&red::MAX_TH)) {
        (0.0, _) | (_, 0.0) => {
            Err("Linux' RED has no automatic thresholds: set min_th and max_th".to_owned())
        }
        both => Ok(both),
    }
}

/// Returns the burst of tc's RED: (2·min + max)/3, in packets, as its page advises.
fn burst((min, max): (f64, f64)) -> u64 {
    ((2.0 * min + max) / 3.0).ceil() as u64
}

fn red(link: &Link, settings: &Settings<'_>) -> Result<Words, String> {
    let (min, max) = thresholds(settings)?;
    let mean = settings.get(&red::MEAN_PACKET);
    let of_packets = |packets: f64| (packets * mean as f64).round() as u64;
    let parameters = [
        pair("limit", bytes(link)),
        pair("min", of_packets(min)),
        pair("max", of_packets(max)),
        pair("avpkt", mean),
        pair("burst", burst((min, max))),
        pair("probability", settings.get(&red::MAX_P)),
        pair("bandwidth", format!("{}bit", link.rate.bits_per_second())),
    ];
    Ok(words(&["red"], &parameters.concat(), &marks(settings)))
}

fn choke(link: &Link, settings: &Settings<'_>) -> Result<Words, String> {
    let (min, max) = thresholds(settings)?;
    let parameters = [
        pair("limit", packets(link)),
        pair("bandwidth", format!("{}bit", link.rate.bits_per_second())),
        pair("min", min.round()),
        pair("max", max.round()),
        pair("burst", burst((min, max))),
        pair("probability", settings.get(&red::MAX_P)),
    ];
    Ok(words(&["choke"], &parameters.concat(), &marks(settings)))
}

fn marks(settings: &Settings<'_>) -> Vec<String> {
    if settings.get(&red::ECN) {
        vec!["ecn".to_owned()]
    } else {
        Vec::new()
    }
}

fn sfq(link: &Link, settings: &Settings<'_>) -> Words {
    let parameters = [
        pair("limit", packets(link)),
        pair("divisor", settings.get(&sfq::DIVISOR)),
        pair("flows", settings.get(&sfq::FLOWS)),
        pair("depth", settings.get(&sfq::DEPTH)),
        pair("quantum", settings.get(&sfq::QUANTUM)),
        pair("perturb", settings.get(&sfq::PERTURB).as_nanos() / 1_000_000_000),
    ];
    let from_head = if settings.get(&sfq::HEAD_DROP) { vec!["headdrop".to_owned()] } else { Vec::new() };
    words(&["sfq"], &parameters.concat(), &from_head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(queue: &str, buffer: &str) -> Result<String, String> {
        let mut link = Link::new("10 Mbit/s".parse().unwrap(), buffer.parse().unwrap());
        link.queue = queue.parse().unwrap();
        words_of(&link).map(|words| words.join(" "))
    }

    #[test]
    fn every_queue_that_the_kernel_has_is_translated_with_its_parameters() {
        for (queue, buffer, words) in [
            ("droptail", "100 packets", "pfifo limit 100"),
            ("droptail", "200 ms", "bfifo limit 250000"),
            ("droptail", "64 KiB", "bfifo limit 65536"),
            ("codel,target=20 ms,ecn=true", "1000 packets", "codel limit 1000 target 20000us interval 100000us ecn"),
            (
                "fq_codel,preset=linux,ecn=false",
                "10240 packets",
                "fq_codel limit 10240 drop_batch 64 flows 1024 quantum 1500 target 5000us interval 100000us noecn",
            ),
            (
                "pie,preset=linux",
                "200 ms",
                "pie limit 167 alpha 2 beta 20 target 15000us tupdate 15000us noecn",
            ),
            (
                "fq_pie,flows=64",
                "1000 packets",
                "fq_pie limit 1000 flows 64 quantum 1500 alpha 2 beta 20 target 15000us tupdate 15000us noecn",
            ),
            (
                "red,preset=linux",
                "400 packets",
                "red limit 600000 min 30000 max 90000 avpkt 1000 burst 50 probability 0.1 bandwidth 10000000bit",
            ),
            (
                "sfq,perturb=10 s,head_drop=true",
                "127 packets",
                "sfq limit 127 divisor 1024 flows 127 depth 127 quantum 1514 perturb 10 headdrop",
            ),
            (
                "cake,unlimited=true,tins=besteffort,isolation=flows,rtt=50 ms",
                "1000 packets",
                "cake flows rtt 50000us besteffort unlimited",
            ),
        ] {
            assert_eq!(translated(queue, buffer).as_deref(), Ok(words), "{queue}");
        }
    }

    #[test]
    fn what_the_kernel_does_not_have_is_refused_in_one_clause() {
        for (queue, clause) in [
            ("drr", "Linux has no queue for drr: use droptail"),
            ("le_pie", "Linux has no queue for le_pie: use droptail"),
            ("cake", "htb shapes the link, and Linux' cake would, too: set unlimited=true"),
            ("cake,bandwidth=8", "htb shapes the link, and Linux' cake would, too: set unlimited=true"),
            ("pie,burst=10 ms", "Linux' pie has no parameter burst"),
            ("pie,preset=freebsd", "Linux' pie has no preset freebsd"),
            ("pie,alpha=0.13", "Linux' PIE takes alpha in steps of 0.0625 Hz"),
            ("red", "Linux' RED has no automatic thresholds"),
        ] {
            let refused = translated(queue, "1000 packets").unwrap_err();
            assert!(refused.starts_with(clause), "{refused}");
        }
    }
}
