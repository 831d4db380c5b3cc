//! The entry of a controller in the list.

use crate::controller::{Controller, Setup};
use afteryou_base::param::{ParamError, Settings, Value};
use afteryou_base::About;
use alloc::boxed::Box;
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
    /// Makes a controller with some parameters overridden.
    pub fn build(
        &self,
        overrides: &[(&'static str, Value)],
        setup: Setup,
    ) -> Result<Box<dyn Controller>, ParamError> {
        Ok((self.make)(&Settings::new(self.params, overrides)?, &setup))
    }
}
