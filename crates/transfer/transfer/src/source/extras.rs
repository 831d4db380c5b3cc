//! Owners, extended attributes and access lists of what is sent.

use super::place::{Facts, Place, Sort};
use crate::accounts::Accounts;
use crate::extras::{Extras, Keep, MAX_XATTRS};
use crate::xattrs;
use std::io;

/// The extras that travel, and the accounts that were looked up for them.
#[derive(Debug)]
pub(super) struct Keeping {
    keep: Keep,
    accounts: Accounts,
}

impl Keeping {
    pub(super) fn new(keep: Keep) -> Self {
        Self { keep, accounts: Accounts::default() }
    }

    /// Returns the extras of an entry; `None` if none are asked for.
    pub(super) fn of(&self, place: &Place, facts: &Facts) -> Option<Box<Extras>> {
        if self.keep.is_nothing() {
            return None;
        }
        let naming = self.keep.owner;
        let owner = facts.owner.zip(naming).map(|(owner, naming)| self.accounts.owner(owner, naming));
        let extras = Extras { owner, ..Extras::default() };
        // A symbolic link has none of those that travel.
        if !self.keep.has_xattrs() || !matches!(facts.sort, Sort::File | Sort::Directory) {
            return Some(Box::new(extras));
        }
        Some(Box::new(match self.xattrs(place) {
            Ok(read) if read.bytes() > MAX_XATTRS => {
                let lacking = format!("its extended attributes have more than {MAX_XATTRS} bytes");
                Extras { lacking: Some(lacking), ..extras }
            }
            Ok(read) => Extras { xattrs: read.xattrs, ..extras },
            Err(error) => {
                let lacking = format!("its extended attributes cannot be read: {error}");
                Extras { lacking: Some(lacking), ..extras }
            }
        }))
    }

    fn xattrs(&self, place: &Place) -> io::Result<Extras> {
        let xattrs = xattrs::read(&place.open()?, self.keep)?;
        Ok(Extras { xattrs, ..Extras::default() })
    }
}
