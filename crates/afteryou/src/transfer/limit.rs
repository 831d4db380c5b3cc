//! The seam to timetables: what --max-rate may say.

use afteryou_scenario::Rate;
use std::str::FromStr;

/// What --max-rate may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxRate(pub Option<u64>);

impl FromStr for MaxRate {
    type Err = String;
    fn from_str(text: &str) -> Result<MaxRate, String> {
        if text.trim().eq_ignore_ascii_case("off") {
            return Ok(MaxRate(None));
        }
        let rate: Rate = text.parse().map_err(|error: afteryou_scenario::Error| error.to_string())?;
        Ok(MaxRate(Some(rate.bytes_per_second())))
    }
}

/// One rate in bytes a second, for `ctl rate`.
pub fn one_rate(text: &str) -> Result<u64, String> {
    match text.parse::<MaxRate>()? {
        MaxRate(Some(rate)) => Ok(rate),
        MaxRate(None) => Err("off is no rate: use `afteryou ctl off`".to_owned()),
    }
}
