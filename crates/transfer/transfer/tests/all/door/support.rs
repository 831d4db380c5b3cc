//! A listening side that counts who gets in and what they say, and a forwarder that sees and changes every datagram.

use afteryou_transfer::dial::{udp_socket, Dialer};
use afteryou_transfer::guard::{Counters, Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::ticket::{Address, Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use quinn::{Endpoint, EndpointConfig, TokioRuntime};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

pub const SECRET: [u8; 16] = *b"it is a secret!!";

/// What the listening side noticed.
#[derive(Default)]
pub struct Noticed {
    pub sessions: usize,
    pub said: Vec<Vec<u8>>,
    pub counters: Counters,
}

pub struct Listening {
    pub address: SocketAddr,
    pub identity: Arc<Identity>,
    pub noticed: Arc<Mutex<Noticed>>,
    task: JoinHandle<()>,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub fn admission() -> Admission {
    Admission { role: Role::Receive, secret: Secret::new(SECRET) }
}

/// Lets clients in and reads what each sends on its first stream.
pub fn listen(identity: Arc<Identity>, address: SocketAddr) -> Listening {
    listen_with(identity, address, Limits::default())
}

pub fn listen_with(identity: Arc<Identity>, address: SocketAddr, limits: Limits) -> Listening {
    let mut config = tls::server(&identity, &[admission()]).unwrap();
    limits.apply(&mut config);
    let endpoint = Endpoint::server(config, address).unwrap();
    let address = endpoint.local_addr().unwrap();
    let noticed = Arc::new(Mutex::new(Noticed::default()));
    let (door, book) = (endpoint, noticed.clone());
    let task = tokio::spawn(async move {
        let counted = book.clone();
        let mut guard = Guard::new(door, limits)
            .on_refusals(Box::new(move |counters| counted.lock().unwrap().counters = *counters));
        while let Some(connection) = guard.accept().await {
            book.lock().unwrap().sessions += 1;
            let book = book.clone();
            tokio::spawn(async move {
                let Ok((mut send, mut receive)) = connection.accept_bi().await else { return };
                let Ok(said) = receive.read_to_end(1 << 20).await else { return };
                book.lock().unwrap().said.push(said.clone());
                let _ = send.write_all(&said).await;
                let _ = send.finish();
                connection.closed().await;
            });
        }
    });
    Listening { address, identity, noticed, task }
}

pub fn new_listening() -> Listening {
    listen(Arc::new(Identity::ephemeral().unwrap()), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
}

impl Listening {
    pub fn ticket(&self) -> Ticket {
        self.ticket_over(self.address)
    }

    pub fn ticket_over(&self, address: SocketAddr) -> Ticket {
        Ticket {
            role: Role::Receive,
            fingerprint: self.identity.fingerprint(),
            secret: Secret::new(SECRET),
            addresses: vec![Address::from(address)],
        }
    }

    pub fn sessions(&self) -> usize {
        self.noticed.lock().unwrap().sessions
    }

    pub fn said(&self) -> Vec<Vec<u8>> {
        self.noticed.lock().unwrap().said.clone()
    }
}

pub fn client_endpoint() -> Endpoint {
    Endpoint::new(EndpointConfig::default(), None, udp_socket(0).unwrap(), Arc::new(TokioRuntime)).unwrap()
}

pub fn dialer(ticket: &Ticket) -> Dialer {
    Dialer::new(client_endpoint(), ticket, |_| Arc::default()).unwrap()
}

/// Sends `words` and returns the echo.
pub async fn say(
    connection: &quinn::Connection,
    words: &[u8],
) -> Result<Vec<u8>, Box<dyn std::error::Error + Send + Sync>> {
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(words).await?;
    send.finish()?;
    Ok(receive.read_to_end(1 << 20).await?)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Towards {
    Server,
    Client,
}

type Seen = Arc<Mutex<Vec<(Towards, Vec<u8>)>>>;
type Tamper = Box<dyn FnMut(Towards, Vec<u8>) -> Option<Vec<u8>> + Send>;

/// Stands between one client and the server.
pub struct Forwarder {
    pub address: SocketAddr,
    pub seen: Seen,
    /// How many datagrams went on to where they should other than they came.
    pub changed: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Forwarder {
    /// Forwards every datagram through `tamper`; `None` drops it.
    pub async fn new(server: SocketAddr, mut tamper: Tamper) -> Forwarder {
        let near = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        far.connect(server).await.unwrap();
        let address = near.local_addr().unwrap();
        let (seen, changed) = (Seen::default(), Arc::new(AtomicUsize::new(0)));
        let (book, count) = (seen.clone(), changed.clone());
        let mut through = move |towards, datagram: &[u8]| {
            book.lock().unwrap().push((towards, datagram.to_vec()));
            let after = tamper(towards, datagram.to_vec())?;
            let is_changed = usize::from(after != datagram);
            Some((after, is_changed))
        };
        let task = tokio::spawn(async move {
            let (mut outward, mut inward) = ([0; 65536], [0; 65536]);
            let mut client = None;
            loop {
                tokio::select! {
                    Ok((length, from)) = near.recv_from(&mut outward) => {
                        client = Some(from);
                        let through = through(Towards::Server, &outward[..length]);
                        let Some((datagram, is_changed)) = through else { continue };
                        if far.send(&datagram).await.is_ok() {
                            count.fetch_add(is_changed, Ordering::Relaxed);
                        }
                    }
                    Ok(length) = far.recv(&mut inward) => {
                        let through = through(Towards::Client, &inward[..length]);
                        let (Some((datagram, is_changed)), Some(client)) = (through, client) else { continue };
                        if near.send_to(&datagram, client).await.is_ok() {
                            count.fetch_add(is_changed, Ordering::Relaxed);
                        }
                    }
                }
            }
        });
        Forwarder { address, seen, changed, task }
    }

    pub async fn honest(server: SocketAddr) -> Forwarder {
        Forwarder::new(server, Box::new(|_, datagram| Some(datagram))).await
    }

    pub fn seen_towards(&self, direction: Towards) -> Vec<Vec<u8>> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|(towards, _)| *towards == direction)
            .map(|(_, datagram)| datagram.clone())
            .collect()
    }
}
