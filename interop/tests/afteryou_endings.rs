//! How connections between our endpoint and the real libutp begin and end,
//! and what happens when one end is slow.

#[path = "support/ours.rs"]
mod ours;
mod support;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use afteryou_base::Span;
use afteryou_interop::{Ended, Finish, Job, LibutpPeer, Loss, UtpFailure};
use afteryou_utp::{EndpointConfig, Stream};
use ours::{bind, exchange, join, open, transfer, with_controller, Opens, PATIENCE, V4};
use support::pattern;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

const BOTH_WAYS: [Opens; 2] = [Opens::Ours, Opens::Libutp];

fn sending(bytes: &[u8], finish: Finish) -> Job {
    Job { send: bytes.to_vec(), finish, deadline: PATIENCE, ..Job::default() }
}

/// Closes as soon as everything is written, and stays there to answer with
/// resets, as a program with other connections would.
fn closing_first(bytes: &[u8]) -> Job {
    let mut job = sending(bytes, Finish::Close);
    job.options.linger = Duration::from_millis(1000);
    job
}

async fn read_to_end(stream: &mut Stream) -> std::io::Result<Vec<u8>> {
    let mut got = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut got)).await.expect("no end came")?;
    Ok(got)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn our_half_close_leaves_the_other_direction_open() {
    // libutp closes after our end only; what it writes is far more than a
    // window, so most of it follows our FIN.
    for opens in BOTH_WAYS {
        let endpoint = bind(V4, with_controller("cubic"));
        let answer = pattern(4 << 20);
        transfer(&endpoint, opens, b"question", sending(&answer, Finish::CloseAfterEof)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn libutps_half_close_leaves_our_direction_open() {
    for opens in BOTH_WAYS {
        let endpoint = bind(V4, with_controller("cubic"));
        let (mut stream, peer) = open(&endpoint, opens, sending(b"question", Finish::HalfClose)).await;
        if opens == Opens::Ours {
            stream.write_all(b"x").await.unwrap();
            stream.flush().await.unwrap();
        }
        assert_eq!(read_to_end(&mut stream).await.unwrap(), b"question");
        let answer = pattern(1 << 20);
        let sent = exchange(stream, &answer).await;
        assert_eq!(sent.received, b"");
        let libutp = join(peer).await;
        assert!(libutp.received.ends_with(&answer) && libutp.got_eof && libutp.closed, "{libutp:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_libutp_that_closes_first_and_resets_our_fin_is_a_clean_end() {
    for opens in BOTH_WAYS {
        let endpoint = bind(V4, with_controller("cubic"));
        let data = pattern(300_000);
        let (mut stream, peer) = open(&endpoint, opens, closing_first(&data)).await;
        if opens == Opens::Ours {
            stream.write_all(b"x").await.unwrap();
            stream.flush().await.unwrap();
        }
        assert!(read_to_end(&mut stream).await.unwrap() == data);
        // Until libutp has forgotten the connection.
        tokio::time::sleep(Duration::from_millis(700)).await;
        timeout(PATIENCE, stream.shutdown()).await.expect("stuck").expect("not a clean end");
        assert_eq!(read_to_end(&mut stream).await.unwrap(), b"");
        let libutp = join(peer).await;
        assert!(libutp.closed, "{libutp:?}");
        println!("{opens:?} opens: libutp sent {:?}", libutp.sent);
        assert!(libutp.sent.by_type[3] > 0, "no reset: {libutp:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn data_that_a_closed_libutp_resets_is_an_error() {
    let endpoint = bind(V4, with_controller("cubic"));
    let (mut stream, peer) = open(&endpoint, Opens::Libutp, closing_first(b"bye")).await;
    assert_eq!(read_to_end(&mut stream).await.unwrap(), b"bye");
    tokio::time::sleep(Duration::from_millis(700)).await;
    stream.write_all(b"too late").await.unwrap();
    let error = timeout(PATIENCE, stream.shutdown()).await.expect("stuck").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    join(peer).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn libutp_sees_our_abort_as_a_reset() {
    for opens in BOTH_WAYS {
        let endpoint = bind(V4, with_controller("cubic"));
        let (mut stream, peer) = open(&endpoint, opens, sending(b"hello", Finish::CloseAfterEof)).await;
        stream.write_all(b"x").await.unwrap();
        stream.flush().await.unwrap();
        stream.read_exact(&mut [0; 5]).await.unwrap();
        stream.monitor().abort();
        let libutp = join(peer).await;
        assert_eq!((libutp.error, libutp.got_eof), (Some(UtpFailure::Reset), false), "{libutp:?}");
        let error = stream.write_all(b"y").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionAborted);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_libutp_that_vanishes_is_given_up_after_the_patience() {
    let mut config = EndpointConfig::foreground();
    config.connection.patience = Span::from_secs(1);
    config.connection.min_rto = Span::from_millis(100);
    let endpoint = bind(V4, config);
    let (mut stream, peer) = open(&endpoint, Opens::Ours, sending(b"", Finish::KeepOpen)).await;
    stream.write_all(b"x").await.unwrap();
    stream.flush().await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    peer.stop();
    assert_eq!(join(peer).await.ended, Ended::Stopped);
    let started = Instant::now();
    stream.write_all(&pattern(50_000)).await.unwrap();
    let error = timeout(PATIENCE, stream.shutdown()).await.expect("stuck").unwrap_err();
    println!("given up after {:?}", started.elapsed());
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!(read_to_end(&mut stream).await.unwrap_err().kind(), ErrorKind::TimedOut);
    assert!((1.0..8.0).contains(&started.elapsed().as_secs_f64()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_slow_libutp_reader_closes_and_opens_the_window() {
    let endpoint = bind(V4, with_controller("cubic"));
    let mut job = sending(b"", Finish::HalfClose);
    job.options.recv_buffer = Some(50_000);
    job.options.read_rate = Some(400_000);
    let both = transfer(&endpoint, Opens::Ours, &pattern(850_000), job).await;
    println!("{:?} {:?}", both.took, both.ours.statistics);
    // 800 kB have to be read at 400 kB/s before the last 50 kB fit.
    assert!((1.8..4.0).contains(&both.took.as_secs_f64()), "{:?}", both.took);
    assert_eq!(both.ours.statistics.timeouts, 0, "{:?}", both.ours.statistics);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn our_slow_reader_closes_and_opens_libutps_window() {
    let mut config = with_controller("cubic");
    config.connection.recv_buffer = 50_000;
    let endpoint = bind(V4, config);
    let data = pattern(850_000);
    let (mut stream, peer) = open(&endpoint, Opens::Libutp, sending(&data, Finish::HalfClose)).await;
    let (mut got, mut chunk) = (Vec::new(), vec![0; 10_000]);
    let started = Instant::now();
    loop {
        let n = timeout(PATIENCE, stream.read(&mut chunk)).await.expect("stuck").unwrap();
        if n == 0 {
            break;
        }
        got.extend_from_slice(&chunk[..n]);
        tokio::time::sleep(Duration::from_secs(n as u64) / 800_000).await;
    }
    println!("{:?}", started.elapsed());
    assert!(got == data);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    stream.shutdown().await.unwrap();
    assert!(join(peer).await.closed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn libutps_sequence_numbers_wrap_around_in_a_transfer() {
    for (opens, first_seq) in [(Opens::Ours, 65_500), (Opens::Libutp, 65_500), (Opens::Libutp, 65_533)] {
        let endpoint = bind(V4, with_controller("cubic"));
        let mut job = sending(&pattern(300_000), Finish::HalfClose);
        job.options.first_seq = Some(first_seq);
        transfer(&endpoint, opens, &pattern(300_000), job).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn our_sequence_numbers_wrap_around_in_a_transfer() {
    // More packets than there are numbers.
    let mut config = with_controller("cubic");
    (config.connection.payload, config.connection.max_payload) = (100, 100);
    let endpoint = bind(V4, config);
    let both = transfer(&endpoint, Opens::Ours, &pattern(7_000_000), sending(b"", Finish::HalfClose)).await;
    assert!(both.ours.statistics.data_packets_sent > 1 << 16);
}

/// libutp answers a SYN once and then stays half-open for good: what helps is a SYN under another id, which our endpoint
/// sends after 3.5 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lost_answer_to_our_syn_is_made_good_by_a_second_try_under_another_id() {
    let endpoint = bind(V4, with_controller("cubic"));
    let mut job = sending(b"", Finish::CloseAfterEof);
    job.options.loss = Loss { lose_first_sent: 1, ..Loss::default() };
    let peer = LibutpPeer::accept_one(job).unwrap();
    let started = Instant::now();
    let stream = timeout(PATIENCE, endpoint.connect(peer.local_addr())).await.expect("stuck").unwrap();
    assert!((3.4..4.5).contains(&started.elapsed().as_secs_f64()), "{:?}", started.elapsed());
    exchange(stream, b"hello").await;
    let libutp = join(peer).await;
    assert_eq!(libutp.received, b"hello");
    assert_eq!((libutp.got.by_type[4], libutp.sent.dropped), (3, 1), "{libutp:?}");
}
