//! Starting the peer over the system's ssh: `--via ssh HOST[:DIR]`.
//!
//! # Model
//! We run `ssh -- HOST afteryou receive --once --ticket-only -- DIR` (or `serve`). The peer makes an identity in memory
//! and prints a ticket. We read it from ssh's output and dial its addresses, after the host name that ssh itself uses
//! (`ssh -G HOST`), which is the one address known to work for something. The data never passes through ssh.
//!
//! The peer lives as long as its standard input is open: it ends when the job is done, when we end, or when the ssh connection dies
//! ([`parent_gone`] is its side of that).
//!
//! # Why no second certificate crosses
//! ssh has authenticated both sides and encrypts, so the ticket's secret is as safe on that channel as a certificate would be. The client's key is
//! derived from the secret, which only these two processes ever held and which dies with them: pinning it is pinning a
//! certificate made for this one job. Sending one the other way would add a message and prove nothing more.
//!
//! # Constants
//! [`TICKET_TIMEOUT`] two minutes: ssh may be asking for a password meanwhile. `MAX_BANNER_BYTES` of other output (what a shell's
//! start-up files print) are skipped before the ticket, which may begin anywhere in a line: the escape that sets a window's title ends
//! without a newline.
//!
//! # Known limits
//! UDP must pass between the two machines; a jump host does not forward it. The remote shell must understand single quotes as POSIX shells,
//! fish and csh do; a directory whose name has control characters is refused. A leading `~/` is the directory where ssh
//! begins, the home.

use crate::ticket::{Address, Role, Ticket, TicketError};
use std::ffi::OsString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use thiserror::Error;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;

/// Until the ticket must be there.
pub const TICKET_TIMEOUT: Duration = Duration::from_secs(120);

/// Output before the ticket.
const MAX_BANNER_BYTES: u64 = 64 * 1024;

/// Characters of a word behind others that must be a ticket. The shortest has a hundred.
const LIKE_A_TICKET: usize = 40;

/// For `ssh -G`, which asks nobody.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(10);

/// For the peer to end by itself.
const FAREWELL: Duration = Duration::from_secs(5);

/// Errors before there is a ticket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SshError {
    /// Not `HOST[:DIR]`.
    #[error("\"{0}\" is no place for ssh: give HOST, USER@HOST or HOST:DIR")]
    Place(String),
    /// No such program.
    #[error("cannot run {program}: {source}; install an ssh client, or name one with --ssh-command")]
    NoSsh {
        /// The command.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Exit code 127 of the remote shell.
    #[error("{host} has no afteryou in the path that ssh gives its commands: install it there, or give its path with --far-command")]
    NotInstalled {
        /// Where.
        host: String,
    },
    /// Exit code 255 of ssh.
    #[error("ssh could not connect to {host}: see its output above; try \"ssh {host} true\"")]
    NoConnection {
        /// Where.
        host: String,
    },
    /// It ended.
    #[error("the peer on {host} ended before it gave a ticket ({status}): see its output above")]
    Ended {
        /// Where.
        host: String,
        /// How.
        status: ExitStatus,
    },
    /// It prints something, but no ticket.
    #[error("the peer on {host} gave no ticket {after}: run the same afteryou on both sides, and keep its shell's start-up files quiet")]
    NoTicket {
        /// Where.
        host: String,
        /// How long or how much was waited for.
        after: String,
    },
    /// A line that begins like one.
    #[error("the peer on {host} gave a ticket that cannot be read: {source}")]
    Ticket {
        /// Where.
        host: String,
        /// Why.
        source: TicketError,
    },
    /// Pipes.
    #[error("lost the connection to ssh: {0}")]
    Io(#[from] std::io::Error),
}

/// How to start a peer.
#[derive(Clone, Debug)]
pub struct Via {
    host: String,
    directory: String,
    /// The ssh program and arguments before the host: `["ssh"]`, or `["ssh", "-p", "2222"]`.
    pub ssh: Vec<OsString>,
    /// The program on the far side, as its shell finds it.
    pub far_command: String,
    /// Further options of the far side: what it allows.
    pub far_options: Vec<String>,
    /// How long to wait for the ticket.
    pub ticket_timeout: Duration,
}

impl Via {
    /// Reads `HOST`, `USER@HOST`, `HOST:DIR` or `[V6]:DIR`.
    ///
    /// # Errors
    /// [`SshError::Place`] if there is no host, or it has characters that no host has: none becomes an option of ssh.
    pub fn parse(place: &str) -> Result<Via, SshError> {
        let wrong = || SshError::Place(place.escape_debug().to_string());
        let (host, directory) = split(place).ok_or_else(wrong)?;
        let is_host = |c: char| c.is_ascii_alphanumeric() || "._-@:%".contains(c);
        if host.is_empty()
            || host.starts_with('-')
            || !host.chars().all(is_host)
            || directory.chars().any(char::is_control)
        {
            return Err(wrong());
        }
        let directory = match directory {
            "" | "~" => ".",
            other => other.strip_prefix("~/").filter(|rest| !rest.is_empty()).unwrap_or(other),
        };
        Ok(Via {
            host: host.to_owned(),
            directory: directory.to_owned(),
            ssh: vec!["ssh".into()],
            far_command: "afteryou".into(),
            far_options: Vec::new(),
            ticket_timeout: TICKET_TIMEOUT,
        })
    }

    /// Returns the command line for the remote shell.
    pub fn remote_command(&self, role: Role) -> String {
        let directory = quoted(&self.directory);
        let options: String = self.far_options.iter().map(|option| format!(" {}", quoted(option))).collect();
        format!("{} {role} --once --ticket-only{options} -- {directory}", quoted(&self.far_command))
    }

    /// Starts the peer and waits for its ticket.
    ///
    /// # Errors
    /// No ssh, no connection, or no afteryou there. A peer that ends before it gives a ticket, or gives none in time or an unreadable one.
    pub async fn start(&self, role: Role) -> Result<FarEnd, SshError> {
        let mut child = self
            .command()?
            .args(["--", &self.host, &self.remote_command(role)])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| self.no_ssh(source))?;
        let (stdin, Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(SshError::Io(std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut output = BufReader::new(stdout);
        let found = timeout(self.ticket_timeout, self.find_ticket(&mut output, role)).await;
        let mut ticket = match found {
            Err(_) => return Err(self.no_ticket(format!("within {} s", self.ticket_timeout.as_secs()))),
            Ok(Found::Ticket(ticket)) => ticket?,
            Ok(Found::TooMuch) => {
                return Err(self.no_ticket(format!("in {MAX_BANNER_BYTES} bytes of output")))
            }
            Ok(Found::End) => return Err(self.ended(&mut child).await?),
        };
        if let Some(address) = self.own_address(&ticket).await {
            ticket.addresses.retain(|known| *known != address);
            ticket.addresses.insert(0, address);
        }
        // What it may still print must not fill the pipe and stop it.
        tokio::spawn(async move { tokio::io::copy(&mut output, &mut tokio::io::sink()).await });
        Ok(FarEnd { child, stdin, ticket })
    }

    fn command(&self) -> Result<Command, SshError> {
        let (program, arguments) =
            self.ssh.split_first().ok_or_else(|| self.no_ssh(std::io::ErrorKind::NotFound.into()))?;
        let mut command = Command::new(program);
        command.args(arguments);
        Ok(command)
    }

    async fn find_ticket(&self, output: &mut (impl AsyncBufRead + Unpin), role: Role) -> Found {
        let mut output = output.take(MAX_BANNER_BYTES);
        let mut line = Vec::new();
        loop {
            line.clear();
            match output.read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) if output.limit() == 0 => return Found::TooMuch,
                Ok(0) | Err(_) => return Found::End,
                Ok(_) => {}
            }
            if let Some(found) = ticket_in(&String::from_utf8_lossy(&line), role) {
                let unreadable = |source| SshError::Ticket { host: self.host.clone(), source };
                return Found::Ticket(found.map_err(unreadable));
            }
        }
    }

    /// Returns the host as ssh's configuration has it, with the ticket's port.
    async fn own_address(&self, ticket: &Ticket) -> Option<Address> {
        let port = ticket.addresses.first()?.port;
        let asked = self
            .command()
            .ok()?
            .args(["-G", "--", &self.host])
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = timeout(LOOKUP_TIMEOUT, asked).await.ok()?.ok()?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let name = output.lines().find_map(|line| line.strip_prefix("hostname "))?;
        Address::parse(name.trim(), port).ok()
    }

    async fn ended(&self, child: &mut Child) -> Result<SshError, SshError> {
        let status = child.wait().await?;
        let host = self.host.clone();
        Ok(match status.code() {
            Some(127) => SshError::NotInstalled { host },
            Some(255) => SshError::NoConnection { host },
            _ => SshError::Ended { host, status },
        })
    }

    fn no_ssh(&self, source: std::io::Error) -> SshError {
        let program =
            self.ssh.first().map(|program| program.to_string_lossy().into_owned()).unwrap_or_default();
        SshError::NoSsh { program, source }
    }

    fn no_ticket(&self, after: String) -> SshError {
        SshError::NoTicket { host: self.host.clone(), after }
    }
}

enum Found {
    Ticket(Result<Ticket, SshError>),
    TooMuch,
    End,
}

/// Returns the ticket of this role in a line, wherever it begins. Without one it is the reason for which something that must
/// be one cannot be read.
fn ticket_in(line: &str, role: Role) -> Option<Result<Ticket, TicketError>> {
    let line = line.trim();
    let mut unreadable = None;
    for at in line.to_ascii_lowercase().match_indices(Ticket::PREFIX).map(|(at, _)| at) {
        let rest = &line[at..];
        let word = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len())];
        match word.parse::<Ticket>() {
            Ok(ticket) if ticket.role == role => return Some(Ok(ticket)),
            Ok(_) | Err(TicketError::NotATicket) => {}
            // A shell may greet with the name of the program.
            Err(error) if at == 0 || word.len() >= LIKE_A_TICKET => unreadable = Some(Err(error)),
            Err(_) => {}
        }
    }
    unreadable
}

fn split(place: &str) -> Option<(&str, &str)> {
    let (user, rest) = match place.split_once("@[") {
        Some((user, _)) => (user.len() + 1, &place[user.len() + 1..]),
        None => (0, place),
    };
    if let Some(inner) = rest.strip_prefix('[') {
        // ssh takes the bare address, with a user before it as well; `-l` would be needed otherwise, so only the form without.
        let (host, rest) = inner.split_once(']')?;
        let directory = if rest.is_empty() { "" } else { rest.strip_prefix(':')? };
        return (user == 0).then_some((host, directory));
    }
    Some(place.split_once(':').unwrap_or((place, "")))
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// A peer that runs as long as this value lives.
#[derive(Debug)]
pub struct FarEnd {
    child: Child,
    stdin: Option<ChildStdin>,
    ticket: Ticket,
}

impl FarEnd {
    /// Returns the peer's ticket, with ssh's own idea of the host first.
    pub fn ticket(&self) -> &Ticket {
        &self.ticket
    }

    /// Returns when the peer or the ssh connection has ended.
    ///
    /// # Errors
    /// The system cannot wait for the process.
    pub async fn ended(&mut self) -> Result<ExitStatus, SshError> {
        Ok(self.child.wait().await?)
    }

    /// Lets the peer go, and ends it if it does not. Its exit status, if it went by itself.
    ///
    /// # Errors
    /// The system cannot wait for the process or end it.
    pub async fn finish(mut self) -> Result<Option<ExitStatus>, SshError> {
        drop(self.stdin.take());
        match timeout(FAREWELL, self.child.wait()).await {
            Ok(status) => Ok(Some(status?)),
            Err(_) => {
                self.child.kill().await?;
                Ok(None)
            }
        }
    }
}

/// Waits, in the process that ssh started, until the starting side is gone, that is, for the end of `input` (its standard
/// input).
pub async fn parent_gone(mut input: impl AsyncRead + Unpin) {
    let mut buffer = [0; 256];
    while input.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_split_as_scp_splits_them() {
        let read = |place: &str| {
            Via::parse(place).map(|via| (via.host, via.directory)).map_err(|error| error.to_string())
        };
        let is = |host: &str, directory: &str| Ok((host.to_owned(), directory.to_owned()));
        assert_eq!(read("host"), is("host", "."));
        assert_eq!(read("me@host:"), is("me@host", "."));
        assert_eq!(read("host:a/b c"), is("host", "a/b c"));
        assert_eq!(read("host:/srv/x:y"), is("host", "/srv/x:y"));
        assert_eq!(read("host:~/x"), is("host", "x"));
        assert_eq!(read("host:~"), is("host", "."));
        assert_eq!(read("[2001:db8::1]:/srv"), is("2001:db8::1", "/srv"));
        for wrong in [
            "",
            ":dir",
            "-oProxyCommand=x",
            "-oProxyCommand=x:dir",
            "a b",
            "host;id",
            "host:a\nb",
            "[2001:db8::1",
            "$(id)",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn nothing_in_a_directory_reaches_the_remote_shell_unquoted() {
        let command =
            |directory: &str| Via::parse(&format!("host:{directory}")).unwrap().remote_command(Role::Receive);
        assert_eq!(command("backup"), "afteryou receive --once --ticket-only -- backup");
        assert_eq!(command("a b"), "afteryou receive --once --ticket-only -- 'a b'");
        assert_eq!(
            command("'; rm -rf $HOME `id` #"),
            r"afteryou receive --once --ticket-only -- ''\''; rm -rf $HOME `id` #'"
        );
        assert_eq!(command("--help"), "afteryou receive --once --ticket-only -- --help");
    }
}
