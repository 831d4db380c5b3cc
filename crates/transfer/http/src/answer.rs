//! The meaning of an answer for a partial file.

use crate::error::Error;
use crate::exchange::{failure, text, Answer, Wanted};
use crate::names;
use crate::partial::Version;
use hyper::header::{self, HeaderMap};
use hyper::StatusCode;

/// The use of an answer for the partial file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The body is the whole file, of this version.
    Whole(Version),
    /// The body continues the file.
    Rest {
        /// Bytes of the whole file.
        length: u64,
    },
    /// The partial file is complete.
    Complete,
    /// The partial content belongs to another version, or to an unknown one. The whole file must be requested.
    Again(&'static str),
}

/// Returns what `answer` means for the partial content of `known`.
pub(crate) fn meaning(
    named: &str,
    known: &Version,
    wanted: &Wanted,
    answer: &Answer,
) -> Result<Meaning, Error> {
    let headers = answer.response.headers();
    match answer.response.status() {
        StatusCode::OK => {
            let version = version(named, headers);
            check_encoding(answer, &version)?;
            Ok(Meaning::Whole(version))
        }
        StatusCode::PARTIAL_CONTENT if wanted.from > 0 => {
            let now = version(named, headers);
            check_encoding(answer, &now)?;
            rest(known, &now, wanted, answer)
        }
        StatusCode::RANGE_NOT_SATISFIABLE if wanted.from > 0 => {
            let now = version(named, headers);
            let length = text(headers, header::CONTENT_RANGE).and_then(|range| unsatisfied(&range));
            match length == Some(wanted.from) && !differs(known, &now) {
                true => Ok(Meaning::Complete),
                false => Ok(Meaning::Again("the file is shorter now")),
            }
        }
        StatusCode::PARTIAL_CONTENT => {
            Err(contradiction(answer, "it is a part, and the whole file was asked for"))
        }
        _ => Err(failure(&answer.url, &answer.response)),
    }
}

fn rest(known: &Version, now: &Version, wanted: &Wanted, answer: &Answer) -> Result<Meaning, Error> {
    let range = text(answer.response.headers(), header::CONTENT_RANGE).and_then(|range| satisfied(&range));
    let Some((first, last, length)) = range else {
        return Err(contradiction(answer, "it is a part without a Content-Range that can be read"));
    };
    if first != wanted.from || length.is_some_and(|length| last >= length) {
        return Err(contradiction(answer, "it is another part than the one that was asked for"));
    }
    let has_other_length = length.zip(known.length).is_some_and(|(now, before)| now != before);
    match has_other_length || differs(known, now) {
        true => Ok(Meaning::Again("the file changed at the server")),
        // A server may send less than the rest, so its last byte need not be that of the file.
        false => match length.or(known.length) {
            Some(length) => Ok(Meaning::Rest { length }),
            None => Ok(Meaning::Again("the server names no length")),
        },
    }
}

/// Returns whether two versions have validators that differ.
fn differs(known: &Version, now: &Version) -> bool {
    let differ = |one: &Option<String>, two: &Option<String>| one.is_some() && two.is_some() && one != two;
    differ(&known.etag, &now.etag) || differ(&known.repr_digest, &now.repr_digest)
}

fn contradiction(answer: &Answer, reason: &str) -> Error {
    Error::Contradiction { host: answer.url.authority(), reason: reason.to_owned() }
}

/// Returns the version that headers describe.
pub(crate) fn version(named: &str, headers: &HeaderMap) -> Version {
    let etag = text(headers, header::ETAG);
    // A weak tag may stand for several versions, and then a date must not be used, either (RFC 9110, section 13.1.5).
    let is_weak = etag.as_ref().is_some_and(|etag| etag.starts_with("W/"));
    let date = text(headers, header::DATE);
    // Within one second a file may change twice (RFC 9110, section 8.8.2.2).
    let is_strong = |modified: &String| etag.is_none() && date.as_ref().is_some_and(|date| date != modified);
    Version {
        url: named.to_owned(),
        length: text(headers, header::CONTENT_LENGTH).and_then(|length| length.trim().parse().ok()),
        last_modified: text(headers, header::LAST_MODIFIED).filter(is_strong),
        repr_digest: text(headers, "repr-digest"),
        name: text(headers, header::CONTENT_DISPOSITION).and_then(|value| names::of_disposition(&value)),
        etag: etag.filter(|_| !is_weak),
    }
}

/// Parses `bytes 5-9/10` or `bytes 5-9/*`.
pub(crate) fn satisfied(range: &str) -> Option<(u64, u64, Option<u64>)> {
    let (part, length) = range.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = part.trim().split_once('-')?;
    let (first, last) = (number(first)?, number(last)?);
    let length = if length.trim() == "*" { None } else { Some(number(length)?) };
    (first <= last).then_some((first, last, length))
}

/// Parses `bytes */10`.
fn unsatisfied(range: &str) -> Option<u64> {
    number(range.trim().strip_prefix("bytes ")?.trim().strip_prefix("*/")?)
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// Refuses an encoding that was not asked for. Servers send `x.tar.gz` with the encoding `gzip`, which is the file itself.
fn check_encoding(answer: &Answer, version: &Version) -> Result<(), Error> {
    let encoding = text(answer.response.headers(), header::CONTENT_ENCODING).unwrap_or_default();
    let encoding = encoding.trim().to_ascii_lowercase();
    let endings: &[&str] = match encoding.as_str() {
        "" | "identity" => return Ok(()),
        "gzip" | "x-gzip" => &[".gz", ".tgz"],
        "br" => &[".br"],
        "zstd" => &[".zst", ".tzst"],
        "compress" | "x-compress" => &[".z"],
        _ => &[],
    };
    let name = version.name.clone().unwrap_or_else(|| answer.url.last_segment()).to_ascii_lowercase();
    match endings.iter().any(|ending| name.ends_with(ending)) {
        true => Ok(()),
        false => Err(Error::Encoded { host: answer.url.authority(), encoding }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    #[test]
    fn ranges_are_read_exactly() {
        assert_eq!(satisfied("bytes 5-9/10"), Some((5, 9, Some(10))));
        assert_eq!(satisfied("bytes 5-9/*"), Some((5, 9, None)));
        for range in ["bytes 9-5/10", "bytes */10", "5-9/10", "bytes 5-/10", "bytes +5-9/10", "items 5-9/10"]
        {
            assert_eq!(satisfied(range), None, "{range}");
        }
        assert_eq!((unsatisfied("bytes */10"), unsatisfied("bytes 5-9/10")), (Some(10), None));
    }

    #[test]
    fn only_a_strong_validator_identifies_a_version() {
        let validator = |headers: &[(&'static str, &'static str)]| {
            let mut map = HeaderMap::new();
            headers.iter().for_each(|(name, value)| _ = map.insert(*name, HeaderValue::from_static(value)));
            version("u", &map).validator().map(str::to_owned)
        };
        let (before, now) = ("Mon, 30 Nov 2026 14:00:00 GMT", "Mon, 30 Nov 2026 14:00:01 GMT");
        assert_eq!(
            validator(&[("etag", "\"1\""), ("last-modified", before), ("date", now)]).as_deref(),
            Some("\"1\"")
        );
        assert_eq!(validator(&[("last-modified", before), ("date", now)]).as_deref(), Some(before));
        assert_eq!(validator(&[("etag", "W/\"1\""), ("last-modified", before), ("date", now)]), None);
        assert_eq!(validator(&[("last-modified", now), ("date", now)]), None);
        assert_eq!(validator(&[("last-modified", before)]), None);
    }
}
