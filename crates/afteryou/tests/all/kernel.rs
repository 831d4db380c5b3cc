//! `afteryou kernel` as people call it.

#[cfg(not(all(feature = "kernel", target_os = "linux", target_endian = "little")))]
#[test]
fn a_build_without_the_kernel_part_reports_that_in_one_sentence() {
    for words in [&["load"][..], &["load", "--allow-users"], &["status"], &["status", "--json"], &["unload"]]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_afteryou"));
        let output = command.arg("kernel").args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("afteryou: this build has no kernel part; "), "{said}");
        assert!(said.contains("--features kernel") && said.lines().count() == 1, "{said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    }
}

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
mod loaded {
    use nix::fcntl::{Flock, FlockArg};
    use rustix::net::{sockopt, AddressFamily, SocketType};
    use serde_json::Value;
    use std::fs::File;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::process::{Child, ChildStdout, Command, Stdio};
    use std::time::Duration;

    /// A shell in a mount namespace where bpffs is not mounted: with it go the pins, whatever happens.
    struct Shell {
        child: Child,
        lines: BufReader<ChildStdout>,
        /// One test at a time loads controllers, of all processes' tests.
        _turn: Flock<File>,
    }

    impl Shell {
        /// Starts a script whose first command loads the controllers; `None`: they cannot be loaded, as is printed.
        fn start(script: &str) -> Option<Shell> {
            let file = File::create(std::env::temp_dir().join("afteryou-kernel.lock")).unwrap();
            let turn = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error).unwrap();
            let program = env!("CARGO_BIN_EXE_afteryou");
            let whole = format!(
                "exec 2>&1; while umount -l /sys/fs/bpf 2>/dev/null; do :; done\n\
                 kernel() {{ '{program}' kernel \"$@\"; }}\n{script}"
            );
            let mut command = Command::new("unshare");
            command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", &whole]);
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).env("AFTERYOU", program);
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap());
            let mut first = String::new();
            lines.read_line(&mut first).unwrap();
            if first.starts_with("loaded for ") {
                return Some(Shell { child, lines, _turn: turn });
            }
            let output = child.wait_with_output().unwrap();
            let reason = first + &String::from_utf8_lossy(&output.stderr);
            let is_known =
                ["not permitted", "run as root", "use Linux", "BTF"].iter().any(|word| reason.contains(word));
            assert!(is_known, "{reason}");
            println!("SKIPPED: controllers in the kernel: {reason}");
            None
        }

        /// Lets the script's `read` continue and returns what it prints to its end.
        fn rest(mut self) -> String {
            self.child.stdin.take().unwrap().write_all(b"\n").unwrap();
            let mut text = String::new();
            self.lines.read_to_string(&mut text).unwrap();
            self.child.wait().unwrap();
            text
        }
    }

    /// Connects within this machine with a controller, and moves some bytes.
    fn connection(controller: &str) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let SocketAddr::V4(address) = listener.local_addr().unwrap() else { panic!("IPv4") };
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
        sockopt::set_tcp_congestion(&socket, controller).unwrap();
        rustix::net::connect(&socket, &address).unwrap();
        let (mut sender, mut receiver) = (TcpStream::from(socket), listener.accept().unwrap().0);
        sender.write_all(&[0; 20_000]).unwrap();
        receiver.read_exact(&mut [0; 20_000]).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        (sender, receiver)
    }

    #[test]
    fn controllers_stay_after_load_are_seen_by_status_and_go_with_unload() {
        let script = "kernel load && read go && kernel status --json && echo --- && kernel status && echo ---
                      kernel load; kernel unload; kernel unload; kernel status";
        let Some(shell) = Shell::start(script) else { return };
        let (mut sender, mut receiver) = connection("ay_ledbatpp");
        let text = shell.rest();
        let parts: Vec<&str> = text.split("---\n").collect();
        let report: Value = serde_json::from_str(parts[0]).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(report["controllers"].as_array().unwrap().len(), 4, "{text}");
        assert!(report["unread"].is_null() && report["object"].is_string(), "{text}");
        let address = sender.local_addr().unwrap().to_string();
        let rows = report["connections"].as_array().unwrap();
        let row = rows.iter().find(|row| row["local"] == *address).expect("the connection");
        assert!(row["base_ms"].as_f64().unwrap() > 0.0 && row["queue_ms"].is_number(), "{row}");
        assert!(row["phase"] == "slow start" && row["controller"] == "ay_ledbatpp", "{row}");
        assert!(parts[1].contains(&address) && parts[1].contains("slow start"), "{text}");
        let lines: Vec<&str> = parts[2].lines().collect();
        assert!(lines[0].contains("loaded already; run `afteryou kernel unload` first"), "{text}");
        assert_eq!(lines[1], "unloaded; 1 connection keeps its controller to its end", "{text}");
        assert!(lines[2].starts_with("afteryou: no controllers are pinned"), "{text}");
        assert!(lines[3].ends_with("; no controllers of afteryou are loaded"), "{text}");
        sender.write_all(&[0; 20_000]).unwrap();
        receiver.read_exact(&mut [0; 20_000]).unwrap();
    }

    #[test]
    fn a_default_keeps_the_controllers_loaded_and_routes_that_choose_are_listed() {
        let inside = "ip link set lo up && ip route add 192.0.2.0/24 dev lo congctl ay_fledbat
                      echo ay_ledbat >/proc/sys/net/ipv4/tcp_congestion_control
                      \"$AFTERYOU\" kernel status; \"$AFTERYOU\" kernel unload";
        let script =
            format!("kernel load --allow-users && read go; unshare --net sh -c \"{inside}\"; kernel unload");
        let Some(shell) = Shell::start(&script) else { return };
        let text = shell.rest();
        assert!(text.contains("ay_fledbat   chosen by every user"), "{text}");
        assert!(text.contains("default of this network namespace: ay_ledbat\n"), "{text}");
        assert!(text.contains("route to 192.0.2.0/24 (table 254): ay_fledbat\n"), "{text}");
        assert!(text.contains("afteryou: ay_ledbat is the default of new connections"), "{text}");
        assert!(text.contains("\nunloaded"), "{text}");
    }
}
