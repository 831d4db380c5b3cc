//! What trees of small files and one large file cost, beside rsync and scp over ssh on the same machine.
//!
//! `cargo run --release --example beside_rsync -- [small] [large] [unchanged] [--files N] [--mb N] [--runs N] [--dir DIR]`
//!
//! - `small`: N files (10 000) of 1–20 kB to an empty directory, beside `rsync -a` and `rsync -a --fsync`.
//! - `large`: one file of N MB (1000), beside scp.
//! - `unchanged`: N files (100 000) of 1–20 kB that are there already, beside `rsync -a --checksum` and `rsync -a`.
//!
//! All go to 127.0.0.1 through an ssh server of its own, ours by `--via ssh` with CUBIC. CPU time is that of all processes
//! of both sides. The ways take turns; the first turn warms the page cache and does not count. rsync, ssh and sshd must be
//! installed. sshd runs as the user who starts this.

mod support;

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::signal::{kill, Signal};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use support::{median, noise, program, Result};

/// CPU time of ended children and of theirs, s.
fn of_children() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// An ssh server on the loopback, for one key.
struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    fn start(folder: &Path) -> Result<Self> {
        for name in ["host", "user"] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(name))
                .stdin(Stdio::null()))?;
        }
        std::fs::copy(folder.join("user.pub"), folder.join("authorized"))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let shown = folder.display();
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized\n\
             PidFile none\nStrictModes no\nPasswordAuthentication no\nUsePAM no\nLogLevel ERROR\n"
        );
        std::fs::write(folder.join("config"), config)?;
        if nix::unistd::geteuid().is_root() {
            // Its unprivileged part lives there; packages make the directory when the service starts.
            std::fs::create_dir_all("/run/sshd")?;
        }
        let mut sshd = Command::new(sshd()?);
        let child = sshd.args(["-D", "-e", "-f"]).arg(folder.join("config")).spawn()?;
        let server = Self { child, port, folder: folder.to_owned() };
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > patience {
                return Err("sshd does not listen".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The client with its options; to stand before a host.
    fn ssh(&self) -> String {
        let (port, shown) = (self.port, self.folder.display());
        format!(
            "ssh -p {port} -i {shown}/user -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
             -o LogLevel=ERROR -o BatchMode=yes -o Compression=no"
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It reaps its sessions, so their CPU time is ours after this.
        _ = i32::try_from(self.child.id()).map(|id| kill(Pid::from_raw(id), Signal::SIGTERM));
        _ = self.child.wait();
    }
}

fn sshd() -> Result<PathBuf> {
    let places = ["/usr/sbin/sshd", "/usr/bin/sshd", "/usr/local/sbin/sshd"];
    let found = places.map(PathBuf::from).into_iter().find(|path| path.exists());
    found.ok_or_else(|| "no sshd: install openssh-server".into())
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status().map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}").into()),
    }
}

/// One way to take what lies in `from` to `to`.
type Way = Box<dyn Fn(&Server, &Path, &Path) -> Result<()>>;

fn ours(options: &[&'static str]) -> Way {
    let options = options.to_vec();
    Box::new(move |server, from, to| {
        let (program, state) = (program()?, server.folder.join("state"));
        run(Command::new(&program)
            .args([
                "send",
                "--quiet",
                "--controller",
                "cubic",
                "--dscp",
                "default",
                "--ssh-command",
                &server.ssh(),
            ])
            .args(&options)
            .arg("--far-command")
            .arg(&program)
            .args(["--via", "ssh", &format!("127.0.0.1:{}", to.display())])
            .arg(from)
            .env("XDG_STATE_HOME", &state)
            .env("XDG_RUNTIME_DIR", &state)
            .env("XDG_CACHE_HOME", &state))
    })
}

fn rsync(options: &[&'static str]) -> Way {
    let options = options.to_vec();
    Box::new(move |server, from, to| {
        let place = format!("127.0.0.1:{}/", to.display());
        run(Command::new("rsync").args(&options).args(["-e", &server.ssh()]).arg(from).arg(place))
    })
}

fn scp() -> Way {
    Box::new(|server, from, to| {
        let place = format!("127.0.0.1:{}/", to.display());
        let ssh = server.ssh().replacen("ssh -p", "scp -q -P", 1);
        let mut words = ssh.split(' ');
        run(Command::new(words.next().unwrap_or("scp")).args(words).arg(from).arg(place))
    })
}

/// A tree of small files, a hundred in a directory.
fn make_tree(folder: &Path, files: usize) -> Result<()> {
    let content = noise(2, 100_000);
    let mut random = noise(1, files * 4).into_iter();
    let mut next = || u16::from_le_bytes([random.next().unwrap_or(0), random.next().unwrap_or(0)]);
    for file in 0..files {
        let directory = folder.join(format!("{:04}", file / 100));
        if file % 100 == 0 {
            std::fs::create_dir_all(&directory)?;
        }
        let (bytes, from) = (1_000 + usize::from(next()) % 19_000, usize::from(next()));
        std::fs::write(directory.join(format!("{file:06}.bin")), &content[from..from + bytes])?;
    }
    Ok(())
}

/// What is measured: ways, each with its name, and whether they begin with an empty directory.
struct Case {
    from: PathBuf,
    ways: Vec<(&'static str, Way)>,
    is_new: bool,
}

fn measure(name: &str, folder: &Path, case: &Case, runs: usize) -> Result<()> {
    let mut figures = vec![(Vec::new(), Vec::new()); case.ways.len()];
    for turn in 0..=runs {
        for ((_, way), (cpu, wall)) in case.ways.iter().zip(&mut figures) {
            let to = folder.join("to");
            if case.is_new {
                _ = std::fs::remove_dir_all(&to);
            }
            std::fs::create_dir_all(&to)?;
            nix::unistd::sync();
            let keys = tempfile::tempdir_in(folder)?;
            let (server, before) = (Server::start(keys.path())?, of_children()?);
            let started = Instant::now();
            way(&server, &case.from, &to)?;
            let took = started.elapsed().as_secs_f64();
            drop(server);
            if turn > 0 {
                cpu.push(of_children()? - before);
                wall.push(took);
            }
        }
    }
    println!("{name:<30} {:>8} {:>8} {:>10} {:>10}", "CPU s", "wall s", "ours: CPU", "ours: wall");
    let ours = (median(&figures[0].0), median(&figures[0].1));
    for ((way, _), (cpu, wall)) in case.ways.iter().zip(&figures) {
        let (cpu, wall) = (median(cpu), median(wall));
        println!("{way:<30} {cpu:>8.2} {wall:>8.2} {:>10.2} {:>10.2}", ours.0 / cpu, ours.1 / wall);
    }
    Ok(())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str, usual: usize| after(name).map_or(Ok(usual), |word| word.parse());
    let runs = number("--runs", 3)?;
    let base = after("--dir").map_or_else(std::env::temp_dir, PathBuf::from);
    let asked = |name: &str| words.iter().any(|word| word == name);
    let all = !["small", "large", "unchanged"].into_iter().any(asked);
    if all || asked("small") {
        let folder = tempfile::tempdir_in(&base)?;
        let (from, files) = (folder.path().join("from"), number("--files", 10_000)?);
        make_tree(&from, files)?;
        let ways = vec![
            ("ours", ours(&[])),
            ("rsync -a", rsync(&["-a"])),
            ("rsync -a --fsync", rsync(&["-a", "--fsync"])),
        ];
        measure(&format!("{files} small files"), folder.path(), &Case { from, ways, is_new: true }, runs)?;
    }
    if all || asked("large") {
        let folder = tempfile::tempdir_in(&base)?;
        let (from, megabytes) = (folder.path().join("file.bin"), number("--mb", 1000)?);
        std::fs::write(&from, noise(1, megabytes * 1_000_000))?;
        let ways = vec![("ours", ours(&[])), ("scp", scp())];
        measure(&format!("{megabytes} MB"), folder.path(), &Case { from, ways, is_new: true }, runs)?;
    }
    if all || asked("unchanged") {
        let folder = tempfile::tempdir_in(&base)?;
        let (from, files) = (folder.path().join("from"), number("--files", 100_000)?);
        make_tree(&from, files)?;
        let ways = vec![
            ("ours", ours(&[])),
            ("rsync -a --checksum", rsync(&["-a", "--checksum"])),
            ("rsync -a", rsync(&["-a"])),
        ];
        measure(
            &format!("{files} unchanged files"),
            folder.path(),
            &Case { from, ways, is_new: false },
            runs,
        )?;
    }
    Ok(())
}
