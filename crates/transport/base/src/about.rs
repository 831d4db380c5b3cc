//! The entry of a list.

use crate::param::{Param, Preset};

/// Describes an algorithm that people choose by its name: a controller, a queue discipline or a transport.
///
/// The checker of scenarios, `afteryou list`, the JSON schema and the book are made from these.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Name in scenarios and on the command line.
    pub name: &'static str,
    /// Describes it in one sentence.
    pub summary: &'static str,
    /// The documents that define it.
    pub source: &'static str,
    /// The algorithm's parameters.
    pub params: &'static [Param],
    /// Sets of defaults that its parameter `preset` chooses from; empty without that parameter.
    pub presets: &'static [Preset],
}
