//! Two ends, what they tell, and a network between them that can be cut.

use crate::disk::common::Pair;
use afteryou_transfer::dial::Dialer;
use afteryou_transfer::event::{Event, Listener};
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::job::{listen, JobOptions, ListenOptions, Service, Summary};
use afteryou_transfer::source::SourceOptions;
use afteryou_transfer::ticket::{Address, Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use afteryou_transfer::{transport, Error};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket as StdSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const SECRET: [u8; 16] = *b"it is a secret!!";

/// What an end told.
#[derive(Clone, Default)]
pub struct Events(Arc<Mutex<Vec<Event>>>);

impl Events {
    pub fn listener(&self) -> Listener {
        let events = self.0.clone();
        Arc::new(move |event| events.lock().unwrap().push(event))
    }

    pub fn all(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    pub fn moved(&self) -> u64 {
        let moved = |event: &Event| match event {
            Event::Progress { bytes_moved, .. } => Some(*bytes_moved),
            _ => None,
        };
        self.0.lock().unwrap().iter().rev().find_map(moved).unwrap_or(0)
    }

    /// Returns the bytes of all chunk groups that came off the wire.
    pub fn group_bytes(&self) -> u64 {
        let bytes = |event: &Event| match event {
            Event::Group { bytes, .. } => *bytes,
            _ => 0,
        };
        self.0.lock().unwrap().iter().map(bytes).sum()
    }

    /// Returns whether any chunk group of this file came off the wire.
    pub fn has_moved_of(&self, file: &str) -> bool {
        let all = self.0.lock().unwrap();
        all.iter().any(|event| matches!(event, Event::Group { path, .. } if path == file))
    }

    pub fn connections(&self) -> usize {
        self.0.lock().unwrap().iter().filter(|event| matches!(event, Event::Connected { .. })).count()
    }

    /// Waits until `bytes` have moved.
    pub async fn until_moved(&self, bytes: u64) {
        let give_up = Instant::now() + Duration::from_secs(20);
        while self.moved() < bytes {
            assert!(Instant::now() < give_up, "only {} of {bytes} bytes moved", self.moved());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// A side that listens.
pub struct Far {
    pub address: SocketAddr,
    pub events: Events,
    identity: Identity,
    endpoint: Endpoint,
    shutdown: watch::Sender<bool>,
    task: JoinHandle<Result<Summary, Error>>,
}

impl Far {
    pub fn start(service: Service) -> Far {
        Far::start_with(service, ListenOptions::default())
    }

    pub fn start_with(service: Service, mut options: ListenOptions) -> Far {
        let identity = Identity::ephemeral().unwrap();
        let limits = Limits::default();
        let endpoint = server(&identity, &limits);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, endpoint.local_addr().unwrap().port()));
        let events = Events::default();
        options.listener = events.listener();
        let (shutdown, ending) = watch::channel(false);
        let task = tokio::spawn(listen(Guard::new(endpoint.clone(), limits), service, options, ending));
        Far { address, events, identity, endpoint, shutdown, task }
    }

    pub fn receive(pair: &Pair) -> Far {
        Far::start(Service::Receive(pair.store()))
    }

    pub fn serve(pair: &Pair) -> Far {
        Far::start(Service::Serve { dir: pair.served(), options: SourceOptions::default() })
    }

    pub fn dialer(&self) -> Arc<Dialer> {
        self.dialer_over(self.address, &client_endpoint())
    }

    pub fn dialer_over(&self, address: SocketAddr, endpoint: &Endpoint) -> Arc<Dialer> {
        dialer(&self.identity, address, endpoint)
    }

    /// Ends as a program would that is asked to.
    pub async fn stop(self) -> Summary {
        self.shutdown.send_replace(true);
        self.ended().await
    }

    /// Dies at once, as far as a task can.
    pub async fn abort(self) {
        self.task.abort();
        self.endpoint.close(0_u32.into(), b"");
        _ = self.task.await;
    }

    /// Stops, and comes back with the same identity at the same port.
    pub async fn restart(self, service: Service) -> Far {
        self.shutdown.send_replace(true);
        _ = self.task.await;
        let (shutdown, ending) = watch::channel(false);
        let options = ListenOptions { listener: self.events.listener(), ..ListenOptions::default() };
        let door = Guard::new(self.endpoint.clone(), Limits::default());
        let task = tokio::spawn(listen(door, service, options, ending));
        Far { shutdown, task, ..self }
    }

    pub async fn ended(self) -> Summary {
        let summary = tokio::time::timeout(Duration::from_secs(20), self.task).await.expect("ends");
        self.endpoint.wait_idle().await;
        summary.unwrap().unwrap()
    }
}

fn dialer(identity: &Identity, address: SocketAddr, endpoint: &Endpoint) -> Arc<Dialer> {
    let ticket = Ticket {
        role: Role::Receive,
        fingerprint: identity.fingerprint(),
        secret: Secret::new(SECRET),
        addresses: vec![Address::from(address)],
    };
    Arc::new(Dialer::new(endpoint.clone(), &ticket, |_| Arc::new(transport())).unwrap())
}

fn server(identity: &Identity, limits: &Limits) -> Endpoint {
    let admission = Admission { role: Role::Receive, secret: Secret::new(SECRET) };
    let mut config = tls::server(identity, &[admission]).unwrap();
    config.transport_config(Arc::new(transport()));
    limits.apply(&mut config);
    // Any address: a client that moves to 127.0.0.2 must be answered there.
    Endpoint::server(config, SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0))).unwrap()
}

/// A side that listens and does with its connections what a test likes.
pub struct RawFar {
    address: SocketAddr,
    identity: Identity,
    task: JoinHandle<()>,
}

impl Drop for RawFar {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RawFar {
    pub fn start<F>(session: impl Fn(quinn::Connection) -> F + Send + 'static) -> RawFar
    where
        F: std::future::Future<Output = ()> + Send + 'static,
    {
        let identity = Identity::ephemeral().unwrap();
        let endpoint = server(&identity, &Limits::default());
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, endpoint.local_addr().unwrap().port()));
        let task = tokio::spawn(async move {
            let mut door = Guard::new(endpoint, Limits::default());
            while let Some(connection) = door.accept().await {
                tokio::spawn(session(connection));
            }
        });
        RawFar { address, identity, task }
    }

    pub fn dialer(&self) -> Arc<Dialer> {
        dialer(&self.identity, self.address, &client_endpoint())
    }
}

pub fn client_endpoint() -> Endpoint {
    let socket = StdSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
    Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime)).unwrap()
}

/// Returns options with a listener that collects.
pub fn options() -> (Events, JobOptions) {
    let events = Events::default();
    let listener = events.listener();
    (events, JobOptions { listener, give_up_after: Some(Duration::from_secs(30)), ..JobOptions::default() })
}

/// The way between one client and a server: passes datagrams on, or drops all of them.
pub struct Way {
    pub address: SocketAddr,
    cut: Arc<AtomicBool>,
    pub to_server: Arc<AtomicU64>,
    pub to_client: Arc<AtomicU64>,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Way {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Way {
    pub async fn to(server: SocketAddr) -> Way {
        let inner = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let outer = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let address = inner.local_addr().unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let (to_server, to_client) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let client = Arc::new(Mutex::new(None));
        let there = {
            let (inner, outer, cut, client, count) =
                (inner.clone(), outer.clone(), cut.clone(), client.clone(), to_server.clone());
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                loop {
                    let Ok((len, from)) = inner.recv_from(&mut buffer).await else { continue };
                    *client.lock().unwrap() = Some(from);
                    if !cut.load(Ordering::Relaxed) {
                        count.fetch_add(len as u64, Ordering::Relaxed);
                        _ = outer.send_to(&buffer[..len], server).await;
                    }
                }
            })
        };
        let back = {
            let (cut, count) = (cut.clone(), to_client.clone());
            tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                loop {
                    let Ok((len, _)) = outer.recv_from(&mut buffer).await else { continue };
                    let to = *client.lock().unwrap();
                    if let (Some(to), false) = (to, cut.load(Ordering::Relaxed)) {
                        count.fetch_add(len as u64, Ordering::Relaxed);
                        _ = inner.send_to(&buffer[..len], to).await;
                    }
                }
            })
        };
        Way { address, cut, to_server, to_client, tasks: vec![there, back] }
    }

    pub fn cut(&self, cut: bool) {
        self.cut.store(cut, Ordering::Relaxed);
    }
}

/// A link of a rate and a delay each way, with a queue of 100 ms: for one client.
pub struct Link {
    pub address: SocketAddr,
    tasks: Vec<JoinHandle<()>>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Link {
    pub async fn to(server: SocketAddr, bytes_per_second: f64, delay: Duration) -> Link {
        let inner = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let outer = Arc::new(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap());
        let address = inner.local_addr().unwrap();
        let client = Arc::new(Mutex::new(server));
        let there = one_way(inner.clone(), outer.clone(), bytes_per_second, delay, {
            let client = client.clone();
            move |from| {
                *client.lock().unwrap() = from;
                server
            }
        });
        let back = one_way(outer, inner, bytes_per_second, delay, move |_| *client.lock().unwrap());
        Link { address, tasks: there.into_iter().chain(back).collect() }
    }
}

/// Takes datagrams in, computes when each is through, and sends it then.
fn one_way(
    from: Arc<UdpSocket>,
    to: Arc<UdpSocket>,
    bytes_per_second: f64,
    delay: Duration,
    destination: impl Fn(SocketAddr) -> SocketAddr + Send + 'static,
) -> [JoinHandle<()>; 2] {
    const QUEUE: Duration = Duration::from_millis(100);
    let (sender, mut through) = tokio::sync::mpsc::unbounded_channel::<(Instant, Vec<u8>, SocketAddr)>();
    let queue = tokio::spawn(async move {
        let mut buffer = vec![0; 65_536];
        let mut free_at = Instant::now();
        loop {
            let Ok((len, source)) = from.recv_from(&mut buffer).await else { continue };
            let destination = destination(source);
            let now = Instant::now();
            if free_at > now + QUEUE {
                continue;
            }
            free_at = free_at.max(now) + Duration::from_secs_f64((len + 28) as f64 / bytes_per_second);
            _ = sender.send((free_at + delay, buffer[..len].to_vec(), destination));
        }
    });
    let wire = tokio::spawn(async move {
        while let Some((at, datagram, destination)) = through.recv().await {
            tokio::time::sleep_until(at).await;
            _ = to.send_to(&datagram, destination).await;
        }
    });
    [queue, wire]
}
