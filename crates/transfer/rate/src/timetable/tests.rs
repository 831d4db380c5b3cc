use super::Weekday::*;
use super::*;
use proptest::prelude::*;

fn table(text: &str) -> Timetable {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn at(day: Weekday, clock: &str) -> WeekTime {
    WeekTime::new(day, u32::from(minute_of_day(clock).expect("a time")) * 60)
}

/// Returns the limit at that time, as text.
fn says(text: &str, day: Weekday, clock: &str) -> String {
    table(text).limits_at(at(day, clock)).to_string()
}

fn hours(hours: u64) -> Option<Duration> {
    Some(Duration::from_secs(3600 * hours))
}

#[test]
fn a_limit_alone_holds_always() {
    for text in ["10M", "10M:100K", "off", "off:5Mbit/s", "5 Mbit/s:600 kbit/s"] {
        assert_eq!(says(text, Wednesday, "12:00"), text.replace(' ', ""));
        assert_eq!(table(text).next_change_after(at(Wednesday, "12:00")), None);
    }
    assert_eq!(table("0"), table("off"), "as in rclone");
}

#[test]
fn entries_of_every_day_hold_until_the_next_one_and_over_midnight() {
    let text = "08:00,512k 12:00,10M 13:00,512k 18:00,30M 23:00,off";
    for (clock, expected) in [
        ("00:00", "off"),
        ("07:59", "off"),
        ("08:00", "512K"),
        ("12:30", "10M"),
        ("13:00", "512K"),
        ("22:59", "30M"),
    ] {
        assert_eq!(says(text, Monday, clock), expected, "{clock}");
        assert_eq!(says(text, Sunday, clock), expected, "{clock}");
    }
    assert_eq!(table(text).next_change_after(at(Monday, "13:00")), hours(5));
    assert_eq!(table(text).next_change_after(at(Sunday, "23:00")), hours(9));
}

#[test]
fn entries_of_days_hold_for_days_and_the_week_goes_round() {
    let text = "Mon-00:00,512 Fri-23:59,10M Sat-10:00,1M Sun-20:00,off";
    for (day, clock, expected) in [
        (Monday, "00:00", "512K"),
        (Friday, "23:58", "512K"),
        (Saturday, "09:59", "10M"),
        (Sunday, "10:00", "1M"),
        (Sunday, "23:59", "off"),
    ] {
        assert_eq!(says(text, day, clock), expected, "{day:?} {clock}");
    }
    assert_eq!(table(text).next_change_after(at(Sunday, "22:00")), hours(2));
    let text = "wednesday-12:00,1M THU-12:00,off";
    assert_eq!(says(text, Monday, "00:00"), "off", "of last week's Thursday");
    assert_eq!(table(text).next_change_after(at(Thursday, "12:00")), hours(6 * 24));
}

#[test]
fn a_later_entry_makes_an_exception() {
    let text = "08:00,1M 20:00,off Sat-08:00,off";
    assert_eq!((says(text, Friday, "09:00"), says(text, Saturday, "09:00")), ("1M".into(), "off".into()));
    // What changes nothing is no change: from Friday evening to Sunday morning.
    assert_eq!(table(text).next_change_after(at(Friday, "20:00")), hours(36));
}

#[test]
fn units_with_a_space_and_semicolons_are_understood() {
    let text = "08:00,5 Mbit/s; 12:00,600 kbit/s:2 MB/s 18:00,off";
    assert_eq!(table(text).to_string(), "08:00,5Mbit/s 12:00,600kbit/s:16Mbit/s 18:00,off");
}

#[test]
fn errors_name_the_faulty_word_and_what_was_expected() {
    for (text, word, expected) in [
        ("", "", "a limit"),
        (" ; ", "", "a limit"),
        ("bad", "bad", "a rate"),
        ("08:00,1M 2401,666", "2401", "00:00 to 23:59"),
        ("10:61,666", "10:61", "00:00 to 23:59"),
        ("24:00,666", "24:00", "00:00 to 23:59"),
        ("8:00,666", "8:00", "00:00 to 23:59"),
        ("bad-10:20,666", "bad", "a day of the week"),
        ("Mon-bad,666", "bad", "00:00 to 23:59"),
        ("Mon-10:20,bad", "bad", "a rate"),
        ("Mon-10:20,1M:", "", "a rate"),
        ("10M 08:00,1M", "10M", "a time, a comma"),
        ("08:00,1M;10M", "10M", "a time, a comma"),
        ("08:00,1M,2M", "1M,2M", "a rate"),
    ] {
        let error = text.parse::<Timetable>().expect_err(text);
        assert_eq!(error.word(), word, "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}

#[test]
fn unix_time_becomes_local_week_time() {
    // 2026-11-21 14:47:01 UTC, a Saturday.
    let unix = 1_795_272_421;
    assert_eq!(WeekTime::of_unix(unix, 0), WeekTime::new(Saturday, 14 * 3600 + 47 * 60 + 1));
    assert_eq!(WeekTime::of_unix(unix, 11 * 3600), WeekTime::new(Sunday, 3600 + 47 * 60 + 1));
    assert_eq!(WeekTime::of_unix(-1, 0), WeekTime::new(Wednesday, DAY - 1));
    for extreme in [i64::MIN, i64::MAX] {
        assert!(WeekTime::of_unix(extreme, i32::MIN).seconds() < WEEK);
    }
}

fn limit_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("off".to_owned()),
        (1..5000u32, "[BKMG]?").prop_map(|(number, unit)| format!("{number}{unit}"))
    ]
}

fn entries() -> impl Strategy<Value = String> {
    let day = proptest::option::of(0..7usize);
    let entry = (day, 0..24u32, 0..60u32, limit_text(), proptest::option::of(limit_text()));
    proptest::collection::vec(entry, 1..12).prop_map(|entries| {
        let text = entries.into_iter().map(|(day, hour, minute, up, down)| {
            let day = day.map_or(String::new(), |day| format!("{}-", Weekday::ALL[day].name()));
            let down = down.map_or(String::new(), |down| format!(":{down}"));
            format!("{day}{hour:02}:{minute:02},{up}{down}")
        });
        text.collect::<Vec<_>>().join(" ")
    })
}

proptest! {
    #[test]
    fn a_timetable_reads_back_as_it_was_written(text in entries()) {
        let table = table(&text);
        prop_assert_eq!(table.to_string().parse::<Timetable>(), Ok(table));
    }

    #[test]
    fn limits_stay_until_the_next_change_and_differ_after_it(text in entries(), seconds in 0..WEEK) {
        let table = table(&text);
        let after = |by: u32| table.limits_at(WeekTime((seconds + by) % WEEK));
        let Some(wait) = table.next_change_after(WeekTime(seconds)) else {
            prop_assert!((0..WEEK).step_by(60).all(|by| after(by) == after(0)));
            return Ok(());
        };
        let wait = wait.as_secs() as u32;
        prop_assert!((1..=WEEK).contains(&wait));
        prop_assert_ne!(after(wait), after(0));
        prop_assert!((0..wait).step_by(60).chain([wait - 1]).all(|by| after(by) == after(0)));
    }

    #[test]
    fn no_text_breaks_it(text in "\\PC*", near in "[0-9:,;.MonkSat/ \\-of]{0,40}") {
        for text in [text, near] {
            if let Ok(table) = text.parse::<Timetable>() {
                table.limits_at(WeekTime(0));
                prop_assert_eq!(table.to_string().parse::<Timetable>(), Ok(table));
            }
        }
    }
}
