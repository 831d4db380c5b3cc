//! Why the command did not succeed, and the exit code.

use std::fmt;
use std::time::Duration;

/// A process whose standard error stalls ends nevertheless.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why the command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The request makes no sense: exit code 2.
    Usage(String),
    /// It made sense and went wrong: exit code 1.
    Failed(anyhow::Error),
    /// All that could be moved is there, and something is missing of what was named: exit code 3.
    Incomplete(String),
    /// Somebody pressed Ctrl-C: exit code 130, as shells have it.
    Interrupted,
    /// Somebody ended it before its end: the same code, and its last state.
    Stopped(String),
    /// It went well, and its verdict, which `--check` asks for, is bad: exit code 1.
    Verdict(String),
    /// Another side prints it on the same terminal: this exit code.
    Elsewhere(u8),
}

impl Failure {
    /// Returns the failure of something that makes no sense, in the words of `reason`.
    pub fn usage(reason: impl fmt::Display) -> Failure {
        Failure::Usage(reason.to_string())
    }

    /// Returns the exit code: 2 for what makes no sense, 3 for an end with something left out, 130 for an interruption,
    /// otherwise 1.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) => 2,
            Failure::Incomplete(_) => 3,
            Failure::Interrupted | Failure::Stopped(_) => 130,
            Failure::Failed(_) | Failure::Verdict(_) => 1,
            Failure::Elsewhere(code) => *code,
        }
    }

    /// Prints the reason on stderr and returns the exit code.
    pub fn report(&self) -> u8 {
        if !matches!(self, Failure::Elsewhere(_)) {
            crate::complaint::complain_within(&format!("afteryou: {self}\n"), PATIENCE);
        }
        self.code()
    }
}

/// One line. An error inside an error follows after a colon.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Interrupted => f.write_str("interrupted"),
            Failure::Elsewhere(code) => write!(f, "exit code {code}"),
            Failure::Usage(reason)
            | Failure::Verdict(reason)
            | Failure::Incomplete(reason)
            | Failure::Stopped(reason) => f.write_str(reason),
            Failure::Failed(error) => f.write_str(&chain(error)),
        }
    }
}

/// Returns each cause once: some errors have their cause in their own words already.
fn chain(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| match cause.to_string() {
        cause if said.is_empty() => cause,
        cause if said.ends_with(&cause) => said,
        cause => format!("{said}: {cause}"),
    })
}

/// `?` on any error makes it a failure; the user's own mistakes are made with [`Failure::usage`].
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Failed(error.into())
    }
}

/// Returns an error of the operating system in words that do not depend on it where they are common.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_stay_on_the_line() {
        let inner: Result<(), _> = Err(std::io::Error::other("disk full"));
        let failure: Failure = inner.context("cannot write result.json").unwrap_err().into();
        assert_eq!(failure.to_string(), "cannot write result.json: disk full");
        let twice =
            anyhow::Error::new(std::io::Error::other("disk full")).context("cannot write x: disk full");
        assert_eq!(Failure::from(twice).to_string(), "cannot write x: disk full");
        assert_eq!((failure.code(), Failure::usage("what?").code()), (1, 2));
    }
}
