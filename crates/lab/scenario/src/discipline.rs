//! Queue disciplines by name.

use afteryou_aqm::list::{find, Entry, QUEUES};
use afteryou_notation::{unknown, Algorithm, Error, Overrides};

/// Looks a queue discipline up by its name, and reads its parameters.
///
/// # Errors
/// A name that no discipline has, a parameter that its table does not have, or a value that it refuses.
pub fn discipline(written: &Algorithm) -> Result<(&'static Entry, Overrides), Error> {
    let names: Vec<_> = QUEUES.iter().map(|entry| entry.name).collect();
    let entry = find(&written.kind).ok_or_else(|| unknown("queue", &written.kind, &names))?;
    Ok((entry, written.overrides(entry.params)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest() {
        let error = discipline(&Algorithm::named("dropptail")).unwrap_err().to_string();
        assert!(error.contains("did you mean \"droptail\"?"), "{error}");
    }
}
