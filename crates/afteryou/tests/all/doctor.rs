//! `afteryou doctor`, as people and programs call it.

use afteryou_base::Dscp;
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::job::{listen, Arrival, ListenOptions, Service};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::{Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn doctor(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_afteryou")).arg("doctor").args(arguments).output().unwrap()
}

fn checks(output: &Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn state<'a>(checks: &'a [Value], name: &str) -> &'a str {
    let check = checks.iter().find(|check| check["name"].as_str().unwrap().starts_with(name));
    check.unwrap_or_else(|| panic!("no {name} in {checks:?}"))["state"].as_str().unwrap()
}

#[test]
fn this_machine_is_looked_at_in_a_few_seconds() {
    let began = Instant::now();
    let output = doctor(&["--json"]);
    assert!(began.elapsed() < Duration::from_secs(10));
    let checks = checks(&output);
    assert_eq!(state(&checks, "UDP on this machine"), "ok");
    for check in &checks {
        let (state, todo) = (check["state"].as_str().unwrap(), &check["todo"]);
        assert!(["ok", "warn", "fail"].contains(&state) && todo.is_null() == (state == "ok"), "{check}");
        assert!(!check["seen"].as_str().unwrap().is_empty(), "{check}");
    }
    let failed = checks.iter().any(|check| check["state"] == "fail");
    assert_eq!(output.status.code(), Some(i32::from(failed)));
    let text = String::from_utf8(doctor(&[]).stdout).unwrap();
    assert!(checks.iter().all(|check| text.contains(check["name"].as_str().unwrap())), "{text}");
}

#[test]
fn a_ticket_with_a_typing_error_is_refused_and_not_printed() {
    let output = doctor(&["afteryou1aaaaaaaaaaaaaaaa"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("the ticket") && !said.contains("aaaa"), "{said}");
}

fn ticket(identity: &Identity, addresses: &[SocketAddr]) -> String {
    let addresses = addresses.iter().map(|address| (*address).into()).collect();
    let ticket = Ticket {
        role: Role::Receive,
        fingerprint: identity.fingerprint(),
        secret: Secret::new([4; 16]),
        addresses,
    };
    ticket.to_line().unwrap()
}

#[test]
fn the_way_to_a_far_end_is_looked_at_and_the_address_that_is_silent_is_a_warning() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (identity, files) = (Identity::ephemeral().unwrap(), tempfile::tempdir().unwrap());
    let admission = Admission { role: Role::Receive, secret: Secret::new([4; 16]) };
    let limits = Limits::default();
    let mut config = tls::server(&identity, &[admission]).unwrap();
    limits.apply(&mut config);
    let _entered = runtime.enter();
    let socket =
        afteryou_quic::Socket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Dscp::DEFAULT).unwrap();
    let endpoint =
        afteryou_quic::endpoint(socket.clone(), quinn::EndpointConfig::default(), Some(config)).unwrap();
    let address = endpoint.local_addr().unwrap();
    let arrival = move |connection: &quinn::Connection| Arrival {
        tos: socket.tos_from(connection.remote_address()),
        ..Arrival::default()
    };
    let options = ListenOptions { arrival_of: Arc::new(arrival), ..ListenOptions::default() };
    let service = Service::Receive(Store::open(files.path(), StoreOptions::default()).unwrap());
    let (_end, shutdown) = tokio::sync::watch::channel(false);
    runtime.spawn(listen(Guard::new(endpoint, limits), service, options, shutdown));
    let hole = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();

    let began = Instant::now();
    let output = doctor(&["--json", &ticket(&identity, &[hole.local_addr().unwrap(), address])]);
    assert!(began.elapsed() < Duration::from_secs(10));
    let checks = checks(&output);
    assert_eq!(state(&checks, &format!("peer {}", hole.local_addr().unwrap())), "warn");
    assert_eq!(state(&checks, &format!("peer {address}")), "ok");
    assert_eq!(state(&checks, "path MTU"), "ok");
    if cfg!(target_os = "linux") {
        assert_eq!(
            (state(&checks, "DSCP at the peer"), state(&checks, "ECN at the peer")),
            ("ok", "ok"),
            "{checks:?}"
        );
    }
}

#[test]
fn a_ticket_may_lie_in_a_file_or_in_the_environment() {
    let (folder, hole) = (tempfile::tempdir().unwrap(), UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap());
    let ticket = ticket(&Identity::ephemeral().unwrap(), &[hole.local_addr().unwrap()]);
    let file = folder.path().join("ticket");
    std::fs::write(&file, &ticket).unwrap();
    let name = format!("peer {}", hole.local_addr().unwrap());
    assert_eq!(state(&checks(&doctor(&["--json", &format!("@{}", file.display())])), &name), "fail");
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    let output = command.args(["doctor", "--json"]).env("AFTERYOU_TICKET", &ticket).output().unwrap();
    assert_eq!(state(&checks(&output), &name), "fail");
}

#[test]
fn a_far_end_that_nobody_answers_for_is_a_failure_with_exit_code_1() {
    let hole = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let output = doctor(&[&ticket(&Identity::ephemeral().unwrap(), &[hole.local_addr().unwrap()])]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text.contains("no answer over UDP; the host is there")
            && text.contains("→ see that the peer is running"),
        "{text}"
    );
    assert!(String::from_utf8(output.stderr).unwrap().contains("1 check failed"));
}

/// Serves one request with these headers and four bytes, and returns the URL.
fn web_server(status: &'static str, headers: &'static str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let url = format!("http://{}/file", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).unwrap() > 0);
        write!(stream, "HTTP/1.1 {status}\r\n{headers}Content-Length: 4\r\n\r\nabcd").unwrap();
    });
    url
}

#[test]
fn a_web_server_is_looked_at() {
    let good = web_server(
        "206 Partial",
        "ETag: \"1\"\r\nContent-Range: bytes 0-3/4\r\nRepr-Digest: sha-256=:AAAA:\r\n",
    );
    let output = doctor(&["--json", &good]);
    let good = checks(&output);
    assert_eq!(["server", "resuming", "digest"].map(|name| state(&good, name)), ["ok"; 3], "{good:?}");
    if cfg!(target_os = "linux") {
        let download = good.iter().find(|check| check["name"] == "download").unwrap();
        assert!(download["seen"].as_str().unwrap().contains("within this machine"), "{good:?}");
    }
    let poor = checks(&doctor(&["--json", &web_server("200 OK", "")]));
    assert_eq!(["server", "resuming", "digest"].map(|name| state(&poor, name)), ["ok", "warn", "warn"]);
}

#[test]
fn a_web_server_that_refuses_is_a_failure_with_exit_code_1() {
    let output = doctor(&[&web_server("404 Not Found", "")]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("404 Not Found") && text.contains("→ check the URL"), "{text}");
    let other = doctor(&["ftp://me:secret@example.org/x"]);
    let said = String::from_utf8(other.stderr).unwrap();
    assert_eq!(other.status.code(), Some(2));
    assert!(said.contains("use http or https") && !said.contains("secret"), "{said}");
}
