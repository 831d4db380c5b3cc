//! Prometheus metrics of a job: text exposition format 0.0.4, over HTTP/1.0 at the socket of `afteryou ctl`.

use super::protocol::Status;
use afteryou_base::shown::Shown;
use std::fmt::Write;

/// Start of an HTTP request's first line.
pub const GET: &str = "GET ";

const OK: &str = "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n";

/// Returns the response, header included. Every path gets the same page.
pub fn answer(status: &Status) -> String {
    let page = page(status);
    format!("{OK}Content-Length: {}\r\nConnection: close\r\n\r\n{page}", page.len())
}

fn page(status: &Status) -> String {
    let labels = format!("command=\"{}\",what=\"{}\"", escaped(&status.command), escaped(&status.what));
    let mut page = String::new();
    let mut gauge = |name: &str, help: &str, value: Option<u64>| {
        let Some(value) = value else { return };
        let _ = writeln!(
            page,
            "# HELP afteryou_{name} {help}\n# TYPE afteryou_{name} gauge\nafteryou_{name}{{{labels}}} {value}"
        );
    };
    let partial = |value: u64| (status.partial_files > 0).then_some(value);
    gauge("seconds", "Time since the job began, in seconds.", Some(status.seconds));
    gauge("entries", "Entries of the job known so far.", Some(status.entries));
    gauge("entries_done", "Entries that are complete.", Some(status.entries_done));
    gauge("files", "Files of the job known so far.", Some(status.files));
    gauge("files_done", "Files that are complete.", Some(status.files_done));
    gauge("bytes", "Bytes of all entries known so far.", Some(status.bytes));
    gauge("bytes_done", "Bytes that are complete.", Some(status.bytes_done));
    gauge("rate_bytes_per_second", "Current rate of content, in bytes per second.", Some(status.rate));
    gauge("max_rate_bytes_per_second", "Current rate limit, in bytes per second.", status.max_rate);
    gauge(
        "yielded_percent",
        "Share of the time in which the job yielded, in per cent.",
        status.yielded_percent,
    );
    gauge("partial_files", "Partial files that no job works on.", partial(status.partial_files));
    gauge("partial_bytes", "Bytes of partial files that no job works on.", partial(status.partial_bytes));
    gauge("paused", "1 while the job is paused.", Some(status.paused.into()));
    page
}

/// Returns a label's value fit to be shown, with the format's own escapes for backslashes and quotes. No line break is left
/// for its third.
fn escaped(text: &str) -> String {
    Shown(text).to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_end_its_label_or_its_line() {
        let what = "a \"quoted\\\nname\u{1b}\u{9b}\u{202e}".to_owned();
        let status =
            Status { command: "send".to_owned(), what, bytes: 7, max_rate: Some(5), ..Status::default() };
        let page = page(&status);
        let line = r#"afteryou_bytes{command="send",what="a \"quoted\\\\nname\\u{1b}\\u{9b}\\u{202e}"} 7"#;
        assert!(page.lines().any(|known| known == line), "{page}");
        assert!(page.contains("\nafteryou_max_rate_bytes_per_second{"));
        assert_eq!(
            page.lines().filter(|line| !line.starts_with('#')).count(),
            10,
            "no yielding was seen yet: {page}"
        );
    }

    #[test]
    fn the_header_has_the_length_of_the_page() {
        let answer = answer(&Status::default());
        let (header, page) = answer.split_once("\r\n\r\n").unwrap();
        assert!(header.contains(&format!("Content-Length: {}\r\n", page.len())), "{header}");
    }
}
