//! Several URLs of one file.

use super::support::{file, reply, sha256, short, stored, Bench, Server};
use afteryou_http::Error;

const CONTENT: &[u8] = b"0123456789";

#[tokio::test]
async fn the_next_mirror_is_asked_when_one_fails() {
    let gone = Server::start(|_, _, stream| reply(stream, "404 Not Found", "Content-Length: 0", b""));
    let good = Server::of_file(CONTENT, "\"1\"");
    let mut bench = Bench::new();
    let job = bench.job(&[gone.url("/x"), good.url("/other-name")]);
    assert_eq!(stored(bench.run(&job).await), "x");
    assert_eq!((gone.asked().len(), good.asked().len()), (1, 1));
    let job = bench.job(&[gone.url("/y"), gone.url("/z")]);
    let error = bench.run(&job).await.unwrap_err();
    assert!(matches!(error, Error::Status { .. }) && gone.asked().len() == 3, "{error}");
}

#[tokio::test]
async fn a_mirror_continues_what_another_began_only_if_a_digest_can_prove_it_right() {
    for has_digest in [false, true] {
        let breaks = Server::start(|asked, _, stream| match asked.from() {
            None => short(stream, CONTENT, "\"1\"", 4),
            Some(_) => reply(stream, "404 Not Found", "Content-Length: 0", b""),
        });
        let good = Server::start(|asked, _, stream| file(asked, stream, CONTENT, "\"of another server\""));
        let mut bench = Bench::new();
        let mut job = bench.job(&[breaks.url("/x"), good.url("/x")]);
        job.sha256 = has_digest.then(|| sha256(CONTENT));
        let outcome = bench.run(&job).await;
        match has_digest {
            // Its tag is that of another server, and its bytes are the same.
            true => assert_eq!(good.asked()[0].from(), Some(4)),
            false => assert_eq!(good.asked()[0].from(), None),
        }
        assert_eq!(stored(outcome), "x");
        assert_eq!(bench.only("x"), CONTENT);
    }
}

#[tokio::test]
async fn a_mirror_with_another_file_is_left() {
    let bad = Server::of_file(b"something else", "\"1\"");
    let good = Server::of_file(CONTENT, "\"1\"");
    let mut bench = Bench::new();
    let mut job = bench.job(&[bad.url("/x"), good.url("/x")]);
    job.sha256 = Some(sha256(CONTENT));
    assert_eq!(stored(bench.run(&job).await), "x");
    assert_eq!(bench.only("x"), CONTENT);
}
