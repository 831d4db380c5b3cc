//! The sentence at the end.

use super::figures::{count, short_time, size};
use super::tally::JobTally;
use afteryou_terminal::Failure;
use afteryou_transfer::job::Summary;
use std::time::{Duration, Instant};

/// The rate of less has no meaning.
const SHORT: Duration = Duration::from_millis(500);

/// Returns the outcome in one sentence: "sent 12 files, 3.1 GB in 4 min 12 s (98.4 Mbit/s); yielded 34 % of the time".
pub fn summary(verb: &str, end: &Summary, tally: &JobTally, now: Instant) -> String {
    let took = now.saturating_duration_since(tally.began);
    let moved = tally.bytes_moved;
    let what = match end.stored_files {
        // What moved are entries that differ from the source, which are counted below.
        0 if end.incomplete > 0 => size(moved),
        stored => format!("{}, {}", count(stored, "file"), size(moved)),
    };
    if let Some(would) = dry_run(end) {
        return would;
    }
    let mut parts = vec![match end.stored_files {
        0 if moved == 0 => format!("nothing had to be {verb}"),
        _ if took < SHORT => format!("{verb} {what}"),
        _ => format!(
            "{verb} {what} in {} ({})",
            short_time(took),
            tally.unit.rate((moved as f64 / took.as_secs_f64()) as u64)
        ),
    }];
    if tally.resumed() > 0 {
        parts.push(format!("{} were there already", size(tally.resumed())));
    }
    if end.removed > 0 {
        parts.push(format!("{} removed", entries(end.removed)));
    }
    if end.not_removed() > 0 {
        parts.push(format!("{} not removed", entries(end.not_removed())));
    }
    if end.failed > 0 {
        parts.push(format!("{} failed", count(end.failed, "file")));
    }
    parts.extend(shortfall(end.skipped, end.incomplete));
    if moved > 0 {
        parts.extend(tally.yielded_percent().map(|percent| match percent {
            0 => "did not have to yield".to_owned(),
            _ => format!("yielded {percent} % of the time"),
        }));
    }
    parts.join("; ")
}

/// Returns the outcome of a dry run: "dry run: would store 3 entries (12 MB), set the attributes of 2 entries, remove 1
/// entry". None where nothing would be done.
fn dry_run(end: &Summary) -> Option<String> {
    let &Summary { would_change, would_adjust, would_remove, would_bytes, .. } = end;
    let store =
        (would_change > 0).then(|| format!("store {} ({})", entries(would_change), size(would_bytes)));
    let adjust = (would_adjust > 0).then(|| format!("set the attributes of {}", entries(would_adjust)));
    let remove = (would_remove > 0).then(|| format!("remove {}", entries(would_remove)));
    let all: Vec<_> = [store, adjust, remove].into_iter().flatten().collect();
    let between = if all.len() == 2 { " and " } else { ", " };
    (!all.is_empty()).then(|| format!("dry run: would {}", all.join(between)))
}

/// Returns the lines of --stats.
pub fn stats(end: &Summary, tally: &JobTally, now: Instant) -> String {
    let took = now.saturating_duration_since(tally.began);
    let counted = [
        ("stored", end.stored),
        ("there already", end.had),
        ("differing from the source", end.incomplete),
        ("removed", end.removed),
        ("not removed", end.not_removed()),
        ("left out", end.skipped),
        ("failed", end.failed),
    ];
    let mut lines = vec![format!("entries: {} in all, {} of them files", tally.entries, tally.files)];
    lines.extend(
        counted.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("  {what}: {count}")),
    );
    if end.stored > 0 {
        lines.insert(2, format!("    of them files: {}", end.stored_files));
    }
    lines.push(format!("bytes of files: {}", tally.bytes));
    lines.push(format!("  moved: {}", tally.bytes_moved));
    lines.push(format!("  there already: {}", tally.resumed()));
    lines.push(format!("time: {:.1} s", took.as_secs_f64()));
    lines.join("\n")
}

fn entries(count: u64) -> String {
    match count {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    }
}

/// Returns the exit code of a job that is over; `again` is the command that retries the failed files. If it is `strict`,
/// what was left out is a failure. A job that was to `delete` reports that it did not.
pub fn verdict(summary: &Summary, again: &str, strict: bool, delete: bool) -> Result<(), Failure> {
    let removed = summary.removed + summary.would_remove;
    if summary.failed > 0 {
        let failed = count(summary.failed, "file");
        let kept = if delete && removed == 0 { "; --delete removed nothing" } else { "" };
        return Err(anyhow::anyhow!("{failed} failed: see the reasons above; {again}{kept}").into());
    }
    let kept = if delete && removed == 0 && summary.skipped > 0 { NOT_REMOVED } else { "" };
    let (what, tail) = match (shortfall(summary.skipped, summary.incomplete), &summary.spared) {
        (None, None) => return Ok(()),
        (None, Some(spared)) => (spared.to_string(), String::new()),
        (Some(shortfall), None) => (shortfall, format!(": see above{kept}")),
        (Some(shortfall), Some(spared)) => (shortfall, format!(": see above\n{spared}")),
    };
    match strict {
        true => Err(anyhow::anyhow!("{what}, and --strict makes that a failure{tail}").into()),
        false => Err(Failure::Incomplete(format!("complete, but {what}{tail}"))),
    }
}

/// Combines a verdict with the output's: a complete job fails if its output for programs is not complete.
pub fn with_output(verdict: Result<(), Failure>, output: Result<(), Failure>) -> Result<(), Failure> {
    match verdict {
        Ok(()) | Err(Failure::Incomplete(_)) => output.and(verdict),
        failed => failed,
    }
}

/// Why a mirror is none, and what to do about it.
const NOT_REMOVED: &str =
    "\n--delete removes nothing while entries are left out: name them with --exclude, or send links \
                           with --symlinks copy-as-is";

/// Returns the shortfall: "3 entries left out and 1 entry stored, differing from the source".
fn shortfall(skipped: u64, incomplete: u64) -> Option<String> {
    let left_out = (skipped > 0).then(|| format!("{} left out", entries(skipped)));
    let without =
        (incomplete > 0).then(|| format!("{} stored, differing from the source", entries(incomplete)));
    let both: Vec<_> = left_out.into_iter().chain(without).collect();
    (!both.is_empty()).then(|| both.join(" and "))
}

/// Returns the message when somebody ended the job early.
pub fn stopped(tally: &JobTally) -> String {
    match tally.bytes {
        0 => "stopped: run the same command again to continue".to_owned(),
        bytes => format!(
            "stopped at {} of {}: run the same command again to continue from there",
            size(tally.bytes_done),
            size(bytes)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_transfer::event::Event;
    use afteryou_transfer::pace::Pace;
    use afteryou_transfer::wire::{Because, MaxDelete, Spared};

    fn tally(bytes_done: u64, bytes_moved: u64) -> (JobTally, Instant) {
        let now = Instant::now();
        let mut tally = JobTally::new(Pace::new(), None, now);
        tally.add(&Event::Plan { entries: 12, files: 12, bytes: 4_300_000_000, complete: true }, now);
        tally.add(
            &Event::Progress { entries_done: 12, files_done: 12, bytes_done, bytes_moved, rate: 0 },
            now,
        );
        (tally, now + Duration::from_secs(252))
    }

    #[test]
    fn the_sentence_says_what_moved_and_what_did_not_have_to() {
        let (done, now) = tally(4_300_000_000, 3_100_000_000);
        let end = Summary { stored: 13, stored_files: 12, had: 1, failed: 2, ..Summary::default() };
        let expected =
            "sent 12 files, 3.1 GB in 4 min 12 s (98.4 Mbit/s); 1.2 GB were there already; 2 files failed";
        assert_eq!(summary("sent", &end, &done, now), expected);
        let (done, now) = tally(4_300_000_000, 0);
        let end = Summary { had: 12, skipped: 1, ..Summary::default() };
        assert_eq!(
            summary("sent", &end, &done, now),
            "nothing had to be sent; 4.3 GB were there already; 1 entry left out"
        );
    }

    #[test]
    fn what_moved_and_lacks_its_mode_is_not_said_to_be_no_file() {
        let (done, now) = tally(4_300_000_000, 3_100_000_000);
        let end = Summary { incomplete: 12, ..Summary::default() };
        let expected =
            "sent 3.1 GB in 4 min 12 s (98.4 Mbit/s); 1.2 GB were there already; 12 entries stored, \
                        differing from the source";
        assert_eq!(summary("sent", &end, &done, now), expected);
        let end = Summary { stored: 1, stored_files: 1, incomplete: 12, ..Summary::default() };
        assert!(summary("sent", &end, &done, now).starts_with("sent 1 file, 3.1 GB in "));
    }

    #[test]
    fn what_is_missing_decides_the_exit_code() {
        let code = |summary: Summary| match verdict(&summary, "try again", false, false) {
            Ok(()) => (0, String::new()),
            Err(failure) => (failure.code(), failure.to_string()),
        };
        let done = || Summary { stored: 5, ..Summary::default() };
        assert_eq!(code(done()), (0, String::new()));
        let (three, said) = code(Summary { skipped: 2, incomplete: 1, ..done() });
        assert_eq!(three, 3);
        assert_eq!(
            said,
            "complete, but 2 entries left out and 1 entry stored, differing from the source: see above"
        );
        assert_eq!(code(Summary { incomplete: 1, ..done() }).0, 3);
        let strict = verdict(&Summary { skipped: 2, ..done() }, "try again", true, false).unwrap_err();
        assert_eq!(strict.code(), 1);
        assert!(strict.to_string().starts_with("2 entries left out, and --strict"), "{strict}");
        assert!(verdict(&done(), "try again", true, false).is_ok());
        let mirror = verdict(&Summary { skipped: 2, ..done() }, "try again", false, true).unwrap_err();
        assert!(
            mirror.to_string().contains("--delete removes nothing while entries are left out"),
            "{mirror}"
        );
        let (one, said) = code(Summary { failed: 1, skipped: 2, ..done() });
        assert!(one == 1 && said.starts_with("1 file failed") && said.ends_with("try again"), "{said}");
        let spared = Spared { entries: 12, because: Because::Limit(MaxDelete::Percent(10)) };
        let spared = || Summary { spared: Some(spared.clone()), ..done() };
        let sentence = "--delete removes nothing: 12 entries would go, and --max-delete allows 10 %";
        assert_eq!(code(spared()), (3, format!("complete, but {sentence}")));
        let (three, said) = code(Summary { incomplete: 1, ..spared() });
        assert!(three == 3 && said.ends_with(&format!("see above\n{sentence}")), "{said}");
        let strict = verdict(&spared(), "try again", true, true).unwrap_err();
        assert!(strict.code() == 1 && strict.to_string().starts_with(sentence), "{strict}");
    }

    #[test]
    fn a_dry_run_says_what_the_job_would_do() {
        let (done, now) = tally(4_300_000_000, 0);
        let text = |change, adjust, remove, bytes| {
            let (would_change, would_adjust, would_remove, would_bytes) = (change, adjust, remove, bytes);
            let end = Summary { would_change, would_adjust, would_remove, would_bytes, ..Summary::default() };
            summary("sent", &end, &done, now)
        };
        assert_eq!(text(3, 0, 1, 12_000_000), "dry run: would store 3 entries (12 MB) and remove 1 entry");
        assert_eq!(text(0, 0, 2, 0), "dry run: would remove 2 entries");
        assert_eq!(text(0, 1, 0, 0), "dry run: would set the attributes of 1 entry");
        let all = "dry run: would store 1 entry (5 B), set the attributes of 2 entries, remove 1 entry";
        assert_eq!(text(1, 2, 1, 5), all);
    }

    #[test]
    fn statistics_name_what_there_is() {
        let (done, now) = tally(4_300_000_000, 3_100_000_000);
        let end = Summary { stored: 14, stored_files: 12, removed: 2, ..Summary::default() };
        let mut done = done;
        done.entries = 15;
        assert_eq!(
            stats(&end, &done, now),
            "entries: 15 in all, 12 of them files\n  stored: 14\n    of them files: 12\n  removed: 2\nbytes of files: 4300000000\n  moved: 3100000000\n  \
             there already: 1200000000\ntime: 252.0 s"
        );
    }

    #[test]
    fn who_stops_learns_how_to_go_on() {
        let (done, _) = tally(1_300_000_000, 1);
        assert_eq!(
            stopped(&done),
            "stopped at 1.3 GB of 4.3 GB: run the same command again to continue from there"
        );
        let nothing = JobTally::new(Pace::new(), None, Instant::now());
        assert_eq!(stopped(&nothing), "stopped: run the same command again to continue");
    }
}
