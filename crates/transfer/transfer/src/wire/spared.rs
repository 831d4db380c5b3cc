//! Bounds of a removal, and the report of one that was not made.

use crate::entry::EntryPath;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The entries that a job may remove at most. Over the limit it removes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MaxDelete {
    /// A number of entries.
    Entries(u64),
    /// A percentage of the entries that the copy had before the job.
    Percent(u8),
}

impl MaxDelete {
    /// Returns whether a job may remove `entries` of a copy that had `before`.
    pub(crate) fn allows(self, entries: u64, before: u64) -> bool {
        match self {
            Self::Entries(most) => entries <= most,
            Self::Percent(percent) => u128::from(entries) * 100 <= u128::from(before) * u128::from(percent),
        }
    }
}

/// "10" or "10 %".
impl fmt::Display for MaxDelete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Entries(most) => write!(f, "{most}"),
            Self::Percent(percent) => write!(f, "{percent} %"),
        }
    }
}

/// Not a limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no limit: write a number of entries, or a percentage from 0% to 100%")]
pub struct NotALimit(String);

impl FromStr for MaxDelete {
    type Err = NotALimit;

    fn from_str(text: &str) -> Result<Self, NotALimit> {
        let limit = match text.strip_suffix('%') {
            Some(percent) => {
                percent.trim_end().parse().ok().filter(|percent| *percent <= 100).map(Self::Percent)
            }
            None => text.parse().ok().map(Self::Entries),
        };
        limit.ok_or_else(|| NotALimit(text.to_owned()))
    }
}

/// Entries that were not sent and stay all the same: a job that was to remove them removed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spared {
    /// The number of entries.
    pub entries: u64,
    /// The reason.
    pub because: Because,
}

/// Why nothing was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Because {
    /// The source has nothing in this directory (empty: in all of it), and its copy is not empty.
    SourceIsEmpty(EntryPath),
    /// The job may remove fewer.
    Limit(MaxDelete),
}

/// One sentence with the next step.
impl fmt::Display for Spared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = match self.entries {
            1 => "1 entry".to_owned(),
            entries => format!("{entries} entries"),
        };
        match &self.because {
            Because::SourceIsEmpty(path) => {
                let what = match path.0.is_empty() {
                    true => "the source is empty".to_owned(),
                    false => format!("\"{path}\" is empty at the source"),
                };
                write!(
                    f,
                    "--delete removes nothing: {what}, and {entries} would go; --delete-all removes them"
                )
            }
            Because::Limit(limit) => {
                write!(f, "--delete removes nothing: {entries} would go, and --max-delete allows {limit}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_number_or_a_percentage() {
        assert_eq!("10".parse(), Ok(MaxDelete::Entries(10)));
        assert_eq!("0".parse(), Ok(MaxDelete::Entries(0)));
        assert_eq!("10%".parse(), Ok(MaxDelete::Percent(10)));
        assert_eq!("100 %".parse(), Ok(MaxDelete::Percent(100)));
        for bad in ["", "%", "-1", "101%", "1.5", "x", "10 entries"] {
            let error = bad.parse::<MaxDelete>().unwrap_err().to_string();
            assert!(error.ends_with("a percentage from 0% to 100%"), "{bad}: {error}");
        }
    }

    #[test]
    fn a_percentage_is_of_what_was_there_and_the_limit_itself_is_allowed() {
        for (limit, entries, before, allowed) in [
            (MaxDelete::Entries(3), 3, 3, true),
            (MaxDelete::Entries(3), 4, 1000, false),
            (MaxDelete::Percent(50), 5, 10, true),
            (MaxDelete::Percent(50), 6, 11, false),
            (MaxDelete::Percent(0), 0, 0, true),
            (MaxDelete::Percent(0), 1, 1000, false),
            (MaxDelete::Percent(100), u64::MAX, u64::MAX, true),
        ] {
            assert_eq!(limit.allows(entries, before), allowed, "{limit} of {before}: {entries}");
        }
    }
}
