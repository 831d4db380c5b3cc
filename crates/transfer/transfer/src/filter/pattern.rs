//! One pattern of gitignore, matched as git matches it.
//!
//! # Model
//! A pattern without a slash is matched against a name, any other against the whole path. Its bytes before the first of `* ?
//! [ \` are compared, the rest is matched byte by byte. `*` first matches nothing and grows when the bytes after it do not
//! match; so does `**`. Only the newest of each kind needs to grow: a `*` ends at a slash, and between two `**` lie whole
//! components, for which the first place that matches leaves the most to what follows. So there is no recursion, no memory
//! beside two positions, and at most (bytes of the pattern) × (bytes of the path) steps.
//!
//! # Source
//! gitignore(5), section "Pattern format", and git's own answers (`tests/all/git.rs`). Three things are git's alone: `**` counts
//! as between slashes if it follows the compared bytes directly (`a**/b` matches `ab`), `[[:space:]]` is blank, tab, line feed
//! and carriage return only, and a class that does not end or has an unknown name matches nothing.

use std::ops::Range;

/// A set of bytes in which those with the same six low bits are one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bytes(u64);

impl Bytes {
    pub(super) fn of(text: &[u8]) -> Self {
        Self(text.iter().fold(0, |set, byte| set | 1 << (byte & 63)))
    }
}

/// A pattern, read. Its bytes are in a list's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pattern {
    from: u32,
    to: u32,
    /// Where the first special byte is.
    plain_to: u32,
    /// It takes back.
    pub(super) negated: bool,
    only_directories: bool,
    /// It has a slash, so it is about paths.
    is_path: bool,
    /// Bytes without which nothing matches. With thousands of patterns nearly all are settled by this.
    needed: Bytes,
}

impl Pattern {
    /// Reads the pattern that is there in the list's bytes. Every text is one; some match nothing.
    pub(super) fn new(all: &[u8], Range { mut start, mut end }: Range<usize>) -> Self {
        let negated = all[start..end].first() == Some(&b'!');
        start += usize::from(negated);
        let only_directories = all[start..end].last() == Some(&b'/');
        end -= usize::from(only_directories);
        let is_path = all[start..end].contains(&b'/');
        start += usize::from(all[start..end].first() == Some(&b'/'));
        let text = &all[start..end];
        let plain = text.iter().position(|byte| b"*?[\\".contains(byte)).unwrap_or(text.len());
        let [from, to, plain_to] = [start, end, start + plain].map(|at| at as u32);
        Self { from, to, plain_to, negated, only_directories, is_path, needed: needed(text) }
    }

    /// Returns `false` if it certainly does not match what has these bytes.
    pub(super) fn may_match(&self, name: Bytes, path: Bytes, is_directory: bool) -> bool {
        let has = if self.is_path { path } else { name };
        self.needed.0 & !has.0 == 0 && (is_directory || !self.only_directories)
    }

    /// Returns whether it matches a path, of which `name` is the last component; `all` are the bytes that it was read from.
    pub(super) fn matches(&self, all: &[u8], path: &[u8], name: &[u8]) -> bool {
        let [from, to, plain_to] = [self.from, self.to, self.plain_to].map(|at| at as usize);
        let subject = if self.is_path { path } else { name };
        subject.strip_prefix(&all[from..plain_to]).is_some_and(|rest| matches(&all[plain_to..to], rest))
    }
}

/// Returns the bytes that match themselves. Slashes beside `**` may match nothing, so none counts.
fn needed(pattern: &[u8]) -> Bytes {
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(&byte) = pattern.get(at) {
        at += 1;
        match byte {
            b'*' | b'?' | b'/' => {}
            b'[' => match class(pattern, at, 0) {
                Some((_, after)) => at = after,
                None => break,
            },
            b'\\' => {
                bytes.extend(pattern.get(at));
                at += 1;
            }
            byte => bytes.push(byte),
        }
    }
    Bytes::of(&bytes)
}

/// Returns whether the pattern matches all of the text.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let mut stars = Stars::default();
    let (mut p, mut t) = (0, 0);
    loop {
        let is_equal = match (pattern.get(p), text.get(t)) {
            (None, None) => return true,
            (None, Some(_)) => false,
            (Some(b'*'), _) => {
                p = stars.meet(pattern, p, t);
                continue;
            }
            // The text ends here. A star that took more would leave even less.
            (Some(_), None) => return false,
            (Some(b'?'), Some(&byte)) => {
                p += 1;
                byte != b'/'
            }
            (Some(b'['), Some(&byte)) => {
                let Some((has, after)) = class(pattern, p + 1, byte) else { return false };
                p = after;
                has && byte != b'/'
            }
            (Some(&first), Some(byte)) => {
                p += usize::from(first == b'\\');
                // A backslash at the end matches nothing that a path could have.
                let is_equal = pattern.get(p) == Some(byte);
                p += 1;
                is_equal
            }
        };
        t += 1;
        if !is_equal {
            let Some(grown) = stars.grow(text) else { return false };
            (p, t) = grown;
        }
    }
}

/// A `*` or `**`.
#[derive(Clone, Copy)]
struct Star {
    /// The pattern after it.
    pattern: usize,
    /// Where the text after it begins.
    text: usize,
}

/// The stars that may still take more.
#[derive(Default)]
struct Stars {
    /// The newest `*` since the newest `**`.
    short: Option<Star>,
    /// The newest `**`, and whether it takes whole components: a slash follows, which is its own.
    long: Option<(Star, bool)>,
}

impl Stars {
    /// Notes the stars at `p`, which take nothing yet. Returns where the pattern continues.
    fn meet(&mut self, pattern: &[u8], p: usize, text: usize) -> usize {
        let next = p + pattern[p..].iter().take_while(|&&byte| byte == b'*').count();
        let rest = &pattern[next..];
        let begins = p == 0 || pattern[p - 1] == b'/';
        let slash = rest.first() == Some(&b'/');
        if next - p < 2 || !begins || !(slash || rest.is_empty() || rest.starts_with(b"\\/")) {
            self.short = Some(Star { pattern: next, text });
            return next;
        }
        let star = Star { pattern: next + usize::from(slash), text };
        (self.short, self.long) = (None, Some((star, slash)));
        star.pattern
    }

    /// Lets one of the stars take more. Returns where pattern and text continue; None: none can.
    fn grow(&mut self, text: &[u8]) -> Option<(usize, usize)> {
        self.short = self.short.filter(|star| text[star.text] != b'/');
        if let Some(star) = &mut self.short {
            star.text += 1;
            return Some((star.pattern, star.text));
        }
        let (star, components) = self.long.as_mut()?;
        if *components {
            star.text += text[star.text..].iter().position(|&byte| byte == b'/')?;
        }
        star.text += 1;
        Some((star.pattern, star.text))
    }
}

/// Returns whether the class that begins at `at`, after its bracket, has this byte, and where the pattern continues. `None`:
/// it has no end.
fn class(pattern: &[u8], mut at: usize, byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(at), Some(b'!' | b'^'));
    at += usize::from(negated);
    let mut has = false;
    // Where a range may begin.
    let mut low = None;
    // A bracket that comes first is one of the class.
    let mut is_first = true;
    loop {
        let mut one = *pattern.get(at)?;
        if one == b']' && !is_first {
            return Some((has != negated, at + 1));
        }
        is_first = false;
        if one == b'[' && pattern.get(at + 1) == Some(&b':') {
            let name = &pattern[at + 2..];
            let name = &name[..name.iter().position(|&byte| byte == b']')?];
            if let Some(name) = name.strip_suffix(b":") {
                has |= named(name, byte)?;
                at += name.len() + 4;
                low = None;
                continue;
            }
        }
        let to = low.filter(|_| one == b'-' && pattern.get(at + 1).is_some_and(|&next| next != b']'));
        at += usize::from(to.is_some());
        one = *pattern.get(at)?;
        if one == b'\\' {
            at += 1;
            one = *pattern.get(at)?;
        }
        at += 1;
        has |= (to.unwrap_or(one)..=one).contains(&byte);
        low = if to.is_some() { None } else { Some(one) };
    }
}

/// Returns whether a named class has this byte.
fn named(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => matches!(byte, b' '..=b'~'),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}
