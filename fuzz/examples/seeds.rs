//! Writes the seeds of the corpus, each under a descriptive name: `cargo run -p afteryou-fuzz --example seeds`.

use afteryou_base::Time;
use afteryou_cc::list;
use afteryou_fuzz::bodies::connection::{Start, STARTS};
use afteryou_scenario::outcome::{Outcome, Run};
use afteryou_scenario::{Algorithm, Buffer, Duration, Flow, Link, Rate, Role, Scenario, Transport};
use afteryou_transfer::codec;
use afteryou_transfer::entry::{Entry, EntryPath, Kind as EntryKind, Mtime, Wanted};
use afteryou_transfer::extras::{Account, Extras, Keep, Naming, Owner, Xattr};
use afteryou_transfer::wire::{
    Answer, Change, ControllerState, Extent, FromSink, FromSource, Glance, Greeting, How, LeftOut, Removal,
    Why, Wishes,
};
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::sack::Sack;
use afteryou_utp::{Config, Connection, ConnectionId, Micros, SeqNr};
use std::{fs, io};

const KINDS: [(Kind, &str); 5] = [
    (Kind::Data, "data"),
    (Kind::Fin, "fin"),
    (Kind::State, "state"),
    (Kind::Reset, "reset"),
    (Kind::Syn, "syn"),
];

fn main() -> io::Result<()> {
    packets()?;
    handshake()?;
    connections()?;
    ebbs()?;
    transfer_control()?;
    quantities()
}

fn save(target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let directory = format!("{}/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    fs::create_dir_all(&directory)?;
    fs::write(format!("{directory}/{name}"), bytes)
}

fn packet(kind: Kind, sack: Option<&[u8]>, payload: &[u8]) -> Vec<u8> {
    let header = Header {
        kind,
        connection_id: ConnectionId(0x1234),
        timestamp: Micros(0x0102_0304),
        timestamp_difference: Micros(20_000),
        wnd_size: 1 << 20,
        seq_nr: SeqNr(65_535),
        ack_nr: SeqNr(100),
    };
    let mut bytes = Vec::new();
    Packet { header, sack: sack.map(Sack::new), marks: None, payload }.encode(&mut bytes);
    bytes
}

fn packets() -> io::Result<()> {
    for (kind, name) in KINDS {
        save("packet", &format!("{name}-bare"), &packet(kind, None, &[]))?;
        save("packet", &format!("{name}-with-payload"), &packet(kind, None, b"payload"))?;
    }
    for len in [0, 1, 3, 4, 8, 12, 248, 252, 255] {
        let mask: Vec<u8> = (0..len).map(|i| (i * 37) as u8).collect();
        save("packet", &format!("sack-of-{len}"), &packet(Kind::State, Some(&mask), &[]))?;
    }
    save("packet", "sack-of-ones", &packet(Kind::State, Some(&[0xFF; 252]), &[]))?;
    let with_extensions = |first: u8, chain: &[u8]| {
        let mut bytes = packet(Kind::State, None, chain);
        bytes[1] = first;
        bytes
    };
    save("packet", "extension-bits", &with_extensions(2, &[0, 8, 0, 0, 0, 0, 0, 0, 0, 0]))?;
    save("packet", "extension-unknown-then-sack", &with_extensions(9, &[1, 1, 0xFF, 0, 4, 7, 0, 0, 0]))?;
    save("packet", "extension-two-sacks", &with_extensions(1, &[1, 4, 1, 0, 0, 0, 0, 4, 2, 0, 0, 0]))?;
    save("packet", "extension-overruns", &with_extensions(1, &[0, 200, 1, 2, 3]))?;
    save("packet", "extension-without-length", &with_extensions(1, &[0]))?;
    save("packet", "extension-chain-of-empty-ones", &with_extensions(3, &[3, 0].repeat(50)))?;
    let mut bytes = packet(Kind::Data, None, &[]);
    save("packet", "short-by-one", &bytes[..19])?;
    save("packet", "empty", &[])?;
    bytes[0] = 0x02;
    save("packet", "version-2", &bytes)?;
    bytes[0] = 0x51;
    save("packet", "type-5", &bytes)
}

/// Writes the datagrams of a short conversation as they are sent.
fn handshake() -> io::Result<()> {
    let build = || {
        list::find("ledbat++")
            .expect("listed")
            .build(&[], afteryou_cc::Setup::of(1352))
            .expect("defaults are valid")
    };
    let now = Time::from_millis(1);
    let mut client = Connection::connect(Config::default(), build(), now, ConnectionId(7), SeqNr(100));
    let mut step = 0;
    let mut taken = |connection: &mut Connection, who: &str| -> io::Result<Vec<Vec<u8>>> {
        let mut all = Vec::new();
        loop {
            let mut datagram = Vec::new();
            if !connection.poll_transmit(now, &mut datagram) {
                return Ok(all);
            }
            step += 1;
            save("packet", &format!("conversation-{step:02}-{who}"), &datagram)?;
            all.push(datagram);
        }
    };
    let syn = taken(&mut client, "opener")?.remove(0);
    let syn = Packet::decode(&syn).expect("well-formed");
    let mut server = Connection::accept(Config::default(), build(), now, &syn, SeqNr(5000));
    client.write(b"question").expect("open");
    client.finish();
    server.write(b"answer").expect("open");
    server.finish();
    for _ in 0..6 {
        for datagram in taken(&mut server, "acceptor")? {
            client.handle(now, &Packet::decode(&datagram).expect("well-formed"));
        }
        for datagram in taken(&mut client, "opener")? {
            server.handle(now, &Packet::decode(&datagram).expect("well-formed"));
        }
    }
    Ok(())
}

/// Returns a packet as the target `connection` reads it: numbers near the honest ones.
fn forged(kind: u8, seq: i8, ack: i8, sack: Option<&[u8]>, wnd: u16, payload: u16) -> Vec<u8> {
    let mut bytes = vec![0, kind | if sack.is_some() { 1 << 5 } else { 0 }, seq as u8, ack as u8];
    if let Some(mask) = sack {
        bytes.push(mask.len() as u8);
        bytes.extend_from_slice(mask);
    }
    bytes.extend_from_slice(&wnd.to_le_bytes());
    bytes.extend_from_slice(&payload.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes
}

const DATA: u8 = 0;
const FIN: u8 = 1;
const STATE: u8 = 2;
const RESET: u8 = 3;
const SYN: u8 = 4;
const TICK: [u8; 1] = [9];
const DEADLINE: [u8; 1] = [10];

fn connections() -> io::Result<()> {
    let write = |n: u16| [&[11], &n.to_le_bytes()[..]].concat();
    let wait_ms = |ms: u16| [&[7], &ms.to_le_bytes()[..]].concat();
    let hour = vec![8, 0];
    let finish = vec![14];
    let stories: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("nothing-happens", vec![]),
        (
            "honest-acks",
            (0..4).flat_map(|_| [write(5000), wait_ms(20), forged(STATE, 0, 0, None, 60_000, 0)]).collect(),
        ),
        (
            "honest-data-read",
            (0..4).flat_map(|_| [forged(DATA, 0, 0, None, 60_000, 1000), vec![12, 0xFF, 0xFF]]).collect(),
        ),
        ("data-in-reverse", (0..8).rev().map(|seq| forged(DATA, seq, 0, None, 60_000, 900)).collect()),
        ("reset-in-the-window", vec![forged(RESET, 0, 0, None, 0, 0)]),
        ("syn-again", vec![forged(SYN, -1, 0, None, 0, 0)]),
        (
            "acks-of-the-future",
            (1..9).map(|ack| forged(STATE, 0, ack * 9, Some(&[0xFF; 252]), 0, 0)).collect(),
        ),
        (
            "sack-of-everything",
            vec![write(40_000), forged(STATE, 0, -5, Some(&[0xFF; 255]), 60_000, 0), TICK.to_vec()],
        ),
        (
            "ack-at-once",
            vec![write(10_000), forged(STATE, 0, -2, Some(&[1, 0, 0, 0]), 60_000, 0), TICK.to_vec()],
        ),
        (
            "window-closes",
            [vec![write(40_000), forged(STATE, 0, 0, None, 0, 0)], vec![DEADLINE.to_vec(); 20]].concat(),
        ),
        ("fins-everywhere", [5, 3, 9, 0, -4].map(|seq| forged(FIN, seq, 0, None, 60_000, 7)).to_vec()),
        (
            "fin-before-its-data",
            (0..4)
                .rev()
                .map(|seq| forged(if seq == 3 { FIN } else { DATA }, seq, 0, None, 60_000, 10))
                .collect(),
        ),
        ("finish-and-silence", [vec![write(3000), finish], vec![DEADLINE.to_vec(); 30]].concat()),
        ("an-hour-passes", vec![write(3000), hour.clone(), TICK.to_vec(), hour, TICK.to_vec()]),
        (
            "clock-goes-back",
            vec![write(3000), vec![8, 1, 0xFF, 0xFF], forged(STATE, 0, 0, None, 60_000, 0), TICK.to_vec()],
        ),
        ("abort", vec![write(3000), vec![15, 1]]),
        ("discard", vec![forged(DATA, 0, 0, None, 60_000, 1000), vec![15, 0]]),
    ];
    for (i, (name, ops)) in stories.iter().enumerate() {
        for (number, start) in STARTS.iter().enumerate() {
            // Every story where it matters most, the first few everywhere.
            if i > 1 && !matches!(start, Start::Sending | Start::Receiving) {
                continue;
            }
            let mut bytes = vec![i as u8, number as u8, (i * 11) as u8, 0xFA, 0xFF];
            bytes.extend(ops.concat());
            save("connection", &format!("{start:?}-{name}").to_lowercase(), &bytes)?;
        }
    }
    Ok(())
}

/// Returns packets as the target `ebb` reads them: all meet the same queue.
fn honest(packets: u16, every_us: u16, queue_us: u32, rate: u32) -> Vec<u8> {
    let (packets, every_us) = (packets.to_le_bytes(), every_us.to_le_bytes());
    [&[7], &packets[..], &every_us[..], &queue_us.to_le_bytes()[..], &rate.to_le_bytes()[..]].concat()
}

fn ebbs() -> io::Result<()> {
    let all = |byte: u8| [&[0][..], &[byte; 64][..]].concat();
    let (alone, low) = (honest(2000, 600, 0, 2_500_000), honest(1000, 600, 1_500, 2_500_000));
    // Others come: two stretches at the floor, of some seconds.
    let others = honest(2000, 20_000, 90_000, 2_500_000);
    let loss_now = [&[1][..], &[0xFF; 16][..]].concat();
    let stories: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("alone", vec![alone.clone(), low.clone()]),
        ("others-stay-and-a-train-leaves", vec![alone.clone(), low.clone(), others.clone()]),
        (
            "others-go",
            vec![alone.clone(), low.clone(), honest(300, 20_000, 90_000, 2_500_000), alone.clone()],
        ),
        ("half-of-the-link", vec![alone.clone(), honest(2000, 2_000, 2_000, 1_250_000), low.clone()]),
        ("losses", vec![alone.clone(), low.clone(), loss_now.clone(), low.clone()]),
        ("largest-numbers", vec![all(0xFF), loss_now, vec![4; 9], all(0xFF)]),
        ("largest-numbers-later", vec![alone.clone(), low.clone(), all(0xFF), low.clone(), all(0x7F)]),
        ("zeros", vec![all(0), vec![1; 17], all(0)]),
        (
            "timeout-idle-and-packets",
            vec![alone, vec![2; 9], low, vec![3; 9], vec![5; 3], others, vec![2; 9]],
        ),
    ];
    for (name, ops) in stories {
        save("ebb", name, &[&[0xA8, 5, 0xFF][..], &ops.concat()].concat())?;
    }
    Ok(())
}

/// Writes each message alone, and conversations of all of one side.
fn transfer_control() -> io::Result<()> {
    let job = [7; 16];
    let greetings = [
        ("push", Greeting::Push { job, lane: 0, wishes: Wishes::default() }),
        (
            "pull",
            Greeting::Pull {
                job,
                lane: 3,
                lanes: 4,
                path: b"some/where".to_vec(),
                patterns: ["*.o"].iter().collect(),
                extent: true,
                keep: Keep { owner: Some(Naming::Names), xattrs: true, acls: false },
                quick: true,
                sink: vec![[7; 16]],
                verify: false,
            },
        ),
        ("probe", Greeting::Probe),
    ];
    let address = "127.0.0.1:40000".to_string();
    let answers = [
        ("welcome", Answer::Welcome { sink: vec![[7; 16]] }),
        ("refused", Answer::Refused { reason: "this side sends".into() }),
        ("probed", Answer::Probed { tos: Some(4), address, ce: 1, packets: 9 }),
    ];
    let entry = |kind| Entry {
        path: EntryPath(b"a/\xFF".to_vec()),
        kind,
        mode: Some(0o644),
        mtime: Mtime::default(),
        link: None,
        extras: None,
    };
    let file = EntryKind::File { size: 100_000, root: [9; 32] };
    let link = EntryKind::Symlink { target: b"../b".to_vec() };
    let account = |number, name: &str| Account { number, name: Some(name.into()) };
    let extras = Extras {
        owner: Some(Owner { user: account(1000, "me"), group: account(0, "root") }),
        xattrs: vec![Xattr { name: b"user.a".to_vec(), value: vec![0, 255] }],
        lacking: Some("too large".into()),
    };
    let state = ControllerState {
        base_us: Some(21_000),
        queue_us: Some(48_000),
        cwnd: 30_000,
        ..ControllerState::default()
    };
    let left_out = LeftOut { count: 2, first: vec![(EntryPath(b"b".to_vec()), "it cannot be read".into())] };
    let glance = Glance {
        path: EntryPath(b"a/small".to_vec()),
        size: 20_000,
        mode: Some(0o644),
        mtime: Mtime::default(),
        extras: None,
    };
    let from_source = [
        ("offer-file", FromSource::Offer { id: 0, entry: entry(file.clone()) }),
        (
            "offer-extras",
            FromSource::Offer {
                id: 2,
                entry: Entry { extras: Some(Box::new(extras)), ..entry(EntryKind::Directory) },
            },
        ),
        (
            "offer-hard-link",
            FromSource::Offer {
                id: 1,
                entry: Entry { link: Some(EntryPath(b"a/first".to_vec())), ..entry(file.clone()) },
            },
        ),
        ("offer-link", FromSource::Offer { id: 1, entry: entry(link) }),
        ("offer-directory", FromSource::Offer { id: u64::MAX, entry: entry(EntryKind::Directory) }),
        ("glance", FromSource::Glance { id: 3, files: vec![glance] }),
        ("plan", FromSource::Plan { entries: 5, files: 3, bytes: 100_000, complete: true }),
        ("withdrawn", FromSource::Withdrawn { id: 0, reason: "changed".into() }),
        ("state", FromSource::State(state)),
        (
            "end-of-offers",
            FromSource::EndOfOffers {
                failed: left_out,
                skipped: LeftOut::default(),
                extent: Some(Extent { entries: 3, ..Extent::default() }),
                unmatched: vec![0, 300],
            },
        ),
    ];
    let from_sink = [
        ("want", FromSink::Want { id: 0, ranges: Wanted(vec![(0, 16_384), (32_768, 100_000)]) }),
        ("want-nothing", FromSink::Want { id: 0, ranges: Wanted(vec![]) }),
        ("swept", FromSink::Swept { unmatched: vec![2] }),
        ("have", FromSink::Have { id: 1 }),
        ("stored", FromSink::Stored { id: 0 }),
        ("failed", FromSink::Failed { id: 2, why: Why::Refused("no".into()) }),
        ("pace", FromSink::Pace { max_rate: Some(1_000_000), paused: false }),
        ("finished", FromSink::Finished),
        ("describe", FromSink::Describe { id: 0, how: How::Chunks, ranges: Wanted(vec![(0, 100_000)]) }),
        ("newer", FromSink::Newer { id: 1 }),
        ("would", FromSink::Would { id: 2, change: Change::Replace }),
        ("glanced", FromSink::Glanced { id: 3, differing: vec![0, 2] }),
        ("removed", FromSink::Removed { path: EntryPath(b"old".to_vec()), removal: Removal::Left }),
    ];
    said(0, "greeting", &greetings)?;
    said(1, "answer", &answers)?;
    said(2, "source", &from_source)?;
    said(3, "sink", &from_sink)?;
    save("transfer_control", "empty", &[])?;
    save("transfer_control", "stream-too-long", &[6, 0, 1, 0, 1])?;
    save("transfer_control", "stream-ends-in-a-length", &[7, 0, 0])?;
    // A vector of more ranges than there are bytes.
    save("transfer_control", "sink-counts-too-far", &[3, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F, 1, 2])
}

fn said<M: serde::Serialize>(which: u8, who: &str, messages: &[(&str, M)]) -> io::Result<()> {
    let mut stream = bytes::BytesMut::from(&[which | 4][..]);
    for (name, message) in messages {
        let mut one = bytes::BytesMut::new();
        codec::encode(message, &mut one).map_err(io::Error::other)?;
        save("transfer_control", &format!("{who}-{name}"), &[&[which], &one[4..]].concat())?;
        codec::encode(message, &mut stream).map_err(io::Error::other)?;
    }
    save("transfer_control", &format!("{who}-all"), &stream)?;
    save("transfer_control", &format!("{who}-all-cut-off"), &stream[..stream.len() - 1])
}

fn quantities() -> io::Result<()> {
    let texts = [
        ("rate", "20 Mbit/s"),
        ("rate-fraction", "1.5gbps"),
        ("rate-tiny", "0.4 bit/s"),
        ("rate-huge", "99999999 Gbit/s"),
        ("size", "250 kB"),
        ("size-binary", "64KiB"),
        ("size-largest", "1000000 GB"),
        ("time", "40ms"),
        ("time-micro", "7 µs"),
        ("time-long", "27777 h"),
        ("time-tiny", "0.0000001us"),
        ("probability", "5%"),
        ("probability-small", "0.000001 %"),
        ("probability-too-large", "100.1%"),
        ("buffer-packets", "100 packets"),
        ("buffer-half-packet", "2.5 packets"),
        ("number-alone", "20"),
        ("number-not", "NaN Mbit/s"),
        ("number-with-dots", "1.2.3 ms"),
        ("algorithm", "ledbat++, target=40ms,restart=on"),
        (
            "algorithm-all",
            "ledbat++,target=1ms,gain_divisor_max=256,constant=16,slow_start_exit=0.05,base_history=16",
        ),
        ("algorithm-cubic", "cubic,beta=0.7,c=0.4,hystart=true"),
        ("algorithm-newreno", "newreno,initial_window=0"),
        ("algorithm-ledbat", "ledbat,signal=rtt,gain=1"),
        ("algorithm-unknown", "ledbta++,targte=40"),
        ("algorithm-odd", ",=,x==y, ="),
        ("algorithm-queue", "droptail"),
        ("json-not-an-outcome", "{\"schema_version\":1}"),
        ("json-nested", "[[[[[[[[[[[[[[[["),
        ("empty", ""),
    ];
    for (name, text) in texts {
        save("quantities", name, text.as_bytes())?;
    }
    let rtt = Duration::from_millis(40);
    let link = Link {
        loss: "1%".parse().expect("a probability"),
        ..Link::new(Rate::from_mbit(20), Buffer::Time(Duration::from_millis(500)))
    };
    let copy = Flow {
        transport: Transport::utp(),
        controller: Some(Algorithm::named("ledbat++").with("target", "40 ms")),
        ..Flow::new("copy", Role::Background, "", rtt)
    };
    let payload = afteryou_scenario::Size::from_bytes(160);
    let scenario = Scenario {
        baseline: true,
        flow: vec![Flow::cbr("call", Role::Foreground, Rate::from_bits(64_000), payload, rtt), copy],
        ..Scenario::new("a call beside a transfer", Duration::from_millis(60_000), link)
    };
    let outcome = Outcome::new("sim", "0.1.0", scenario, Run::default(), Some(Run::default()));
    let json = serde_json::to_string(&outcome).map_err(io::Error::other)?;
    save("quantities", "outcome", json.as_bytes())?;
    save(
        "quantities",
        "outcome-with-infinity",
        json.replace("\"duration_s\":0.0", "\"duration_s\":1e999").as_bytes(),
    )?;
    save(
        "quantities",
        "outcome-with-the-largest-number",
        json.replacen("0.0", "1.7976931348623157e308", 1).as_bytes(),
    )?;
    save("quantities", "outcome-with-rate-zero", json.replace("20 Mbit/s", "0 bit/s").as_bytes())
}
