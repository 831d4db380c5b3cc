//! `--qlog`, read back with the crate `qlog`, which is not ours.

use afteryou_scenario::outcome::Totals;
use afteryou_scenario::Outcome;
use afteryou_trace::qlog::read;
use qlog::events::quic::{AckedRanges, QuicFrame};
use qlog::events::{EventData, JsonEvent};
use qlog::reader::Event;
use qlog::VantagePointType;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

const SCENARIO: &str = r#"
name = "logged"
duration = "8 s"
seed = 3
link = { rate = "8 Mbit/s", buffer = "40 packets", loss = "0.3 %" }
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
traffic = { chunk = "100 kB" }
rtt = "20 ms"
[[flow]]
name = "backup"
role = "background"
controller = "ledbat++"
transport = "utp"
rtt = "20 ms"
"#;

/// A sender's file, as another reader sees it.
#[derive(Default)]
struct Log {
    title: String,
    vantage: Option<VantagePointType>,
    protocol: Vec<String>,
    times_ms: Vec<f32>,
    /// Number, offset, bytes.
    sent: Vec<(u64, u64, u64)>,
    acknowledged: BTreeSet<u64>,
    lost: Vec<u64>,
    timeouts: u64,
    phases: Vec<(Option<String>, String)>,
    /// Time and bytes.
    windows: Vec<(f32, u64)>,
    most_in_flight: u64,
    min_rtt_ms: Option<f32>,
    smoothed_rtt_ms: Option<f32>,
    /// How often round-trip times were written.
    rtts: usize,
    /// Events of our own.
    own: Vec<JsonEvent>,
}

impl Log {
    fn read(path: &Path) -> Log {
        let read::Log { header, events } =
            read::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!((&*header.qlog_version, &*header.qlog_format), (qlog::QLOG_VERSION, "JSON-SEQ"));
        let common = header.trace.common_fields.expect("common fields");
        let mut log = Log {
            title: header.trace.title.expect("a title"),
            vantage: Some(header.trace.vantage_point.ty),
            protocol: common.protocol_type.expect("a protocol"),
            ..Log::default()
        };
        for event in events {
            match event {
                Event::Qlog(event) => {
                    log.times_ms.push(event.time);
                    log.take(event.time, event.data);
                }
                Event::Json(event) => {
                    log.times_ms.push(event.time);
                    log.own.push(event);
                }
            }
        }
        log
    }

    fn take(&mut self, at_ms: f32, data: EventData) {
        match data {
            EventData::PacketSent(packet) => {
                let bytes = packet.raw.and_then(|raw| raw.length).expect("a length");
                // Of a program's own connections the contents are not logged.
                let offset = packet.frames.map_or(0, |frames| {
                    let QuicFrame::Stream { offset, length, .. } = frames[0] else { panic!("{frames:?}") };
                    assert_eq!(bytes, length);
                    offset
                });
                self.sent.push((packet.header.packet_number.expect("a number"), offset, bytes));
            }
            EventData::PacketReceived(packet) => {
                for frame in packet.frames.expect("frames") {
                    let QuicFrame::Ack { acked_ranges: Some(AckedRanges::Single(ranges)), .. } = frame else {
                        panic!("{frame:?}")
                    };
                    let numbers = ranges.iter().flat_map(|range| range[0]..=*range.last().unwrap());
                    // quinn does not say which packet of a batch has arrived.
                    let is_quic = self.protocol == ["QUIC"];
                    numbers.for_each(|number| {
                        assert!(self.acknowledged.insert(number) || is_quic, "{number} twice");
                    });
                }
            }
            EventData::PacketLost(packet) => {
                self.lost.push(packet.header.and_then(|header| header.packet_number).expect("a number"));
            }
            EventData::LossTimerUpdated(_) => self.timeouts += 1,
            EventData::CongestionStateUpdated(state) => self.phases.push((state.old, state.new)),
            EventData::MetricsUpdated(metrics) => {
                self.windows.extend(metrics.congestion_window.map(|window| (at_ms, window)));
                self.most_in_flight = self.most_in_flight.max(metrics.bytes_in_flight.unwrap_or_default());
                self.rtts += usize::from(metrics.smoothed_rtt.is_some());
                self.min_rtt_ms = metrics.min_rtt.or(self.min_rtt_ms);
                self.smoothed_rtt_ms = metrics.smoothed_rtt.or(self.smoothed_rtt_ms);
                let (min, smoothed) = (self.min_rtt_ms, self.smoothed_rtt_ms);
                assert!(min <= smoothed, "at {at_ms} ms: the smallest {min:?} and the mean {smoothed:?}");
            }
            other => panic!("{other:?}"),
        }
    }

    fn sent_bytes(&self) -> u64 {
        self.sent.iter().map(|(_, _, bytes)| bytes).sum()
    }

    /// Returns the values of a quantity of our own events, ms.
    fn own(&self, name: &str) -> Vec<f64> {
        self.own.iter().filter_map(|event| event.data.get(name)?.as_f64()).collect()
    }
}

fn afteryou(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afteryou")).args(words).output().expect("it runs")
}

/// Returns the outcome of a scenario, and its logs by the name of their file.
fn logged(command: &str, scenario: &str) -> (Outcome, BTreeMap<String, Log>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, logs) = (folder.path().join("logged.toml"), folder.path().join("logs"));
    std::fs::write(&file, scenario).expect("written");
    let output = afteryou(&[command, file.to_str().unwrap(), "--json", "--qlog", logs.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let outcome = Outcome::from_json(&String::from_utf8_lossy(&output.stdout)).expect("an outcome");
    (outcome, logs_in(&logs))
}

fn totals<'a>(outcome: &'a Outcome, flow: &str) -> &'a Totals {
    outcome.run.totals.iter().find(|totals| totals.flow == flow).expect("the flow")
}

#[test]
fn a_log_has_every_packet_and_every_loss_of_the_result() {
    let (outcome, logs) = logged("sim", SCENARIO);
    let names: Vec<&str> = logs.keys().map(String::as_str).collect();
    assert_eq!(names, ["backup.sqlog", "upload.sqlog"], "calls have no controller");
    for (flow, protocol) in [("upload", "TCP"), ("backup", "UTP")] {
        let (log, totals) = (&logs[&format!("{flow}.sqlog")], totals(&outcome, flow));
        assert_eq!((&*log.title, &*log.protocol), (flow, &[protocol.to_owned()][..]));
        assert!(log.times_ms.is_sorted(), "{flow}: in the order of time");
        assert_eq!(log.sent.len() as u64, totals.packets, "{flow}");
        assert_eq!((log.lost.len() as u64, log.timeouts), (totals.losses, totals.timeouts), "{flow}");
        assert!(totals.losses > 5, "{flow}: there is something to count");
        let numbers: Vec<u64> = log.sent.iter().map(|(number, _, _)| *number).collect();
        assert!(numbers.is_sorted_by(|a, b| a + 1 == *b), "{flow}: one number for each transmission");
        assert!(log.lost.iter().all(|number| numbers.contains(number)), "{flow}");
        assert!(log.acknowledged.iter().all(|number| numbers.contains(number)), "{flow}");
    }
}

#[test]
fn bytes_of_a_log_are_those_that_arrived_were_sent_again_or_are_in_flight() {
    let (outcome, logs) = logged("sim", SCENARIO);
    for flow in ["upload", "backup"] {
        let (log, totals) = (&logs[&format!("{flow}.sqlog")], totals(&outcome, flow));
        // Ranges of the stream without gap: what is sent again begins where it began before.
        let ranges: BTreeMap<u64, u64> =
            log.sent.iter().map(|(_, offset, bytes)| (*offset, *bytes)).collect();
        let end = ranges.iter().fold(0, |end, (offset, bytes)| {
            assert_eq!(end, *offset, "{flow}");
            end + bytes
        });
        let again: u64 = log.sent_bytes() - end;
        let times_again = log.sent.len() - ranges.len();
        assert_eq!(times_again as u64, totals.retransmissions, "{flow}");
        assert!(again > 0 && totals.received_bytes <= end, "{flow}");
        assert!(end - totals.received_bytes <= log.most_in_flight + 10_000, "{flow}: the rest is in flight");
    }
}

#[test]
fn windows_phases_and_delays_are_those_of_the_curves() {
    let (outcome, logs) = logged("sim", SCENARIO);
    for flow in ["upload", "backup"] {
        let log = &logs[&format!("{flow}.sqlog")];
        let curve = |quantity: &str| {
            let found = outcome.run.series.iter().find(|one| one.of == flow && one.quantity == quantity);
            found.unwrap_or_else(|| panic!("no {quantity} of {flow}"))
        };
        let cwnd = curve("cwnd");
        let mut compared = 0;
        for (i, kb) in cwnd.values.iter().enumerate() {
            let at_ms = ((i + 1) as f64 * cwnd.step_s * 1e3) as f32;
            // What happens at this very instant may count for either.
            let is_near = log.windows.iter().any(|(at, _)| (at - at_ms).abs() < 0.01);
            let latest = log.windows.iter().rev().find(|(at, _)| *at < at_ms);
            let (Some(kb), Some((_, bytes)), false) = (kb, latest, is_near) else { continue };
            assert!((kb - *bytes as f64 / 1e3).abs() < 0.001, "{flow} at {at_ms} ms: {kb} kB and {bytes} B");
            compared += 1;
        }
        assert!(compared > 60, "{flow}: {compared} of {}", cwnd.values.len());
        let first = log.phases.first().expect("a phase");
        assert_eq!(*first, (None, "slow start".to_owned()), "{flow}");
        assert!(log.phases.windows(2).all(|pair| pair[1].0.as_ref() == Some(&pair[0].1)), "{flow}");
    }
    let backup = &logs["backup.sqlog"];
    assert_eq!(backup.own("target"), [60.0]);
    let base = backup.own("base_delay").into_iter().reduce(f64::min).expect("a base delay");
    let min_rtt = f64::from(backup.min_rtt_ms.expect("a round trip"));
    // The handshake's small packets take less of the link's time than data, which alone make the base delay.
    assert!((20.0..=base).contains(&min_rtt) && base < min_rtt + 1.5, "{base} and {min_rtt} ms");
}

#[test]
fn a_mean_round_trip_is_never_below_the_smallest_one_though_the_handshake_was_the_fastest() {
    // The handshake meets an empty queue, and everything after it a standing one.
    let bulk = "[[flow]]\nrole = \"foreground\"\nrtt = \"20 ms\"\ncontroller = \"cubic\"\n";
    let flow = |name, transport| format!("{bulk}name = \"{name}\"\ntransport = \"{transport}\"\n");
    let scenario = format!(
        "name = \"fastest\"\nduration = \"5 s\"\nlink = {{ rate = \"2 Mbit/s\", buffer = \"60 packets\" }}\n{}{}",
        flow("over TCP", "tcp"),
        flow("over uTP", "utp"),
    );
    let (_, logs) = logged("sim", &scenario);
    assert_eq!(logs.len(), 2);
    for (name, log) in logs {
        // Each event was held to it while it was read.
        assert!(log.rtts > 20, "{name}: {} times", log.rtts);
        // The handshake's packets have no payload and take less time on the link than any other.
        let rtt = log.min_rtt_ms.expect("a round trip");
        assert!((20.0..22.0).contains(&rtt), "{name}: {rtt} ms is the handshake's");
    }
}

#[test]
fn a_log_changes_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("logged.toml");
    // Controllers that take packets one by one, and those that do not.
    for controller in ["ledbat", "nice", "libutp-mod", "tcp-lp", "vegas", "newreno"] {
        std::fs::write(&file, SCENARIO.replace("ledbat++", controller)).unwrap();
        let (file, logs) = (file.to_str().unwrap(), folder.path().join("logs"));
        let plain = afteryou(&["sim", file, "--json"]);
        let logged = afteryou(&["sim", file, "--json", "--qlog", logs.to_str().unwrap()]);
        assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
        assert_eq!(plain.stdout, logged.stdout, "{controller}");
    }
}

#[test]
fn each_transfer_of_a_flow_has_a_file_of_its_own() {
    let scenario = SCENARIO.replace("{ chunk = \"100 kB\" }", "{ arrivals = \"500 ms\", size = \"20 kB\" }");
    let (outcome, logs) = logged("sim", &scenario);
    let uploads: Vec<&Log> =
        logs.iter().filter(|(name, _)| name.starts_with("upload")).map(|(_, log)| log).collect();
    assert!(uploads.len() >= 10, "{} files", uploads.len());
    let sent: usize = uploads.iter().map(|log| log.sent.len()).sum();
    assert_eq!(sent as u64, totals(&outcome, "upload").packets);
}

#[test]
fn the_bed_logs_its_senders_too() {
    let scenario = "name = \"real\"\nduration = \"2 s\"\nbaseline = \"without background\"\n\
        link = { rate = \"8 Mbit/s\", buffer = \"40 packets\" }\n\
        [[flow]]\nname = \"backup\"\nrole = \"background\"\ncontroller = \"ledbat++\"\ntransport = \"utp\"\n\
        rtt = \"40 ms\"\nstart = \"500 ms\"\ntraffic = { size = \"200 kB\" }\n";
    let (outcome, logs) = logged("bed", scenario);
    let log = &logs["backup.sqlog"];
    assert_eq!((logs.len(), &*log.protocol), (1, &["UTP".to_owned()][..]));
    let whole = outcome.transfers.iter().map(|transfer| transfer.sent_bytes).sum::<u64>();
    let ranges: BTreeMap<u64, u64> = log.sent.iter().map(|(_, offset, bytes)| (*offset, *bytes)).collect();
    assert_eq!(ranges.values().sum::<u64>(), whole, "every byte once, retransmissions apart");
    // The handshake takes a round trip.
    assert!(log.times_ms[0] >= 540.0 && log.times_ms.is_sorted(), "{} ms", log.times_ms[0]);
    assert!(log.min_rtt_ms.is_some_and(|rtt| rtt >= 40.0));
}

#[test]
fn logs_are_of_one_run_and_of_engines_with_packets() {
    let folder = tempfile::tempdir().unwrap();
    let (file, logs) = (folder.path().join("logged.toml"), folder.path().join("logs"));
    std::fs::write(&file, SCENARIO).unwrap();
    let (file, logs_path) = (file.to_str().unwrap(), logs.to_str().unwrap());
    let refusals = [
        (["sim", file, "--repeat=2", "--qlog", logs_path], 2, "--qlog is for one run"),
        (["fluid", file, "--seed=1", "--qlog", logs_path], 2, "use afteryou sim or bed"),
        (["sim", file, "--seed=1", "--qlog", "/dev/null/logs"], 1, "/dev/null/logs"),
    ];
    for (words, code, expected) in refusals {
        let output = afteryou(&words);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(code) && printed.contains(expected), "{words:?}: {printed}");
    }
    assert!(!logs.exists());
}

/// Returns the logs in a folder by the name of their file, without the list of them.
fn logs_in(folder: &Path) -> BTreeMap<String, Log> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file"));
    let logs = files.filter(|file| file.file_name() != ".afteryou.logs");
    logs.map(|file| (file.file_name().into_string().unwrap(), Log::read(&file.path()))).collect()
}

#[cfg(unix)]
#[test]
fn both_ends_of_a_transfer_log_their_connections() {
    use crate::transfer::support::{text, Place};
    const BYTES: u64 = 3_000_000;
    let place = Place::new();
    place.file("photos/a", BYTES as usize);
    let (receive, ticket) = place.listen(&["receive", "archive", "--once", "--qlog", "received"]);
    let sent = place.run(&["send", "photos", &ticket, "--connections", "2", "--qlog", "sent"]);
    assert_eq!(sent.status.code(), Some(0), "{}", text(&sent.stderr));
    assert_eq!(receive.end().0, Some(0));
    let [sent, received] = ["sent", "received"].map(|folder| logs_in(&place.path(folder)));
    let ends = [(&sent, VantagePointType::Client), (&received, VantagePointType::Server)];
    for (logs, vantage) in ends {
        assert_eq!(logs.keys().collect::<Vec<_>>(), ["connection-2.sqlog", "connection.sqlog"]);
        for (name, log) in logs {
            assert_eq!((&*log.protocol, &log.vantage), (&["QUIC".to_owned()][..], &Some(vantage.clone())));
            assert!(log.times_ms.is_sorted() && !log.windows.is_empty(), "{name}");
            let numbers: BTreeSet<u64> = log.sent.iter().map(|(number, ..)| *number).collect();
            assert_eq!(numbers.len(), log.sent.len(), "{name}: one number for each packet");
            assert!(log.acknowledged.is_subset(&numbers) && !log.acknowledged.is_empty(), "{name}");
            assert_eq!(log.phases[0].1, "slow start", "{name}");
        }
    }
    let bytes = |logs: &BTreeMap<String, Log>| logs.values().map(Log::sent_bytes).sum::<u64>();
    // Headers, hashes and perhaps packets sent again come on top.
    assert!((BYTES..2 * BYTES).contains(&bytes(&sent)), "{}", bytes(&sent));
    assert!(bytes(&received) < BYTES / 4, "{}", bytes(&received));
    let acknowledged: usize = sent.values().map(|log| log.acknowledged.len()).sum();
    let packets: usize = sent.values().map(|log| log.sent.len()).sum();
    assert!(acknowledged > packets * 9 / 10, "{acknowledged} of {packets}");
    assert!(sent.values().any(|log| log.own("target") == [60.0]), "the controller's own state");
}

#[cfg(unix)]
#[test]
fn a_folder_of_logs_that_cannot_be_made_is_refused_before_anything_is_sent() {
    use crate::transfer::support::{text, Place};
    let place = Place::new();
    place.file("photos/a", 1_000);
    let output = place.run(&["receive", "archive", "--qlog", "photos/a"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--qlog: ") && output.stdout.is_empty());
}
