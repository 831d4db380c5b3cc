//! Jobs: the flows whose connections share one rule from outside.

use crate::end_rule::AtReceiver;
use crate::scenario::Flow;
use afteryou_notation::Error;
use afteryou_outside::rule::{Direction, Params};

/// Flows that were written together and have the same rule at the same end.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Direction of the data, seen from the steered program: down if that is the receiver.
    pub direction: Direction,
    /// Parameters of the rule.
    pub params: Params,
    /// The flows that belong to it.
    pub flows: Vec<Member>,
}

/// A flow of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Index of the flow.
    pub flow: usize,
    /// Index of the first flow of the job with the same other end: the least round trip of all connections to it counts.
    pub peer: usize,
}

/// Returns the jobs of a scenario's flows, in the order of their first flows.
///
/// # Errors
/// A parameter of a rule that is refused.
pub fn jobs(flows: &[Flow]) -> Result<Vec<Job>, Error> {
    let mut jobs: Vec<Job> = Vec::new();
    for (index, flow) in flows.iter().enumerate() {
        let Some((direction, params)) = rule(flow)? else { continue };
        let belongs =
            |job: &&mut Job| job.flows.first().is_some_and(|first| is_one(&flows[first.flow], flow));
        match jobs.iter_mut().find(belongs) {
            Some(job) => {
                let known = job.flows.iter().find(|other| has_same_peer(&flows[other.flow], flow));
                let peer = known.map_or(index, |known| known.peer);
                job.flows.push(Member { flow: index, peer });
            }
            None => {
                jobs.push(Job { direction, params, flows: vec![Member { flow: index, peer: index }] });
            }
        }
    }
    Ok(jobs)
}

fn rule(flow: &Flow) -> Result<Option<(Direction, Params)>, Error> {
    if let Some(sender) = &flow.sender {
        return Ok(Some((Direction::Up, sender.at_sender()?)));
    }
    Ok(match flow.receiver.as_ref().map(|receiver| receiver.at_receiver()).transpose()? {
        Some(AtReceiver::Outside(params)) => Some((Direction::Down, params)),
        Some(AtReceiver::Rledbat(_)) | None => None,
    })
}

fn is_one(one: &Flow, other: &Flow) -> bool {
    let is_together = one.group.is_some() && one.group == other.group;
    is_together && (&one.receiver, &one.sender) == (&other.receiver, &other.sender)
}

fn has_same_peer(one: &Flow, other: &Flow) -> bool {
    (one.rtt, one.direction, &one.path) == (other.rtt, other.direction, &other.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Role;
    use crate::EndRule;
    use afteryou_notation::Duration;

    #[test]
    fn flows_written_together_are_one_job_if_they_have_the_same_rule_at_the_same_end() {
        let flow = |group: Option<&str>, receiver: Option<EndRule>, sender: Option<EndRule>| Flow {
            group: group.map(str::to_owned),
            receiver,
            sender,
            ..Flow::new("", Role::Background, "cubic", Duration::from_millis(40))
        };
        let outside = || Some(EndRule::named("outside"));
        let flows = [
            flow(Some("a"), outside(), None),
            flow(None, outside(), None),
            flow(Some("a"), outside(), None),
            flow(Some("a"), None, outside()),
            flow(Some("a"), Some(EndRule::named("outside").with("target", "40 ms")), None),
            flow(Some("a"), Some(EndRule::named("rledbat")), None),
            flow(None, outside(), None),
        ];
        let found = jobs(&flows).unwrap();
        let of = |direction| {
            let of_it = found.iter().filter(|job| job.direction == direction);
            of_it.map(|job| job.flows.iter().map(|member| member.flow).collect()).collect::<Vec<Vec<_>>>()
        };
        assert_eq!(of(Direction::Down), [vec![0, 2], vec![1], vec![4], vec![6]]);
        assert_eq!(of(Direction::Up), [vec![3]]);
    }
    #[test]
    fn connections_over_the_same_path_have_the_same_other_end() {
        let flow = |ms| Flow {
            group: Some("a".to_owned()),
            sender: Some(EndRule::named("outside")),
            ..Flow::new("", Role::Background, "cubic", Duration::from_millis(ms))
        };
        let found = jobs(&[flow(40), flow(90), flow(40), flow(90)]).unwrap();
        let peers: Vec<usize> = found[0].flows.iter().map(|member| member.peer).collect();
        assert_eq!(peers, [0, 1, 0, 1]);
    }
}
