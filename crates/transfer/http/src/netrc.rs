//! The file `.netrc`: names and passwords by host, as ftp, curl and wget read it.

use crate::url::User;
use std::path::PathBuf;

/// Longest file that is read, bytes.
const LONGEST: usize = 1 << 20;

/// The entries of a `.netrc`, in order.
#[derive(Clone, Debug, Default)]
pub struct Netrc(Vec<(Option<String>, User)>);

impl Netrc {
    /// Reads the file that `NETRC` names, or `.netrc` in the home directory. A file that cannot be read has no entries.
    pub fn of_user() -> Netrc {
        let name = if cfg!(windows) { "_netrc" } else { ".netrc" };
        let named = std::env::var_os("NETRC").filter(|path| !path.is_empty()).map(PathBuf::from);
        let path = named.or_else(|| std::env::home_dir().map(|home| home.join(name)));
        let content =
            path.and_then(|path| std::fs::read(path).ok()).filter(|content| content.len() <= LONGEST);
        Netrc::parse(&String::from_utf8_lossy(&content.unwrap_or_default()))
    }

    /// Parses the content of the file. Macros are skipped.
    pub fn parse(text: &str) -> Netrc {
        let mut entries: Vec<(Option<String>, User)> = Vec::new();
        let words = words(text);
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            let host = match word {
                "machine" => words.next().map(|host| Some(host.to_ascii_lowercase())),
                "default" => Some(None),
                _ => None,
            };
            if let Some(host) = host {
                entries.push((host, User { name: String::new(), password: String::new() }));
                continue;
            }
            let Some((_, user)) = entries.last_mut() else { continue };
            match word {
                "login" => user.name = words.next().unwrap_or_default().to_owned(),
                "password" => user.password = words.next().unwrap_or_default().to_owned(),
                "account" => _ = words.next(),
                _ => {}
            }
        }
        Netrc(entries)
    }

    /// Returns name and password for `host`: of the first entry that names it, or of `default`.
    pub(crate) fn of(&self, host: &str) -> Option<&User> {
        let fits = |of: &Option<String>| of.as_ref().is_none_or(|of| of == host);
        self.0.iter().find(|(of, _)| fits(of)).map(|(_, user)| user).filter(|user| !user.name.is_empty())
    }
}

/// Splits the text into words, with quotes and backslashes as in curl. Comments and macros are left out.
fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut in_macro = false;
    for line in text.lines() {
        if in_macro {
            in_macro = !line.trim().is_empty();
            continue;
        }
        if line.trim_start().starts_with('#') {
            continue;
        }
        let line_words = words_of(line);
        let end = line_words.iter().position(|word| word == "macdef");
        in_macro = end.is_some();
        found.extend(line_words.into_iter().take(end.unwrap_or(usize::MAX)));
    }
    found
}

fn words_of(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut characters = line.chars().peekable();
    while let Some(first) = characters.next_if(|_| true) {
        if first.is_whitespace() {
            continue;
        }
        let is_quoted = first == '"';
        let mut word = String::new();
        let mut next = if is_quoted { characters.next() } else { Some(first) };
        while let Some(c) = next {
            if (is_quoted && c == '"') || (!is_quoted && c.is_whitespace()) {
                break;
            }
            match c {
                '\\' if is_quoted => word.extend(characters.next()),
                c => word.push(c),
            }
            next = characters.next();
        }
        found.push(word);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(netrc: &Netrc, host: &str) -> Option<(String, String)> {
        netrc.of(host).map(|user| (user.name.clone(), user.password.clone()))
    }

    #[test]
    fn each_host_has_its_entry_and_the_rest_have_the_default() {
        let netrc = Netrc::parse(
            "# mine\nmachine A.example login me password \"p \\\"w\" account x\nmachine b.example\n\tlogin you\n\tpassword two\n\
             macdef init\nmachine evil login x password y\n\ndefault login anonymous password me@\n",
        );
        assert_eq!(of(&netrc, "a.example"), Some(("me".into(), "p \"w".into())));
        assert_eq!(of(&netrc, "b.example"), Some(("you".into(), "two".into())));
        assert_eq!(of(&netrc, "evil"), Some(("anonymous".into(), "me@".into())));
    }

    #[test]
    fn a_file_that_is_broken_off_or_empty_harms_nobody() {
        for text in ["", "machine", "machine h", "machine h login", "login x password y", "macdef"] {
            assert_eq!(of(&Netrc::parse(text), "h"), None, "{text}");
        }
    }
}
