//! A proxy, servers and clients.

use afteryou_proxy::{Credentials, Limits, Options, Proxy};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A task that ends with this.
pub struct Running {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Starts a proxy at a free port.
pub async fn proxy(options: Options) -> Running {
    let proxy = Proxy::listen("127.0.0.1:0".parse().unwrap(), options).await.unwrap();
    Running { address: proxy.address(), task: tokio::spawn(proxy.run()) }
}

/// Returns options with short times.
pub fn hasty() -> Options {
    let limits = Limits { head: Duration::from_millis(300), idle: Duration::from_millis(600) };
    Options { limits, ..Options::default() }
}

/// Returns options with a name and a password.
pub fn closed() -> Options {
    Options { credentials: Some(Credentials::parse("me:secret").unwrap()), ..Options::default() }
}

/// A server that notes what it is sent, and how many connections it had.
pub struct Server {
    pub running: Running,
    pub seen: Arc<Mutex<Vec<String>>>,
    pub connections: Arc<Mutex<usize>>,
}

impl Server {
    /// Returns a URL of it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.running.address)
    }

    pub fn seen(&self) -> String {
        self.seen.lock().unwrap().concat()
    }
}

/// Starts a server that answers each header section with `answer`, and notes all that it is sent.
pub async fn server(answer: &'static str) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, connections) = (Arc::<Mutex<Vec<String>>>::default(), Arc::<Mutex<usize>>::default());
    let (noted, counted) = (seen.clone(), connections.clone());
    let task = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            *counted.lock().unwrap() += 1;
            tokio::spawn(serve(stream, answer, noted.clone()));
        }
    });
    Server { running: Running { address, task }, seen, connections }
}

async fn serve(mut stream: TcpStream, answer: &str, seen: Arc<Mutex<Vec<String>>>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
        let text = String::from_utf8_lossy(&buffer[..bytes]).into_owned();
        let asks = text.contains("\r\n\r\n") && text.contains(" HTTP/1.1\r\n");
        seen.lock().unwrap().push(text);
        if asks && stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
        if asks
            && !answer.contains("ontent-length")
            && !answer.contains("chunked")
            && !answer.contains(" 101 ")
        {
            return;
        }
    }
}

/// Starts a server that sends back what it gets, and closes when the client has.
pub async fn echo() -> Running {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let task = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (mut read, mut write) = stream.split();
                _ = tokio::io::copy(&mut read, &mut write).await;
                _ = write.shutdown().await;
            });
        }
    });
    Running { address, task }
}

/// Sends bytes to a proxy; returns all that comes until it closes, or nothing comes for a second.
pub async fn said(proxy: &Running, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(proxy.address).await.unwrap();
    // It may close before all is sent.
    _ = stream.write_all(request).await;
    heard(&mut stream).await
}

/// Returns all that comes until the other end closes, or nothing comes for a second.
pub async fn heard(stream: &mut TcpStream) -> String {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    while let Ok(Ok(bytes @ 1..)) =
        tokio::time::timeout(Duration::from_secs(1), stream.read(&mut buffer)).await
    {
        all.extend_from_slice(&buffer[..bytes]);
    }
    String::from_utf8_lossy(&all).into_owned()
}

/// Reads a header section.
pub async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.expect("a header section"));
    }
    String::from_utf8(head).unwrap()
}
