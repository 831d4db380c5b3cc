//! Any text as the words that people hand to transfers: tickets, addresses, rates, timetables and patterns.

use afteryou_rate::{Rate, Timetable, WeekTime, Weekday};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::filter::{Filter, Filters, Patterns};
use afteryou_transfer::ticket::{Address, Ticket};

/// Checks that what is read is written so that it reads back, and that what is refused has a reason.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Ticket::with_path(text) {
        Ok((ticket, path)) => {
            assert_eq!(ticket.to_line().expect("it was read").parse(), Ok(ticket));
            assert!(path.is_none_or(|path| text.ends_with(path)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match Address::parse(text, 1) {
        Ok(address) => assert_eq!(Address::parse(&address.to_string(), 2), Ok(address)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match text.parse::<Rate>() {
        Ok(rate) => assert_eq!(rate.to_string().parse(), Ok(rate)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    match text.parse::<Timetable>() {
        Ok(timetable) => {
            assert_eq!(timetable.to_string().parse(), Ok(timetable.clone()));
            let noon = WeekTime::new(Weekday::Monday, 12 * 3600);
            let _ = (timetable.limits_at(noon), timetable.next_change_after(noon));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    exclude(text);
}

/// Checks exclusion: the first line is a path, the others are a file of patterns. A path is excluded by a pattern that
/// matched.
fn exclude(text: &str) {
    let (path, lines) = text.split_once('\n').unwrap_or((text, ""));
    let mut patterns = Patterns::default();
    patterns.read(lines.as_bytes());
    let count = patterns.count();
    let Ok(own) = Filter::new(patterns, 0) else { return };
    let filters = Filters::new(EntryPath::default(), own.clone(), Filter::default());
    let is_excluded = filters.exclude(&EntryPath(path.as_bytes().to_vec()), lines.starts_with('\n'));
    assert!(!is_excluded || own.unmatched().len() < count);
}
