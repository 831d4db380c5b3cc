//! `afteryou send` and `afteryou get`: the sides that connect.

use super::choice::{Choice, Keeping, Mirroring};
use super::common::{Common, Symlinks};
use super::target::{looks_like_host, looks_like_ticket, repeated, Target};
use super::urls::UrlArgs;
use super::EXIT_CODES;
use crate::pipes::STANDARD;
use afteryou_notation::Duration;
use afteryou_terminal::failure::reason;
use afteryou_terminal::Failure;
use afteryou_transfer::ticket::Role;
use afteryou_transfer::wire::Wishes;
use clap::{Args, ValueHint};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Arguments of `afteryou send`.
#[derive(Args, Clone, Debug)]
#[command(
    override_usage = "afteryou send [OPTIONS] PATH... TICKET\n       afteryou send [OPTIONS] PATH... HOST:[DIR]",
    after_help = SEND_HELP,
    after_long_help = format!("{SEND_HELP}\n\n{EXIT_CODES}")
)]
pub struct SendArgs {
    /// Files and directories, and the ticket that `afteryou receive` printed (or @FILE, a file that holds it)
    #[arg(value_name = "PATH... TICKET", value_hint = ValueHint::AnyPath)]
    pub words: Vec<OsString>,

    /// Choose how symbolic links are handled. `follow` may leave PATH: the target of a link is sent wherever it is
    #[arg(long, value_enum, default_value = "keep", env = "AFTERYOU_SYMLINKS", hide_env_values = true)]
    pub symlinks: Symlinks,

    /// Name of the file that standard input becomes, with - as the PATH
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// The choice of files.
    #[command(flatten)]
    pub choice: Choice,

    /// The treatment of existing files.
    #[command(flatten)]
    pub mirroring: Mirroring,

    /// Further attributes.
    #[command(flatten)]
    pub keeping: Keeping,

    /// Options of the connection.
    #[command(flatten)]
    pub dialing: Dialing,

    /// Options of every job.
    #[command(flatten)]
    pub common: Common,
}

/// Arguments of `afteryou get`.
#[derive(Args, Clone, Debug)]
#[command(
    override_usage = "afteryou get [OPTIONS] TICKET[/PATH] [DIR]\n       afteryou get [OPTIONS] HOST:PATH [DIR]\n       \
                      afteryou get [OPTIONS] URL... [DIR | -o FILE]",
    after_help = GET_HELP,
    after_long_help = format!("{GET_HELP}\n\n{EXIT_CODES}")
)]
pub struct GetArgs {
    /// The ticket that `afteryou serve` printed (or @FILE, a file that holds it), optionally with /PATH for
    /// a part of its files, or URLs of http and https; then the directory to put them in, by default this one
    #[arg(value_name = "TICKET[/PATH] | URL...] [DIR", num_args = 0.., value_hint = ValueHint::DirPath)]
    pub words: Vec<OsString>,

    /// Options of downloads.
    #[command(flatten)]
    pub urls: UrlArgs,

    /// The choice of files.
    #[command(flatten)]
    pub choice: Choice,

    /// The treatment of existing files.
    #[command(flatten)]
    pub mirroring: Mirroring,

    /// Further attributes.
    #[command(flatten)]
    pub keeping: Keeping,

    /// Options of the connection.
    #[command(flatten)]
    pub dialing: Dialing,

    /// Options of every job.
    #[command(flatten)]
    pub common: Common,
}

/// Options of the connection.
#[derive(Args, Clone, Debug)]
pub struct Dialing {
    /// Start afteryou on HOST over ssh, as scp does, instead of using a ticket; HOST:DIR in the ticket's place does the same
    #[arg(long, num_args = 2, value_names = ["ssh", "HOST[:DIR]"])]
    pub via: Option<Vec<String>>,

    /// The ssh program of --via, with its arguments: "ssh -p 2222"
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "ssh",
        env = "AFTERYOU_SSH_COMMAND",
        hide_env_values = true
    )]
    pub ssh_command: String,

    /// Command that --via runs as afteryou on the other machine
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "afteryou",
        env = "AFTERYOU_FAR_COMMAND",
        hide_env_values = true
    )]
    pub far_command: String,

    /// The ticket, or @FILE, a file that holds it; neither AFTERYOU_TICKET nor a file shows in `ps`
    #[arg(long, env = "AFTERYOU_TICKET", hide_env_values = true)]
    pub ticket: Option<String>,

    /// Number of connections of this job; together they use no more than one would
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = clap::value_parser!(u8).range(1..=64),
        env = "AFTERYOU_CONNECTIONS",
        hide_env_values = true
    )]
    pub connections: u8,

    /// Fail after this time without a connection; by default try indefinitely
    #[arg(long, value_name = "TIME", env = "AFTERYOU_GIVE_UP_AFTER", hide_env_values = true)]
    pub give_up_after: Option<Duration>,
}

const SEND_HELP: &str = "\
Examples:
  afteryou send photos backup.tar TICKET
  afteryou send photos --exclude '*.tmp' --exclude /photos/cache/ --dry-run TICKET
  tar c etc | afteryou send - --name etc.tar TICKET
  afteryou send photos @ticket.txt               not seen in `ps`
  AFTERYOU_TICKET=... afteryou send photos       nor is this
  afteryou send photos me@host:archive           over ssh, no ticket needed
  afteryou send photos --max-rate \"08:00,512k 19:00,off\" @ticket.txt

It yields to everything else on the path. Interrupt it whenever you like: the same command continues from there.
While it runs: `afteryou ctl`.";

const GET_HELP: &str = "\
Examples:
  afteryou get TICKET                     everything that is served, into this directory
  afteryou get TICKET/photos/2026 album   a part of it, into album
  afteryou get TICKET/etc.tar - | tar x    a file, to standard output
  afteryou get @ticket.txt                not seen in `ps`
  afteryou get me@host:photos             over ssh, no ticket needed
  afteryou get https://example.org/disk.iso --sha256 HEX

The machine that sends yields to everything else on the path. Interrupt it whenever you like: the same command continues from there.
A web server does not yield: there, the exit code 0 means whole, on the disk, and checked if a digest is known.
While it runs: `afteryou ctl`.";

impl SendArgs {
    /// Returns the paths to send, which exist, and the target.
    ///
    /// # Errors
    /// A target that is no ticket and no host, or both at once, nothing to send, and a path that does not exist.
    pub fn paths_and_target(&self) -> Result<(Vec<PathBuf>, Target), Failure> {
        let mut words = self.words.clone();
        let target = match self.dialing.ssh()? {
            Some(place) => {
                self.refuse_ticket_beside_ssh(words.last())?;
                self.over_ssh(place)?
            }
            None => match self.host(&mut words) {
                Some(place) => self.over_ssh(&place.to_string_lossy())?,
                None => self.ticket(&mut words)?,
            },
        };
        if words.is_empty() {
            return Err(Failure::usage(
                "there is nothing to send: name files or directories before the ticket",
            ));
        }
        let paths: Vec<PathBuf> = words.into_iter().map(PathBuf::from).collect();
        paths.iter().filter(|path| !is_standard(path)).try_for_each(|path| exists(path))?;
        self.check_name(paths.iter().filter(|path| is_standard(path)).count())?;
        Ok((paths, target))
    }

    /// Checks that standard input is named: it has no name of its own.
    fn check_name(&self, inputs: usize) -> Result<(), Failure> {
        match (&self.name, inputs) {
            (None, 0) => Ok(()),
            (Some(_), 0) => Err(Failure::usage("--name is for standard input: write - as the PATH")),
            (None, _) => Err(Failure::usage(
                "standard input has no name: add --name x.tar, or ./- for a file of that name",
            )),
            (Some(name), 1)
                if !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '\\', '\0']) =>
            {
                Ok(())
            }
            (Some(name), 1) => {
                Err(Failure::usage(format!("--name: {name:?} is not one name without slashes")))
            }
            _ => Err(Failure::usage("standard input can be sent once: name one -")),
        }
    }

    /// Returns the last word, if it is a host and no ticket was given.
    fn host(&self, words: &mut Vec<OsString>) -> Option<OsString> {
        match self.dialing.ticket {
            Some(_) => None,
            None => words.pop_if(|word| looks_like_host(word)),
        }
    }

    fn over_ssh(&self, place: &str) -> Result<Target, Failure> {
        let target = self.dialing.named(Target::ssh_directory(place)?);
        let links = self.wishes().links_as_is.then_some(OsStr::new("--allow-links"));
        let options = self.mirroring.far_options().into_iter().chain(links).chain(self.keeping.far_options());
        Ok(target.with_far_options(options.collect()))
    }

    /// Returns the requests to the receiver beyond storing.
    pub fn wishes(&self) -> Wishes {
        let links_as_is = self.symlinks == Symlinks::CopyAsIs;
        Wishes { links_as_is, keep: self.keeping.keep(), ..self.mirroring.wishes() }
    }

    /// Returns the ticket: the last word, or that of --ticket or the environment.
    fn ticket(&self, words: &mut Vec<OsString>) -> Result<Target, Failure> {
        if let Some(word) = words.pop_if(|word| looks_like_ticket(word)) {
            return Target::ticket(&word, Role::Receive);
        }
        if let Some(ticket) = &self.dialing.ticket {
            return Target::ticket(ticket.as_ref(), Role::Receive);
        }
        match words.last() {
            None => Err(Failure::usage(
                "say what to send and where: afteryou send PATH... TICKET, with the ticket that `afteryou receive` \
                 printed",
            )),
            Some(word) if std::fs::symlink_metadata(word).is_ok() => Err(Failure::usage(format!(
                "{} is a path, and the last word should be a ticket: `afteryou receive` on the other machine prints one",
                repeated(word)
            ))),
            Some(word) => Err(Failure::usage(format!(
                "{} is neither a ticket nor a file: the last word should be the ticket that `afteryou receive` printed, or \
                 @FILE",
                repeated(word)
            ))),
        }
    }

    fn refuse_ticket_beside_ssh(&self, last: Option<&OsString>) -> Result<(), Failure> {
        match last.is_some_and(|word| looks_like_ticket(word)) {
            true => Err(Failure::usage("--via and a ticket: use one of them")),
            false => Ok(()),
        }
    }
}

impl GetArgs {
    /// Returns the treatment of existing files, and the attributes to keep.
    pub fn wishes(&self) -> Wishes {
        Wishes { keep: self.keeping.keep(), ..self.mirroring.wishes() }
    }

    /// Returns the files to get, their source, and the directory for them.
    ///
    /// # Errors
    /// A source that is no ticket and no host, or both at once. A word too many, and a directory that does not suit what is got.
    pub fn target_and_directory(&self) -> Result<(Target, PathBuf), Failure> {
        let mut words = self.words.iter().peekable();
        let target = match self.dialing.ssh()? {
            Some(place) => self.dialing.named(Target::ssh_path(place)?),
            None => match words.next_if(|word| looks_like_host(word)) {
                Some(place) => self.dialing.named(Target::ssh_path(&place.to_string_lossy())?),
                None => self.ticket(&mut words)?,
            },
        };
        let directory = words.next().map_or(Path::new("."), Path::new);
        if looks_like_ticket(directory.as_os_str()) {
            return Err(Failure::usage(
                "a ticket where a directory is expected: use one ticket, and none with --via",
            ));
        }
        match words.next() {
            Some(extra) => {
                Err(Failure::usage(format!("{} is one word too many: name one directory", repeated(extra))))
            }
            None => {
                self.check_output(directory, &target)?;
                Ok((target, directory.to_owned()))
            }
        }
    }

    /// Checks that one file is asked for if it goes to standard output, where nothing else may be printed.
    fn check_output(&self, directory: &Path, target: &Target) -> Result<(), Failure> {
        let (Target::Ticket { path, .. } | Target::Ssh { path, .. }) = target;
        match is_standard(directory) {
            false => Ok(()),
            true if path.is_empty() => {
                Err(Failure::usage("- is standard output: name one file, TICKET/FILE -"))
            }
            true if self.common.json => {
                Err(Failure::usage("--json prints on standard output: use it without -"))
            }
            true if self.wishes() != Wishes::default() => Err(Failure::usage(
                "standard output is no directory: leave out --delete, --update and the like",
            )),
            true => Ok(()),
        }
    }

    /// Returns the ticket: the first word, or that of --ticket or the environment.
    fn ticket<'a>(&self, words: &mut impl Iterator<Item = &'a OsString>) -> Result<Target, Failure> {
        let first = self.words.first();
        if let (Some(ticket), false) =
            (&self.dialing.ticket, first.is_some_and(|word| looks_like_ticket(word)))
        {
            return Target::ticket(ticket.as_ref(), Role::Serve);
        }
        match words.next() {
            Some(word) => Target::ticket(word, Role::Serve),
            None => Err(Failure::usage(
                "name what to get: afteryou get TICKET[/PATH], with the ticket that `afteryou serve` printed",
            )),
        }
    }
}

impl Dialing {
    /// Returns the rest of the value of --via after its kind.
    fn ssh(&self) -> Result<Option<&str>, Failure> {
        match self.via.as_deref() {
            None => Ok(None),
            Some([how, place]) if how == "ssh" => Ok(Some(place)),
            Some(words) => {
                let how = words.first().map_or("", String::as_str);
                Err(Failure::usage(format!("--via: there is no way \"{how}\": write --via ssh HOST[:DIR]")))
            }
        }
    }

    /// Returns the target with the programs that the user names.
    fn named(&self, target: Target) -> Target {
        let Target::Ssh { mut via, path } = target else { return target };
        if !self.ssh_command.is_empty() {
            via.ssh = self.ssh_command.split_whitespace().map(OsString::from).collect();
        }
        via.far_command.clone_from(&self.far_command);
        Target::Ssh { via, path }
    }
}

/// Returns whether the path means standard input or output, and no file.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

fn exists(path: &Path) -> Result<(), Failure> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(()),
        Err(error) => {
            let path = repeated(path.as_os_str());
            Err(Failure::usage(format!("cannot read {path}: {}", reason(&error))))
        }
    }
}
