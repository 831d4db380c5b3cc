//! Names of files, from a URL or from the header Content-Disposition (RFC 6266).
//!
//! A name from elsewhere stays in its directory and does no harm there: separators, control characters and characters that turn
//! the direction of text become `_`, and so does a leading dot, which would hide the file or make it a program's settings.

use crate::url::Url;
use afteryou_base::shown::is_unfit;
use percent_encoding::percent_decode_str;

/// Longest name, bytes. File systems take 255; temporary names beside it need some.
const LONGEST: usize = 200;
/// The name of a file whose URL ends with a slash.
const NAMELESS: &str = "index.html";

/// Returns the name that the last part of a URL's path gives.
pub(crate) fn of_url(url: &Url) -> String {
    safe(&url.last_segment()).unwrap_or_else(|| NAMELESS.to_owned())
}

/// Returns the name in a header Content-Disposition, if it has one. `filename*` wins over `filename`.
pub(crate) fn of_disposition(header: &str) -> Option<String> {
    let parameters = parameters(header);
    let value = |name: &str| {
        parameters.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    };
    let extended = value("filename*").and_then(decoded);
    let name = extended.or_else(|| value("filename").map(str::to_owned))?;
    // A path of the server's machine.
    safe(name.rsplit(['/', '\\']).next().unwrap_or_default())
}

/// Returns a name that is safe in any directory, or `None` if nothing of it is left.
fn safe(name: &str) -> Option<String> {
    let is_forbidden = |c: char| {
        is_unfit(c)
            || matches!(c, '/' | '\\')
            || (cfg!(windows) && matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*'))
    };
    let name: String = name.trim().chars().map(|c| if is_forbidden(c) { '_' } else { c }).collect();
    let name = if cfg!(windows) { name.trim_end_matches(['.', ' ']) } else { &name };
    if name.is_empty() || name.bytes().all(|byte| byte == b'.') {
        return None;
    }
    let name = match name.strip_prefix('.') {
        Some(rest) => format!("_{rest}"),
        None => name.to_owned(),
    };
    Some(cut(&name))
}

/// Cuts a name that is too long before its extension.
fn cut(name: &str) -> String {
    if name.len() <= LONGEST {
        return name.to_owned();
    }
    let extension = name.rfind('.').map_or("", |at| &name[at..]);
    let extension = if extension.len() <= 16 { extension } else { "" };
    let mut end = LONGEST - extension.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &name[..end])
}

/// Returns the parameters after the disposition's type, with quotes removed.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let Some((_, mut rest)) = header.split_once(';') else { return found };
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, length) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), end)
            }
        };
        found.push((name.trim_matches([' ', '\t', ';']).to_owned(), value));
        rest = &after[length..];
    }
    found
}

/// Returns the text up to the closing quote, and its length with both quotes.
fn unquoted(quoted: &str) -> (String, usize) {
    let mut text = String::new();
    let mut characters = quoted.char_indices();
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (text, at + 2),
            '\\' => text.extend(characters.next().map(|(_, c)| c)),
            c => text.push(c),
        }
    }
    (text, quoted.len() + 1)
}

/// Decodes an extended value, `UTF-8'en'a%20b` (RFC 8187).
fn decoded(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, text) = rest.split_once('\'')?;
    let bytes: Vec<u8> = percent_decode_str(text).collect();
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" => String::from_utf8(bytes).ok(),
        "iso-8859-1" => Some(bytes.into_iter().map(char::from).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_names_a_file_in_either_form() {
        for (header, name) in [
            ("attachment; filename=a.iso", "a.iso"),
            ("attachment; filename=\"a \\\"b\\\"; c.iso\"; size=3", "a \"b\"; c.iso"),
            ("attachment; FileName=\"plain\"; filename*=UTF-8''gr%C3%BC%C3%9Fe.txt", "grüße.txt"),
            ("inline;filename*=iso-8859-1'de'gr%FC%DFe.txt", "grüße.txt"),
            ("attachment; filename*=koi8-r''x; filename=fallback", "fallback"),
        ] {
            assert_eq!(of_disposition(header).as_deref(), Some(name), "{header}");
        }
        for header in ["attachment", "inline; size=3", "attachment; filename=\"\"", "attachment; filename"] {
            assert_eq!(of_disposition(header), None, "{header}");
        }
    }

    #[test]
    fn a_name_stays_in_its_directory_and_hides_nothing() {
        for (header, name) in [
            ("attachment; filename=\"/etc/passwd\"", "passwd"),
            ("attachment; filename=\"..\\\\..\\\\boot.ini\"", "boot.ini"),
            ("attachment; filename*=UTF-8''..%2F..%2Fx", "x"),
            ("attachment; filename=\".bashrc\"", "_bashrc"),
            ("attachment; filename*=UTF-8''a%00%1B%5B31m%E2%80%AEgpj.exe", "a__[31m_gpj.exe"),
        ] {
            assert_eq!(of_disposition(header).as_deref(), Some(name), "{header}");
        }
        for header in
            ["attachment; filename=..", "attachment; filename=\"a/..\"", "attachment; filename=\"a/\""]
        {
            assert_eq!(of_disposition(header), None, "{header}");
        }
    }

    #[test]
    fn a_url_gives_its_last_part_or_the_usual_name() {
        for (url, name) in [
            ("https://h/a/b.iso?version=3", "b.iso"),
            ("https://h/a/", "index.html"),
            ("https://h", "index.html"),
            ("https://h/a/..%2f..%2fetc%2fpasswd", "_._.._etc_passwd"),
            ("https://h/%2e%2e", "index.html"),
        ] {
            assert_eq!(of_url(&Url::parse(url).unwrap()), name, "{url}");
        }
    }

    #[test]
    fn a_long_name_keeps_its_extension() {
        let name = safe(&format!("{}.tar", "ü".repeat(300))).unwrap();
        assert!(name.len() <= LONGEST && name.ends_with("ü.tar"), "{name}");
    }
}
