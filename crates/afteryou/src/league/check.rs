//! `afteryou league --check`: nothing failed, draws agree, and the scores are those that are recorded.

use super::{LeagueArgs, LeagueEngine, LeagueSet};
use afteryou_league::{table, Draw, Order, Recorded};
use afteryou_terminal::Failure;

/// Returns every reason why a league is not as it should be.
pub(super) fn check(args: &LeagueArgs, draws: &[Draw<'_>]) -> Result<(), Failure> {
    let mut faults = Vec::new();
    for draw in draws {
        let failed: usize = draw.scores.standings.iter().map(|standing| standing.failed).sum();
        if failed > 0 {
            faults.push(format!("{failed} runs failed"));
        }
    }
    if let [first, second] = draws {
        let differing = table::differing(first.season, [first.scores, second.scores]);
        if !differing.is_empty() {
            faults.push(format!("two draws differ: {}", differing.join(", ")));
        }
    }
    if let (Some(recorded), Some(first)) = (recorded(args), draws.first()) {
        faults.extend(Order::of(first.season, first.scores).differences(recorded));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Verdict(faults.join("; "))),
    }
}

/// Returns the recorded league that this one repeats.
fn recorded(args: &LeagueArgs) -> Option<Recorded> {
    let is_usual = args.engine == LeagueEngine::Sim
        && args.cell.is_empty()
        && args.set.first() == Some(&LeagueSet::Train)
        && args.seeds().first() == Some(&1);
    is_usual.then_some(if args.quick { Recorded::Quick } else { Recorded::Whole })
}
