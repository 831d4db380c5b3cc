//! `afteryou get URL`: files from web servers, with the display and the exit codes of all jobs.

use super::args::{Downloads, GetArgs};
use super::ctl::Job;
use super::pipes::{self, Temporary};
use super::stage::{First, Stage};
use super::summary;
use super::timetable::Direction;
use afteryou_base::lock::EvenPoisoned;
use afteryou_http as http;
use afteryou_http::{Client, Netrc, Options, Pacing, Place, Proxies};
use afteryou_terminal::Failure;
use afteryou_transfer::event::{Event, Listener, Outcome, Summary};
use afteryou_transfer::pace::Pace;
use std::collections::VecDeque;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The interval of progress reports.
const TICK: Duration = Duration::from_millis(200);
/// Ticks that the rate is measured over.
const TICKS: usize = 10;

/// Runs `afteryou get` with URLs.
pub async fn get(args: &GetArgs, mut asked: Downloads) -> Result<(), Failure> {
    let output = asked.is_standard.then(Temporary::new).transpose()?;
    if let Some(output) = &output {
        asked.jobs.iter_mut().for_each(|job| job.place = Place::Directory(output.path().to_owned()));
    }
    let what = asked.jobs.iter().map(name).collect::<Vec<_>>().join(", ");
    let job = Job { command: "get", done: "received", direction: Direction::Down, what, store: None };
    let stage = Stage::start(&args.common, job, First::Dials)?;
    // Without it the files come all the same, and only do not give way.
    #[cfg(target_os = "linux")]
    let _steered = afteryou_outside::linux::Own::begin(afteryou_outside::rule::Params::default(), None);
    let mut options = options(args, stage.pace.clone());
    options.prepare = prepare(stage.listener());
    let client = Client::new(options);
    let meter = Arc::new(Meter::new(stage.listener(), asked.jobs.len()));
    let outcome = tokio::select! {
        biased;
        summary = all(&client, &asked.jobs, &meter) => Some(summary),
        () = stage.stopped() => None,
    };
    let (tally, events) = stage.end();
    let Some(summary) = outcome else { return Err(Failure::Stopped(summary::stopped(&tally))) };
    let verdict = summary::verdict(&summary, "the same command tries them again", args.common.strict, false);
    summary::with_output(verdict, events)?;
    output.map_or(Ok(()), |output| pipes::pour(&output, std::io::stdout().lock()))
}

/// Returns what makes a connection yield, reported once. On Linux [`afteryou_outside::linux::Own`] does that for all connections.
#[cfg(target_os = "linux")]
fn prepare(_: Listener) -> Option<Arc<http::Prepare>> {
    None
}

/// Returns what makes a connection yield, reported once: the system's own means.
#[cfg(not(target_os = "linux"))]
fn prepare(listener: Listener) -> Option<Arc<http::Prepare>> {
    let reported = std::sync::Once::new();
    Some(Arc::new(move |stream| {
        let text = match afteryou_background::set_background(stream) {
            Ok(background) => format!("this transfer {background}"),
            Err(error) => error.to_string(),
        };
        reported.call_once(|| listener(Event::Notice { text }));
    }))
}

fn options(args: &GetArgs, pace: Pace) -> Options {
    let mut options = Options { proxies: Proxies::from_env(), ..Options::default() };
    options.pacing = Some(Arc::new(Paced(pace)));
    options.backoff.give_up_after =
        args.dialing.give_up_after.map(|time| Duration::from_micros(time.0.as_micros()));
    if !args.urls.no_netrc {
        options.netrc = Netrc::of_user();
    }
    options
}

/// Returns the file's URL without its query.
fn name(job: &http::Job) -> String {
    job.urls.first().map(http::Url::shown).unwrap_or_default()
}

/// Gets one file after the other. A file that fails does not keep others away.
async fn all(client: &Client, jobs: &[http::Job], meter: &Arc<Meter>) -> Summary {
    let ticks = tick(meter.clone());
    let downloads = async {
        for job in jobs {
            let outcome = client.download(job, &|event| meter.event(event)).await;
            meter.settled(job, outcome);
        }
    };
    tokio::select! {
        () = downloads => {}
        () = ticks => {}
    }
    meter.finished()
}

/// Reports progress from time to time.
async fn tick(meter: Arc<Meter>) {
    let mut ticks = tokio::time::interval(TICK);
    loop {
        ticks.tick().await;
        meter.progress();
    }
}

/// The job's pace, for the reader.
struct Paced(Pace);

impl Pacing for Paced {
    fn take(&self, bytes: u64) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.0.take(bytes))
    }
}

/// Adds the events of downloads up to those of a job.
struct Meter {
    listener: Listener,
    files: u64,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    summary: Summary,
    settled: u64,
    /// Bytes of the settled files.
    before: u64,
    /// Bytes of the file that is being downloaded.
    have: u64,
    length: Option<u64>,
    /// Bytes moved, at the last ticks.
    moved: VecDeque<u64>,
}

impl Counts {
    /// Returns the rate of the last two seconds, in bytes a second.
    fn rate(&mut self) -> u64 {
        self.moved.push_back(self.summary.bytes_moved);
        if self.moved.len() > TICKS + 1 {
            self.moved.pop_front();
        }
        let first = self.moved.front().copied().unwrap_or_default();
        let time = TICK * u32::try_from(self.moved.len() - 1).unwrap_or(1).max(1);
        ((self.summary.bytes_moved - first) as f64 / time.as_secs_f64()) as u64
    }
}

impl Meter {
    fn new(listener: Listener, files: usize) -> Meter {
        Meter { listener, files: files as u64, counts: Mutex::default() }
    }

    /// Reports an event of a download.
    fn event(&self, event: http::Event) {
        match event {
            http::Event::Connected { peer } => (self.listener)(Event::Connected { peer }),
            http::Event::Length { bytes, have } => {
                let mut counts = self.counts.lock().even_poisoned();
                (counts.length, counts.have) = (bytes, have);
                drop(counts);
                self.plan();
                self.progress();
            }
            http::Event::Moved { bytes } => {
                let mut counts = self.counts.lock().even_poisoned();
                counts.have += bytes;
                counts.summary.bytes_moved += bytes;
            }
            http::Event::Anew { reason } => {
                (self.listener)(Event::Notice { text: format!("starting anew: {reason}") });
            }
            http::Event::Retry { reason, wait } => {
                let retry_in_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                (self.listener)(Event::Disconnected { reason, retry_in_ms });
            }
        }
    }

    /// Reports the size of the job, as far as it is known.
    fn plan(&self) {
        let counts = self.counts.lock().even_poisoned();
        let bytes = counts.before + counts.length.unwrap_or(counts.have);
        let complete =
            counts.settled == self.files || (counts.settled + 1 == self.files && counts.length.is_some());
        drop(counts);
        (self.listener)(Event::Plan { entries: self.files, files: self.files, bytes, complete });
    }

    fn progress(&self) {
        let mut counts = self.counts.lock().even_poisoned();
        let rate = counts.rate();
        let event = Event::Progress {
            entries_done: counts.settled,
            files_done: counts.settled,
            bytes_done: counts.before + counts.have,
            bytes_moved: counts.summary.bytes_moved,
            rate,
        };
        let grows = counts.length.is_none() && counts.have > 0;
        drop(counts);
        if grows {
            self.plan();
        }
        (self.listener)(event);
    }

    /// Reports the end of a file.
    fn settled(&self, job: &http::Job, outcome: Result<http::Outcome, http::Error>) {
        let mut counts = self.counts.lock().even_poisoned();
        let shown = |path: &Path| path.strip_prefix(".").unwrap_or(path).to_string_lossy().into_owned();
        let size = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        let (path, outcome) = match outcome {
            Ok(http::Outcome::Stored(path)) => {
                counts.summary.stored += 1;
                counts.summary.stored_files += 1;
                counts.before += size(&path);
                counts.settled += 1;
                (shown(&path), Outcome::Stored)
            }
            Ok(http::Outcome::Had(path)) => {
                counts.summary.had += 1;
                counts.before += size(&path);
                counts.settled += 1;
                (shown(&path), Outcome::Had)
            }
            Err(error) => {
                counts.summary.failed += 1;
                counts.before += counts.have;
                (name(job), Outcome::Failed(error.to_string()))
            }
        };
        (counts.have, counts.length) = (0, Some(0));
        drop(counts);
        (self.listener)(Event::File { path, outcome });
    }

    /// Reports the end of the job.
    fn finished(&self) -> Summary {
        self.plan();
        self.progress();
        let summary = self.counts.lock().even_poisoned().summary.clone();
        (self.listener)(Event::Finished(summary.clone()));
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_events_of_downloads_add_up_to_those_of_a_job() {
        let heard: Arc<Mutex<Vec<Event>>> = Arc::default();
        let listener = heard.clone();
        let meter = Meter::new(Arc::new(move |event| listener.lock().unwrap().push(event)), 2);
        let job = http::Job {
            urls: vec![http::Url::parse("https://h/a?secret").unwrap()],
            place: Place::Directory(".".into()),
            sha256: None,
            replace: false,
        };
        meter.event(http::Event::Length { bytes: Some(100), have: 40 });
        meter.event(http::Event::Moved { bytes: 30 });
        meter.settled(&job, Err(http::Error::Sha256));
        meter.event(http::Event::Length { bytes: Some(50), have: 0 });
        meter.event(http::Event::Moved { bytes: 50 });
        let summary = meter.finished();
        assert_eq!((summary.failed, summary.bytes_moved), (1, 80));
        let heard = heard.lock().unwrap();
        let plans: Vec<_> = heard
            .iter()
            .filter_map(|event| match event {
                Event::Plan { bytes, complete, .. } => Some((*bytes, *complete)),
                _ => None,
            })
            .collect();
        assert_eq!(plans, [(100, false), (120, false), (120, false)], "a failed file is not done");
        assert!(heard.iter().any(|event| matches!(event, Event::File { path, .. } if path == "https://h/a")));
    }
}
