//! Functions of the paper's exact entries.

use super::Function;

pub(super) const FUNCTIONS: &[Function] = &[];
