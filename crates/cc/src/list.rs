//! Every controller by name. To add one: its file, its `mod` line, its line here.

use crate::controller::Controller;
use crate::param::{Param, ParamError, Settings, Value};
use crate::{cubic, fledbat, ledbat, ledbatpp, libutp, libutp_mod, newreno, nice, tcp_lp, vegas};
use alloc::boxed::Box;

/// Who a controller is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Takes its fair share: what people wait for.
    Foreground,
    /// Steps aside for everybody else.
    Background,
}

/// A controller in the list.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name in scenarios and on the command line.
    pub name: &'static str,
    /// Who it is made for.
    pub class: Class,
    /// What it is, one sentence.
    pub summary: &'static str,
    /// The document that defines it.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Makes one. The second argument is the packet's payload in bytes.
    pub make: fn(&Settings<'_>, u32) -> Box<dyn Controller>,
}

impl Entry {
    /// Makes a controller for packets of `mss` bytes of payload, with some parameters overridden.
    pub fn build(
        &self,
        overrides: &[(&'static str, Value)],
        mss: u32,
    ) -> Result<Box<dyn Controller>, ParamError> {
        Ok((self.make)(&Settings::new(self.params, overrides)?, mss))
    }
}

/// All controllers.
pub const CONTROLLERS: &[Entry] = &[
    ledbatpp::ENTRY,
    ledbat::ENTRY,
    fledbat::ENTRY,
    libutp::ENTRY,
    libutp_mod::ENTRY,
    tcp_lp::ENTRY,
    nice::ENTRY,
    vegas::ENTRY,
    cubic::ENTRY,
    newreno::ENTRY,
];

/// The controller of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CONTROLLERS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_builds_from_its_own_table_and_explains_each_parameter() {
        for entry in CONTROLLERS {
            let controller = entry.build(&[], 1400).expect("defaults are valid");
            assert!(controller.cwnd() >= 1400, "{} starts below one packet", entry.name);
            for param in entry.params {
                assert!(param.check(param.default).is_ok(), "{}: default of {}", entry.name, param.name);
                assert!(!param.help.is_empty() && !param.source.is_empty(), "{}: {}", entry.name, param.name);
            }
        }
    }

    #[test]
    fn a_value_out_of_range_is_refused_by_name() {
        let target = [("target", Value::Number(60.0))];
        assert!(matches!(ledbatpp::ENTRY.build(&target, 1400), Err(ParamError::WrongKind { .. })));
        let target = [("target", Value::Time(crate::Span::from_secs(60)))];
        let error = ledbatpp::ENTRY.build(&target, 1400).unwrap_err();
        assert!(alloc::format!("{error}").starts_with("target = 60000 ms is outside its range"));
    }
}
