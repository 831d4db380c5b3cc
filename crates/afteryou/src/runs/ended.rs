//! Why the runs of a file ended before their end.

use afteryou_terminal::Failure;

/// The reason.
pub(super) enum Ended {
    InLab(afteryou_engines::Error),
    Here(Failure),
}

impl From<afteryou_engines::Error> for Ended {
    fn from(error: afteryou_engines::Error) -> Ended {
        Ended::InLab(error)
    }
}

impl From<afteryou_report::Error> for Ended {
    fn from(error: afteryou_report::Error) -> Ended {
        Ended::Here(error.into())
    }
}

impl From<serde_json::Error> for Ended {
    fn from(error: serde_json::Error) -> Ended {
        Ended::Here(error.into())
    }
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Ended {
        Ended::Here(failure)
    }
}

impl From<Ended> for Failure {
    fn from(ended: Ended) -> Failure {
        match ended {
            Ended::InLab(error) => failure(error),
            Ended::Here(failure) => failure,
        }
    }
}

/// Returns the failure, whose exit code follows from whose fault it is.
pub(super) fn failure(error: afteryou_engines::Error) -> Failure {
    match error {
        afteryou_engines::Error::Interrupted => Failure::Interrupted,
        of_the_input if of_the_input.is_usage() => Failure::usage(of_the_input),
        other => other.into(),
    }
}
