//! `afteryou sim --trace`, read back with parsers that are not ours.

use afteryou_scenario::outcome::{LinkTotals, Packets};
use afteryou_scenario::Outcome;
use etherparse::{Ipv4Header, TcpHeader, TcpHeaderSlice, TcpOptionElement};
use pcap_parser::{parse_block_le, Block, OptionCode, PcapNGOption};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
name = "traced"
duration = "8 s"
seed = 3
link = { rate = "8 Mbit/s", buffer = "40 packets", loss = "0.3 %", queue = { kind = "codel", ecn = true } }
[[flow]]
name = "call"
role = "foreground"
transport = "udp"
traffic = { cbr = "64 kbit/s", payload = "160 B" }
rtt = "20 ms"
[[flow]]
name = "upload"
role = "foreground"
controller = "cubic"
transport = { kind = "tcp", ecn = true }
rtt = "20 ms"
[[flow]]
name = "chunks"
role = "foreground"
controller = "cubic"
traffic = { chunk = "100 kB" }
rtt = "20 ms"
[[flow]]
name = "backup"
role = "background"
controller = "ledbat"
transport = "utp"
rtt = "20 ms"
"#;

/// A packet of a capture.
struct Captured {
    link: u32,
    at_ns: u64,
    length: u32,
    data: Vec<u8>,
    comment: Option<String>,
}

fn afteryou(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afteryou")).args(words).output().expect("it runs")
}

fn text_of(options: &[PcapNGOption<'_>], code: OptionCode) -> Option<String> {
    let option = options.iter().find(|option| option.code == code)?;
    Some(String::from_utf8_lossy(&option.value[..usize::from(option.len)]).into_owned())
}

/// Returns the names of the interfaces, and the packets.
fn read(path: &Path) -> (Vec<String>, Vec<Captured>) {
    let file = std::fs::read(path).expect("a capture");
    let (mut links, mut packets) = (Vec::new(), Vec::new());
    // The section's header itself comes first.
    let (mut rest, _) = pcap_parser::parse_sectionheaderblock_le(&file).expect("a section");
    while !rest.is_empty() {
        let (after, block) = parse_block_le(rest).expect("a block");
        rest = after;
        match block {
            Block::InterfaceDescription(block) => {
                assert_eq!((block.if_tsresol, block.linktype.0), (9, 101), "nanoseconds, raw IP");
                links.push(text_of(&block.options, OptionCode(2)).expect("a name"));
            }
            Block::EnhancedPacket(block) => packets.push(Captured {
                link: block.if_id,
                at_ns: u64::from(block.ts_high) << 32 | u64::from(block.ts_low),
                length: block.origlen,
                data: block.data[..block.caplen as usize].to_vec(),
                comment: text_of(&block.options, OptionCode::Comment),
            }),
            _ => {}
        }
    }
    (links, packets)
}

fn traced() -> (Outcome, Vec<String>, Vec<Captured>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, trace) = (folder.path().join("traced.toml"), folder.path().join("traced.pcapng"));
    std::fs::write(&file, SCENARIO).expect("written");
    let output = afteryou(&["sim", file.to_str().unwrap(), "--json", "--trace", trace.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcome = Outcome::from_json(&String::from_utf8_lossy(&output.stdout)).expect("an outcome");
    let (links, packets) = read(&trace);
    (outcome, links, packets)
}

fn packets_of(link: &LinkTotals) -> Packets {
    link.packets.expect("the simulator counts packets")
}

#[test]
fn a_trace_has_every_packet_of_every_link_once() {
    let (outcome, links, packets) = traced();
    assert_eq!(links, ["bottleneck", "reverse path"]);
    assert!(packets.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns), "in the order of time");
    for (index, link) in outcome.run.links.iter().enumerate() {
        let here = || packets.iter().filter(|packet| packet.link as usize == index);
        let said = |words: &str| {
            let says =
                |packet: &&Captured| packet.comment.as_ref().is_some_and(|said| said.starts_with(words));
            here().filter(says).count() as u64
        };
        let counts = packets_of(link);
        assert_eq!(said("dropped"), counts.dropped, "{}", link.link);
        assert_eq!(said("lost"), counts.lost, "{}", link.link);
        let sent = here().count() as u64 - counts.dropped - counts.lost;
        assert_eq!(sent, link.classes.iter().map(|class| class.dequeued).sum::<u64>(), "{}", link.link);
        let marks: u64 = link.classes.iter().map(|class| class.marked).sum();
        assert_eq!(said("marked CE by codel"), marks, "{}", link.link);
        assert!(index == 1 || (counts.dropped > 0 && counts.lost > 0 && marks > 0), "nothing is not tested");
    }
}

#[test]
fn tcp_segments_carry_every_byte_of_the_stream_and_acks_end_where_segments_do() {
    let (outcome, _, packets) = traced();
    for (flow, name) in [(1, "upload"), (2, "chunks")] {
        let mut sent: BTreeMap<u32, u32> = BTreeMap::new();
        let (mut acked, mut sacks, mut marks) = (0, 0, 0);
        for packet in &packets {
            if packet.data[9] != 6 {
                continue;
            }
            let tcp = TcpHeaderSlice::from_slice(&packet.data[20..]).expect("a header");
            has_right_checksums(packet);
            let (from, to) = (&packet.data[12..16], &packet.data[16..20]);
            let length = u32::from(u16::from_be_bytes([packet.data[2], packet.data[3]]));
            assert_eq!(length, packet.length, "what the link carried");
            if from == [10, 0, 0, flow + 1] {
                marks += u32::from(packet.data[1] & 3 == 3);
                let payload = length - packet.data.len() as u32;
                if payload > 0 && packet.comment.as_ref().is_none_or(|said| said.starts_with("marked")) {
                    sent.insert(tcp.sequence_number(), payload);
                }
            } else if to == [10, 0, 0, flow + 1] && !tcp.syn() {
                acked = acked.max(tcp.acknowledgment_number());
                assert!(tcp.acknowledgment_number() == 1 || ends(&sent, tcp.acknowledgment_number()));
                for option in tcp.options_iterator() {
                    if let Ok(TcpOptionElement::SelectiveAcknowledgement((from, to), _)) = option {
                        sacks += 1;
                        assert!(sent.contains_key(&from) && ends(&sent, to), "{from} to {to}");
                    }
                }
            }
        }
        // No gap below what was acknowledged.
        let mut next = 1;
        for (from, payload) in sent.range(..acked) {
            assert_eq!(*from, next, "{name}");
            next = from + payload;
        }
        let received = outcome.run.totals.iter().find(|totals| totals.flow == name).expect("totals");
        let on_the_way = received.received_bytes.abs_diff(u64::from(acked - 1));
        assert!(
            acked > 1_000_000 && sacks > 10 && on_the_way < 300_000,
            "{name}: {acked}, {sacks}, {on_the_way}"
        );
        assert_eq!(marks > 0, name == "upload", "only one of the two is ECN-capable");
    }
}

/// Returns a packet's two clocks, µs: its sender's own, and the one that it echoes.
fn clocks(tcp: &TcpHeaderSlice<'_>) -> (u32, u32) {
    let clocks = tcp.options_iterator().find_map(|option| match option {
        Ok(TcpOptionElement::Timestamp(own, echoed)) => Some((own, echoed)),
        _ => None,
    });
    clocks.expect("timestamps")
}

#[test]
fn both_directions_echo_a_clock_that_the_peer_has_sent_before_and_data_the_newest() {
    let (_, _, packets) = traced();
    // By the sender's address and port: the clocks that each end has sent so far, and the latest echo in data.
    let mut sent: BTreeMap<(Vec<u8>, u16), [BTreeSet<u32>; 2]> = BTreeMap::new();
    let mut latest: BTreeMap<(Vec<u8>, u16), u32> = BTreeMap::new();
    let (mut data, mut acks, mut echoes) = (0, 0, BTreeSet::new());
    for packet in packets.iter().filter(|packet| packet.data[9] == 6) {
        let tcp = TcpHeaderSlice::from_slice(&packet.data[20..]).expect("a header");
        let is_reply = packet.data[12] == 10 && packet.data[13] & 0x80 != 0;
        let end = match is_reply {
            false => (packet.data[12..16].to_vec(), tcp.source_port()),
            true => (packet.data[16..20].to_vec(), tcp.destination_port()),
        };
        let (own, echoed) = clocks(&tcp);
        let both = sent.entry(end.clone()).or_default();
        both[usize::from(is_reply)].insert(own);
        let heard = &both[usize::from(!is_reply)];
        if !tcp.ack() {
            assert!(tcp.syn() && echoed == 0, "a SYN echoes nothing (RFC 7323 §3.2)");
            continue;
        }
        assert!(heard.contains(&echoed), "{end:?} at {} ns: nobody has sent {echoed}", packet.at_ns);
        if is_reply {
            acks += 1;
            continue;
        }
        data += 1;
        echoes.insert(echoed);
        // A packet that a queue or a link drops is captured at that time, before older ones that wait.
        if packet.comment.is_none() {
            let before = latest.insert(end, echoed).unwrap_or(0);
            assert!(before <= echoed, "{before}, then {echoed}");
        }
    }
    assert!(data > 1000 && acks > 500 && echoes.len() > 500, "{data}, {acks}, {}", echoes.len());
}

#[test]
fn tshark_reads_the_clocks_of_both_directions_as_they_were_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, trace) = (folder.path().join("traced.toml"), folder.path().join("traced.pcapng"));
    std::fs::write(&file, SCENARIO).expect("written");
    let output = afteryou(&["sim", file.to_str().unwrap(), "--json", "--trace", trace.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(&trace).args(["-Y", "tcp", "-T", "fields"]);
    tshark.args(["-e", "tcp.options.timestamp.tsval", "-e", "tcp.options.timestamp.tsecr"]);
    let Ok(output) = tshark.output() else {
        eprintln!("skipped: there is no tshark here");
        return;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (_, packets) = read(&trace);
    let written: Vec<String> = packets
        .iter()
        .filter(|packet| packet.data[9] == 6)
        .map(|packet| clocks(&TcpHeaderSlice::from_slice(&packet.data[20..]).expect("a header")))
        .map(|(own, echoed)| format!("{own}\t{echoed}"))
        .collect();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed.lines().collect::<Vec<_>>(), written);
}

/// Asserts that both checksums are right. The payload is all zero, so they follow from the headers and the length.
fn has_right_checksums(packet: &Captured) {
    let (ip, rest) = Ipv4Header::from_slice(&packet.data).expect("an IP header");
    let (tcp, _) = TcpHeader::from_slice(rest).expect("a TCP header");
    let zeros = vec![0; usize::from(ip.total_len) - packet.data.len()];
    assert_eq!(ip.header_checksum, ip.calc_header_checksum());
    assert_eq!(tcp.checksum, tcp.calc_checksum_ipv4(&ip, &zeros).expect("short enough"));
}

/// Returns whether a segment ends here.
fn ends(sent: &BTreeMap<u32, u32>, at: u32) -> bool {
    sent.range(..at).next_back().is_some_and(|(from, payload)| from + payload == at)
}

#[test]
fn utp_headers_are_those_of_the_connection_and_carry_the_code_point() {
    let (_, _, packets) = traced();
    let mut kinds = BTreeMap::new();
    for packet in packets.iter().filter(|packet| packet.data[9] == 17 && packet.data[12..16] == [10, 0, 0, 4])
    {
        assert_eq!(packet.data[1] >> 2, 1, "lower effort");
        let udp = &packet.data[20..];
        assert_eq!(u16::from_be_bytes([udp[2], udp[3]]), afteryou_report::UTP_PORT);
        assert_eq!(u32::from(u16::from_be_bytes([udp[4], udp[5]])) + 20, packet.length);
        assert_eq!(udp[8] & 15, 1, "version");
        *kinds.entry(udp[8] >> 4).or_insert(0) += 1;
    }
    assert!(kinds[&4] == 1 && kinds[&0] > 500, "one SYN and much data: {kinds:?}");
}

#[test]
fn a_trace_is_of_one_run_and_of_the_simulator() {
    let folder = tempfile::tempdir().unwrap();
    let (file, trace) = (folder.path().join("traced.toml"), folder.path().join("traced.pcapng"));
    std::fs::write(&file, SCENARIO).unwrap();
    let (file, trace_path) = (file.to_str().unwrap(), trace.to_str().unwrap());
    let twice = afteryou(&["sim", file, "--repeat", "2", "--trace", trace_path]);
    let said = String::from_utf8_lossy(&twice.stderr).into_owned();
    assert!(twice.status.code() == Some(2) && said.contains("--trace is for one run"), "{said}");
    let fluid = afteryou(&["fluid", file, "--trace", trace_path]);
    assert_eq!(fluid.status.code(), Some(2));
    let nowhere = afteryou(&["sim", file, "--trace", "/nowhere/at/all.pcapng"]);
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(nowhere.status.code() == Some(1) && said.contains("/nowhere/at/all.pcapng"), "{said}");
    assert!(!trace.exists());
}
