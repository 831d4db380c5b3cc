//! A desktop notification about the end of a job, for a user who asks for one.
//!
//! The desktop's own program shows it. A reason may have words of the peer, so the text is one line without
//! control characters and without markup, and no shell reads it.

use afteryou_terminal::output::{complain, printable};
use afteryou_terminal::Failure;
use std::process::{Command, Stdio};

/// Characters of the text.
const LONGEST: usize = 200;

/// Shows the outcome of `afteryou COMMAND`. A desktop that shows nothing is no failure of the job.
pub fn show(command: &str, outcome: &Result<(), Failure>) {
    let text = match outcome {
        Ok(()) => "complete: everything is stored and verified".to_owned(),
        Err(failure) => plain(&failure.to_string()),
    };
    let mut program = program(&format!("afteryou {command}"), &text);
    let name = program.get_program().to_string_lossy().into_owned();
    match program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status() {
        Ok(status) if status.success() => {}
        Ok(status) => complain(&format!("afteryou: --notify: {name} failed ({status})\n")),
        Err(error) => complain(&format!("afteryou: --notify: cannot run {name}: {error}\n")),
    }
}

/// Returns one short line that means itself to a program that reads markup.
fn plain(text: &str) -> String {
    let line = printable(&text.replace('\n', " "));
    let cut: String = line.chars().take(LONGEST).collect();
    cut.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(not(target_os = "macos"))]
fn program(title: &str, text: &str) -> Command {
    let mut command = Command::new("notify-send");
    command.args(["--app-name=afteryou", "--", title, text]);
    command
}

#[cfg(target_os = "macos")]
fn program(title: &str, text: &str) -> Command {
    let mut command = Command::new("osascript");
    // The words are arguments, not a part of the script.
    let script = "on run words\ndisplay notification (item 2 of words) with title (item 1 of words)\nend run";
    command.args(["-e", script, title, text]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_peer_are_one_line_without_markup() {
        assert_eq!(plain("a <b>bold</b>\n& more"), "a &lt;b&gt;bold&lt;/b&gt; &amp; more");
        assert!(plain(&"x".repeat(5_000)).len() <= LONGEST);
    }
}
