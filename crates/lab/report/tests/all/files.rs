//! Files: all or nothing, and clear words when it is nothing.

use crate::common;
use afteryou_files::check_writable;
use afteryou_plot::read;
use afteryou_report::write_folder;
use std::fs;
use std::path::Path;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| name != ".afteryou.files");
    names.sort();
    names
}

/// Asserts that the message is one sentence: lower-case, naming `file`, without a line break.
fn is_clear(message: &str, file: &Path) {
    assert!(message.contains(&file.display().to_string()), "{message}");
    let starts_lower = message.starts_with(|c: char| c.is_lowercase() || c == '/' || c == '.');
    assert!(starts_lower && !message.contains('\n') && !message.contains(".afteryou-"), "{message}");
    assert!(message.contains(';') || message.contains(": use"), "it says what to do: {message}");
}

#[test]
fn an_outcome_is_the_same_after_writing_and_reading() {
    let folder = tempfile::tempdir().unwrap();
    for (name, outcome) in
        [("full", common::full()), ("empty", common::empty()), ("odd", common::named("\"</'\u{0}"))]
    {
        let dir = folder.path().join("made").join(name);
        let written = write_folder(&outcome, &dir).unwrap();
        assert_eq!(read(&written.result).unwrap(), outcome);
        assert_eq!(names(&dir), ["figure.svg", "report.html", "result.json"]);
        let json = fs::read_to_string(&written.result).unwrap();
        assert!(json.starts_with("{\n  ") && json.ends_with("}\n"));
        assert!(fs::read_to_string(written.report).unwrap().starts_with("<!doctype html>"));
        assert!(fs::read_to_string(written.figure).unwrap().starts_with("<svg "));
    }
}

#[test]
fn writing_again_replaces_the_files() {
    let folder = tempfile::tempdir().unwrap();
    write_folder(&common::full(), folder.path()).unwrap();
    let written = write_folder(&common::empty(), folder.path()).unwrap();
    assert_eq!(read(&written.result).unwrap(), common::empty());
    assert_eq!(names(folder.path()).len(), 3);
}

#[test]
fn a_file_in_the_way_of_the_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "precious").unwrap();
    for dir in [file.clone(), file.join("below")] {
        let early = check_writable(&dir).unwrap_err().to_string();
        let late = write_folder(&common::full(), &dir).unwrap_err().to_string();
        assert_eq!(early, late);
        is_clear(&early, &dir);
        assert!(early.contains("a file is in the way"), "{early}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(names(folder.path()), ["file"]);
}

#[test]
fn a_failure_leaves_neither_a_file_nor_a_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("result.json");
    fs::create_dir(&taken).unwrap();
    let message = write_folder(&common::full(), folder.path()).unwrap_err().to_string();
    is_clear(&message, &taken);
    assert_eq!(names(folder.path()), ["result.json"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no list of files that are not there");
}

#[test]
fn looking_whether_a_folder_takes_files_leaves_none_there() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("a/b");
    check_writable(&dir).unwrap();
    assert!(names(&dir).is_empty());
}

#[test]
fn an_outcome_that_json_cannot_hold_is_refused_before_anything_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut outcome = common::full();
    outcome.run.duration_s = f64::NAN;
    let message = write_folder(&outcome, folder.path()).unwrap_err().to_string();
    assert!(message.starts_with("the outcome cannot be written as JSON"), "{message}");
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_result_of_a_later_format_is_refused_whatever_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    fs::write(&path, r#"{"schema_version": 7, "afteryou_version": "3.1.0", "shape": "unknown"}"#).unwrap();
    let message = read(&path).unwrap_err().to_string();
    is_clear(&message, &path);
    let end = "the result has format 7, and this afteryou reads formats up to 4: use the version that wrote it (3.1.0), or a \
               newer one";
    assert!(message.ends_with(end), "{message}");
}

#[test]
fn what_is_no_result_is_named_with_the_place_and_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.json");
    is_clear(&read(&path).unwrap_err().to_string(), &path);
    is_clear(&read(folder.path()).unwrap_err().to_string(), folder.path());
    for content in [&b"{"[..], b"", b"[1]", b"{\"schema_version\": 1}", b"\xff\xfe"] {
        fs::write(&path, content).unwrap();
        is_clear(&read(&path).unwrap_err().to_string(), &path);
    }
}
