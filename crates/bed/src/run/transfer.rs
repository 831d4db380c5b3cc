//! One transfer over uTP: a client that sends and a server that receives, each with an endpoint of its own.

use super::data::{Bytes, Digest, Source};
use super::log::{Log, Timing};
use crate::error::Error;
use afteryou_cc::{Controller, Setup};
use afteryou_scenario::outcome::{Totals, Transfer};
use afteryou_scenario::senders::{Begun, Observers, Time};
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Flow, Role, Traffic};
use afteryou_sim::director::utp_config;
use afteryou_utp::{Config, Endpoint, EndpointConfig, Statistics, Stream};
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
    zero: Zero,
}

type Make = Arc<dyn Fn(Setup) -> Box<dyn Controller> + Send + Sync>;

/// Makes the endpoints' settings of a flow of uTP.
pub(crate) struct Senders {
    make: Make,
    connection: Config,
    dscp: u8,
    observers: Option<(usize, Observers)>,
}

/// The scenario's time zero on a sender's clock, once it begins.
pub(crate) type Zero = Arc<OnceLock<Time>>;

impl Senders {
    /// Reads a flow's controller and its transport's settings. `observers` see its senders, with the index of the flow.
    pub(crate) fn new(flow: &Flow, observers: Option<(usize, &Observers)>) -> Result<Senders, Error> {
        let (entry, overrides) =
            flow.controller.as_ref().ok_or_else(|| failed(flow, "no controller"))?.controller()?;
        entry.build(&overrides, Setup::of(1)).map_err(|error| failed(flow, error))?;
        let make =
            move |setup| entry.build(&overrides, setup).map(|controller| controller as Box<dyn Controller>);
        Ok(Senders {
            // Checked above: these overrides make a controller.
            make: Arc::new(move |setup| make(setup).unwrap_or_else(|error| unreachable!("bug: {error}"))),
            connection: connection(flow)?,
            dscp: flow.dscp().bits(),
            observers: observers.map(|(flow, observers)| (flow, observers.clone())),
        })
    }

    /// Returns the settings of a sender, whose observers look at `Zero`.
    pub(crate) fn sender(&self) -> (EndpointConfig, Zero) {
        let zero = Zero::default();
        let make = match self.observers.clone() {
            Some((flow, observers)) => {
                let (make, zero) = (Arc::clone(&self.make), Arc::clone(&zero));
                Arc::new(move |setup| {
                    let zero = zero.get().copied().unwrap_or_default();
                    observers.watch(Begun { flow, zero }, make(setup))
                })
            }
            None => Arc::clone(&self.make),
        };
        (self.config(make), zero)
    }

    /// Returns the settings of a receiver.
    pub(crate) fn receiver(&self) -> EndpointConfig {
        self.config(Arc::clone(&self.make))
    }

    fn config(&self, make: Make) -> EndpointConfig {
        EndpointConfig { connection: self.connection.clone(), ..EndpointConfig::new(make, self.dscp) }
    }
}

/// The settings of a flow's connections: those of its transport, and its payload where the scenario sets one.
fn connection(flow: &Flow) -> Result<Config, Error> {
    let Protocol::Utp(options) = flow.transport.protocol()? else { return Ok(Config::default()) };
    let config = utp_config(&options);
    let payload = flow.packet.map_or(config.payload, |packet| packet.payload.bytes() as u32);
    Ok(Config { payload, ..config })
}

/// A sender's counters in the words of results.
pub(crate) fn totals_of(statistics: &Statistics) -> Totals {
    Totals {
        packets: statistics.data_packets_sent,
        retransmissions: statistics.retransmissions,
        losses: statistics.losses,
        spurious: statistics.spurious_losses,
        timeouts: statistics.timeouts,
        ..Totals::default()
    }
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
        let senders = Senders::new(flow, observers)?;
        let (config, zero) = senders.sender();
        let client = bind_client(config)?;
        let server = bind_server(senders.receiver())?;
        Ok(Ends { flow: flow.clone(), client, server, bytes, zero })
    }

    /// Where the server listens.
    pub(crate) fn server_addr(&self) -> Result<SocketAddr, Error> {
        self.server.local_addr().map_err(|error| failed(&self.flow, error))
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
