//! Digests, existing files, encodings and statuses: what must not get the final name.

use super::support::{digest_header, file, reply, sha256, short, stored, Bench, Server};
use afteryou_http::{Error, Outcome, Place};

#[tokio::test]
async fn a_file_without_its_digest_gets_no_name() {
    let server = Server::of_file(b"content", "\"1\"");
    let mut bench = Bench::new();
    let mut job = bench.job(&[server.url("/x")]);
    job.sha256 = Some(sha256(b"other content"));
    let error = bench.run(&job).await.unwrap_err();
    assert!(matches!(error, Error::Digest { of: "SHA-256", .. }), "{error}");
    assert!(bench.names().is_empty(), "what is wrong is not kept");
    job.sha256 = Some(sha256(b"content"));
    assert_eq!(stored(bench.run(&job).await), "x");
}

#[tokio::test]
async fn digests_of_the_server_are_checked() {
    let right = digest_header(b"content");
    let wrong = digest_header(b"con-tent");
    for (headers, is_right) in [
        (format!("Repr-Digest: {right}\nContent-Digest: {right}"), true),
        (format!("Repr-Digest: {wrong}"), false),
        (format!("Content-Digest: {wrong}"), false),
        ("Repr-Digest: md5=:AAAA:, unknown=1".to_owned(), true),
    ] {
        let server = Server::start(move |asked, _, stream| {
            assert!(asked.header("want-repr-digest").is_some());
            reply(stream, "200 OK", &format!("Content-Length: 7\n{headers}"), b"content");
        });
        let mut bench = Bench::new();
        let outcome = bench.get(&server.url("/x")).await;
        match is_right {
            true => assert_eq!(stored(outcome), "x"),
            false => assert!(matches!(outcome, Err(Error::Digest { .. })), "{outcome:?}"),
        }
        assert_eq!(bench.names().is_empty(), !is_right);
    }
}

#[tokio::test]
async fn a_digest_of_a_part_is_that_of_the_part() {
    let content = b"0123456789";
    let server = Server::start(move |asked, _, stream| match asked.from() {
        None => short(stream, content, "\"1\"", 4),
        Some(4) => {
            let headers = format!(
                "Content-Range: bytes 4-9/10\nContent-Length: 6\nContent-Digest: {}\nRepr-Digest: {}",
                digest_header(&content[4..]),
                digest_header(content)
            );
            reply(stream, "206 Partial", &headers, &content[4..]);
        }
        Some(_) => {}
    });
    let mut bench = Bench::new();
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!(bench.only("x"), content);
}

#[tokio::test]
async fn an_existing_file_is_kept_unless_it_may_be_replaced() {
    let server = Server::of_file(b"content", "\"1\"");
    let mut bench = Bench::new();
    std::fs::write(bench.path("x"), "mine").unwrap();
    let mut job = bench.job(&[server.url("/x")]);
    for place in [job.place.clone(), Place::File(bench.path("x"))] {
        job.place = place;
        let error = bench.run(&job).await.unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(bench.only("x"), b"mine");
    }
    job.replace = true;
    assert_eq!(stored(bench.run(&job).await), "x");
    assert_eq!(bench.only("x"), b"content");
}

#[tokio::test]
async fn the_same_file_is_not_downloaded_again_if_a_digest_shows_that_it_is_the_same() {
    let server = Server::of_file(b"content", "\"1\"");
    let mut bench = Bench::new();
    std::fs::write(bench.path("x"), "content").unwrap();
    let mut job = bench.job(&[server.url("/x")]);
    job.sha256 = Some(sha256(b"content"));
    assert_eq!(bench.run(&job).await.unwrap(), Outcome::Had(bench.path("x")));
    assert!(server.asked().is_empty());
    let server = Server::start(|_, _, stream| {
        reply(
            stream,
            "200 OK",
            &format!("Content-Length: 7\nRepr-Digest: {}", digest_header(b"content")),
            b"content",
        );
    });
    assert_eq!(bench.get(&server.url("/x")).await.unwrap(), Outcome::Had(bench.path("x")));
    assert_eq!(bench.only("x"), b"content");
}

#[tokio::test]
async fn an_encoding_that_was_not_asked_for_is_refused_unless_it_is_the_files_own() {
    let server = Server::start(|_, _, stream| {
        reply(stream, "200 OK", "Content-Encoding: gzip\nContent-Length: 2", b"gz")
    });
    let mut bench = Bench::new();
    let error = bench.get(&server.url("/page.html")).await.unwrap_err();
    assert!(matches!(error, Error::Encoded { .. }) && bench.names().is_empty(), "{error}");
    bench.get(&server.url("/x.tar.gz")).await.unwrap();
    assert_eq!(bench.only("x.tar.gz"), b"gz");
}

#[tokio::test]
async fn a_status_that_is_no_success_is_an_error_with_advice_and_some_are_tried_again() {
    for (status, requests, advice) in [
        ("404 Not Found", 1, "check the URL"),
        ("401 Unauthorized", 1, "use https"),
        ("403 Forbidden", 1, "does not let"),
        ("204 No Content", 1, "browser"),
        ("304 Not Modified", 1, "browser"),
        ("206 Partial Content", 1, "contradicts"),
        ("503 Busy", 10, "try again later"),
    ] {
        let server = Server::start(move |_, _, stream| reply(stream, status, "Content-Length: 0", b""));
        let mut bench = Bench::new();
        let error = bench.get(&server.url("/x?secret")).await.unwrap_err().to_string();
        assert!(error.contains(advice) && !error.contains("secret"), "{status}: {error}");
        assert_eq!((server.asked().len(), bench.names().len()), (requests, 0), "{status}");
    }
    let server = Server::start(|asked, number, stream| match number {
        0..3 => reply(stream, "503 Busy", "Content-Length: 0\nRetry-After: 0", b""),
        _ => file(asked, stream, b"content", "\"1\""),
    });
    let mut bench = Bench::new();
    assert_eq!(stored(bench.get(&server.url("/x")).await), "x");
}
