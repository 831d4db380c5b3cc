//! The target of a job: a ticket as a word, in a file or in the environment, or a host of ssh.

use afteryou_terminal::failure::reason;
use afteryou_terminal::redact;
use afteryou_terminal::Failure;
use afteryou_transfer::ssh::Via;
use afteryou_transfer::ticket::{Role, Ticket, TicketError};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;

/// The prefix of tickets.
const PREFIX: &str = "afteryou1";

/// Longest file that is read for a ticket, bytes. A ticket has some hundred.
const LONGEST: u64 = 64 * 1024;

/// The peer of a job.
#[derive(Clone, Debug)]
pub enum Target {
    /// A ticket's contents.
    Ticket {
        /// The ticket.
        ticket: Ticket,
        /// The text after a slash: the path below the served directory.
        path: String,
    },
    /// A host of ssh.
    Ssh {
        /// The host and its directory.
        via: Via,
        /// The path to get from there; empty is all of it.
        path: String,
    },
}

/// Returns whether `word` is a ticket, or the name of a file with one, rather than a path.
pub fn looks_like_ticket(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    let text = bare(&text);
    // Mailers and phones change small letters to capital ones.
    let is_ticket = text.get(..PREFIX.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(PREFIX));
    is_ticket || (text.starts_with('@') && text.len() > 1)
}

/// Returns whether `word` is HOST:DIR, as for scp and rsync. A file of that name needs ./ before it. A word with a ticket in it is none: ssh's
/// arguments can be seen by all users.
pub fn looks_like_host(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    if has_ticket(&text) {
        return false;
    }
    let after_brackets = text.find(']').map_or(0, |at| at + 1);
    let Some(colon) = text[after_brackets..].find(':').map(|at| after_brackets + at) else { return false };
    // A drive.
    let is_drive = cfg!(windows) && colon == 1;
    colon > 0 && !is_drive && !text[..colon].contains('/') && std::fs::symlink_metadata(word).is_err()
}

fn has_ticket(text: &str) -> bool {
    matches!(redact(text), Cow::Owned(_))
}

/// Returns the text without the blanks, quotes and marks that come along when a word is copied.
fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '\u{feff}')
    })
}

/// Returns `word` as a message may repeat it: not if there is a ticket in it, which is a secret.
pub fn repeated(word: &OsStr) -> String {
    match word.to_string_lossy().to_ascii_lowercase().contains(PREFIX) {
        true => "a word with a ticket in it".to_owned(),
        false => format!("{word:?}"),
    }
}

/// Reads a ticket of either role, with what follows a slash; or @FILE with that in it.
///
/// # Errors
/// A word that is no ticket, a ticket cut off or with a typing error, and a file that cannot be read.
pub fn read_ticket(word: &OsStr) -> Result<(Ticket, String), Failure> {
    let text = word.to_string_lossy();
    let text = match bare(&text).strip_prefix('@') {
        Some(file) => read_file(file)?,
        None => bare(&text).to_owned(),
    };
    let (ticket, path) = Ticket::with_path(&text).map_err(|error| match std::fs::symlink_metadata(word) {
        Ok(_) => Failure::usage(format!(
            "{} is a path where a ticket is expected: the other machine prints one",
            repeated(word)
        )),
        // The word is not repeated: it might be a secret with a slip in it.
        Err(_) => Failure::usage(error),
    })?;
    Ok((ticket, path.unwrap_or_default().to_owned()))
}

impl Target {
    /// Reads a ticket for what a `role` does, a ticket with a path behind a slash, or @FILE with either in it.
    ///
    /// # Errors
    /// As [`read_ticket`], a ticket of the other role, and one for sending with a path behind it.
    pub fn ticket(word: &OsStr, role: Role) -> Result<Target, Failure> {
        let (ticket, path) = read_ticket(word)?;
        match (role, ticket.role) {
            (Role::Receive, Role::Serve) => Err(Failure::usage(
                "this ticket is from `afteryou serve`: use it with `afteryou get`, or run `afteryou receive` there",
            )),
            (Role::Serve, Role::Receive) => Err(Failure::usage(
                "this ticket is from `afteryou receive`: use it with `afteryou send`, or run `afteryou serve` there",
            )),
            // Only the receiver decides where files go.
            (Role::Receive, Role::Receive) if !path.trim_matches('/').is_empty() => Err(Failure::usage(format!(
                "what is sent arrives in the directory of `afteryou receive`, not in {path:?} below it: leave that out \
                 behind the ticket, or run `afteryou receive` there for that directory",
            ))),
            _ => Ok(Target::Ticket { ticket, path }),
        }
    }

    /// Returns the same target, with options for the peer that ssh starts.
    pub fn with_far_options(self, options: Vec<&'static OsStr>) -> Target {
        let Target::Ssh { mut via, path } = self else { return self };
        via.far_options = options.into_iter().filter_map(OsStr::to_str).map(str::to_owned).collect();
        Target::Ssh { via, path }
    }

    /// Returns the directory at HOST\[:DIR\] that things are sent to.
    ///
    /// # Errors
    /// A place that is no host, and a ticket in its stead.
    pub fn ssh_directory(place: &str) -> Result<Target, Failure> {
        Ok(Target::Ssh { via: via(place)?, path: String::new() })
    }

    /// Returns the path of HOST:PATH, from the directory that it is in, so that it arrives under its own name as with scp.
    ///
    /// # Errors
    /// A host without a path, a place that is no host, and a ticket in its stead.
    pub fn ssh_path(place: &str) -> Result<Target, Failure> {
        // An address of IPv6 has colons, too, in brackets.
        let after_brackets = place.find(']').map_or(0, |at| at + 1);
        let (host, path) = match place[after_brackets..].find(':') {
            Some(at) => (&place[..after_brackets + at], &place[after_brackets + at + 1..]),
            None => (place, ""),
        };
        if path.is_empty() {
            return Err(Failure::usage(format!("--via: name what to get: write --via ssh {host}:PATH")));
        }
        let path = path.trim_end_matches('/');
        let (directory, name) = match path.rsplit_once('/') {
            Some(("", name)) => ("/", name),
            Some((directory, name)) => (directory, name),
            None => (".", path),
        };
        match name {
            // These have no name of their own.
            "" | "." | ".." | "~" => Target::ssh_directory(place),
            _ => Ok(Target::Ssh { via: via(&format!("{host}:{directory}"))?, path: name.to_owned() }),
        }
    }
}

fn via(place: &str) -> Result<Via, Failure> {
    if has_ticket(place) {
        return Err(Failure::usage(
            "a ticket where a host is expected: use the ticket alone, without --via and :DIR",
        ));
    }
    Via::parse(place).map_err(|error| Failure::usage(format!("--via: {error}")))
}

/// Returns the first line of the file, and the next ones as far as the ticket in it is broken off.
fn read_file(name: &str) -> Result<String, Failure> {
    let refused = |error: std::io::Error| {
        Failure::usage(format!("cannot read the ticket in {name:?}: {}", reason(&error)))
    };
    let mut content = Vec::new();
    let file = File::open(name).map_err(refused)?;
    file.take(LONGEST).read_to_end(&mut content).map_err(refused)?;
    let text = text(&content);
    let mut lines = text.lines().map(bare).filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return Err(Failure::usage(format!("there is no ticket in {name:?}: the file is empty")));
    };
    let mut line = first.to_owned();
    while let Err(TicketError::CutOff { .. }) = Ticket::with_path(&line) {
        let Some(next) = lines.next() else { break };
        line.push_str(next);
    }
    Ok(line)
}

/// Returns the text of a file as editors and shells write it: UTF-8, or UTF-16 with a byte order mark.
fn text(content: &[u8]) -> String {
    let units = |content: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = content.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match content {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(content).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::tests::line;

    fn read(text: &str) -> Result<String, Failure> {
        match Target::ticket(text.as_ref(), Role::Serve)? {
            Target::Ticket { path, .. } => Ok(path),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_path_may_stand_behind_a_ticket() {
        let ticket = line(Role::Serve);
        assert_eq!(read(&ticket).unwrap(), "");
        assert_eq!(read(&format!("{ticket}/photos/2026")).unwrap(), "photos/2026");
    }

    #[test]
    fn a_ticket_may_lie_in_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ticket");
        let from_file = |text: &str| {
            std::fs::write(&file, text).unwrap();
            read(&format!("@{}", file.display()))
        };
        let ticket = line(Role::Serve);
        assert_eq!(from_file(&format!("\n  {ticket}/x  \nsomething else")).unwrap(), "x");
        assert!(from_file("  \n").unwrap_err().to_string().ends_with("the file is empty"));
        let error = read("@/no/such/file").unwrap_err();
        assert_eq!(error.to_string(), "cannot read the ticket in \"/no/such/file\": there is no such file");
    }

    #[test]
    fn a_ticket_is_read_however_it_was_pasted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ticket");
        let ticket = line(Role::Serve);
        let path = format!("{ticket}/a b");
        let (one, two) = ticket.split_at(40);
        let wrapped = [
            format!("{one}\n{two}/a b\nsomething else\n"),
            format!("{one}\r\n  {two}/a b\r\n"),
            format!("\u{feff}{path}\n"),
            path.clone(),
        ];
        let mut contents: Vec<Vec<u8>> = wrapped.iter().map(|text| text.clone().into_bytes()).collect();
        for text in wrapped.iter().filter(|text| !text.starts_with('\u{feff}')) {
            let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
            contents.push(units().flat_map(u16::to_le_bytes).collect());
            contents.push(units().flat_map(u16::to_be_bytes).collect());
        }
        for content in contents {
            std::fs::write(&file, &content).unwrap();
            assert_eq!(read(&format!("@{}", file.display())).unwrap(), "a b", "{content:?}");
        }
        for word in
            [format!("{one}\n{two}"), format!("\u{feff}{ticket}"), format!("{one} \u{200b}{two}\u{2060}")]
        {
            assert!(looks_like_ticket(word.as_ref()) && read(&word).is_ok(), "{word:?}");
        }
    }

    #[test]
    fn a_ticket_is_never_handed_to_ssh() {
        let ticket = line(Role::Serve);
        for word in [
            format!("{ticket}:dir"),
            format!("me@{ticket}:dir"),
            format!("host:{ticket}"),
            format!("host:a/{}/b", ticket.to_uppercase()),
        ] {
            assert!(!looks_like_host(word.as_ref()), "{word}");
            for refused in [Target::ssh_directory(&word), Target::ssh_path(&format!("{word}/x"))] {
                let error = refused.unwrap_err();
                assert_eq!(error.code(), 2);
                assert!(error.to_string().starts_with("a ticket where a host is expected"), "{error}");
            }
        }
    }

    #[test]
    fn blanks_and_quotes_around_a_ticket_do_no_harm() {
        let ticket = line(Role::Serve);
        for word in [format!("  {ticket} \n"), format!("\"{ticket}/x\""), format!("„{ticket}“")] {
            assert!(looks_like_ticket(word.as_ref()) && read(&word).is_ok(), "{word}");
        }
    }

    #[test]
    fn what_is_no_ticket_is_not_repeated() {
        let error = read("aftreyou1secret").unwrap_err().to_string();
        assert!(error.starts_with("this is no ticket") && !error.contains("secret"), "{error}");
        let error = read("/").unwrap_err().to_string();
        assert!(error.starts_with("\"/\" is a path where a ticket is expected"), "{error}");
    }

    #[test]
    fn a_ticket_for_the_other_direction_is_explained() {
        let error = read(&line(Role::Receive)).unwrap_err();
        assert_eq!(error.code(), 2);
        assert!(error.to_string().contains("use it with `afteryou send`"), "{error}");
    }

    #[test]
    fn where_things_arrive_is_not_the_senders_to_say() {
        let ticket = line(Role::Receive);
        let send = |text: &str| Target::ticket(text.as_ref(), Role::Receive);
        assert!(send(&ticket).is_ok() && send(&format!("{ticket}/")).is_ok());
        for path in ["sub", "/sub", "a/b/"] {
            let error = send(&format!("{ticket}/{path}")).unwrap_err();
            let said = error.to_string();
            assert_eq!(error.code(), 2);
            assert!(said.contains(&format!("not in {path:?} below it: leave that out")), "{said}");
        }
    }

    #[test]
    fn a_host_with_a_directory_is_told_from_a_path() {
        for host in ["host:dir", "me@host:", "me@host:a/b", "[2001:db8::1]:a", "host:/srv"] {
            assert!(looks_like_host(host.as_ref()), "{host}");
        }
        for path in ["dir", "./host:dir", "a/host:dir", "/a:b", ":a", "2026-01-01"] {
            assert!(!looks_like_host(path.as_ref()), "{path}");
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a:b");
        std::fs::write(&file, "").unwrap();
        assert!(!looks_like_host(file.as_os_str()));
    }

    #[test]
    fn what_is_got_over_ssh_keeps_its_name() {
        let split = |place: &str| match Target::ssh_path(place).unwrap() {
            Target::Ssh { via, path } => (via.remote_command(Role::Serve), path),
            other => panic!("{other:?}"),
        };
        for (place, directory, path) in [
            ("host:photos", ".", "photos"),
            ("me@host:a/b c", "a", "b c"),
            ("host:/srv/", "/", "srv"),
            ("host:/", "/", ""),
            ("host:..", "..", ""),
            ("[2001:db8::1]:a/b", "a", "b"),
        ] {
            let (command, name) = split(place);
            assert!(command.ends_with(&format!(" -- {directory}")), "{place}: {command}");
            assert_eq!(name, path, "{place}");
        }
        for place in ["host", "host:", "[2001:db8::1]"] {
            assert!(Target::ssh_path(place).unwrap_err().to_string().contains("name what to get"), "{place}");
        }
        assert!(Target::ssh_directory("-oProxyCommand=x").is_err());
    }
}
