//! Owners, extended attributes and access lists, which travel only in jobs that ask for them.
//!
//! # Model
//! A job's [`Keep`] defines what travels. Users and groups have a number and, if names count, a name. The sink looks the name
//! up, and takes the number if it has no such name. Root stays root. Access lists are the extended attributes
//! `system.posix_acl_access` and `system.posix_acl_default`; the users and groups in them are numbers. All other attributes that
//! travel begin with `user.`. Those in `security.` and `trusted.` never travel: they give rights.
//!
//! # Source
//! xattr(7), acl(5).

use serde::{Deserialize, Serialize};

/// Most bytes of the extended attributes of an entry. ext4 has room for 4 KiB; a thousand offers of this size fit the memory.
pub const MAX_XATTRS: usize = 16 * 1024;

/// Longest name of an extended attribute and of an account, bytes.
const MAX_NAME: usize = 255;

/// Names of the attributes that hold access lists.
const ACLS: [&[u8]; 2] = [b"system.posix_acl_access", b"system.posix_acl_default"];

/// The extras that a job asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keep {
    /// Owners and groups, and what they are known by.
    pub owner: Option<Naming>,
    /// Extended attributes in the namespace `user`.
    pub xattrs: bool,
    /// Access lists.
    pub acls: bool,
}

/// The identity of an account on another machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Naming {
    /// Its name, and its number where the sink has no such name.
    Names,
    /// The owner's number.
    Numbers,
}

/// An entry's extras.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extras {
    /// The accounts that own it.
    pub owner: Option<Owner>,
    /// All extended attributes that the job asks for.
    pub xattrs: Vec<Xattr>,
    /// Why these are not the source's: they cannot be read, or are too large.
    pub lacking: Option<String>,
}

/// The accounts that own an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The user.
    pub user: Account,
    /// The group.
    pub group: Account,
}

/// A user or a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its number at the source.
    pub number: u32,
    /// Its name there, if names count and it has one.
    pub name: Option<String>,
}

/// An extended attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Xattr {
    /// With its namespace.
    pub name: Vec<u8>,
    /// Any bytes.
    pub value: Vec<u8>,
}

impl Keep {
    /// Returns whether it asks for nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Keep::default()
    }

    /// Returns whether it asks for any extended attribute.
    pub(crate) fn has_xattrs(&self) -> bool {
        self.xattrs || self.acls
    }

    /// Returns whether an extended attribute of this name travels.
    pub(crate) fn covers(&self, name: &[u8]) -> bool {
        match name.strip_prefix(b"user.") {
            Some(rest) => self.xattrs && !rest.is_empty() && name.len() <= MAX_NAME && !name.contains(&0),
            None => self.acls && ACLS.contains(&name),
        }
    }

    /// Checks extras that a peer sent.
    ///
    /// # Errors
    /// The reason to refuse them, in one sentence.
    pub(crate) fn check(&self, extras: &Extras) -> Result<(), &'static str> {
        if extras.owner.is_some() && self.owner.is_none() {
            return Err("its owner was not asked for");
        }
        let accounts = extras.owner.iter().flat_map(|owner| [&owner.user, &owner.group]);
        for account in accounts {
            // The kernel takes this number for "leave it as it is".
            if account.number == u32::MAX {
                return Err("no account has this number");
            }
            if account.name.as_ref().is_some_and(|name| name.len() > MAX_NAME || name.contains('\0')) {
                return Err("no account has such a name");
            }
        }
        match extras.xattrs.iter().all(|xattr| self.covers(&xattr.name)) {
            true => Ok(()),
            false => Err("it has an extended attribute that was not asked for"),
        }
    }
}

impl Extras {
    /// Returns the number of bytes of the extended attributes.
    pub(crate) fn bytes(&self) -> usize {
        self.xattrs.iter().map(|xattr| xattr.name.len() + xattr.value.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Keep = Keep { owner: Some(Naming::Names), xattrs: true, acls: true };

    fn xattr(name: &[u8]) -> Extras {
        Extras { xattrs: vec![Xattr { name: name.to_vec(), value: vec![1] }], ..Extras::default() }
    }

    fn owned(number: u32, name: Option<&str>) -> Extras {
        let account = |number| Account { number, name: name.map(str::to_owned) };
        Extras { owner: Some(Owner { user: account(0), group: account(number) }), ..Extras::default() }
    }

    #[test]
    fn what_gives_rights_or_was_not_asked_for_is_refused() {
        for name in [
            &b"security.capability"[..],
            b"security.selinux",
            b"trusted.overlay.opaque",
            b"system.nfs4_acl",
            b"system.posix_acl_access2",
            b"user.",
            b"user.a\0b",
            b"User.a",
            b"",
            &[b"user.".as_slice(), &[b'x'; 251]].concat(),
        ] {
            assert!(ALL.check(&xattr(name)).is_err(), "{}", String::from_utf8_lossy(name));
        }
        assert_eq!(ALL.check(&xattr(b"user.a")), Ok(()));
        assert_eq!(ALL.check(&xattr(b"system.posix_acl_default")), Ok(()));
        assert!(Keep { xattrs: false, ..ALL }.check(&xattr(b"user.a")).is_err());
        assert!(Keep { acls: false, ..ALL }.check(&xattr(b"system.posix_acl_access")).is_err());
        assert_eq!(ALL.check(&owned(7, Some("me"))), Ok(()));
        assert!(Keep { owner: None, ..ALL }.check(&owned(7, None)).is_err());
        assert!(ALL.check(&owned(u32::MAX, None)).is_err());
        assert!(ALL.check(&owned(7, Some("a\0b"))).is_err());
    }
}
