//! Every controller by name. To add one: its file, its `mod` line, its line here.

pub use crate::entry::{Class, Entry, Tuned};

use crate::{
    bbr, bbr3, cdg, copa, cubic, ebb, fledbat, ledbat, ledbatpp, libutp, libutp_mod, newreno, nice, proteus,
    tcp_lp, vegas,
};

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
    bbr::ENTRY,
    bbr3::ENTRY,
    cdg::ENTRY,
    copa::ENTRY,
    ebb::ENTRY,
    proteus::SCAVENGER,
    proteus::PRIMARY,
];

/// Returns the controller of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CONTROLLERS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::controller::Setup;
    use afteryou_base::param::{ParamError, Value};

    #[test]
    fn every_entry_builds_from_its_own_table_and_explains_each_parameter() {
        for entry in CONTROLLERS {
            let controller = entry.build(&[], Setup::of(1400)).expect("defaults are valid");
            assert!(controller.directive().cwnd >= 1400, "{} starts below one packet", entry.name);
            for param in entry.params {
                assert!(param.check(param.default).is_ok(), "{}: default of {}", entry.name, param.name);
                assert!(!param.help.is_empty() && !param.source.is_empty(), "{}: {}", entry.name, param.name);
            }
        }
    }

    #[test]
    fn a_name_that_is_no_parameter_is_refused_with_the_nearest_for_every_controller() {
        for entry in CONTROLLERS {
            let nonsense = [("zzzz", Value::Flag(true))];
            let error = entry.build(&nonsense, Setup::of(1400)).map(drop).unwrap_err();
            assert!(matches!(error, ParamError::Unknown { .. }), "{}: {error}", entry.name);
        }
        let traget = [("traget", Value::Time(crate::Span::from_millis(25)))];
        let error = ledbatpp::ENTRY.build(&traget, Setup::of(1400)).map(drop).unwrap_err();
        assert_eq!(alloc::format!("{error}"), "there is no parameter \"traget\": did you mean \"target\"?");
    }

    #[test]
    fn a_value_out_of_range_is_refused_by_name() {
        let target = [("target", Value::Number(60.0))];
        assert!(matches!(ledbatpp::ENTRY.build(&target, Setup::of(1400)), Err(ParamError::WrongKind { .. })));
        let target = [("target", Value::Time(crate::Span::from_secs(60)))];
        let error = ledbatpp::ENTRY.build(&target, Setup::of(1400)).unwrap_err();
        assert!(alloc::format!("{error}").starts_with("target = 60000 ms is outside its range"));
    }
}
