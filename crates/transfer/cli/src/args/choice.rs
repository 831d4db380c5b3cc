//! Which files a job is about, and what it does with what is there.

use crate::args::repeated;
use afteryou_terminal::failure::reason;
use afteryou_terminal::Failure;
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::extras::{Keep, Naming};
use afteryou_transfer::filter::{Filter, Patterns};
use afteryou_transfer::wire::{MaxDelete, Wishes};
use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum, ValueHint};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

const EXCLUDE: &str = "AFTERYOU_EXCLUDE";
const INCLUDE: &str = "AFTERYOU_INCLUDE";

/// Options that choose files.
#[derive(Args, Clone, Debug, Default)]
pub struct Choice {
    /// Leave out files and directories that match, in the syntax of .gitignore; may be repeated
    ///
    /// A name matches in any directory; a pattern with a slash begins where the job does: /photos/raw, *.tmp, cache/, a/**/b.
    /// The last pattern that matches decides. As with `git ls-files -x`, # and a blank at the end are part of the pattern.
    /// In the variable each line is a pattern.
    #[arg(
        long,
        value_name = "PATTERN",
        env = EXCLUDE,
        hide_env_values = true
    )]
    pub exclude: Vec<OsString>,

    /// Include files again that --exclude leaves out; may be repeated. A file below an excluded directory stays excluded
    #[arg(
        long,
        value_name = "PATTERN",
        env = INCLUDE,
        hide_env_values = true
    )]
    pub include: Vec<OsString>,

    /// Read patterns of --exclude from this file, one per line, before the others; !PATTERN includes again, # is a comment
    ///
    /// The file is parsed as git parses a .gitignore: \# is a pattern that begins with #, and blanks at the end count after a
    /// backslash only.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        env = "AFTERYOU_EXCLUDE_FROM",
        hide_env_values = true
    )]
    pub exclude_from: Vec<PathBuf>,
}

impl Choice {
    /// Returns the patterns in the order in which they apply. Those of files need not match anything.
    ///
    /// # Errors
    /// A file that cannot be read, or too many patterns.
    pub fn filter(&self) -> Result<Filter, Failure> {
        let mut patterns = Patterns::default();
        for file in &self.exclude_from {
            let text = std::fs::read(file).map_err(|error| {
                let file = repeated(file.as_os_str());
                Failure::usage(format!("--exclude-from: cannot read {file}: {}", reason(&error)))
            })?;
            patterns.read(&text);
        }
        let from_files = patterns.count();
        each(&self.exclude, EXCLUDE).for_each(|pattern| patterns.push(pattern));
        each(&self.include, INCLUDE).for_each(|pattern| patterns.push(&[b"!", pattern].concat()));
        Filter::new(patterns, from_files).map_err(Failure::usage)
    }
}

/// Returns the given options, one by one. A variable has one in a line.
fn each<'a>(given: &'a [OsString], variable: &str) -> impl Iterator<Item = &'a [u8]> {
    let is_variable = given.len() == 1 && std::env::var_os(variable).as_ref() == given.first();
    given.iter().flat_map(move |one| {
        let lines = one.as_encoded_bytes().split(move |&byte| is_variable && byte == b'\n');
        lines.filter(move |line| !(is_variable && line.is_empty()))
    })
}

/// The treatment of existing files.
#[derive(Args, Clone, Debug, Default)]
pub struct Mirroring {
    /// Change nothing; print the files that would be stored, replaced and deleted
    #[arg(long, short = 'n', env = "AFTERYOU_DRY_RUN", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub dry_run: bool,

    /// Skip files that are newer at the receiver
    #[arg(long, short = 'u', env = "AFTERYOU_UPDATE", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub update: bool,

    /// Treat files with the same size and modification time as unchanged, without reading them
    ///
    /// Weaker than the default, which compares contents: a change that keeps size and time goes unnoticed, and so does
    /// damage at the receiver. Sent files are verified as always.
    #[arg(long, env = "AFTERYOU_QUICK", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub quick: bool,

    /// Read every file at the source, instead of using hashes cached by earlier runs
    ///
    /// Earlier runs cache the hash of a file until its size, modification time, change time or inode differs. --verify
    /// also finds damage of the disk, which changes none of these. The receiver reads its files in any case.
    #[arg(
        long,
        conflicts_with = "quick",
        env = "AFTERYOU_VERIFY",
        hide_env_values = true,
        value_parser = BoolishValueParser::new()
    )]
    pub verify: bool,

    /// Afterwards delete files on the receiver that the source no longer has, in the sent directories
    ///
    /// Excluded files stay. If anything failed or was left out, nothing is deleted. A receiver must allow it: `receive
    /// --allow-delete`. --dry-run prints the list.
    #[arg(long, env = "AFTERYOU_DELETE", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub delete: bool,

    /// Like --delete, even if a directory of the source is empty
    ///
    /// A disk that is not mounted looks like an empty directory. Without this option such a job stores everything, deletes nothing and
    /// ends with exit code 3.
    #[arg(long, env = "AFTERYOU_DELETE_ALL", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub delete_all: bool,

    /// Delete nothing if --delete would delete more entries than this: a number, or a percentage of the copy (10%)
    ///
    /// Over the limit the job stores everything, deletes nothing and ends with exit code 3. A percentage refers to the entries
    /// that the copy had before the job.
    #[arg(long, value_name = "N|N%", env = "AFTERYOU_MAX_DELETE", hide_env_values = true)]
    pub max_delete: Option<MaxDelete>,

    /// Keep replaced and deleted files in this directory below the receiving one
    ///
    /// A receiver must allow it: `receive --allow-backup`.
    #[arg(long, value_name = "DIR", env = "AFTERYOU_BACKUP_DIR", hide_env_values = true)]
    pub backup_dir: Option<String>,
}

/// Attributes that travel beside mode and time.
#[derive(Args, Clone, Debug, Default)]
pub struct Keeping {
    /// Keep owners and groups, by name or by number; the receiver must run as root
    ///
    /// A name that the receiver does not have counts as its number. A receiver must allow it: `receive --allow-owner`.
    #[arg(
        long,
        value_name = "names|numbers",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "names",
        env = "AFTERYOU_OWNER",
        hide_env_values = true
    )]
    pub owner: Option<Owner>,

    /// Keep extended attributes whose names begin with `user.`
    ///
    /// A receiver must allow it: `receive --allow-xattrs`.
    #[arg(long, env = "AFTERYOU_XATTRS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub xattrs: bool,

    /// Keep POSIX access lists; users and groups in them are numbers
    ///
    /// A receiver must allow it: `receive --allow-acls`.
    #[arg(long, env = "AFTERYOU_ACLS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub acls: bool,
}

/// The identity of an account on another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Owner {
    /// The name, if the receiver has it.
    Names,
    /// The numeric id.
    Numbers,
}

impl Keeping {
    /// Returns the options as a request.
    pub fn keep(&self) -> Keep {
        let naming = |owner| match owner {
            Owner::Names => Naming::Names,
            Owner::Numbers => Naming::Numbers,
        };
        Keep { owner: self.owner.map(naming), xattrs: self.xattrs, acls: self.acls }
    }

    /// Returns the options of the `receive` that ssh starts.
    pub fn far_options(&self) -> Vec<&'static OsStr> {
        let options = [
            (self.owner.is_some(), "--allow-owner"),
            (self.xattrs, "--allow-xattrs"),
            (self.acls, "--allow-acls"),
        ];
        options.into_iter().filter(|(asked, _)| *asked).map(|(_, option)| OsStr::new(option)).collect()
    }
}

impl Mirroring {
    fn deletes(&self) -> bool {
        self.delete || self.delete_all
    }

    /// Returns the options as a request to the receiver.
    pub fn wishes(&self) -> Wishes {
        let backup = self.backup_dir.as_deref().map(|dir| dir.trim_end_matches('/').trim_start_matches("./"));
        Wishes {
            dry_run: self.dry_run,
            update: self.update,
            delete: self.deletes(),
            links_as_is: false,
            backup: backup.map(|dir| EntryPath(dir.as_bytes().to_vec())),
            keep: Keep::default(),
            delete_all: self.delete_all,
            max_delete: self.max_delete.filter(|_| self.deletes()),
        }
    }

    /// Returns the options of the `receive` that ssh starts. It allows what the job needs: the user of that account may do
    /// all of it anyway.
    pub fn far_options(&self) -> Vec<&'static OsStr> {
        let options = [(self.deletes(), "--allow-delete"), (self.backup_dir.is_some(), "--allow-backup")];
        options.into_iter().filter(|(asked, _)| *asked).map(|(_, option)| OsStr::new(option)).collect()
    }
}

/// The requests that this receiver allows a sender.
#[derive(Args, Clone, Debug, Default)]
pub struct Allowing {
    /// Let senders delete files below DIR that they do not have (`send --delete`), and learn their names
    #[arg(long, env = "AFTERYOU_ALLOW_DELETE", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_delete: bool,

    /// Let senders make links that point out of DIR (`send --symlinks copy-as-is`). Nothing is ever stored through a link
    #[arg(long, env = "AFTERYOU_ALLOW_LINKS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_links: bool,

    /// Let senders keep replaced files in a directory below DIR (`send --backup-dir`)
    #[arg(long, env = "AFTERYOU_ALLOW_BACKUP", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_backup: bool,

    /// Let senders choose users and groups as owners (`send --owner`); it takes effect as root
    #[arg(long, env = "AFTERYOU_ALLOW_OWNER", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_owner: bool,

    /// Let senders set extended attributes whose names begin with `user.` (`send --xattrs`)
    #[arg(long, env = "AFTERYOU_ALLOW_XATTRS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_xattrs: bool,

    /// Let senders set access lists, which give rights to other users (`send --acls`)
    #[arg(long, env = "AFTERYOU_ALLOW_ACLS", hide_env_values = true, value_parser = BoolishValueParser::new())]
    pub allow_acls: bool,
}
