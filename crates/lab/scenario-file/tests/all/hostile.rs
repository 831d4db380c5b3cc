//! Files that nobody means get one clear sentence, and soon.

use afteryou_scenario_file::Experiment;
use std::io::Write;
use std::path::Path;

/// Returns the error of reading a file of these bytes.
fn refusal(bytes: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    Experiment::read(file.path(), &[]).unwrap_err().to_string()
}

#[test]
fn a_file_that_is_no_text_a_folder_or_missing_is_named() {
    let text = refusal(b"duration = \"60 s\"\n# \xff\n");
    assert!(text.contains("line 2 is not UTF-8"), "{text}");
    let folder = tempfile::tempdir().unwrap();
    let text = Experiment::read(folder.path(), &[]).unwrap_err().to_string();
    assert!(text.contains("folder"), "{text}");
    let text = Experiment::read(&folder.path().join("none.toml"), &[]).unwrap_err().to_string();
    assert!(text.contains("none.toml"), "{text}");
}

#[test]
fn a_gigabyte_and_an_endless_file_are_refused_without_being_read() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 30).unwrap();
    let text = Experiment::read(file.path(), &[]).unwrap_err().to_string();
    assert!(text.contains("larger than 4 MiB"), "{text}");
    if Path::new("/dev/zero").exists() {
        assert!(Experiment::read(Path::new("/dev/zero"), &[]).is_err());
    }
}

#[test]
fn a_sweep_that_explodes_and_a_nest_without_end_are_refused() {
    let link = "duration = \"1 s\"\n[link]\nrate = \"1 Mbit/s\"\nbuffer = \"9 packets\"\n[sweep]\n";
    let axis = |i: usize| {
        format!(
            "\"link.a{i}\" = [{}]\n",
            (0..100).map(|n| format!("\"{n} ms\"")).collect::<Vec<_>>().join(",")
        )
    };
    let text = refusal((link.to_owned() + &(0..20).map(axis).collect::<String>()).as_bytes());
    assert!(text.contains("1 to 100000 can be made"), "{text}");
    assert!(refusal(("a = ".to_owned() + &"[".repeat(100_000)).as_bytes()).contains("-->"));
    assert!(refusal(("a".to_owned() + &".a".repeat(100_000) + " = 1").as_bytes()).contains("-->"));
}

#[test]
fn flows_without_number_are_refused_before_one_is_made() {
    let file = |count: &str| {
        format!(
            "duration = \"1 s\"\nlink = {{ rate = \"1 Mbit/s\", buffer = \"9 packets\" }}\n
             [[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\ncount = {count}\n"
        )
    };
    for count in ["1000000000000", "1e12", "-1", "99999999999999999999999", "0xffffffffff", "nan"] {
        let text = refusal(file(count).as_bytes());
        assert!(text.contains("whole number from 0 to 20000"), "{count}: {text}");
    }
    // Many tables, each with many flows.
    let many =
        file("20000") + &"[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\ncount = 20000\n".repeat(100);
    assert!(refusal(many.as_bytes()).contains("more than 20000 flows"));
}

/// Returns the refusal of a file with a link, a flow "a" and these lines.
fn refused(lines: &str) -> String {
    let start = "duration = \"1 s\"\nlink = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }\n";
    let flow = "[[flow]]\nname = \"a\"\ncontroller = \"cubic\"\nrtt = \"1 ms\"\n";
    refusal((start.to_owned() + flow + lines).as_bytes())
}

/// Returns `number` values, none alike.
fn values(number: usize, value: impl Fn(usize) -> String) -> String {
    (1..=number).map(value).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_is_written_once_is_not_copied_until_the_memory_is_full() {
    let rates = format!("\"link.rate\" = [{}]\n", values(1000, |n| format!("\"{n} Mbit/s\"")));
    let rtts = format!("\"flow.a.rtt\" = [{}]\n", values(100, |n| format!("\"{n} ms\"")));
    let windows: String =
        (0..999).map(|n| format!("[[measure]]\nname = \"{n}\"\nfrom = \"0 s\"\n")).collect();
    let drops = "[[drop]]\nat = \"0 s\"\n".repeat(100_000);
    for (lines, words) in [
        (format!("count = 20000\n[sweep]\n{rates}{rtts}"), "all runs together"),
        (format!("{windows}[sweep]\n{rates}{rtts}"), "all runs together"),
        (format!("{drops}[sweep]\n{rates}"), "all runs together"),
        (
            format!("[sweep]\n\"flow.a.count\" = [{}]\n", values(500, |n| (10_000 + n).to_string())),
            "all runs together",
        ),
        (
            format!(
                "count = 20000\nactive = [{}]\n",
                values(50_000, |n| format!("[\"{n} s\", \"{n}.5 s\"]"))
            ),
            "times of activity",
        ),
        (format!("count = 20000\ngroup = \"{}\"\n", "x".repeat(1_000_000)), "longer than 500 bytes"),
        (
            format!("count = 20000\ntransport = {{ kind = \"tcp\", iw = \"{}2\" }}\n", "0".repeat(1_000_000)),
            "longer than 500 bytes",
        ),
        (
            format!("[sweep]\n{}", (0..50_000).map(|n| format!("\"link.a{n}\" = [1]\n")).collect::<String>()),
            "more than 20 settings vary",
        ),
        (format!("[sweep]\n\"link{}\" = [1]\n", ".a".repeat(1_000_000)), "longer than 500 bytes"),
    ] {
        let text = refused(&lines);
        assert!(text.contains(words) && text.contains("-->") && text.len() < 2000, "{words}: {text:.1000}");
    }
}

#[test]
fn a_deep_assignment_is_refused_and_thousands_of_flows_need_no_names() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\n".repeat(20_000);
    let text =
        format!("duration = \"1 s\"\nlink = {{ rate = \"1 Mbit/s\", buffer = \"9 packets\" }}\n{flow}");
    let run = Experiment::parse(&text, "many", &[]).unwrap().runs(None, None).unwrap().remove(0);
    assert_eq!(run.scenario.flow[19_999].name, "cubic 20000");
    let deep = format!("link{}=1", ".a".repeat(100_000));
    let text = Experiment::parse(&text, "many", &[deep]).unwrap_err().to_string();
    assert!(text.contains("longer than 500 bytes"), "{text:.1000}");
}

#[test]
fn of_many_flows_the_nearest_is_named_and_not_all_are_listed() {
    let flows: String = (0..5000)
        .map(|n| format!("[[flow]]\nname = \"f{n}\"\ncontroller = \"cubic\"\nrtt = \"1 ms\"\n"))
        .collect();
    let text = refused(&(flows + "[[drop]]\nflow = \"f49999\"\npacket = 1\n"));
    assert!(text.contains("did you mean \"f4999\"?") && text.contains("5001 in all"), "{text:.1000}");
    assert!(text.len() < 1000);
}
