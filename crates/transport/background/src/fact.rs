//! The facts about a socket, as values and as a sentence.

use std::fmt::{self, Display, Formatter};

/// The facts about a socket after [`set_background`](crate::set_background). As text, one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Background {
    /// The rule that sends, or the reason why the socket keeps its ordinary one.
    pub rule: Result<Rule, Missing>,
    /// Whether packets carry the lower-effort mark (DSCP 1, RFC 8622), or the system's reason why not.
    pub mark: Result<(), String>,
    /// Linux: whether packets have the priority TC_PRIO_FILLER, which pfifo_fast sends after all other packets of this machine.
    pub low_priority: bool,
}

/// A rule of the system that yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Linux: this controller sends.
    Controller(&'static str),
    /// macOS: the traffic class of the system's own background transfers governs sending and receiving.
    TrafficClass,
    /// Windows: the lowest priority governs sending and receiving.
    PriorityHint,
}

/// The reason why a socket keeps its ordinary rule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// Linux: the kernel has no controller that yields.
    NotLoaded,
    /// Linux: the kernel has this controller, but does not offer it to this user.
    NotPermitted(&'static str),
    /// Linux: a route with `congctl lock` keeps the connection at this controller.
    Locked(String),
    /// The socket is not of TCP: its program has the rule.
    NotTcp,
    /// The system has no such rule.
    NoMeans,
    /// The system refuses, for this reason.
    Refused(String),
}

impl Display for Background {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.rule {
            Ok(rule) => Display::fmt(rule, f)?,
            Err(Missing::NotTcp) => f.write_str("sends by its program's own rule")?,
            Err(_) => f.write_str("keeps its ordinary rule")?,
        }
        match &self.mark {
            Ok(()) => f.write_str(", marked LE")?,
            Err(reason) => write!(f, ", not marked ({reason})")?,
        }
        if self.low_priority {
            f.write_str(", with the lowest priority in this machine's own queue")?;
        }
        match &self.rule {
            Ok(_) => Ok(()),
            Err(missing) => write!(f, ": {missing}"),
        }
    }
}

impl Display for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Rule::Controller(name) => write!(f, "sends by the rule {name} in the kernel"),
            Rule::TrafficClass => {
                f.write_str("sends and receives by the system's background class (SO_TRAFFIC_CLASS)")
            }
            Rule::PriorityHint => {
                f.write_str("sends and receives at the system's lowest priority (SIO_PRIORITY_HINT)")
            }
        }
    }
}

impl Display for Missing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Missing::NotLoaded => {
                f.write_str("the kernel offers no background rule; run `sudo afteryou kernel load --allow-users`")
            }
            Missing::NotPermitted(name) => write!(
                f,
                "the kernel does not offer {name} to this user; add it to net.ipv4.tcp_allowed_congestion_control, as \
                 `sudo afteryou kernel load --allow-users` does"
            ),
            Missing::Locked(name) => write!(f, "a route with `congctl lock` keeps it at {name}"),
            Missing::NotTcp => f.write_str("only TCP has its rule in the system; choose a background controller in the program"),
            Missing::NoMeans => f.write_str("this system has no background rule"),
            Missing::Refused(reason) => write!(f, "the system refuses its background rule: {reason}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_one_sentence() {
        let sentence = |rule, mark: Result<(), &str>, low_priority| {
            Background { rule, mark: mark.map_err(str::to_owned), low_priority }.to_string()
        };
        assert_eq!(
            sentence(Ok(Rule::Controller("afteryou")), Ok(()), true),
            "sends by the rule afteryou in the kernel, marked LE, with the lowest priority in this machine's own queue"
        );
        assert_eq!(
            sentence(Ok(Rule::PriorityHint), Err("its policies mark"), false),
            "sends and receives at the system's lowest priority (SIO_PRIORITY_HINT), not marked (its policies mark)"
        );
        assert_eq!(
            sentence(Err(Missing::NotLoaded), Ok(()), false),
            "keeps its ordinary rule, marked LE: the kernel offers no background rule; run `sudo afteryou kernel load --allow-users`"
        );
        assert_eq!(
            sentence(Err(Missing::Locked("reno".to_owned())), Ok(()), false),
            "keeps its ordinary rule, marked LE: a route with `congctl lock` keeps it at reno"
        );
        assert_eq!(
            sentence(Err(Missing::NotTcp), Ok(()), false),
            "sends by its program's own rule, marked LE: only TCP has its rule in the system; choose a background controller in the program"
        );
    }
}
