//! A download, from its URLs to a file with its final name.

use crate::answer::{meaning, Meaning};
use crate::client::{Client, Event, Job, Listener, Outcome, Place};
use crate::connect::broken;
use crate::digest::{Digest, Hasher};
use crate::error::Error;
use crate::exchange::{silent, text, Answer, Wanted};
use crate::names;
use crate::partial::{Partial, Version};
use crate::sink::Sink;
use crate::tries::Tries;
use crate::url::Url;
use bytes::Bytes;
use hyper::body::{Body, Incoming};
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Instant;

/// A download that runs.
pub(crate) struct Download<'a> {
    client: &'a Client,
    job: &'a Job,
    listener: &'a Listener<'a>,
    partial: Partial,
    tries: Tries,
    /// The most that was there in this run.
    best: u64,
}

impl Client {
    /// Gets a file. If the future is dropped, the same job continues later where this one was.
    ///
    /// # Errors
    /// The reason of the last attempt, if there is none left, and each reason that no attempt changes. The partial content is kept,
    /// unless it was wrong.
    pub async fn download(&self, job: &Job, listener: &Listener<'_>) -> Result<Outcome, Error> {
        run(self, job, listener).await
    }
}

async fn run(client: &Client, job: &Job, listener: &Listener<'_>) -> Result<Outcome, Error> {
    let Some(first) = job.urls.first() else {
        return Err(Error::Url { url: String::new(), reason: "there is none" });
    };
    if let Some(had) = before(job, first).await? {
        return Ok(had);
    }
    let partial = Partial::open(job.place.directory(), &key(job))?;
    let tries = Tries::new(job.urls.len(), client.options.backoff, Instant::now());
    let best = partial.have();
    let mut download = Download { client, job, listener, partial, tries, best };
    loop {
        let error = match download.attempt().await {
            Ok(outcome) => return Ok(outcome),
            Err(error) if error.is_local() => return Err(error),
            Err(error) => error,
        };
        let have = download.partial.have();
        let progress = have > download.best;
        download.best = download.best.max(have);
        let Some(wait) = download.tries.failed(&error, progress, Instant::now()) else { return Err(error) };
        tracing::info!("{error}; another attempt in {} s", wait.as_secs());
        listener(Event::Retry { reason: error.to_string(), wait });
        tokio::time::sleep(wait).await;
    }
}

/// Looks for the file before any server is asked, as far as its name is known.
async fn before(job: &Job, first: &Url) -> Result<Option<Outcome>, Error> {
    let place = match &job.place {
        Place::File(path) => path.clone(),
        Place::Directory(dir) => dir.join(names::of_url(first)),
    };
    if !is_there(&place) {
        return Ok(None);
    }
    let is_same = match &job.sha256 {
        Some(digest) => has_digest(&place, digest).await,
        None => false,
    };
    match &job.place {
        _ if is_same => Ok(Some(Outcome::Had(place))),
        Place::File(_) if !job.replace => Err(Error::Exists { path: place }),
        // The server may give another name.
        _ => Ok(None),
    }
}

/// Returns what names the partial file: the same command finds it again.
fn key(job: &Job) -> String {
    let mut urls: Vec<String> = job.urls.iter().map(Url::to_string).collect();
    urls.sort();
    let name = match &job.place {
        Place::File(path) => path.file_name().map(|name| name.to_string_lossy().into_owned()),
        Place::Directory(_) => None,
    };
    format!("{}\n{}", name.unwrap_or_default(), urls.join("\n"))
}

fn is_there(place: &Path) -> bool {
    std::fs::symlink_metadata(place).is_ok()
}

async fn has_digest(place: &Path, digest: &Digest) -> bool {
    let (place, digest) = (place.to_owned(), digest.clone());
    let check = tokio::task::spawn_blocking(move || {
        place.is_file() && matches!(digest.check_file(&place), Ok(Ok(())))
    });
    check.await.unwrap_or(false)
}

impl Download<'_> {
    /// Asks a mirror for what is missing, once, or twice if the partial file turns out to be of no use.
    async fn attempt(&mut self) -> Result<Outcome, Error> {
        let url = &self.job.urls[self.tries.mirror()];
        let named = url.to_string();
        loop {
            let have = self.partial.have();
            let wanted = self.wanted(&named);
            if wanted.from > 0 && self.partial.version().length == Some(have) {
                return self.finish().await;
            }
            let connected = |peer| (self.listener)(Event::Connected { peer });
            let answer = self.client.exchange().get(url, &wanted, connected).await?;
            self.tries.answered();
            match meaning(&named, self.partial.version(), &wanted, &answer)? {
                Meaning::Whole(version) => {
                    if let Some(had) = self.check_place(&version).await? {
                        return Ok(had);
                    }
                    if have > 0 {
                        let reason = anew(&wanted, self.partial.version(), &version);
                        (self.listener)(Event::Anew { reason });
                    }
                    self.partial.begin(version)?;
                    return self.receive(answer).await;
                }
                Meaning::Rest { length } => {
                    let version = self.partial.version().clone();
                    if let Some(had) = self.check_place(&version).await? {
                        return Ok(had);
                    }
                    self.partial.set_length(length);
                    return self.receive(answer).await;
                }
                Meaning::Complete => return self.finish().await,
                Meaning::Again(reason) => {
                    (self.listener)(Event::Anew { reason });
                    self.partial.begin(Version::default())?;
                }
            }
        }
    }

    /// Returns what to ask for. Content whose version has no name is of use only if a digest shows at the end that it is right.
    fn wanted(&self, named: &str) -> Wanted {
        let (version, from) = (self.partial.version(), self.partial.have());
        let is_same_url = version.url == named;
        let validator = version.validator().filter(|_| is_same_url).map(str::to_owned);
        let has_digest = self.job.sha256.is_some() || (is_same_url && self.repr_digest().is_some());
        match validator.is_some() || (has_digest && *version != Version::default()) {
            true => Wanted { from, validator, ..Wanted::default() },
            false => Wanted::default(),
        }
    }

    fn repr_digest(&self) -> Option<Digest> {
        self.partial.version().repr_digest.as_deref().and_then(Digest::of_header)
    }

    /// Returns the final name.
    fn place(&self, version: &Version) -> PathBuf {
        match &self.job.place {
            Place::File(path) => path.clone(),
            Place::Directory(dir) => {
                dir.join(version.name.clone().unwrap_or_else(|| names::of_url(&self.job.urls[0])))
            }
        }
    }

    /// Checks that nothing would be overwritten unasked; returns the outcome if the same file is there.
    async fn check_place(&self, version: &Version) -> Result<Option<Outcome>, Error> {
        let place = self.place(version);
        if !is_there(&place) {
            return Ok(None);
        }
        let of_server = || version.repr_digest.as_deref().and_then(Digest::of_header);
        if let Some(digest) = self.job.sha256.clone().or_else(of_server) {
            if has_digest(&place, &digest).await {
                return Ok(Some(Outcome::Had(place)));
            }
        }
        match self.job.replace {
            true => Ok(None),
            false => Err(Error::Exists { path: place }),
        }
    }

    /// Appends the body of an answer to the partial file, and finishes it if it is whole.
    async fn receive(&mut self, answer: Answer) -> Result<Outcome, Error> {
        let Answer { response, url, connection } = answer;
        let (from, length) = (self.partial.have(), self.partial.version().length);
        (self.listener)(Event::Length { bytes: length, have: from });
        let digest = text(response.headers(), "content-digest").and_then(|value| Digest::of_header(&value));
        let mut hasher = digest.as_ref().map(Digest::hasher);
        let sink = Sink::start(self.partial.handle()?)
            .map_err(|error| Error::of_file(self.partial.path(), error))?;
        let room = length.map(|length| length.saturating_sub(from));
        let read = self.pour(response.into_body(), &url, &sink, &mut hasher, room).await;
        let written = sink.finish().await;
        drop(connection);
        let have = self.partial.refresh()?;
        written.map_err(|error| Error::of_file(self.partial.path(), error))?;
        read?;
        if let (Some(digest), Some(hasher)) = (digest, hasher) {
            if let Err(found) = digest.check(hasher) {
                self.partial.cut(from)?;
                return Err(mismatch("digest of this answer (Content-Digest)", &digest, found));
            }
        }
        match length {
            Some(length) if have < length => Err(Error::Short { host: url.authority(), have, length }),
            _ => self.finish().await,
        }
    }

    /// Reads a body as fast as it comes.
    async fn pour(
        &self,
        mut body: Incoming,
        url: &Url,
        sink: &Sink,
        hasher: &mut Option<Hasher>,
        mut room: Option<u64>,
    ) -> Result<(), Error> {
        let patience = self.client.options.read_timeout;
        loop {
            let piece = match tokio::time::timeout(patience, next(&mut body)).await {
                Err(_) => return Err(silent(url, patience)),
                Ok(None) => return Ok(()),
                Ok(Some(Err(error))) => return Err(broken(url, &error)),
                Ok(Some(Ok(piece))) => piece,
            };
            let bytes = piece.len() as u64;
            if let Some(room) = &mut room {
                let left = room.checked_sub(bytes);
                *room = left.ok_or_else(|| Error::Contradiction {
                    host: url.authority(),
                    reason: "it is longer than the file".to_owned(),
                })?;
            }
            if let Some(hasher) = hasher {
                hasher.update(&piece);
            }
            if !sink.write(piece).await {
                // The writer's own error is the reason.
                return Ok(());
            }
            (self.listener)(Event::Moved { bytes });
            if let Some(pacing) = &self.client.options.pacing {
                pacing.take(bytes).await;
            }
        }
    }

    /// Checks the whole file on the disk and gives it its name.
    async fn finish(&mut self) -> Result<Outcome, Error> {
        let digests = [
            self.job.sha256.clone().map(|digest| ("SHA-256", digest)),
            self.repr_digest().map(|digest| ("digest of the server (Repr-Digest)", digest)),
        ];
        let digests: Vec<_> = digests.into_iter().flatten().collect();
        let (path, file) = (self.partial.path().to_owned(), self.partial.handle()?);
        let check = move || {
            file.sync_all()?;
            for (of, digest) in digests {
                if let Err(found) = digest.check_file(&path)? {
                    return Ok(Some(mismatch(of, &digest, found)));
                }
            }
            Ok(None)
        };
        let checked = tokio::task::spawn_blocking(check)
            .await
            .unwrap_or_else(|error| Err(std::io::Error::other(error)));
        if let Some(error) = checked.map_err(|error| Error::of_file(self.partial.path(), error))? {
            self.partial.begin(Version::default())?;
            return Err(error);
        }
        let place = self.place(&self.partial.version().clone());
        self.partial.settle(&place, self.job.replace)?;
        Ok(Outcome::Stored(place))
    }
}

/// Returns why a server sends the whole file although a part would do.
fn anew(wanted: &Wanted, before: &Version, now: &Version) -> &'static str {
    match wanted.from {
        0 => "nothing shows that the file at the server is still the same",
        _ if before.validator() != now.validator() => "the file changed at the server",
        _ => "the server sends whole files only",
    }
}

fn mismatch(of: &'static str, digest: &Digest, found: String) -> Error {
    Error::Digest { of, expected: digest.hex(), found }
}

/// Returns the next data of a body.
pub(crate) async fn next(body: &mut Incoming) -> Option<Result<Bytes, hyper::Error>> {
    loop {
        match poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await? {
            Err(error) => return Some(Err(error)),
            // Trailers are not data.
            Ok(frame) => match frame.into_data() {
                Ok(data) => return Some(Ok(data)),
                Err(_) => continue,
            },
        }
    }
}
