//! A running job and its timetable, by a clock that the test moves.

use super::support::*;
use afteryou_transfer::dial::{udp_socket, Dialer};
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{self, JobOptions};
use afteryou_transfer::pace::{Limit, Owner, Pace};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::Ticket;
use afteryou_transfer_cli::tally::JobTally;
use afteryou_transfer_cli::timetable::{follow, Clock, Direction};
use jiff::civil::date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Zoned};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// A working day, and a pause as good as: a timetable's smallest rate is one byte a second.
const TIMETABLE: &str = "08:00,500kB/s 18:00,1B 22:00,off";

/// What the line has, bytes a second, so that "off" is a rate as well, and one that a busy machine reaches.
const LINE: u64 = 8_000_000;
const BYTES: usize = 30_000_000;

/// What is on its way when the rate changes has arrived by then.
const SETTLED: Duration = Duration::from_millis(800);

/// A clock that does not advance until somebody sets it.
struct SetByHand(watch::Receiver<Zoned>);

impl Clock for SetByHand {
    fn now(&self) -> Zoned {
        self.0.borrow().clone()
    }

    async fn pass(&self, time: Duration) {
        let end = self.now().saturating_add(SignedDuration::try_from(time).unwrap());
        // Without anybody to set it, this time never comes.
        if self.0.clone().wait_for(|now| *now >= end).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Returns Wednesday, at this hour.
fn at(hour: i8) -> Zoned {
    date(2026, 11, 18).at(hour, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap()
}

/// A job in this process, whose peer is the built command.
struct Job {
    clock: watch::Sender<Zoned>,
    pace: Pace,
    moved: Arc<AtomicU64>,
    options: JobOptions,
}

impl Job {
    /// Starts a job at night.
    fn new(direction: Direction) -> Job {
        let pace = Pace::new();
        pace.set(Owner::User, Limit { max_rate: Some(LINE), paused: false });
        let clock = watch::Sender::new(at(6));
        let tally = Arc::new(Mutex::new(JobTally::new(pace.clone(), None, Instant::now())));
        let timetable = TIMETABLE.parse().unwrap();
        tokio::spawn(follow(timetable, direction, SetByHand(clock.subscribe()), pace.clone(), tally));
        let moved = Arc::new(AtomicU64::new(0));
        let count = moved.clone();
        let options = JobOptions {
            pace: pace.clone(),
            listener: Arc::new(move |event| {
                if let Event::Progress { bytes_moved, .. } = event {
                    count.store(bytes_moved, Relaxed);
                }
            }),
            give_up_after: Some(PATIENCE),
            ..JobOptions::default()
        };
        Job { clock, pace, moved, options }
    }

    /// Moves the clock, and waits until the timetable's word holds.
    async fn becomes(&self, hour: i8, max_rate: Option<u64>) {
        let mut changed = self.pace.changed();
        self.clock.send_replace(at(hour));
        let heard = changed.wait_for(|limit| limit.max_rate == max_rate);
        timeout(PATIENCE, heard).await.expect("the timetable is followed").unwrap();
    }

    /// Returns the bytes a second over a while.
    async fn rate(&self, time: Duration) -> f64 {
        let (before, began) = (self.moved.load(Relaxed), Instant::now());
        sleep(time).await;
        (self.moved.load(Relaxed) - before) as f64 / began.elapsed().as_secs_f64()
    }

    /// Lets a day go by while the job runs.
    async fn goes_through_the_day(&self) {
        let began = Instant::now();
        while self.moved.load(Relaxed) < 2_000_000 {
            assert!(began.elapsed() < PATIENCE, "nothing moves at night");
            sleep(Duration::from_millis(20)).await;
        }
        let night = self.rate(Duration::from_secs(1)).await;
        assert!(night > 1_500_000.0, "{night} bytes/s at night");

        self.becomes(8, Some(500_000)).await;
        sleep(SETTLED).await;
        let morning = self.rate(Duration::from_secs(3)).await;
        assert!((150_000.0..800_000.0).contains(&morning), "{morning} bytes/s in the morning");

        self.becomes(18, Some(1)).await;
        sleep(SETTLED).await;
        let evening = self.rate(Duration::from_millis(1_500)).await;
        assert!(evening < 20_000.0, "{evening} bytes/s in the evening");

        let before = self.moved.load(Relaxed);
        assert!(before < BYTES as u64 - 4_000_000, "{before} bytes have moved, so the rest says nothing");
        self.becomes(22, Some(LINE)).await;
    }
}

fn dialer(ticket: &str) -> Arc<Dialer> {
    let (ticket, _) = Ticket::with_path(ticket).unwrap();
    let endpoint =
        Endpoint::new(EndpointConfig::default(), None, udp_socket(0).unwrap(), Arc::new(TokioRuntime));
    Arc::new(Dialer::new(endpoint.unwrap(), &ticket, |_| Arc::new(afteryou_transfer::transport())).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_sends_changes_its_rate_with_the_hour() {
    let place = Place::new();
    let file = place.file("large", BYTES);
    let (_receive, ticket) = place.listen(&["receive", "archive"]);
    let job = Job::new(Direction::Up);
    let source = Source::of(std::slice::from_ref(&file), SourceOptions::default()).unwrap();
    let sent = tokio::spawn(job::send(dialer(&ticket), source, job.options.clone()));
    job.goes_through_the_day().await;
    let summary = timeout(PATIENCE, sent).await.expect("the night is fast again").unwrap().unwrap();
    assert_eq!((summary.stored_files, summary.failed), (1, 0));
    assert!(same(&file, &place.path("archive/large")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_gets_changes_the_rate_of_the_far_end_with_the_hour() {
    let place = Place::new();
    let file = place.file("photos/large", BYTES);
    let (_serve, ticket) = place.listen(&["serve", "photos"]);
    let job = Job::new(Direction::Down);
    let store = Store::open(&place.path("album"), StoreOptions::default()).unwrap();
    let got = tokio::spawn(job::get(dialer(&ticket), Vec::new(), store, job.options.clone()));
    job.goes_through_the_day().await;
    let summary = timeout(PATIENCE, got).await.expect("the night is fast again").unwrap().unwrap();
    assert_eq!((summary.stored_files, summary.failed), (1, 0));
    assert!(same(&file, &place.path("album/large")));
}
