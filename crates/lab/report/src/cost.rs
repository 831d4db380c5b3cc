//! The tables of what the background cost, the one that counts most first: completion times where the foreground has any.

use crate::table::Table;
use crate::{completions, links, tables};
use afteryou_scenario::outcome::Outcome;

/// Returns the tables in their order.
pub(crate) fn tables_of(outcome: &Outcome) -> [Option<Table>; 4] {
    let rates = [tables::comparison(outcome), links::comparison(outcome)];
    let times = [completions::table_of(outcome), completions::by_size(outcome)];
    let ([first, second], [third, fourth]) = match completions::lead(outcome) {
        true => (times, rates),
        false => (rates, times),
    };
    [first, second, third, fourth]
}
