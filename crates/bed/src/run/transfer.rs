//! One transfer over uTP: a client that sends and a server that receives, each with an endpoint of its own.

use super::data::{Bytes, Digest, Source};
use super::log::{Log, Timing};
use crate::error::Error;
use afteryou_cc::{Controller, Setup};
use afteryou_scenario::outcome::Transfer;
use afteryou_scenario::senders::{Begun, Observers, Time};
use afteryou_scenario::{Flow, Role, Traffic};
use afteryou_utp::{Endpoint, EndpointConfig, Stream};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// Read and written at a time, bytes.
const CHUNK: usize = 16 << 10;

/// The two ends of a transfer before it starts.
pub(crate) struct Ends {
    flow: Flow,
    client: Endpoint,
    server: Endpoint,
    bytes: Bytes,
    /// The scenario's time zero on the client's clock, once the transfer begins.
    zero: Arc<OnceLock<Time>>,
}

type Make = Arc<dyn Fn(Setup) -> Box<dyn Controller> + Send + Sync>;

/// Makes the controllers of `flow`.
fn controllers(flow: &Flow) -> Result<Make, Error> {
    let (entry, overrides) =
        flow.controller.as_ref().ok_or_else(|| failed(flow, "no controller"))?.controller()?;
    entry.build(&overrides, Setup::of(1)).map_err(|error| failed(flow, error))?;
    let make =
        move |setup| entry.build(&overrides, setup).map(|controller| controller as Box<dyn Controller>);
    // Checked above: these overrides make a controller.
    Ok(Arc::new(move |setup| make(setup).unwrap_or_else(|error| unreachable!("bug: {error}"))))
}

/// Binds an endpoint where a flow's client or server is.
pub(crate) type Bind<'a> = &'a dyn Fn(EndpointConfig) -> Result<Endpoint, Error>;

/// An endpoint on loopback. Must be called within a tokio runtime.
pub(crate) fn on_loopback(config: EndpointConfig) -> Result<Endpoint, Error> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Endpoint::bind(address, config).map_err(|source| Error::Socket { address, source })
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
        [bind_client, bind_server]: [Bind<'_>; 2],
    ) -> Result<Ends, Error> {
        let bytes = Bytes::open(source, seed, &flow.name)?;
        let zero = Arc::new(OnceLock::new());
        let make = controllers(flow)?;
        let for_client: Make = match observers {
            Some((flow, observers)) => {
                let (make, zero, observers) = (Arc::clone(&make), Arc::clone(&zero), observers.clone());
                Arc::new(move |setup| {
                    let zero = zero.get().copied().unwrap_or_default();
                    observers.watch(Begun { flow, zero }, make(setup))
                })
            }
            None => Arc::clone(&make),
        };
        let dscp = flow.dscp().bits();
        let client = bind_client(EndpointConfig::new(for_client, dscp))?;
        let server = bind_server(EndpointConfig::new(make, dscp))?;
        Ok(Ends { flow: flow.clone(), client, server, bytes, zero })
    }

    /// Where the server listens.
    pub(crate) fn server_addr(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// Runs the transfer through `front`; none if it was cut off, so that there is nothing to compare.
    pub(crate) async fn run(
        self,
        front: SocketAddr,
        timing: Timing,
        log: Arc<Log>,
        mut over: watch::Receiver<bool>,
    ) -> Result<Option<Transfer>, Error> {
        let Ends { flow, client, server, bytes, zero } = self;
        tokio::select! {
            () = timing.sleep_until(flow.start.0) => {}
            () = run_is_over(&mut over) => return Ok(None), // the run ended before it began
        }
        zero.get_or_init(|| Time(client.now().0.saturating_sub(timing.now().0)));
        let receiving = tokio::spawn(receive(flow.clone(), server, Arc::clone(&log)));
        let over_for_sender = over.clone();
        let sending = async {
            let stream = client.connect(front).await.map_err(|error| failed(&flow, error))?;
            log.started(timing.now(), stream.monitor());
            send(&flow, stream, bytes, over_for_sender).await.map(Some)
        };
        let sent = tokio::select! {
            sent = sending => sent?,
            () = timing.sleep_until_or_never(flow.stop.map(|stop| stop.0)) => None,
            () = run_ends_for(&flow, &mut over) => None,
        };
        let Some(sent) = sent else {
            // Nobody waits for what is on its way, and on a lossy path the far end might never hear of the end.
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
async fn send(
    flow: &Flow,
    mut stream: Stream,
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
async fn receive(flow: Flow, server: Endpoint, log: Arc<Log>) -> Result<Digest, Error> {
    let mut stream = server.accept().await.map_err(|error| failed(&flow, error))?;
    log.accepted(stream.monitor());
    let mut digest = Digest::default();
    let mut buf = vec![0; CHUNK];
    loop {
        match stream.read(&mut buf).await.map_err(|error| failed(&flow, error))? {
            0 => return Ok(digest),
            n => digest.update(&buf[..n]),
        }
    }
}
