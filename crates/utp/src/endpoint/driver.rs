//! The task that moves datagrams between the socket and the connections.

use super::Inner;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use tokio::net::UdpSocket;

/// Datagrams read before sending gets its turn.
const READ_BATCH: usize = 64;
/// Largest UDP datagram.
const MAX_DATAGRAM: usize = 65_536;

/// Runs until the endpoint is dropped and its last connection has ended.
pub(super) async fn drive(inner: Arc<Inner>, socket: UdpSocket) {
    let mut buf = vec![0; MAX_DATAGRAM];
    let mut out = Vec::new();
    loop {
        let more_to_read = receive(&inner, &socket, &mut buf);
        let deadline = loop {
            let now = inner.now();
            let deadline = {
                let mut table = inner.table();
                table.run_deadlines(now);
                table.transmit(&inner.config, now, &mut out);
                table.next_deadline()
            };
            if out.is_empty() {
                break deadline;
            }
            send(&socket, &mut out).await;
        };
        if inner.is_done() {
            inner.table().die();
            return;
        }
        if more_to_read {
            tokio::task::yield_now().await;
            continue;
        }
        tokio::select! {
            result = socket.readable() => {
                if result.is_err() {
                    inner.table().die();
                    return;
                }
            }
            () = until(&inner, deadline) => {}
            () = touched(&inner) => {}
        }
    }
}

/// Reads a batch; true if there may be more.
fn receive(inner: &Inner, socket: &UdpSocket, buf: &mut [u8]) -> bool {
    for _ in 0..READ_BATCH {
        match socket.try_recv_from(buf) {
            Ok((len, peer)) => {
                // Taken right after the read: a delay measured later would count our own work as queue.
                let now = inner.now();
                inner.table().receive(&inner.config, now, peer, &buf[..len], super::random_u16);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return false,
            // Windows reports an earlier datagram's ICMP here; it says nothing about this socket.
            Err(_) => {}
        }
    }
    true
}

/// Sends everything in `out`. What the system refuses is lost, as it might be anywhere on the way.
async fn send(socket: &UdpSocket, out: &mut Vec<(SocketAddr, Vec<u8>)>) {
    for (peer, datagram) in out.drain(..) {
        let _ = socket.send_to(&datagram, peer).await;
    }
}

async fn until(inner: &Inner, deadline: Option<afteryou_cc::Time>) {
    match deadline {
        Some(at) => tokio::time::sleep_until(inner.instant(at)).await,
        None => std::future::pending().await,
    }
}

/// Completes when somebody has touched a connection since the driver last looked.
async fn touched(inner: &Inner) {
    let mut registered = false;
    poll_fn(|cx| {
        let mut table = inner.table();
        if registered && table.driver.is_none() {
            return Poll::Ready(());
        }
        if table.has_work() {
            return Poll::Ready(());
        }
        table.driver = Some(cx.waker().clone());
        registered = true;
        Poll::Pending
    })
    .await
}
