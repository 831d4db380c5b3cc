//! The proxy's cost beside a plain copy, many connections, and hostile requests.
//!
//! `cargo run --release -p afteryou-proxy --example proxy [--check] [--runs N]`
//!
//! On loopback, without steering. A server sends, a client reads, and between them is a process: a plain relay (tokio's
//! `copy_bidirectional`, 64 KiB), or the proxy as a tunnel (CONNECT), by SOCKS5, or with a request for a URL. Each moves 2 GB, one after the
//! other, five times (`--runs`). Cost is the processor time of the process a gigabyte; the ratio to the plain relay is the median of the
//! rounds. Then the proxy has 2000 tunnels at once, and after that hostile requests, with its memory before and after.
//!
//! `--check` exits 1 below 2 Gbit/s, above 1.15 times the plain relay's cost for a tunnel or SOCKS5, if a connection fails, or if its memory
//! grows by more than 8 MB with the hostile requests.

#[path = "support/runs.rs"]
mod runs;

use afteryou_proxy::{Options, Proxy};
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const BYTES: u64 = 2_000_000_000;
const LEAST_GBIT: f64 = 2.0;
const MOST_COST: f64 = 1.15;
const CONNECTIONS: usize = 2000;
const HOSTILE: usize = 300;
const MOST_GROWTH_MB: f64 = 8.0;

/// A way through the process between.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Plain,
    Tunnel,
    Socks,
    Get,
}

const WAYS: [(Way, &str); 4] =
    [(Way::Plain, "plain copy"), (Way::Tunnel, "CONNECT"), (Way::Socks, "SOCKS5"), (Way::Get, "GET http://")];

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("relay") => between(Some(words[1].parse()?)),
        Some("between") => between(None),
        _ => measure(&words),
    }
}

/// Runs the process between, a relay to a server or the proxy, and prints its address.
fn between(server: Option<SocketAddr>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async {
        match server {
            Some(server) => relay(server).await,
            None => {
                let proxy = Proxy::listen("127.0.0.1:0".parse()?, Options::default()).await?;
                println!("{}", proxy.address());
                proxy.run().await;
                Ok(())
            }
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn relay(server: SocketAddr) -> Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (mut client, _) = listener.accept().await?;
        tokio::spawn(async move {
            let mut server = tokio::net::TcpStream::connect(server).await?;
            tokio::io::copy_bidirectional_with_sizes(&mut client, &mut server, 64 << 10, 64 << 10).await
        });
    }
}

/// A child process that ends with this.
struct Between {
    child: Child,
    address: SocketAddr,
}

impl Between {
    fn start(words: &[&str]) -> Result<Between> {
        let mut child = Command::new(std::env::current_exe()?).args(words).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("piped")?).read_line(&mut line)?;
        Ok(Between { child, address: line.trim().parse()? })
    }

    /// Returns the processor time so far, seconds.
    fn cpu(&self) -> Result<f64> {
        let mut sum = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
            sum += text.split_whitespace().next().ok_or("no time")?.parse::<u64>()?;
        }
        Ok(sum as f64 * 1e-9)
    }

    /// Returns the resident set without the pages of files, MB.
    fn memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).ok_or("no RssAnon")?;
        Ok(line.trim().trim_end_matches(" kB").parse::<f64>()? * 1.024e-3)
    }
}

impl Drop for Between {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves: a first byte of `G` is a request for [`BYTES`] bytes, `e` for an echo.
fn server() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::Builder::new().stack_size(64 << 10).spawn(move || serve(stream)).expect("a thread");
        }
    });
    Ok(address)
}

fn serve(mut stream: TcpStream) {
    let mut head = [0; 1];
    if stream.read_exact(&mut head).is_err() {
        return;
    }
    if head == *b"e" {
        let _ = stream.write_all(b"e");
        // Until the client has gone.
        let _ = stream.read(&mut head);
        return;
    }
    let mut line = String::new();
    let mut lines = BufReader::new(&stream);
    while line != "\r\n" {
        line.clear();
        if lines.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
    }
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
    let _ = (&stream).write_all(head.as_bytes());
    let content = vec![7; 256 << 10];
    let mut left = BYTES as usize;
    while left > 0 {
        let bytes = left.min(content.len());
        if (&stream).write_all(&content[..bytes]).is_err() {
            return;
        }
        left -= bytes;
    }
}

/// Connects to the server through the process between.
fn connect(way: Way, between: SocketAddr, server: SocketAddr) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(between)?;
    match way {
        Way::Plain | Way::Get => {}
        Way::Tunnel => {
            write!(stream, "CONNECT {server} HTTP/1.1\r\n\r\n")?;
            read_head(&mut stream)?;
        }
        Way::Socks => {
            stream.write_all(&[5, 1, 0])?;
            stream.read_exact(&mut [0; 2])?;
            let port = server.port().to_be_bytes();
            stream.write_all(&[5, 1, 0, 1, 127, 0, 0, 1, port[0], port[1]])?;
            stream.read_exact(&mut [0; 10])?;
        }
    }
    Ok(stream)
}

fn read_head(stream: &mut TcpStream) -> Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    match head.starts_with(b"HTTP/1.1 200 ") {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&head).into_owned().into()),
    }
}

/// Moves all bytes; returns Gbit/s and processor seconds a gigabyte.
fn moved(way: Way, between: &Between, server: SocketAddr) -> Result<(f64, f64)> {
    let mut stream = connect(way, between.address, server)?;
    let url = if way == Way::Get { format!("http://{server}/") } else { "/".to_owned() };
    let (before, began) = (between.cpu()?, Instant::now());
    write!(stream, "GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")?;
    read_head(&mut stream)?;
    let mut buffer = vec![0; 256 << 10];
    let mut left = BYTES;
    while left > 0 {
        match stream.read(&mut buffer)? {
            0 => return Err("the connection ended early".into()),
            bytes => left -= bytes as u64,
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let gigabytes = BYTES as f64 * 1e-9;
    Ok((8.0 * gigabytes / seconds, (between.cpu()? - before) / gigabytes))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn measure(words: &[String]) -> Result<ExitCode> {
    let runs = runs::runs(words);
    let server = server()?;
    let relay = Between::start(&["relay", &server.to_string()])?;
    let proxy = Between::start(&["between"])?;
    let mut rows = WAYS.map(|_| (Vec::new(), Vec::new(), Vec::new()));
    for _ in 0..runs.unwrap_or(5) {
        let mut plain = f64::NAN;
        for ((way, _), row) in WAYS.iter().zip(&mut rows) {
            let through = if *way == Way::Plain { &relay } else { &proxy };
            let (rate, cost) = moved(*way, through, server)?;
            if *way == Way::Plain {
                plain = cost;
            }
            row.0.push(rate);
            row.1.push(cost);
            row.2.push(cost / plain);
        }
    }
    let mut is_fine = true;
    println!("{:<14}{:>10}{:>14}{:>10}", "way", "Gbit/s", "CPU-s per GB", "ratio");
    for ((way, name), (rates, costs, ratios)) in WAYS.iter().zip(rows) {
        let (rate, cost, ratio) = (median(rates), median(costs), median(ratios));
        println!("{name:<14}{rate:>10.2}{cost:>14.3}{ratio:>10.3}");
        is_fine &= rate >= LEAST_GBIT && (*way == Way::Get || ratio <= MOST_COST);
    }
    println!("asked: >= {LEAST_GBIT} Gbit/s; tunnels <= {MOST_COST} times the plain copy");
    is_fine &= many(&proxy, server)?;
    is_fine &= hostile(&proxy)?;
    let fails = words.iter().any(|word| word == "--check") && !is_fine;
    Ok(if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Opens all tunnels and uses each, then closes them.
fn many(proxy: &Between, server: SocketAddr) -> Result<bool> {
    let before = proxy.memory()?;
    let began = Instant::now();
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        streams.push(connect(Way::Tunnel, proxy.address, server)?);
    }
    let mut answered = 0;
    for stream in &mut streams {
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(b"e")?;
        answered += usize::from(stream.read_exact(&mut [0]).is_ok());
    }
    let seconds = began.elapsed().as_secs_f64();
    let (during, cpu) = (proxy.memory()?, proxy.cpu()?);
    thread::sleep(Duration::from_secs(2));
    let idle = (proxy.cpu()? - cpu) / 2.0;
    drop(streams);
    println!(
        "{answered} of {CONNECTIONS} tunnels at once, used after {seconds:.1} s: memory {before:.1} -> {during:.1} MB, idle {:.1} % of a core",
        idle * 100.0
    );
    Ok(answered == CONNECTIONS)
}

/// Sends hostile requests and compares the memory after 1 and after 4 rounds of them.
fn hostile(proxy: &Between) -> Result<bool> {
    let own = proxy.address;
    let forms = [
        format!("CONNECT {own} HTTP/1.1\r\n\r\n"),
        format!("GET http://{own}/ HTTP/1.1\r\nHost: x\r\n\r\n"),
        "GET / HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n".to_owned(),
        "POST http://127.0.0.1:1/ HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(),
        format!("GET http://127.0.0.1:1/ HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(60_000)),
        "\u{5}\u{1}\0\u{5}\u{2}\0\u{1}aaaa\0\u{1}".to_owned(),
    ];
    let mut memory = Vec::new();
    let mut let_in = 0;
    for _ in 0..4 {
        for form in forms.iter().cycle().take(HOSTILE) {
            let mut stream = TcpStream::connect(own)?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            // It may be closed before all is sent.
            let _ = stream.write_all(form.as_bytes());
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let_in += usize::from(answer.starts_with(b"HTTP/1.1 2"));
        }
        memory.push(proxy.memory()?);
    }
    let growth = memory[3] - memory[0];
    println!(
        "{HOSTILE} hostile requests, four times: {let_in} let in, memory {:.1} -> {:.1} MB",
        memory[0], memory[3]
    );
    Ok(let_in == 0 && growth <= MOST_GROWTH_MB)
}
