//! Which of a peer's paths and links are acceptable. Pure: no file is looked at here.

use crate::entry::EntryPath;
use std::ffi::OsString;

/// Directory below the sink's where partial files are. No peer may name it.
pub(crate) const STATE: &str = ".afteryou";

/// Longest component and longest path, bytes: what Linux takes.
const MAX_COMPONENT: usize = 255;
const MAX_PATH: usize = 4096;

/// Returns the components of a path that stays below the directory it is used in, or what is wrong with it.
pub(crate) fn components(path: &EntryPath) -> Result<Vec<OsString>, &'static str> {
    let bytes = &path.0;
    if bytes.is_empty() {
        return Err("it is empty");
    }
    if bytes.len() > MAX_PATH {
        return Err("it is longer than 4096 bytes");
    }
    if bytes.contains(&0) {
        return Err("it holds a zero byte");
    }
    if bytes[0] == b'/' {
        return Err("it is absolute");
    }
    let mut components = Vec::new();
    for component in bytes.split(|&byte| byte == b'/') {
        match component {
            b"" => return Err("it has an empty component"),
            b"." => return Err("it has a component \".\""),
            b".." => return Err("it has a component \"..\""),
            long if long.len() > MAX_COMPONENT => return Err("a component is longer than 255 bytes"),
            _ => components.push(native(component)?),
        }
    }
    // Ignoring case: on some file systems both spellings are one directory.
    match bytes.split(|&byte| byte == b'/').next() {
        Some(first) if first.eq_ignore_ascii_case(STATE.as_bytes()) => {
            Err("\".afteryou\" is where partial files lie")
        }
        _ => Ok(components),
    }
}

/// Checks whether a link that lies `depth` directories below the root (0: in the root itself) leads to something below the
/// root, for certain. `..` counts only at the beginning, where the directories it leaves are real ones. After a name it
/// might leave a directory that the name only points to.
pub(crate) fn link_stays_inside(depth: usize, target: &[u8]) -> Result<(), &'static str> {
    if target.is_empty() {
        return Err("the link has no target");
    }
    if target.len() > MAX_PATH {
        return Err("the link's target is longer than 4096 bytes");
    }
    if target.contains(&0) {
        return Err("the link's target holds a zero byte");
    }
    if target[0] == b'/' {
        return Err("the link's target is absolute");
    }
    #[cfg(windows)]
    if target.contains(&b':') || target.contains(&b'\\') {
        return Err("the link's target is not portable");
    }
    let mut ups = 0;
    let mut named = false;
    for component in target.split(|&byte| byte == b'/') {
        match component {
            b"" | b"." => {}
            b".." if named => return Err("the link's target has \"..\" after a name"),
            b".." => ups += 1,
            _ => named = true,
        }
    }
    match ups > depth {
        true => Err("the link leads outside the directory"),
        false => Ok(()),
    }
}

#[cfg(unix)]
fn native(component: &[u8]) -> Result<OsString, &'static str> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(component).to_os_string())
}

#[cfg(not(unix))]
fn native(component: &[u8]) -> Result<OsString, &'static str> {
    let text = std::str::from_utf8(component).map_err(|_| "a component is not UTF-8")?;
    match windows_refuses(text) {
        Some(reason) => Err(reason),
        None => Ok(text.into()),
    }
}

/// Returns why Windows would misunderstand a file name, if it would.
#[cfg(any(not(unix), test))]
fn windows_refuses(component: &str) -> Option<&'static str> {
    let reserved = |c: char| c < ' ' || "<>:\"\\|?*".contains(c);
    if component.contains(reserved) {
        return Some("a component has a character that Windows reserves");
    }
    if component.ends_with(['.', ' ']) {
        return Some("a component ends with a dot or a space");
    }
    let stem = component.split('.').next().unwrap_or_default().trim_end().to_ascii_uppercase();
    let device = match stem.as_str() {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        _ => {
            let mut chars = stem.chars();
            let port = chars.by_ref().take(3).collect::<String>();
            let number = chars.collect::<String>();
            matches!(port.as_str(), "COM" | "LPT")
                && matches!(
                    number.as_str(),
                    "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
                )
        }
    };
    device.then_some("a component is the name of a device")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &[u8]) -> Result<usize, &'static str> {
        components(&EntryPath(path.to_vec())).map(|components| components.len())
    }

    #[test]
    fn paths_that_could_lead_elsewhere_are_refused() {
        let long = [b"a/".repeat(3000), b"a".to_vec()].concat();
        for bad in [
            &b""[..],
            b"/",
            b"/etc/passwd",
            b"..",
            b"../a",
            b"a/..",
            b"a/../b",
            b".",
            b"./a",
            b"a/./b",
            b"a//b",
            b"a/",
            b"a\0b",
            b".afteryou",
            b".afteryou/x",
            b".AfterYou/x",
            &[b'x'; 256],
            &long,
        ] {
            assert!(check(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        for (good, count) in [
            (&b"a"[..], 1),
            (b"a/b/c", 3),
            (b"...", 1),
            (b"..a/b..", 2),
            (b"a/.afteryou", 2),
            (&[b'x'; 255], 1),
        ] {
            assert_eq!(check(good), Ok(count), "{}", String::from_utf8_lossy(good));
        }
    }

    #[cfg(unix)]
    #[test]
    fn names_need_not_be_utf8_on_unix() {
        assert_eq!(check(b"a\xff\xfe/\x80"), Ok(2));
    }

    #[test]
    fn links_may_not_leave_the_directory() {
        for (depth, bad) in [
            (0, &b".."[..]),
            (0, b"../a"),
            (1, b"../../a"),
            (1, b"./.././../a"),
            (5, b"/a"),
            (5, b""),
            (5, b"a\0"),
            (5, b"a/../b"),
            (5, b"../a/.."),
        ] {
            assert!(link_stays_inside(depth, bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        for (depth, good) in
            [(0, &b"a"[..]), (0, b"./a//b/"), (1, b".."), (1, b"../a"), (2, b"../../a/b"), (0, b".")]
        {
            assert_eq!(link_stays_inside(depth, good), Ok(()), "{}", String::from_utf8_lossy(good));
        }
    }

    #[test]
    fn names_that_mean_something_to_windows_are_known() {
        for bad in ["a:b", "a\\b", "a?", "con", "NUL.txt", "com1", "LPT9.x", "a.", "a ", "\u{1}"] {
            assert!(windows_refuses(bad).is_some(), "{bad}");
        }
        for good in ["a", "console", "com10", "com", ".hidden", "a b", "é"] {
            assert!(windows_refuses(good).is_none(), "{good}");
        }
    }
}
