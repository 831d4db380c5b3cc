//! Files that come in one piece, and their names.

use super::support::{reply, stored, Bench, Server};
use afteryou_http::{Event, Outcome, Place};

#[tokio::test]
async fn a_file_gets_the_name_of_its_url_and_nothing_else_is_left() {
    let server = Server::of_file(b"content", "\"1\"");
    let mut bench = Bench::new();
    assert_eq!(stored(bench.get(&server.url("/a/b%20c.iso?x=1")).await), "b c.iso");
    assert_eq!(bench.only("b c.iso"), b"content");
    let asked = &server.asked()[0];
    assert_eq!(asked.target(), "/a/b%20c.iso?x=1");
    assert_eq!((asked.header("accept-encoding"), asked.header("range")), (Some("identity"), None));
    assert_eq!(asked.header("host"), Some(format!("127.0.0.1:{}", server.port).as_str()));
    let is_length = |event: &Event| *event == Event::Length { bytes: Some(7), have: 0 };
    assert!(bench.events().iter().any(is_length));
}

#[tokio::test]
async fn a_length_that_the_server_does_not_know_is_no_obstacle() {
    let server = Server::start(|asked, _, stream| match asked.target() {
        "/chunked" => {
            reply(stream, "200 OK", "Transfer-Encoding: chunked", b"4\r\nfour\r\n3\r\nend\r\n0\r\n\r\n")
        }
        "/empty" => reply(stream, "200 OK", "Content-Length: 0", b""),
        _ => reply(stream, "200 OK", "Connection: close", b"until the end"),
    });
    for (name, content) in [("chunked", &b"fourend"[..]), ("closed", b"until the end"), ("empty", b"")] {
        let mut bench = Bench::new();
        bench.get(&server.url(&format!("/{name}"))).await.unwrap();
        assert_eq!(bench.only(name), content);
    }
}

#[tokio::test]
async fn a_chunk_that_is_cut_off_is_no_end() {
    let server = Server::start(|_, number, stream| match number {
        0 => reply(stream, "200 OK", "Transfer-Encoding: chunked", b"4\r\nfo"),
        _ => reply(stream, "200 OK", "Transfer-Encoding: chunked", b"4\r\nfour\r\n0\r\n\r\n"),
    });
    let mut bench = Bench::new();
    bench.get(&server.url("/x")).await.unwrap();
    assert_eq!((bench.only("x").as_slice(), server.asked().len()), (&b"four"[..], 2));
}

#[tokio::test]
async fn the_server_may_name_the_file_and_not_the_directory() {
    let server = Server::start(|_, _, stream| {
        let headers =
            "Content-Length: 2\nContent-Disposition: attachment; filename*=UTF-8''..%2F..%2F.profile";
        reply(stream, "200 OK", headers, b"ok");
    });
    let mut bench = Bench::new();
    assert_eq!(stored(bench.get(&server.url("/x")).await), "_profile");
    assert_eq!(bench.only("_profile"), b"ok");
}

#[tokio::test]
async fn the_name_of_the_command_line_wins_and_its_directory_is_made() {
    let server = Server::of_file(b"content", "\"1\"");
    let mut bench = Bench::new();
    let mut job = bench.job(&[server.url("/x")]);
    job.place = Place::File(bench.path("new/y"));
    assert_eq!(bench.run(&job).await.unwrap(), Outcome::Stored(bench.path("new/y")));
    assert_eq!(std::fs::read(bench.path("new/y")).unwrap(), b"content");
}
