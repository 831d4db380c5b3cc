//! One transfer over uTP or QUIC: a client that sends and a server that receives, each with an endpoint of its own.

use super::controllers::Zero;
use super::data::{Bytes, Digest, Source};
use super::ends::{Client, Place, Server};
use super::log::{Log, Timing};
use super::quic::{self, Quic};
use super::utp::Utp;
use crate::error::Error;
use afteryou_cc::{Observers, Time};
use afteryou_scenario::outcome::Transfer;
use afteryou_scenario::{Flow, Role, Traffic, TransportKind};
use afteryou_utp::Endpoint;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

/// Read and written at a time, bytes.
const CHUNK: usize = 16 << 10;

/// The two ends of a transfer before it starts.
pub(crate) struct Ends {
    flow: Flow,
    bytes: Bytes,
    zero: Zero,
    pair: Pair,
}

/// Client and server.
enum Pair {
    Utp(Endpoint, Endpoint),
    Quic(Box<(quic::Sender, quic::Receiver)>),
}

fn failed(flow: &Flow, reason: impl ToString) -> Error {
    Error::Flow { flow: flow.name.clone(), reason: reason.to_string() }
}

impl Ends {
    /// Opens sockets of client and server, and the source. `observers` see the sender, with the index of its flow. Must be called within a tokio runtime.
    pub(crate) fn open(
        flow: &Flow,
        source: &Source,
        seed: u64,
        observers: Option<(usize, &Observers)>,
        [at_client, at_server]: [Place<'_>; 2],
    ) -> Result<Ends, Error> {
        let bytes = Bytes::open(source, seed, &flow.name)?;
        let (pair, zero) = match flow.transport.kind {
            TransportKind::Quic => {
                let quic = Quic::new(flow, observers)?;
                let (client, zero) = at_client.bind(|address| quic.sender(address, None))?;
                let server = at_server.bind(|address| quic.receiver(address))?;
                (Pair::Quic(Box::new((client, server))), zero)
            }
            TransportKind::Utp => {
                let utp = Utp::new(flow, observers)?;
                let (config, zero) = utp.sender();
                let client = at_client.bind(|address| Endpoint::bind(address, config))?;
                (Pair::Utp(client, at_server.bind(|address| Endpoint::bind(address, utp.receiver()))?), zero)
            }
            TransportKind::Tcp | TransportKind::Udp => {
                return Err(failed(flow, "only uTP and QUIC have transfers of their own here"));
            }
        };
        Ok(Ends { flow: flow.clone(), bytes, zero, pair })
    }

    /// Returns the address at which the server listens.
    pub(crate) fn server_addr(&self) -> Result<SocketAddr, Error> {
        let address = match &self.pair {
            Pair::Utp(_, server) => Server::address(server),
            Pair::Quic(ends) => ends.1.address(),
        };
        address.map_err(|error| failed(&self.flow, error))
    }

    /// Runs the transfer through `front`; none if it was cut off, so that there is nothing to compare.
    pub(crate) async fn run(
        self,
        front: SocketAddr,
        timing: Timing,
        log: Arc<Log>,
        over: watch::Receiver<bool>,
    ) -> Result<Option<Transfer>, Error> {
        let Ends { flow, bytes, zero, pair } = self;
        let work = Work { flow, bytes, zero, front, timing, log, over };
        match pair {
            Pair::Utp(client, server) => work.run(client, server).await,
            Pair::Quic(ends) => work.run(ends.0, ends.1).await,
        }
    }
}

/// A transfer to be run.
struct Work {
    flow: Flow,
    bytes: Bytes,
    zero: Zero,
    front: SocketAddr,
    timing: Timing,
    log: Arc<Log>,
    over: watch::Receiver<bool>,
}

impl Work {
    async fn run<C: Client, S: Server>(self, client: C, server: S) -> Result<Option<Transfer>, Error> {
        let Work { flow, bytes, zero, front, timing, log, mut over } = self;
        tokio::select! {
            () = timing.sleep_until(flow.start.0) => {}
            () = run_is_over(&mut over) => return Ok(None), // the run ended before it began
        }
        zero.get_or_init(|| Time(client.now().0.saturating_sub(timing.now().0)));
        let receiving = tokio::spawn(receive(flow.clone(), server, Arc::clone(&log)));
        let over_for_sender = over.clone();
        let sending = async {
            let (stream, watched) = client.connect(front).await.map_err(|error| failed(&flow, error))?;
            log.started(timing.now(), watched);
            send(&flow, stream, bytes, over_for_sender).await.map(Some)
        };
        let sent = tokio::select! {
            sent = sending => sent?,
            () = timing.sleep_until_or_never(flow.stop.map(|stop| stop.0)) => None,
            () = run_ends_for(&flow, &mut over) => None,
        };
        let Some(sent) = sent else {
            // Nobody waits for what is in flight, and on a lossy path the receiver might never learn of the end.
            log.cut_off(timing.now());
            receiving.abort();
            return Ok(None);
        };
        log.stopped(timing.now());
        let received = receiving.await.map_err(|error| failed(&flow, error))??;
        log.arrived_in_all(timing.now(), received.bytes);
        Ok(Some(Transfer {
            flow: flow.name,
            sent_bytes: sent.bytes,
            received_bytes: received.bytes,
            sent_blake3: sent.hex(),
            received_blake3: received.hex(),
        }))
    }
}

/// Completes when the run is over.
async fn run_is_over(over: &mut watch::Receiver<bool>) {
    let _ = over.wait_for(|over| *over).await;
}

/// Completes when the end of the run cuts `flow` off; a background flow is brought to its own end instead.
async fn run_ends_for(flow: &Flow, over: &mut watch::Receiver<bool>) {
    match flow.role {
        Role::Foreground => run_is_over(over).await,
        Role::Background => std::future::pending().await,
    }
}

/// Sends the flow's size, or until the end of the run, and waits until all has been acknowledged.
async fn send<S: AsyncWrite + Unpin>(
    flow: &Flow,
    mut stream: S,
    mut bytes: Bytes,
    mut over: watch::Receiver<bool>,
) -> Result<Digest, Error> {
    let mut digest = Digest::default();
    let mut left = match flow.traffic {
        Traffic::Size(size) => size.bytes(),
        _ => u64::MAX,
    };
    let mut buf = vec![0; CHUNK];
    'sending: while left > 0 {
        let want = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
        let n = bytes.read(&mut buf[..want])?;
        if n == 0 {
            break;
        }
        left -= n as u64;
        let mut written = 0;
        while written < n {
            tokio::select! {
                result = stream.write(&buf[written..n]) => {
                    let taken = result.map_err(|error| failed(flow, error))?;
                    digest.update(&buf[written..written + taken]);
                    written += taken;
                }
                () = run_is_over(&mut over) => break 'sending,
            }
        }
    }
    stream.shutdown().await.map_err(|error| failed(flow, error))?;
    Ok(digest)
}

/// Receives until the sender's end.
async fn receive<S: Server>(flow: Flow, server: S, log: Arc<Log>) -> Result<Digest, Error> {
    let (stream, watched) = server.accept().await.map_err(|error| failed(&flow, error))?;
    log.accepted(watched);
    digest_of(stream).await.map_err(|error| failed(&flow, error))
}

async fn digest_of<S: AsyncRead + Unpin>(mut stream: S) -> std::io::Result<Digest> {
    let mut digest = Digest::default();
    let mut buf = vec![0; CHUNK];
    loop {
        match stream.read(&mut buf).await? {
            0 => return Ok(digest),
            n => digest.update(&buf[..n]),
        }
    }
}
