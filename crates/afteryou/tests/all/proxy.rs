//! `afteryou proxy` as people start it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
    command.args(words);
    command
}

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A proxy, and the lines that it printed until it said where it is.
struct Proxy {
    child: Child,
    address: String,
    lines: String,
}

impl Proxy {
    fn start(words: &[&str], folder: &Path) -> Proxy {
        let words = [&["proxy", "--listen", "127.0.0.1:0"][..], words].concat();
        Proxy::of(command(&words).env("AFTERYOU_CONTROL_DIR", folder))
    }

    fn of(command: &mut Command) -> Proxy {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let (mut lines, mut address) = (String::new(), String::new());
        let mut errors = BufReader::new(child.stderr.take().expect("piped"));
        while address.is_empty() {
            let mut line = String::new();
            assert!(errors.read_line(&mut line).expect("text") > 0, "{lines}");
            if let Some(rest) = line.split_once("proxy at ").map(|(_, rest)| rest) {
                address = rest.split(' ').next().unwrap_or_default().to_owned();
            }
            lines += &line;
        }
        child.stderr = Some(errors.into_inner());
        Proxy { child, address, lines }
    }

    fn answer(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ctl_shows_slows_and_ends_a_proxy() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut proxy = Proxy::start(&["--max-rate", "8Mbit/s"], folder.path());
    let ctl = |words: &[&str]| {
        let words = [&["ctl"], words].concat();
        said(&command(&words).env("AFTERYOU_CONTROL_DIR", folder.path()).output().expect("it runs"))
    };
    if cfg!(target_os = "linux") {
        let until = Instant::now() + Duration::from_secs(10);
        while !ctl(&[]).contains("0 of 2000 connections; no transfer at present") {
            assert!(Instant::now() < until, "{}", ctl(&[]));
        }
        let name = format!("{} proxy {}", proxy.child.id(), proxy.address);
        assert!(ctl(&[]).contains(&name), "{}", ctl(&[]));
        assert!(ctl(&["--json"]).contains(r#""max_rate":1000000"#));
        ctl(&["pause"]);
        assert!(ctl(&["--json"]).contains(r#""paused":true"#));
        ctl(&["stop"]);
        assert_eq!(proxy.child.wait().expect("it ends").code(), Some(0));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}

#[test]
fn a_signal_ends_a_proxy_with_code_0() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut proxy = Proxy::start(&[], folder.path());
    let pid = nix::unistd::Pid::from_raw(proxy.child.id() as i32);
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).expect("it runs");
    assert_eq!(proxy.child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn other_hosts_require_a_password_in_a_file_of_ones_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("password");
    let file_name = file.to_str().expect("text");
    let refused = |words: &[&str], why: &str| {
        let output = command(&[&["proxy"], words].concat()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(why), "{words:?}: {}", said(&output));
    };
    refused(&["--listen", "0.0.0.0:0"], "is reached by other hosts: give a file with NAME:PASSWORD");
    refused(&["--credentials", file_name], "there is no such file");
    std::fs::write(&file, "me:secret\n").expect("a file");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("a file");
    refused(&["--listen", "0.0.0.0:0", "--credentials", file_name], "other users can read it");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("a file");
    let proxy = Proxy::start(&["--credentials", file_name], folder.path());
    let answer = proxy.answer("GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
    let env = command(&["proxy", "--env", "--credentials", file_name]).output().expect("it runs");
    assert!(said(&env).contains("export https_proxy='http://me:secret@127.0.0.1:8118'\n"), "{}", said(&env));
    std::fs::write(&file, "nothing\n").expect("a file");
    refused(&["--credentials", file_name], "credentials are NAME:PASSWORD");
}

#[test]
fn a_shell_takes_the_variables_over_and_keeps_its_exceptions() {
    let own = env!("CARGO_BIN_EXE_afteryou");
    let script = format!("eval \"$('{own}' proxy --env --listen '[::1]:3128')\"; env");
    let output = Command::new("sh")
        .args(["-c", &script])
        .env_remove("no_proxy")
        .env("NO_PROXY", "it's.example")
        .output();
    let output = said(&output.expect("it runs"));
    for line in [
        "http_proxy=http://[::1]:3128",
        "HTTPS_PROXY=http://[::1]:3128",
        "no_proxy=it's.example,localhost,127.0.0.1,::1",
    ] {
        assert!(output.lines().any(|found| found == line), "{line}: {output}");
    }
}

#[test]
fn a_limit_of_open_files_is_raised_or_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = env!("CARGO_BIN_EXE_afteryou");
    let start = |limit: &str| {
        let script = format!("{limit}; exec '{own}' proxy --listen 127.0.0.1:0");
        Proxy::of(Command::new("sh").args(["-c", &script]).env("AFTERYOU_CONTROL_DIR", folder.path()))
    };
    let raised = start("ulimit -S -n 300");
    assert!(!raised.lines.contains("connections at most"), "{}", raised.lines);
    let said = start("ulimit -n 300");
    assert!(
        said.lines.contains("118 connections at most: this process may open 300 files"),
        "{}",
        said.lines
    );
}

#[cfg(target_os = "linux")]
mod steered {
    use super::*;
    use crate::run::namespace::{in_namespace, numbers};
    use std::thread;

    const SERVER: &str = "192.0.2.1:7000";

    /// Reads from the server through the proxy for a second, asks for its state, pauses it, and reads for a second more.
    fn through() {
        let until = Instant::now() + Duration::from_secs(10);
        let mut stream = loop {
            match TcpStream::connect("127.0.0.1:8118") {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < until, "{error}"),
            }
            thread::sleep(Duration::from_millis(20));
        };
        write!(stream, "CONNECT {SERVER} HTTP/1.1\r\n\r\n").expect("it reads");
        let mut read_for = |time: Duration| {
            let (began, mut bytes, mut buffer) = (Instant::now(), 0, vec![0; 1 << 20]);
            stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a socket");
            while began.elapsed() < time {
                bytes += stream.read(&mut buffer).unwrap_or(0);
            }
            bytes
        };
        let before = read_for(Duration::from_secs(1));
        println!("{}", said(&command(&["ctl"]).output().expect("it runs")));
        command(&["ctl", "pause"]).output().expect("it runs");
        read_for(Duration::from_millis(700));
        println!("before={before} after={}", read_for(Duration::from_secs(1)));
    }

    #[test]
    fn the_connections_of_a_proxy_to_other_hosts_are_steered() {
        const TEST: &str = "proxy::steered::the_connections_of_a_proxy_to_other_hosts_are_steered";
        match std::env::var("AFTERYOU_PART").as_deref() {
            Ok("through") => return through(),
            Ok(_) => {
                let listener = std::net::TcpListener::bind(SERVER).expect("an address");
                let (mut stream, _) = listener.accept().expect("a connection");
                while stream.write_all(&[0; 1 << 16]).is_ok() {}
                return;
            }
            Err(_) => {}
        }
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!(
            "export AFTERYOU_CONTROL_DIR='{}'\n'{}' proxy & proxy=$!\nPART serve & PART through; kill $proxy; wait $proxy",
            folder.path().display(),
            env!("CARGO_BIN_EXE_afteryou")
        );
        let Some(said) = in_namespace(TEST, &script) else { return };
        let (before, after) = (numbers(&said, "before"), numbers(&said, "after"));
        assert!(said.contains("1 of 2000 connections"), "{said}");
        assert!(before[0] > 1e6 && after[0] < before[0] / 20.0, "{said}");
    }
}
