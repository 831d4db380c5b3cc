//! A server whose answers a test writes, byte by byte if need be, and a directory to download into.

use afteryou_http::{Backoff, Client, Digest, Error, Event, Job, Options, Outcome, Place, Url};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request as the server got it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The first line.
    pub line: String,
    headers: Vec<(String, String)>,
}

impl Asked {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the first byte of the range that is asked for.
    pub fn from(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }

    /// Returns the target.
    pub fn target(&self) -> &str {
        self.line.split(' ').nth(1).unwrap_or_default()
    }
}

/// A server on 127.0.0.1.
pub struct Server {
    /// Its port.
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Starts a server; `answer` gets each request with its number, and writes what it likes. Then the connection closes.
    pub fn start(answer: impl Fn(&Asked, usize, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, answer) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answer) = (log.clone(), answer.clone());
                std::thread::spawn(move || {
                    let mut stream = stream;
                    let Some(request) = read(&stream) else { return };
                    let number = {
                        let mut log = log.lock().unwrap();
                        log.push(request.clone());
                        log.len() - 1
                    };
                    answer(&request, number, &mut stream);
                });
            }
        });
        Server { port, asked }
    }

    /// Starts a server of one file that honours Range and If-Range.
    pub fn of_file(content: &'static [u8], etag: &'static str) -> Server {
        Server::start(move |asked, _, stream| file(asked, stream, content, etag))
    }

    /// Returns a URL at this server.
    pub fn url(&self, target: &str) -> Url {
        Url::parse(&format!("http://127.0.0.1:{}{target}", self.port)).unwrap()
    }

    /// Returns all requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let line = lines.next()?;
    let headers = lines.take_while(|line| !line.is_empty());
    let headers =
        headers.filter_map(|line| line.split_once(": ").map(|(key, value)| (key.into(), value.into())));
    Some(Asked { line, headers: headers.collect() })
}

/// Writes an answer with headers as they are, a line each, and a body.
pub fn reply(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) {
    let headers: String = headers.lines().map(|line| format!("{}\r\n", line.trim())).collect();
    let head = format!("HTTP/1.1 {status}\r\n{headers}\r\n");
    _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

/// Answers as a good server does.
pub fn file(asked: &Asked, stream: &mut TcpStream, content: &[u8], etag: &str) {
    let is_same = asked.header("if-range").is_none_or(|validator| validator == etag);
    let from = asked.from().filter(|_| is_same).unwrap_or(0);
    let length = content.len();
    if from == 0 {
        return reply(stream, "200 OK", &format!("ETag: {etag}\nContent-Length: {length}"), content);
    }
    if from >= length {
        return reply(stream, "416 No", &format!("Content-Range: bytes */{length}\nContent-Length: 0"), b"");
    }
    let (last, rest) = (length - 1, length - from);
    let headers =
        format!("ETag: {etag}\nContent-Range: bytes {from}-{last}/{length}\nContent-Length: {rest}");
    reply(stream, "206 Partial", &headers, &content[from..]);
}

/// Answers with the first bytes of a file and closes.
pub fn short(stream: &mut TcpStream, content: &[u8], etag: &str, bytes: usize) {
    let headers = format!("ETag: {etag}\nContent-Length: {}", content.len());
    reply(stream, "200 OK", &headers, &content[..bytes]);
}

/// A directory, a client, and what the client reported.
pub struct Bench {
    /// The directory.
    pub dir: tempfile::TempDir,
    /// The options of the client.
    pub options: Options,
    events: Mutex<Vec<Event>>,
}

impl Bench {
    /// Creates an empty one. Pauses are short.
    pub fn new() -> Bench {
        let backoff = Backoff {
            first: Duration::from_millis(1),
            longest: Duration::from_millis(5),
            ..Backoff::default()
        };
        let options = Options { backoff, ..Options::default() };
        Bench { dir: tempfile::tempdir().unwrap(), options, events: Mutex::default() }
    }

    /// Returns a job for this directory.
    pub fn job(&self, urls: &[Url]) -> Job {
        let place = Place::Directory(self.dir.path().to_owned());
        Job { urls: urls.to_vec(), place, sha256: None, replace: false }
    }

    /// Gets a URL.
    pub async fn get(&mut self, url: &Url) -> Result<Outcome, Error> {
        let job = self.job(std::slice::from_ref(url));
        self.run(&job).await
    }

    /// Runs a job.
    pub async fn run(&mut self, job: &Job) -> Result<Outcome, Error> {
        let options = std::mem::take(&mut self.options);
        let kept = (options.netrc.clone(), options.proxies.clone(), options.roots.clone());
        let (backoff, read_timeout) = (options.backoff, options.read_timeout);
        let client = Client::new(options);
        let outcome = client.download(job, &|event| self.events.lock().unwrap().push(event)).await;
        let (netrc, proxies, roots) = kept;
        self.options = Options { netrc, proxies, roots, backoff, read_timeout, ..Options::default() };
        outcome
    }

    /// Returns what was said about beginning anew.
    pub fn anew(&self) -> Vec<&'static str> {
        let events = self.events.lock().unwrap();
        events
            .iter()
            .filter_map(|event| if let Event::Anew { reason } = event { Some(*reason) } else { None })
            .collect()
    }

    /// Returns the events.
    pub fn events(&self) -> Vec<Event> {
        self.events.lock().unwrap().clone()
    }

    /// Returns the path of a name in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Returns the content of the file `name`, and asserts that nothing else is there.
    pub fn only(&self, name: &str) -> Vec<u8> {
        assert_eq!(self.names(), [name]);
        std::fs::read(self.path(name)).unwrap()
    }

    /// Returns the names in the directory, partial files as `PART`, without descriptions.
    pub fn names(&self) -> Vec<String> {
        names(self.dir.path())
    }
}

fn names(dir: &Path) -> Vec<String> {
    let names =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter(|name| !(name.starts_with(".afteryou-") && name.ends_with(".json")))
        .map(|name| if name.ends_with(".part") { "PART".to_owned() } else { name })
        .collect();
    names.sort();
    names
}

/// Returns the SHA-256 of a content.
pub fn sha256(content: &[u8]) -> Digest {
    let digest = ring::digest::digest(&ring::digest::SHA256, content);
    Digest::sha256(&data_encoding::HEXLOWER.encode(digest.as_ref())).unwrap()
}

/// Returns the value of a digest's header.
pub fn digest_header(content: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, content);
    format!("sha-256=:{}:", data_encoding::BASE64.encode(digest.as_ref()))
}

/// Returns the directory's name of a stored file.
pub fn stored(outcome: Result<Outcome, Error>) -> String {
    match outcome.unwrap() {
        Outcome::Stored(path) => path.file_name().unwrap().to_string_lossy().into_owned(),
        other => panic!("{other:?}"),
    }
}
