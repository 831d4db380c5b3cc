//! Files that nobody means get one clear sentence, and soon.

use afteryou_scenario::Experiment;
use std::io::Write;
use std::path::Path;

/// What reading a file of these bytes says.
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
    let axis = |i: usize| format!("\"link.a{i}\" = [{}]\n", vec!["\"1 ms\""; 100].join(","));
    let text = refusal((link.to_owned() + &(0..20).map(axis).collect::<String>()).as_bytes());
    assert!(text.contains("at most 100000"), "{text}");
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
    for count in ["1000000000000", "1e12", "-1", "0", "99999999999999999999999", "0xffffffffff", "nan"] {
        let text = refusal(file(count).as_bytes());
        assert!(text.contains("whole number from 1 to 20000"), "{count}: {text}");
    }
    // Many tables, each with many flows.
    let many =
        file("20000") + &"[[flow]]\ncontroller = \"cubic\"\nrtt = \"1 ms\"\ncount = 20000\n".repeat(100);
    assert!(refusal(many.as_bytes()).contains("more than 20000 flows"));
}
