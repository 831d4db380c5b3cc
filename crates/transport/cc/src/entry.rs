//! The entry of a controller in the list.

use crate::controller::{Controller, Setup};
use afteryou_base::param::{ParamError, Settings, Value};
use afteryou_base::About;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Deref;

/// The traffic that a controller is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Takes its fair share, for transfers that people wait for.
    Foreground,
    /// Yields to all other traffic.
    Background,
}

/// A controller in the list. The common part of every list's entries is in `about`, and is read as if it were the
/// entry's own.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name, parameters and source.
    pub about: About,
    /// The traffic that it is made for.
    pub class: Class,
    /// Makes one.
    pub make: fn(&Settings<'_>, &Setup) -> Box<dyn Controller>,
}

impl Deref for Entry {
    type Target = About;

    fn deref(&self) -> &About {
        &self.about
    }
}

impl Entry {
    /// Checks overrides once for all controllers that are made with them.
    ///
    /// # Errors
    /// An override that is no parameter of this controller, of another kind, or out of its range.
    pub fn tuned(&'static self, overrides: Vec<(&'static str, Value)>) -> Result<Tuned, ParamError> {
        Settings::new(self.params, &overrides)?;
        Ok(Tuned { entry: self, overrides })
    }

    /// Makes a controller with some parameters overridden.
    ///
    /// # Errors
    /// An override that is no parameter of this controller, of another kind, or out of its range.
    pub fn build(
        &self,
        overrides: &[(&'static str, Value)],
        setup: Setup,
    ) -> Result<Box<dyn Controller>, ParamError> {
        Ok((self.make)(&Settings::new(self.params, overrides)?, &setup))
    }
}

/// A controller of the list with overrides that are checked: it makes controllers without fail.
#[derive(Clone, Debug)]
pub struct Tuned {
    entry: &'static Entry,
    overrides: Vec<(&'static str, Value)>,
}

impl Tuned {
    /// Makes a controller.
    pub fn build(&self, setup: Setup) -> Box<dyn Controller> {
        (self.entry.make)(&Settings::of_checked(self.entry.params, &self.overrides), &setup)
    }
}
