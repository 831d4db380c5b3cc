//! One transfer over uTP: a client that sends and a server that receives, each with an endpoint of its own.

use super::data::{Bytes, Digest, Source};
use super::session::{Log, Timing};
use crate::error::Error;
use afteryou_cc::Controller;
use afteryou_scenario::outcome::Transfer;
use afteryou_scenario::{Flow, Role, Traffic};
use afteryou_utp::{Endpoint, EndpointConfig, Stream, DSCP_LE};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// Read and written at a time, bytes.
const CHUNK: usize = 16 << 10;

/// The two ends of a transfer before it starts.
pub(super) struct Ends {
    flow: Flow,
    client: Endpoint,
    server: Endpoint,
    bytes: Bytes,
}

/// An endpoint for `flow` on loopback. Must be called within a tokio runtime.
fn endpoint(flow: &Flow) -> Result<Endpoint, Error> {
    let (entry, overrides) =
        flow.controller.as_ref().ok_or_else(|| failed(flow, "no controller"))?.controller()?;
    entry.build(&overrides, 1).map_err(|error| failed(flow, error))?;
    let make = move |mss| entry.build(&overrides, mss).map(|controller| controller as Box<dyn Controller>);
    // Checked above: these overrides make a controller.
    let make = move |mss| make(mss).unwrap_or_else(|error| unreachable!("bug: {error}"));
    let dscp = if flow.role == Role::Background { DSCP_LE } else { 0 };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = EndpointConfig::new(Arc::new(make), dscp);
    Endpoint::bind(address, config).map_err(|source| Error::Socket { address, source })
}

fn failed(flow: &Flow, reason: impl ToString) -> Error {
    Error::Flow { flow: flow.name.clone(), reason: reason.to_string() }
}

impl Ends {
    /// Opens sockets and source. Must be called within a tokio runtime.
    pub(super) fn open(flow: &Flow, source: &Source, seed: u64) -> Result<Ends, Error> {
        let bytes = Bytes::open(source, seed, &flow.name)?;
        Ok(Ends { flow: flow.clone(), client: endpoint(flow)?, server: endpoint(flow)?, bytes })
    }

    /// Where the server listens.
    pub(super) fn server_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Runs the transfer through `front`; none if it was cut off, so that there is nothing to compare.
    pub(super) async fn run(
        self,
        front: SocketAddr,
        timing: Timing,
        log: Arc<Log>,
        mut over: watch::Receiver<bool>,
    ) -> Result<Option<Transfer>, Error> {
        tokio::select! {
            () = timing.sleep_until(self.flow.start.0) => {}
            () = run_is_over(&mut over) => return Ok(None), // the run ended before it began
        }
        let receiving = tokio::spawn(receive(self.flow.clone(), self.server, timing, Arc::clone(&log)));
        let stream = self.client.connect(front).await.map_err(|error| failed(&self.flow, error))?;
        log.started(timing.now(), stream.monitor());
        let sent = send(&self.flow, stream, self.bytes, timing, over).await?;
        log.stopped(timing.now());
        let received = receiving.await.map_err(|error| failed(&self.flow, error))??;
        Ok(sent.map(|sent| Transfer {
            flow: self.flow.name.clone(),
            sent_bytes: sent.bytes,
            received_bytes: received.bytes,
            sent_blake3: sent.hex(),
            received_blake3: received.hex(),
        }))
    }
}

/// Sends until the flow's size, its stop or the end of the run; none if the connection was cut off.
async fn send(
    flow: &Flow,
    mut stream: Stream,
    mut bytes: Bytes,
    timing: Timing,
    mut over: watch::Receiver<bool>,
) -> Result<Option<Digest>, Error> {
    let mut digest = Digest::default();
    let mut left = match flow.traffic {
        Traffic::Size(size) => size.bytes(),
        _ => u64::MAX,
    };
    let mut buf = vec![0; CHUNK];
    let stop = async {
        match flow.stop {
            Some(stop) => timing.sleep_until(stop.0).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(stop);
    while left > 0 {
        let want = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        let n = bytes.read(&mut buf[..want])?;
        if n == 0 {
            break;
        }
        let mut written = 0;
        while written < n {
            tokio::select! {
                result = stream.write(&buf[written..n]) => {
                    let taken = result.map_err(|error| failed(flow, error))?;
                    digest.update(&buf[written..written + taken]);
                    written += taken;
                }
                () = &mut stop => return cut_off(stream),
                () = run_is_over(&mut over) => {
                    if flow.role == Role::Foreground {
                        return cut_off(stream);
                    }
                    return finish(flow, stream, digest).await;
                }
            }
        }
        left -= n as u64;
    }
    finish(flow, stream, digest).await
}

/// Completes when the run is over.
async fn run_is_over(over: &mut watch::Receiver<bool>) {
    let _ = over.wait_for(|over| *over).await;
}

/// Whoever waited for this transfer has closed the window: what is still buffered is not sent.
fn cut_off(stream: Stream) -> Result<Option<Digest>, Error> {
    stream.monitor().abort();
    Ok(None)
}

async fn finish(flow: &Flow, mut stream: Stream, digest: Digest) -> Result<Option<Digest>, Error> {
    stream.shutdown().await.map_err(|error| failed(flow, error))?;
    Ok(Some(digest))
}

/// Receives until the sender's end, or until it cuts off.
async fn receive(flow: Flow, server: Endpoint, timing: Timing, log: Arc<Log>) -> Result<Digest, Error> {
    let mut stream = server.accept().await.map_err(|error| failed(&flow, error))?;
    log.accepted(stream.monitor());
    let mut digest = Digest::default();
    let mut buf = vec![0; CHUNK];
    loop {
        match stream.read(&mut buf).await {
            Ok(0) => break,
            Ok(n) => digest.update(&buf[..n]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => break,
            Err(error) => return Err(failed(&flow, error)),
        }
    }
    log.arrived_in_all(timing.now(), stream.statistics().bytes_arrived);
    Ok(digest)
}
