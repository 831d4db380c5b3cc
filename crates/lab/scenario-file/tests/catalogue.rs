//! Controllers that a program registers. A registration is for the whole process, so these tests are a file of their own,
//! and each has names of its own.

use afteryou_base::param::Key;
use afteryou_base::About;
use afteryou_cc::list::{Class, Entry, CONTROLLERS};
use afteryou_cc::newreno::{self, NewReno};
use afteryou_notation::{catalogue, Algorithm, Error};
use afteryou_scenario_file::Experiment;

/// Returns NewReno under another name.
const fn entry(name: &'static str) -> Entry {
    Entry {
        about: About {
            name,
            summary: "NewReno in disguise",
            source: "this test",
            params: newreno::PARAMS,
            presets: &[],
        },
        class: Class::Background,
        make: |settings, setup| Box::new(NewReno::new(settings, setup.mss)),
    }
}

fn file(controller: &str) -> String {
    format!(
        "duration = \"9 s\"\nlink = {{ rate = \"1 Mbit/s\", buffer = \"9 packets\" }}\n\
         flow = [{{ controller = {controller}, rtt = \"10 ms\" }}]\n"
    )
}

fn refusal(entry: &'static Entry) -> String {
    let error = catalogue::register(entry).unwrap_err();
    assert!(matches!(error, Error::Controller { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn a_registered_controller_is_found_wherever_a_built_in_one_is() {
    static MODEST: Entry = entry("modest");
    assert!(catalogue::find("modest").is_none());
    assert!(Experiment::parse(&file("\"modest\""), "", &[]).is_err());
    catalogue::register(&MODEST).unwrap();
    assert!(std::ptr::eq(catalogue::find("modest").unwrap(), &MODEST));
    let (entry, overrides) = Algorithm::named("modest").with("initial_window", "3").controller().unwrap();
    assert_eq!((entry.name, overrides.len()), ("modest", 1));
    for written in ["\"modest\"", "{ kind = \"modest\", initial_window = 3 }"] {
        Experiment::parse(&file(written), "", &[]).unwrap_or_else(|error| panic!("{error}"));
    }
    let sets = ["flow.cubic.controller=modest".to_owned()];
    Experiment::parse(&file("\"cubic\""), "", &sets).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn what_is_wrong_in_a_file_is_answered_with_registered_names() {
    static CONSIDERATE: Entry = entry("considerate");
    catalogue::register(&CONSIDERATE).unwrap();
    let error = |written: &str| Experiment::parse(&file(written), "", &[]).unwrap_err().to_string();
    assert!(error("\"considerat\"").contains("did you mean \"considerate\"?"));
    let misspelt = error("{ kind = \"considerate\", initial_windw = 3 }");
    assert!(misspelt.contains("no parameter of considerate \"initial_windw\""), "{misspelt}");
    let too_much = error("{ kind = \"considerate\", initial_window = 3000 }");
    assert!(too_much.contains("use 0 to 1000"), "{too_much}");
}

#[test]
fn the_built_in_controllers_stay_first_and_what_is_registered_stays() {
    static FIRST: Entry = entry("registered-first");
    static SECOND: Entry = entry("registered-second");
    catalogue::register(&FIRST).unwrap();
    catalogue::register(&SECOND).unwrap();
    let names: Vec<_> = catalogue::controllers().iter().map(|entry| entry.name).collect();
    let built_in: Vec<_> = CONTROLLERS.iter().map(|entry| entry.name).collect();
    assert_eq!(names[..built_in.len()], built_in);
    let place = |name| names.iter().position(|other| *other == name).unwrap();
    assert!(place("registered-first") < place("registered-second"));
}

#[test]
fn a_name_belongs_to_whoever_has_it() {
    static LEDBAT: Entry = entry("ledbat");
    static MINE: Entry = entry("mine");
    static YOURS: Entry = entry("mine");
    assert!(refusal(&LEDBAT).starts_with(
        "controller \"ledbat\" cannot be registered: the name is taken (steers the queue to a target delay"
    ));
    catalogue::register(&MINE).unwrap();
    assert!(refusal(&YOURS).contains("the name is taken"));
    assert!(std::ptr::eq(catalogue::find("mine").unwrap(), &MINE));
    // The same entry is no other controller.
    catalogue::register(&MINE).unwrap();
    assert_eq!(catalogue::controllers().iter().filter(|entry| entry.name == "mine").count(), 1);
}

#[test]
fn what_could_not_be_written_in_a_file_is_not_registered() {
    static NAMELESS: Entry = entry("");
    static TWO_WORDS: Entry = entry("two words");
    static REVERSED: Entry = Entry {
        about: About {
            params: &[Key::count("packets", "packets", 5, (10, 1)).explained("the window", "nowhere").row()],
            ..entry("reversed").about
        },
        ..entry("reversed")
    };
    for refused in [&NAMELESS, &TWO_WORDS] {
        assert!(refusal(refused).contains("a name is a lower-case letter"), "{}", refused.name);
    }
    assert!(refusal(&REVERSED).ends_with("packets = 5 is outside its range: use 10 to 1"));
    for refused in [&NAMELESS, &TWO_WORDS, &REVERSED] {
        assert!(catalogue::find(refused.name).is_none(), "{}", refused.name);
    }
}

#[test]
fn of_many_threads_that_want_a_name_one_gets_it() {
    let rivals: Vec<&'static Entry> = (0..8).map(|_| &*Box::leak(Box::new(entry("contested")))).collect();
    let winners: usize = std::thread::scope(|scope| {
        let threads: Vec<_> =
            rivals.iter().map(|rival| scope.spawn(|| catalogue::register(rival).is_ok())).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
    });
    assert_eq!(winners, 1);
}

#[test]
fn the_schema_of_files_does_not_depend_on_registrations() {
    static UNSEEN: Entry = entry("unseen");
    catalogue::register(&UNSEEN).unwrap();
    assert!(!afteryou_scenario_file::schema().to_string().contains("unseen"));
}
