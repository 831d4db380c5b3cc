//! Users and groups of this machine: names and numbers, each looked up once, unless a peer names very many.

use crate::extras::{Account, Naming, Owner};
use afteryou_base::lock::EvenPoisoned;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;

/// Accounts of each kind that are kept: a peer may name any.
const MOST: usize = 1024;

/// The accounts that were looked up.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    user_names: Known<u32, String>,
    group_names: Known<u32, String>,
    user_numbers: Known<String, u32>,
    group_numbers: Known<String, u32>,
}

impl Accounts {
    /// Returns the owner as it travels.
    pub(crate) fn owner(&self, (user, group): (u32, u32), naming: Naming) -> Owner {
        let named = naming == Naming::Names;
        let user_name = || self.user_names.get(user, |&number| system::user_name(number));
        let group_name = || self.group_names.get(group, |&number| system::group_name(number));
        Owner {
            user: Account { number: user, name: named.then(user_name).flatten() },
            group: Account { number: group, name: named.then(group_name).flatten() },
        }
    }

    /// Returns the numbers here of an owner that travelled.
    pub(crate) fn numbers(&self, owner: &Owner) -> (u32, u32) {
        let user = |name| self.user_numbers.get(name, |name| system::user_number(name));
        let group = |name| self.group_numbers.get(name, |name| system::group_number(name));
        (number(&owner.user, user), number(&owner.group, group))
    }
}

/// Returns the number here of an account; root is root everywhere, whatever it is called.
fn number(account: &Account, find: impl Fn(String) -> Option<u32>) -> u32 {
    match (&account.name, account.number) {
        (Some(name), 1..) => find(name.clone()).unwrap_or(account.number),
        (_, number) => number,
    }
}

#[derive(Debug)]
struct Known<K, V>(Mutex<HashMap<K, Option<V>>>);

impl<K, V> Default for Known<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Known<K, V> {
    fn get(&self, key: K, find: impl Fn(&K) -> Option<V>) -> Option<V> {
        let mut known = self.0.lock().even_poisoned();
        if let Some(found) = known.get(&key) {
            return found.clone();
        }
        let found = find(&key);
        if known.len() < MOST {
            known.insert(key, found.clone());
        }
        found
    }
}

#[cfg(unix)]
mod system {
    use nix::unistd::{Gid, Group, Uid, User};

    pub(super) fn user_name(number: u32) -> Option<String> {
        User::from_uid(Uid::from_raw(number)).ok()?.map(|user| user.name)
    }

    pub(super) fn group_name(number: u32) -> Option<String> {
        Group::from_gid(Gid::from_raw(number)).ok()?.map(|group| group.name)
    }

    pub(super) fn user_number(name: &str) -> Option<u32> {
        User::from_name(name).ok()?.map(|user| user.uid.as_raw())
    }

    pub(super) fn group_number(name: &str) -> Option<u32> {
        Group::from_name(name).ok()?.map(|group| group.gid.as_raw())
    }
}

#[cfg(not(unix))]
mod system {
    pub(super) fn user_name(_: u32) -> Option<String> {
        None
    }

    pub(super) fn group_name(_: u32) -> Option<String> {
        None
    }

    pub(super) fn user_number(_: &str) -> Option<u32> {
        None
    }

    pub(super) fn group_number(_: &str) -> Option<u32> {
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Returns a user that every system has, beside root.
    fn daemon() -> u32 {
        system::user_number("daemon").expect("a user")
    }

    #[test]
    fn a_name_counts_before_a_number_and_a_number_where_there_is_no_such_name() {
        let accounts = Accounts::default();
        let account = |number, name: &str| Account { number, name: Some(name.to_owned()) };
        let owner = |user, group| Owner { user, group };
        let elsewhere = owner(account(12_345, "daemon"), account(4711, "no such group"));
        assert_eq!(accounts.numbers(&elsewhere), (daemon(), 4711));
        let numbered = owner(Account { number: 5, name: None }, account(0, "daemon"));
        assert_eq!(accounts.numbers(&numbered), (5, 0), "root stays root");
    }

    #[test]
    fn what_travels_has_names_only_if_they_count() {
        let accounts = Accounts::default();
        let named = accounts.owner((daemon(), 0), Naming::Names);
        assert_eq!(named.user, Account { number: daemon(), name: Some("daemon".into()) });
        assert_eq!(accounts.numbers(&named), (daemon(), 0));
        let numbered = accounts.owner((daemon(), 4_000_000_000), Naming::Numbers);
        assert_eq!((numbered.user.name, numbered.group.name), (None, None));
        assert_eq!(accounts.owner((4_000_000_000, 0), Naming::Names).user.name, None);
    }
}
