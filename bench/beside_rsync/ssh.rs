//! An ssh server of our own, and the ways through it.

use super::support::{program, Result};
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::signal::{kill, Signal};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the CPU time of ended children and of theirs, s.
pub fn of_children() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// An ssh server on the loopback, for one key. The home directory of its commands is empty. A shell reads start files there,
/// which may cost more than a small transfer, and scp's end, a part of the server, has no shell.
pub struct Server {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Server {
    pub fn start(folder: &Path) -> Result<Self> {
        for name in ["host", "user"] {
            run(Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f"])
                .arg(folder.join(name))
                .stdin(Stdio::null()))?;
        }
        std::fs::copy(folder.join("user.pub"), folder.join("authorized"))?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let shown = folder.display();
        std::fs::create_dir_all(folder.join("home"))?;
        let config = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {shown}/host\nAuthorizedKeysFile {shown}/authorized\n\
             PidFile none\nStrictModes no\nPasswordAuthentication no\nUsePAM no\nLogLevel QUIET\n\
             SetEnv HOME={shown}/home\nSubsystem sftp internal-sftp\n"
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

    /// Returns a folder for what `afteryou` keeps. It goes with the server.
    pub fn state(&self) -> PathBuf {
        self.folder.join("state")
    }

    /// Returns the port at which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the client with its options; to be followed by a host.
    fn ssh(&self) -> String {
        self.ssh_to(self.port)
    }

    /// Returns the client with its options by way of another port.
    pub fn ssh_to(&self, port: u16) -> String {
        let shown = self.folder.display();
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

pub fn run(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status().map_err(|error| format!("{command:?}: {error}"))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{command:?}: {status}").into()),
    }
}

/// One way to take what is in `from` to `to`.
pub type Way = Box<dyn Fn(&Server, &Path, &Path) -> Result<()>>;

/// Returns `afteryou send`, of which every run is the first.
pub fn ours(options: &[&'static str]) -> Way {
    ours_in(None, options)
}

/// Returns `afteryou send`, which keeps in this folder what later runs of it use.
pub fn ours_again(state: PathBuf, options: &[&'static str]) -> Way {
    ours_in(Some(state), options)
}

fn ours_in(state: Option<PathBuf>, options: &[&'static str]) -> Way {
    let options = options.to_vec();
    Box::new(move |server, from, to| {
        let state = state.clone().unwrap_or_else(|| server.state());
        send((&server.ssh(), &program()?), &state, &options, from, to)
    })
}

/// Runs `afteryou send` by way of this ssh client and this command at the other end.
pub fn send((ssh, far): (&str, &Path), state: &Path, options: &[&str], from: &Path, to: &Path) -> Result<()> {
    run(Command::new(program()?)
        .args(["send", "--quiet", "--controller", "cubic", "--dscp", "default", "--ssh-command", ssh])
        .args(options)
        .arg("--far-command")
        .arg(far)
        .args(["--via", "ssh", &format!("127.0.0.1:{}", to.display())])
        .arg(from)
        .env("XDG_STATE_HOME", state)
        .env("XDG_RUNTIME_DIR", state)
        .env("XDG_CACHE_HOME", state))
}

/// Returns `rsync`.
pub fn rsync(options: &[&'static str]) -> Way {
    let options = options.to_vec();
    Box::new(move |server, from, to| sync(&server.ssh(), &options, from, to))
}

/// Runs `rsync` by way of this ssh client.
pub fn sync(ssh: &str, options: &[&str], from: &Path, to: &Path) -> Result<()> {
    let place = format!("127.0.0.1:{}/", to.display());
    run(Command::new("rsync").args(options).args(["-e", ssh]).arg(from).arg(place))
}

/// Returns `scp`.
pub fn scp() -> Way {
    Box::new(|server, from, to| {
        let place = format!("127.0.0.1:{}/", to.display());
        let ssh = server.ssh().replacen("ssh -p", "scp -q -P", 1);
        let mut words = ssh.split(' ');
        run(Command::new(words.next().unwrap_or("scp")).args(words).arg(from).arg(place))
    })
}
