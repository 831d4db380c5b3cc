//! A sender's rate, made of a window.
//!
//! From outside a sender's window cannot be set, but its rate can. The rate is what was delivered in the last round trip, plus twice what the
//! window has above what is under way, spread over a round trip: an emulated window. A window divided by the round trip oscillates instead,
//! since the queue that it makes lowers it a round trip later.

use super::group::{Granted, Part, WAITING_UPLOAD_PER_S};
use super::members::Member;
use afteryou_base::Span;

/// Weight of what the window has above what is under way: 1 returns more slowly.
const CORRECTION: f64 = 2.0;
/// The rate is two packets a round trip at least: a lower one takes effect only after the gap that has begun.
const LEAST_PACKETS: f64 = 2.0;
/// … of a round trip that counts as so long at most, or as three times the base.
const LONGEST_ROUND: Span = Span::from_millis(100);
/// The largest rate, as a multiple of the late one: a tick of a window over a short round trip would be a burst.
const GROWTH: f64 = 2.0;
/// At most the window in half of the base.
const HIGHEST: f64 = 2.0;

/// Returns the rate for what a connection was granted, bytes a second. `is_starting`: the group is in slow start, in which a rate falls to half
/// of what is delivered at most.
pub fn rate(member: &Member, granted: &Granted, base: Span, is_starting: bool) -> f64 {
    if granted.part == Part::Waiting {
        return WAITING_UPLOAD_PER_S;
    }
    let window = granted.window;
    let rtt = member.reading.rtt.unwrap_or(base).max(base).as_secs_f64().max(1e-4);
    let base_s = base.as_secs_f64().max(1e-4);
    let delivered = member.per_round(Span::from_secs_f64(rtt)) / rtt;
    let wanted = delivered + CORRECTION * (window - member.reading.in_flight as f64) / rtt;
    let longest = LONGEST_ROUND.as_secs_f64().max(3.0 * base_s);
    let lowest = LEAST_PACKETS * member.reading.mss() / rtt.min(longest);
    let lowest =
        if is_starting && granted.part == Part::Active { lowest.max(delivered / 2.0) } else { lowest };
    wanted.min(HIGHEST * window / base_s).min(GROWTH * member.rate()).max(lowest)
}
