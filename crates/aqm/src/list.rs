//! Every queue discipline by name. To add one: its file, its `mod` line, its line here.

use crate::queue::{Limit, Queue};
use crate::{codel, droptail};
use afteryou_cc::param::{Param, ParamError, Settings, Value};

/// A discipline in the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in scenarios and on the command line.
    pub name: &'static str,
    /// What it is, one sentence.
    pub summary: &'static str,
    /// The document that defines it.
    pub source: &'static str,
    /// Its parameters; the buffer's limit is not among them, since every discipline has one.
    pub params: &'static [Param],
}

/// Declares the list and the function that makes a queue from it: name, constructor, parameters, summary, source.
macro_rules! disciplines {
    ($($name:literal, $new:expr, $params:expr, $summary:literal, $source:literal;)*) => {
        /// All disciplines.
        pub const QUEUES: &[Entry] =
            &[$(Entry { name: $name, summary: $summary, source: $source, params: $params }),*];

        fn make<T: Send + 'static>(name: &str, settings: &Settings<'_>, limit: Limit) -> Box<dyn Queue<T>> {
            match name {
                $($name => $new(settings, limit),)*
                _ => unreachable!("bug: {name} is not in QUEUES"),
            }
        }
    };
}

disciplines! {
    "droptail", |_, limit| Box::new(droptail::DropTail::new(limit)), droptail::PARAMS,
        "first in, first out; what does not fit is dropped", "the plain queue of most devices";
    "codel", |settings, limit| Box::new(codel::Codel::new(settings, limit)), codel::PARAMS,
        "drops from the head once packets have waited too long for too long", "RFC 8289";
}

/// The discipline of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    QUEUES.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Makes a queue that holds `limit`, with some parameters overridden.
    pub fn build<T: Send + 'static>(
        &self,
        overrides: &[(&'static str, Value)],
        limit: Limit,
    ) -> Result<Box<dyn Queue<T>>, ParamError> {
        Ok(make(self.name, &Settings::new(self.params, overrides)?, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_from_its_own_table() {
        for entry in QUEUES {
            assert!(entry.build::<()>(&[], Limit::Packets(10)).is_ok(), "{}", entry.name);
            assert!(find(entry.name).is_some());
        }
    }
}
