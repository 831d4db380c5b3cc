//! Any bytes as a client of the proxy: HTTP, CONNECT and SOCKS5.

use afteryou_proxy::{Client, Dial, Dialing, Limits, Service, Stream, Target};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Bytes that a stream in memory holds.
const HELD: usize = 64 << 10;
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

/// The bytes that each server was sent.
type Seen = Arc<Mutex<Vec<(Target, Vec<u8>)>>>;

/// Servers in memory, which note what they are sent.
#[derive(Default)]
struct Servers(Seen);

impl Dial for Servers {
    fn dial<'a>(&'a self, _: Client, target: &'a Target) -> Dialing<'a> {
        let (near, far) = tokio::io::duplex(HELD);
        tokio::spawn(serve(far, target.clone(), self.0.clone()));
        Box::pin(async move { Ok(Box::new(near) as Box<dyn Stream>) })
    }
}

async fn serve(mut stream: DuplexStream, target: Target, seen: Seen) {
    let (mut all, mut buffer) = (Vec::new(), vec![0; HELD]);
    while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
        all.extend_from_slice(&buffer[..bytes]);
        if stream.write_all(ANSWER).await.is_err() {
            break;
        }
    }
    seen.lock().expect("no panic").push((target, all));
}

/// Checks that what reaches a server is one reading of what the client sent, without what was for the proxy.
pub fn run(data: &[u8]) {
    let servers = Servers::default();
    let seen = servers.0.clone();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let service = Service::new(None, Limits::default(), Arc::new(servers));
        let (mut client, near) = tokio::io::duplex(HELD);
        let serving = tokio::spawn(async move { service.serve(Client::Elsewhere, near).await });
        // It may close before all is sent.
        let sending = async {
            let (mut read, mut write) = tokio::io::split(&mut client);
            let send = async {
                let _ = write.write_all(data).await;
                let _ = write.shutdown().await;
            };
            let mut answers = Vec::new();
            let (_, _) = tokio::join!(send, read.read_to_end(&mut answers));
        };
        sending.await;
        drop(client);
        serving.await.expect("no panic");
    });
    drop(runtime);
    // Through a tunnel anything may go.
    let is_tunnel = data.first() == Some(&5) || data.windows(8).any(|word| word == b"CONNECT ");
    for (target, bytes) in seen.lock().expect("no panic").iter() {
        assert_eq!(Target::parse(&target.to_string(), None).expect("it was read"), *target);
        if !is_tunnel {
            check(bytes);
        }
    }
}

/// Checks the header section of the first request that a server got.
fn check(request: &[u8]) {
    let text = String::from_utf8_lossy(request).to_ascii_lowercase();
    let Some((head, _)) = text.split_once("\r\n\r\n") else { return };
    let count = |name: &str| head.matches(&format!("\r\n{name}:")).count();
    assert_eq!(count("host"), 1, "{head}");
    assert_eq!(count("proxy-authorization") + count("proxy-connection"), 0, "{head}");
    assert!(count("content-length") + count("transfer-encoding") <= 1, "{head}");
    let path = head.split(' ').nth(1).unwrap_or_default();
    assert!(path.starts_with(['/', '*']), "{head}");
}
