//! Starting the peer over ssh: with a program in its place, and with a real one where there is a server.

#![cfg(unix)]

use afteryou_transfer::identity::Identity;
use afteryou_transfer::ssh::{SshError, Via};
use afteryou_transfer::ticket::{Address, Role, Secret, Ticket};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn ticket(role: Role) -> Ticket {
    let fingerprint = Identity::ephemeral().unwrap().fingerprint();
    let addresses = vec![Address::parse("192.0.2.1:4711", 0).unwrap()];
    Ticket { role, fingerprint, secret: Secret::new([5; 16]), addresses }
}

/// Writes a program that writes its arguments into `said` and then does `body`; with `-G` it answers as ssh does.
fn fake_ssh(directory: &TempDir, body: &str) -> PathBuf {
    let said = directory.path().join("said");
    let script = format!(
        "#!/bin/sh\nif [ \"$1\" = -G ]; then printf 'user me\\nhostname far.example.org\\nport 22\\n'; exit 0; fi\n\
         for word in \"$@\"; do printf '%s\\n' \"$word\"; done > '{}'\n{body}\n",
        said.display()
    );
    program(&directory.path().join("ssh"), &script)
}

fn program(path: &Path, script: &str) -> PathBuf {
    fs::write(path, script).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_owned()
}

fn via(place: &str, ssh: &Path) -> Via {
    let mut via = Via::parse(place).unwrap();
    via.ssh = vec![ssh.into()];
    via.ticket_timeout = Duration::from_secs(10);
    via
}

#[tokio::test]
async fn the_ticket_is_found_behind_what_start_up_files_print_and_ssh_names_the_host() {
    let directory = TempDir::new().unwrap();
    let line = ticket(Role::Receive).to_line().unwrap();
    let ssh = fake_ssh(&directory, &format!("echo 'Welcome to far!'; echo; echo {line}; cat > /dev/null"));
    let far = via("me@far:a 'b'", &ssh).start(Role::Receive).await.unwrap();
    let addresses: Vec<_> = far.ticket().addresses.iter().map(Address::to_string).collect();
    assert_eq!(addresses, ["far.example.org:4711", "192.0.2.1:4711"]);
    let said = fs::read_to_string(directory.path().join("said")).unwrap();
    let expected = "--\nme@far\nafteryou receive --once --ticket-only -- 'a '\\''b'\\'''\n";
    assert_eq!(said, expected);
    assert!(far.finish().await.unwrap().unwrap().success());
}

#[tokio::test]
async fn the_ticket_is_found_wherever_it_begins_in_the_output() {
    let directory = TempDir::new().unwrap();
    let line = ticket(Role::Receive).to_line().unwrap();
    let other = ticket(Role::Serve).to_line().unwrap();
    for before in [
        r"\033]0;me@host\007",
        r"\033[2J\033[H",
        "welcome to afteryou1 ",
        "afteryou: hello; afteryou1x afteryou",
        r"one\ntwo ",
        r"\377\376",
        r"motd\r",
        &format!("{other} "),
        &"no newline for long; ".repeat(1000),
    ] {
        let ssh = fake_ssh(&directory, &format!("printf '{before}'; echo {line}; cat > /dev/null"));
        let far = via("far", &ssh).start(Role::Receive).await;
        assert_eq!(far.expect(before).ticket().fingerprint, line.parse::<Ticket>().unwrap().fingerprint);
    }
    let cut = &line[..line.len() - 1];
    let ssh = fake_ssh(&directory, &format!("printf 'title'; echo {cut}; cat > /dev/null"));
    assert!(matches!(via("far", &ssh).start(Role::Receive).await, Err(SshError::Ticket { .. })));
}

#[tokio::test]
async fn the_far_end_ends_with_us_and_is_ended_if_it_does_not() {
    let directory = TempDir::new().unwrap();
    let line = ticket(Role::Serve).to_line().unwrap();
    let goodbye = directory.path().join("goodbye");
    let ssh = fake_ssh(&directory, &format!("echo {line}; cat > /dev/null; touch '{}'", goodbye.display()));
    let far = via("far", &ssh).start(Role::Serve).await.unwrap();
    assert!(!goodbye.exists());
    far.finish().await.unwrap();
    assert!(goodbye.exists());

    let stubborn = fake_ssh(&directory, &format!("echo {line}; exec sleep 60"));
    let far = via("far", &stubborn).start(Role::Serve).await.unwrap();
    let began = Instant::now();
    assert_eq!(far.finish().await.unwrap(), None);
    assert!(began.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn the_end_of_the_ssh_connection_is_noticed() {
    let directory = TempDir::new().unwrap();
    let line = ticket(Role::Serve).to_line().unwrap();
    let ssh = fake_ssh(&directory, &format!("echo {line}; sleep 0.3; exit 255"));
    let mut far = via("far", &ssh).start(Role::Serve).await.unwrap();
    assert_eq!(far.ended().await.unwrap().code(), Some(255));
}

#[tokio::test]
async fn each_way_of_failing_has_its_sentence() {
    let directory = TempDir::new().unwrap();
    let run = |body: &'static str| {
        let mut via = via("far", &fake_ssh(&directory, body));
        via.ticket_timeout = Duration::from_millis(500);
        async move { via.start(Role::Receive).await.unwrap_err() }
    };
    let missing = run("exit 127").await;
    assert!(
        matches!(missing, SshError::NotInstalled { .. }) && missing.to_string().contains("install it there"),
        "{missing}"
    );
    assert!(matches!(run("exit 255").await, SshError::NoConnection { .. }));
    let ended = run("echo 'no such directory' >&2; exit 2").await;
    assert!(matches!(ended, SshError::Ended { .. }) && ended.to_string().contains('2'), "{ended}");
    assert!(matches!(run("exec sleep 30").await, SshError::NoTicket { .. }));
    assert!(matches!(run("exec yes").await, SshError::NoTicket { .. }));
    assert!(matches!(run("echo afteryou1abc; cat").await, SshError::Ticket { .. }));
    let mut nothing = via("far", Path::new("/nonexistent/ssh"));
    assert!(matches!(nothing.start(Role::Receive).await, Err(SshError::NoSsh { .. })));
    nothing.ssh.clear();
    assert!(matches!(nothing.start(Role::Receive).await, Err(SshError::NoSsh { .. })));
}

#[tokio::test]
async fn a_ticket_for_the_other_role_is_not_taken() {
    let directory = TempDir::new().unwrap();
    let (wrong, right) = (ticket(Role::Serve).to_line().unwrap(), ticket(Role::Receive).to_line().unwrap());
    let ssh = fake_ssh(&directory, &format!("echo {wrong}; echo {right}; cat"));
    let far = via("far", &ssh).start(Role::Receive).await.unwrap();
    assert_eq!(far.ticket().role, Role::Receive);
}

#[tokio::test]
async fn the_command_survives_a_real_shell() {
    // Stands in for sshd: gives the command to a shell, whose `afteryou` writes down its last argument.
    let directory = TempDir::new().unwrap();
    let line = ticket(Role::Receive).to_line().unwrap();
    let seen = directory.path().join("seen");
    program(
        &directory.path().join("afteryou"),
        &format!(
            "#!/bin/sh\nshift 4\nprintf %s \"$1\" > '{}'\necho {line}\ncat >/dev/null\n",
            seen.display()
        ),
    );
    let path = format!("PATH='{}':\"$PATH\"", directory.path().display());
    let ssh = fake_ssh(&directory, &format!("{path} exec sh -c \"$3\""));
    for name in [
        "plain",
        "with space",
        "$(touch pwned)`id`",
        "quote'quote\"",
        "--help",
        "a\\b;c&d|e>f*?~#!",
        "ünïcode",
    ] {
        let far = via(&format!("far:{name}"), &ssh).start(Role::Receive).await.unwrap();
        far.finish().await.unwrap();
        assert_eq!(fs::read_to_string(&seen).unwrap(), name);
    }
}

#[tokio::test]
async fn a_real_ssh_server_starts_the_far_end() {
    let Some(sshd) = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd"]
        .into_iter()
        .find(|path| Path::new(path).exists())
    else {
        println!("SKIPPED: no sshd on this machine");
        return;
    };
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    for key in ["host_key", "user_key"] {
        let made = std::process::Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-f"])
            .arg(at(key))
            .status();
        if !made.is_ok_and(|status| status.success()) {
            println!("SKIPPED: no ssh-keygen on this machine");
            return;
        }
    }
    fs::copy(at("user_key.pub"), at("authorized")).unwrap();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let config = format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n",
        at("host_key").display(),
        at("authorized").display()
    );
    fs::write(at("sshd_config"), config).unwrap();
    let mut server = tokio::process::Command::new(sshd)
        .args(["-D", "-e", "-f"])
        .arg(at("sshd_config"))
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    for _ in 0..100 {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    if let Ok(Some(status)) = server.try_wait() {
        println!("SKIPPED: sshd does not run here ({status})");
        return;
    }
    let line = ticket(Role::Receive).to_line().unwrap();
    let far = program(&at("far command"), &format!("#!/bin/sh\necho {line}\ncat > /dev/null\n"));
    let mut via = Via::parse("127.0.0.1:some where").unwrap();
    let options = [
        "-F",
        "none",
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-p",
    ];
    via.ssh = ["ssh"].into_iter().chain(options).map(OsString::from).collect();
    via.ssh.extend([port.to_string().into(), "-i".into(), at("user_key").into_os_string()]);
    via.far_command = far.to_str().unwrap().to_owned();
    let started = via.start(Role::Receive).await.unwrap();
    assert_eq!(started.ticket().addresses[0].to_string(), "127.0.0.1:4711");
    assert!(started.finish().await.unwrap().unwrap().success());
    via.far_command = "no-such-program".into();
    assert!(matches!(via.start(Role::Receive).await, Err(SshError::NotInstalled { .. })));
}
