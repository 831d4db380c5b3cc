//! Downloads that break off, within a run and between two.

use super::support::{file, reply, sha256, short, stored, Bench, Server};
use afteryou_http::{Error, Event};
use std::time::Duration;

const CONTENT: &[u8] = b"0123456789abcdefghij";

/// Leaves the first bytes of [`CONTENT`] in `bench`, from a run that was stopped.
async fn begun(bench: &mut Bench, server: &Server) {
    let job = bench.job(&[server.url("/x")]);
    let first = bench.run(&job);
    assert!(tokio::time::timeout(Duration::from_millis(300), first).await.is_err(), "it should hang");
    // The writer's thread may be behind.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(bench.names(), ["PART"]);
}

/// Sends the first seven bytes to the first request, and is silent.
fn hangs(stream: &mut std::net::TcpStream, etag: &str) {
    short(stream, CONTENT, etag, 7);
    std::thread::sleep(Duration::from_secs(3));
}

#[tokio::test]
async fn a_body_that_ends_early_is_continued_while_there_is_progress() {
    let server = Server::start(|asked, number, stream| match asked.from() {
        // Five bytes more each time.
        from if number < 3 => {
            let from = from.unwrap_or(0);
            let headers = format!(
                "ETag: \"1\"\nContent-Range: bytes {from}-19/20\nContent-Length: {}",
                CONTENT.len() - from
            );
            let status = if from == 0 { "200 OK" } else { "206 Partial" };
            reply(stream, status, &headers, &CONTENT[from..from + 5]);
        }
        _ => file(asked, stream, CONTENT, "\"1\""),
    });
    let mut bench = Bench::new();
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!(bench.only("x"), CONTENT);
    let asked = server.asked();
    let from: Vec<_> = asked.iter().map(|asked| asked.from().unwrap_or(0)).collect();
    assert_eq!(from, [0, 5, 10, 15]);
    assert!(asked[1..].iter().all(|asked| asked.header("if-range") == Some("\"1\"")));
    assert!(bench.anew().is_empty());
    let retries = bench.events().into_iter().filter(|event| matches!(event, Event::Retry { .. })).count();
    assert_eq!(retries, 3);
}

#[tokio::test]
async fn without_progress_it_gives_up_and_keeps_what_arrived() {
    let server = Server::start(|asked, _, stream| {
        if asked.from().is_none() {
            short(stream, CONTENT, "\"1\"", 7);
        }
    });
    let mut bench = Bench::new();
    let error = bench.get(&server.url("/x")).await.unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    assert_eq!((bench.names(), server.asked().len()), (vec!["PART".to_owned()], 10));
}

#[tokio::test]
async fn the_next_run_continues() {
    let server = Server::start(|asked, number, stream| match number {
        0 => hangs(stream, "\"1\""),
        _ => file(asked, stream, CONTENT, "\"1\""),
    });
    let mut bench = Bench::new();
    begun(&mut bench, &server).await;
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!((bench.only("x").as_slice(), server.asked()[1].from()), (CONTENT, Some(7)));
}

#[tokio::test]
async fn a_file_that_changed_is_begun_anew_and_that_is_said() {
    let server = Server::start(|asked, number, stream| match number {
        0 => hangs(stream, "\"1\""),
        _ => file(asked, stream, b"another version", "\"2\""),
    });
    let mut bench = Bench::new();
    begun(&mut bench, &server).await;
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!(bench.only("x"), b"another version");
    assert_eq!(bench.anew(), ["the file changed at the server"]);
}

#[tokio::test]
async fn a_part_of_another_version_is_not_appended() {
    let server = Server::start(|asked, number, stream| match number {
        0 => hangs(stream, "\"1\""),
        // It ignores If-Range.
        1 => reply(
            stream,
            "206 Partial",
            "ETag: \"2\"\nContent-Range: bytes 7-19/20\nContent-Length: 13",
            &[b'!'; 13],
        ),
        _ => file(asked, stream, CONTENT, "\"2\""),
    });
    let mut bench = Bench::new();
    begun(&mut bench, &server).await;
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!((bench.only("x").as_slice(), server.asked()[2].from()), (CONTENT, None));
    assert_eq!(bench.anew(), ["the file changed at the server"]);
}

#[tokio::test]
async fn a_server_without_ranges_sends_all_of_it_again() {
    let server = Server::start(|_, number, stream| match number {
        0 => hangs(stream, "\"1\""),
        _ => short(stream, CONTENT, "\"1\"", CONTENT.len()),
    });
    let mut bench = Bench::new();
    begun(&mut bench, &server).await;
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!(bench.only("x"), CONTENT);
    assert_eq!(bench.anew(), ["the server sends whole files only"]);
}

#[tokio::test]
async fn no_range_after_the_end_means_whole_or_begins_anew() {
    for (length, anew) in [(7, &[][..]), (5, &["the file is shorter now"][..])] {
        let server = Server::start(move |asked, number, stream| match (number, asked.from()) {
            // The length is unknown, so that only the server can say that this was all.
            (0, _) => {
                reply(stream, "200 OK", "ETag: \"1\"\nTransfer-Encoding: chunked", b"7\r\n0123456\r\n");
                std::thread::sleep(Duration::from_secs(3));
            }
            (_, Some(_)) => {
                reply(stream, "416 No", &format!("Content-Range: bytes */{length}\nContent-Length: 0"), b"")
            }
            (_, None) => file(asked, stream, b"01234", "\"1\""),
        });
        let mut bench = Bench::new();
        begun(&mut bench, &server).await;
        bench.get(&server.url("/x")).await.unwrap();
        assert_eq!((bench.only("x").len(), bench.anew().as_slice()), (length, anew));
    }
}

#[tokio::test]
async fn content_whose_version_has_no_mark_is_continued_only_for_a_digest() {
    for has_digest in [false, true] {
        let server = Server::start(|asked, number, stream| match (number, asked.from()) {
            (0, _) => hangs(stream, "W/\"1\""),
            (_, None) => short(stream, CONTENT, "W/\"1\"", CONTENT.len()),
            (_, Some(from)) => {
                assert_eq!(asked.header("if-range"), None);
                let headers = format!("Content-Range: bytes {from}-19/20\nContent-Length: {}", 20 - from);
                reply(stream, "206 Partial", &headers, &CONTENT[from..]);
            }
        });
        let mut bench = Bench::new();
        begun(&mut bench, &server).await;
        let mut job = bench.job(&[server.url("/x")]);
        job.sha256 = has_digest.then(|| sha256(CONTENT));
        assert_eq!(stored(bench.run(&job).await), "x");
        assert_eq!(bench.only("x"), CONTENT);
        assert_eq!(server.asked()[1].from().is_some(), has_digest);
        assert_eq!(bench.anew().is_empty(), has_digest);
    }
}

#[tokio::test]
async fn another_part_than_the_one_asked_for_is_refused() {
    for range in ["bytes 3-19/20", "bytes 7-25/20", "bytes x", ""] {
        let server = Server::start(move |_, number, stream| match number {
            0 => hangs(stream, "\"1\""),
            _ => reply(
                stream,
                "206 Partial",
                &format!("Content-Range: {range}\nContent-Length: 13"),
                &[b'!'; 13],
            ),
        });
        let mut bench = Bench::new();
        begun(&mut bench, &server).await;
        let error = bench.get(&server.url("/x")).await.unwrap_err();
        assert!(matches!(error, Error::Contradiction { .. }), "{range}: {error}");
        assert_eq!(bench.names(), ["PART"]);
    }
}
