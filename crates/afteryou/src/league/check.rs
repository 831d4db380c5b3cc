//! `afteryou league --check`: nothing failed, draws agree, and the quick league has the scores that are recorded.

use super::{LeagueArgs, LeagueEngine, LeagueSet};
use afteryou_league::page::Draw;
use afteryou_league::{recorded, table};
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
    if is_recorded(args) {
        faults.extend(recorded::differences(draws[0].season, draws[0].scores));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::Verdict(faults.join("; "))),
    }
}

/// Returns whether this is the league whose scores are recorded.
fn is_recorded(args: &LeagueArgs) -> bool {
    args.quick
        && args.engine == LeagueEngine::Sim
        && args.set.first() == Some(&LeagueSet::Train)
        && args.grid_seed.first() == Some(&1)
}
