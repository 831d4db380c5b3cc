//! `afteryou get` with URLs: which words are URLs, and which files they make.

use super::dialing::{is_standard, GetArgs};
use super::target::{looks_like_ticket, repeated};
use super::urls::UrlArgs;
use afteryou_http::{Job, Place, Url};
use afteryou_terminal::Failure;
use afteryou_transfer::wire::Wishes;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The files to download.
#[derive(Debug)]
pub struct Downloads {
    /// One for each file. For standard output, their place is still to be chosen.
    pub jobs: Vec<Job>,
    /// Whether the one file goes to standard output.
    pub is_standard: bool,
}

impl GetArgs {
    /// Returns the files to download, or `None` if the words have no URL.
    ///
    /// # Errors
    /// URLs beside other sources, options that do not suit them, and words that are no URL after all.
    pub fn downloads(&self) -> Result<Option<Downloads>, Failure> {
        let count = self.words.iter().take_while(|word| is_url(word)).count();
        if count == 0 {
            return self.refuse_url_options().map(|()| None);
        }
        let (urls, rest) = self.words.split_at(count);
        self.refuse_other_options()?;
        let urls = urls.iter().map(|word| parse(word)).collect::<Result<Vec<_>, _>>()?;
        let (place, is_standard) = self.place(rest)?;
        let is_one = urls.len() == 1 || self.urls.mirror;
        if !is_one && (is_standard || self.urls.output.is_some() || self.urls.sha256.is_some()) {
            return Err(Failure::usage(
                "several URLs are several files: get them one by one with -o, --sha256 and -, or add --mirror if all have the \
                 same file",
            ));
        }
        let files = if is_one { vec![urls] } else { urls.into_iter().map(|url| vec![url]).collect() };
        let job = |urls| Job {
            urls,
            place: place.clone(),
            sha256: self.urls.sha256.clone(),
            replace: self.urls.force,
        };
        Ok(Some(Downloads { jobs: files.into_iter().map(job).collect(), is_standard }))
    }

    /// Returns the place after the URLs, and whether it is standard output.
    fn place(&self, rest: &[OsString]) -> Result<(Place, bool), Failure> {
        match (rest, &self.urls.output) {
            ([], None) => Ok((Place::Directory(PathBuf::from(".")), false)),
            ([], Some(file)) if is_standard(file) => self.standard(),
            ([], Some(file)) if file.is_dir() => Err(Failure::usage(format!(
                "{} is a directory: name it after the URL, without -o, or name a file in it",
                repeated(file.as_os_str())
            ))),
            ([], Some(file)) if file.file_name().is_none() => {
                Err(Failure::usage(format!("{} names no file: write -o NAME", repeated(file.as_os_str()))))
            }
            ([], Some(file)) => Ok((Place::File(file.clone()), false)),
            ([word], _) if looks_like_ticket(word) => {
                Err(Failure::usage("a ticket after a URL: get them one after the other"))
            }
            ([word], None) if is_standard(Path::new(word)) => self.standard(),
            ([word], None) => Ok((Place::Directory(PathBuf::from(word)), false)),
            ([_], Some(_)) => {
                Err(Failure::usage("-o names the file: leave out the directory, or write -o DIR/FILE"))
            }
            ([_, extra, ..], _) => Err(Failure::usage(format!(
                "{} is one word too many: name the URLs, then one directory",
                repeated(extra)
            ))),
        }
    }

    fn standard(&self) -> Result<(Place, bool), Failure> {
        match self.common.json {
            true => Err(Failure::usage("--json prints on standard output: use it without -")),
            // The caller has a better one.
            false => Ok((Place::Directory(PathBuf::from(".")), true)),
        }
    }

    /// Refuses options that need a URL.
    fn refuse_url_options(&self) -> Result<(), Failure> {
        if self.words.iter().any(|word| is_url(word)) {
            return Err(Failure::usage("a URL after another source: get them one after the other"));
        }
        let UrlArgs { output, force, mirror, sha256, no_netrc } = &self.urls;
        match (output, *force || *mirror || sha256.is_some() || *no_netrc) {
            (Some(_), _) => Err(Failure::usage(
                "-o names the file of a URL: name the directory behind the ticket, afteryou get TICKET DIR",
            )),
            (None, true) => Err(Failure::usage("--force, --mirror, --sha256 and --no-netrc are for URLs")),
            (None, false) => Ok(()),
        }
    }

    /// Refuses options that need a peer.
    fn refuse_other_options(&self) -> Result<(), Failure> {
        let has_choice = !self.choice.exclude.is_empty()
            || !self.choice.include.is_empty()
            || !self.choice.exclude_from.is_empty();
        if self.dialing.via.is_some() {
            return Err(Failure::usage("--via and a URL: use one of them"));
        }
        match has_choice || self.wishes() != Wishes::default() || self.dialing.connections > 1 {
            true => Err(Failure::usage(
                "a URL is one file of a web server: leave out --exclude, --delete, --connections and the like",
            )),
            false => Ok(()),
        }
    }
}

/// Returns whether a word is a URL rather than a ticket, a host or a path.
fn is_url(word: &OsStr) -> bool {
    !looks_like_ticket(word) && word.to_string_lossy().contains("://")
}

/// Parses a URL; `None` for another word.
///
/// # Errors
/// A word with `://` that is no URL of HTTP or HTTPS.
pub fn read_url(word: &OsStr) -> Result<Option<Url>, Failure> {
    is_url(word).then(|| parse(word)).transpose()
}

fn parse(word: &OsStr) -> Result<Url, Failure> {
    Url::parse(&word.to_string_lossy()).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use crate::args::tests::{get, refusal};
    use afteryou_http::Place;
    use std::path::PathBuf;

    const URL: &str = "https://example.org/a.iso";
    const HEX: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn several_urls_are_several_files_or_mirrors_of_one() {
        let files = |words: &[&str]| get(words).downloads().unwrap().unwrap().jobs;
        let two = files(&[URL, "http://h/b", "dir"]);
        assert_eq!(two.iter().map(|job| job.urls.len()).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(two[1].place, Place::Directory(PathBuf::from("dir")));
        let one = files(&[URL, "http://h/b", "--mirror", "-o", "x/c", "--sha256", HEX, "--force"]);
        assert_eq!((one.len(), one[0].urls.len()), (1, 2));
        assert!(
            one[0].replace && one[0].sha256.is_some() && one[0].place == Place::File(PathBuf::from("x/c"))
        );
        assert!(get(&[URL, "-"]).downloads().unwrap().unwrap().is_standard);
        assert!(get(&["afteryou1abc", "x"]).downloads().unwrap().is_none());
        assert!(get(&["host:/x"]).downloads().unwrap().is_none());
    }

    #[test]
    fn what_does_not_suit_a_url_or_needs_one_is_refused() {
        for (words, said) in [
            (&[URL, "http://h/b", "-o", "c"][..], "several URLs are several files"),
            (&[URL, "http://h/b", "-"], "several URLs are several files"),
            (&[URL, "dir", "-o", "c"], "-o names the file: leave out"),
            (&[URL, "dir", "http://h/b"], "is one word too many"),
            (&[URL, "-o", "/"], "is a directory"),
            (&[URL, "@ticket"], "a ticket after a URL"),
            (&["afteryou1abc", URL], "a URL after another source"),
            (&[URL, "--delete"], "a URL is one file"),
            (&[URL, "--exclude", "x"], "a URL is one file"),
            (&[URL, "--json", "-"], "--json prints on standard output"),
            (&[URL, "--via", "ssh", "host"], "--via and a URL"),
            (&["afteryou1abc", "-o", "c"], "-o names the file of a URL"),
            (&["afteryou1abc", "--force"], "are for URLs"),
            (&["ftp://me:secret@h/x"], "\"ftp://h/x\" cannot be downloaded: use http or https"),
        ] {
            let refused = refusal(get(words).downloads());
            assert!(refused.contains(said), "{words:?}: {refused}");
        }
    }
}
