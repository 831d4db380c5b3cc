//! Options of rsync, rclone, scp and curl that somebody types out of habit, and what they are called here.

/// An option of another program, and the answer.
struct Foreign {
    options: &'static [&'static str],
    answer: &'static str,
}

const fn foreign(options: &'static [&'static str], answer: &'static str) -> Foreign {
    Foreign { options, answer }
}

const FOREIGN: &[Foreign] = &[
    foreign(
        &[
            "-a",
            "--archive",
            "-r",
            "--recursive",
            "-R",
            "-p",
            "--perms",
            "-t",
            "--times",
            "-l",
            "--links",
            "--metadata",
        ],
        "not needed: directories are sent whole, with modes, times and links",
    ),
    foreign(&["-z", "--compress", "-C", "--compressed"], "there is no compression"),
    foreign(&["-c", "--checksum"], "not needed: contents are compared, unless --quick is given"),
    foreign(
        &["-P", "--partial", "--append", "--append-verify", "--continue-at", "--resume"],
        "not needed: the same command continues where the last one ended",
    ),
    foreign(
        &["--progress", "--stats-one-line", "--info"],
        "not needed: progress is shown; --list names each file, --stats counts",
    ),
    foreign(
        &["--bwlimit", "--limit-rate", "--transfers-limit", "--tpslimit"],
        "use --max-rate 5Mbit/s, or 512k as rclone has it",
    ),
    foreign(&["-e", "--rsh"], "use --ssh-command \"ssh -p 2222\""),
    foreign(&["--rsync-path"], "use --far-command /usr/local/bin/afteryou"),
    foreign(
        &["--del", "--delete-after", "--delete-before", "--delete-during", "--delete-delay"],
        "use --delete: it removes at the end, if nothing failed",
    ),
    foreign(&["--delete-excluded"], "use --delete; excluded files stay"),
    foreign(&["-b", "--backup", "--suffix"], "use --backup-dir DIR"),
    foreign(
        &["-f", "--filter", "--files-from", "--include-from", "-F"],
        "use --exclude, --include and --exclude-from, in the syntax of .gitignore",
    ),
    foreign(&["-L", "--copy-links", "--copy-unsafe-links"], "use --symlinks follow"),
    foreign(
        &["--safe-links", "--no-links"],
        "links that lead outside are left out; --symlinks skip leaves out all",
    ),
    foreign(&["--remove-source-files", "--move"], "files at the source are never removed"),
    foreign(
        &["--timeout", "--contimeout", "--connect-timeout", "--max-time"],
        "use --give-up-after 60s: without it the job tries again until it is done",
    ),
    foreign(&["--transfers", "--checkers", "--multi-thread-streams"], "use --connections N"),
    foreign(
        &["--output", "-O", "--remote-name", "--output-dir"],
        "name the directory behind the ticket: afteryou get TICKET DIR",
    ),
    foreign(
        &["-o"],
        "as rsync's, use --owner; as curl's, name the directory behind the ticket: afteryou get TICKET DIR",
    ),
    foreign(
        &["-g", "--group", "--numeric-ids", "--usermap", "--groupmap"],
        "use --owner, or --owner=numbers",
    ),
    foreign(&["--chown", "--chmod"], "owners and modes are those of the source; --owner keeps owners, too"),
    foreign(&["-X"], "use --xattrs"),
    foreign(&["-A"], "use --acls"),
    foreign(&["-H", "--hard-links"], "not needed: files with several names keep them"),
    foreign(&["-S", "--sparse"], "not needed: stretches of zeros take no room at the receiver"),
    foreign(
        &["-D", "--devices", "--specials", "--copy-devices"],
        "devices, sockets and pipes are left out and named",
    ),
    foreign(
        &["-W", "--whole-file", "--no-whole-file", "--fuzzy", "-y"],
        "not needed: a changed file costs what changed",
    ),
    foreign(&["--inplace"], "a file takes its name when it is whole, never before"),
    foreign(&["--ignore-existing", "--immutable"], "use --update: it leaves alone what is newer there"),
    foreign(
        &["--link-dest", "--compare-dest", "--copy-dest"],
        "use --backup-dir DIR: it keeps what is replaced",
    ),
    foreign(&["--list-only"], "use --dry-run --list"),
    foreign(&["--out-format", "--log-file", "--log-level"], "use --list, --json or --log LEVELS"),
    foreign(&["--human-readable"], "not needed: numbers have their units"),
    foreign(&["--port"], "the port is in the ticket; for ssh use --ssh-command \"ssh -p 2222\""),
    foreign(
        &["--retries", "--retry"],
        "not needed: the job tries again until it is done, or --give-up-after",
    ),
    foreign(&["--size-only", "--modify-window"], "use --quick: it compares size and time of modification"),
    foreign(&["--ignore-times"], "not needed: contents are compared, unless --quick is given"),
    foreign(&["--itemize-changes", "-i"], "use --list, or --dry-run to see what would change"),
];

/// Returns this command's name for `option`, without its value.
pub fn answer(option: &str) -> Option<&'static str> {
    let known = FOREIGN.iter().find(|foreign| foreign.options.contains(&option));
    known.map(|foreign| foreign.answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TransferCommand;
    use clap::{Args, Command, Subcommand};

    fn ours() -> Command {
        TransferCommand::augment_subcommands(Command::new("afteryou"))
    }

    #[test]
    fn no_option_that_exists_here_is_answered() {
        let command = crate::args::SendArgs::augment_args(Command::new("send"));
        for argument in command.get_arguments() {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let short = argument.get_short().map(|short| format!("-{short}"));
            for option in long.into_iter().chain(short) {
                assert_eq!(answer(&option), None, "{option}");
            }
        }
    }

    #[test]
    fn every_option_in_an_answer_exists() {
        let ours: Vec<String> = ours()
            .get_subcommands()
            .flat_map(|command| command.get_arguments().filter_map(clap::Arg::get_long))
            .map(|long| format!("--{long}"))
            .collect();
        for foreign in FOREIGN {
            for word in foreign.answer.split(|c: char| !c.is_ascii_alphabetic() && c != '-') {
                let is_known = !word.starts_with("--") || ours.iter().any(|option| option == word);
                assert!(is_known, "{word} in {:?}", foreign.answer);
            }
        }
    }
}
