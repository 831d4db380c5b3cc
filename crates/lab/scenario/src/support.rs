//! Answers to "can this engine run that scenario?".
//!
//! Each engine lists the settings that it does not support as [`Unsupported`], once, and refuses a run with the first of that list. The same
//! list feeds the messages of the file checker, `afteryou list` and the book.

use std::fmt;

/// Something in a scenario that an engine cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unsupported {
    /// The key of the scenario file, as `--set` takes it: "link.queue", "flow.backup.controller.target".
    pub key: String,
    /// The reason and the alternative: one sentence without its key.
    pub reason: String,
}

impl Unsupported {
    /// Names something under `key` that an engine cannot do for `reason`.
    pub fn new(key: impl Into<String>, reason: impl Into<String>) -> Unsupported {
        Unsupported { key: key.into(), reason: reason.into() }
    }

    /// Names a flow's setting. A flow that was written together with others (`count`) has the name of its table.
    pub fn of_flow(flow: &crate::Flow, setting: impl fmt::Display, reason: impl Into<String>) -> Unsupported {
        let name = flow.group.as_deref().unwrap_or(&flow.name);
        Unsupported::new(format!("flow.{name}.{setting}"), reason)
    }

    /// Returns whether it is about `key` or a setting below it.
    pub fn concerns(&self, key: &str) -> bool {
        self.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// "link.queue: …"
impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.reason)
    }
}

impl std::error::Error for Unsupported {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_concerns_itself_and_what_is_above_it() {
        let refused = Unsupported::new("flow.a.controller.target", "no");
        for key in ["flow.a.controller.target", "flow.a.controller", "flow.a"] {
            assert!(refused.concerns(key), "{key}");
        }
        for key in ["flow.a.controller.tar", "flow.a.controller.target.x", "link"] {
            assert!(!refused.concerns(key), "{key}");
        }
    }
}
