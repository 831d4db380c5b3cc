//! Two sockets on loopback between a client and a server: it loses, delays and batches datagrams.

use afteryou_utp::packet::Packet;
use socket2::SockRef;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Datagrams that overtake a late one, and the time after that.
const OVERTAKERS: usize = 6;
const LATENESS: Duration = Duration::from_millis(20);
/// How long an incomplete batch waits for its next datagram.
const BATCH_PATIENCE: Duration = Duration::from_millis(5);

/// What becomes of a datagram on its way to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Passes,
    IsLost,
    /// It comes after those that follow it.
    IsLate,
}

/// How the relay behaves.
pub struct Manner {
    pub fate: Box<dyn FnMut(&Packet<'_>) -> Fate + Send>,
    /// Datagrams to the client that go together.
    pub batch: usize,
    /// The relay's receive buffer, bytes, and its pause after each datagram.
    pub buffer: Option<(usize, Duration)>,
    /// Datagrams to the server have a mark of Congestion Experienced.
    pub marks: bool,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { fate: Box::new(|_| Fate::Passes), batch: 1, buffer: None, marks: false }
    }
}

/// A relay that runs until it is dropped.
pub struct Relay {
    pub addr: SocketAddr,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Relay {
    pub fn new(server: SocketAddr, manner: Manner) -> Relay {
        let socket = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(BATCH_PATIENCE)).unwrap();
            Arc::new(socket)
        };
        let (near, far) = (socket(), socket());
        if manner.marks {
            SockRef::from(&*far).set_tos_v4(0b11).unwrap();
        }
        let (client, stop) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let addr = near.local_addr().unwrap();
        let pause = manner.buffer.map_or(Duration::ZERO, |(bytes, pause)| {
            SockRef::from(&*near).set_recv_buffer_size(bytes).unwrap();
            pause
        });
        let forward = Forward { near: near.clone(), far: far.clone(), server, fate: manner.fate, pause };
        let threads = vec![
            std::thread::spawn({
                let (client, stop) = (client.clone(), stop.clone());
                move || forward.run(&client, &stop)
            }),
            std::thread::spawn({
                let stop = stop.clone();
                move || run_back(&near, &far, manner.batch, &client, &stop)
            }),
        ];
        Relay { addr, stop, threads }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.drain(..).for_each(|thread| _ = thread.join());
    }
}

/// The way to the server.
struct Forward {
    near: Arc<UdpSocket>,
    far: Arc<UdpSocket>,
    server: SocketAddr,
    fate: Box<dyn FnMut(&Packet<'_>) -> Fate + Send>,
    pause: Duration,
}

impl Forward {
    fn run(mut self, client: &Mutex<Option<SocketAddr>>, stop: &AtomicBool) {
        let (mut buf, mut late) = ([0; 2048], None::<(usize, Vec<u8>)>);
        while !stop.load(Ordering::Relaxed) {
            let Ok((len, from)) = self.near.recv_from(&mut buf) else { continue };
            *client.lock().unwrap() = Some(from);
            let datagram = &buf[..len];
            match (self.fate)(&Packet::decode(datagram).unwrap()) {
                Fate::Passes => _ = self.far.send_to(datagram, self.server),
                Fate::IsLost => {}
                Fate::IsLate => late = Some((0, datagram.to_vec())),
            }
            std::thread::sleep(self.pause);
            let overtaken = late.take_if(|(overtakers, _)| {
                *overtakers += 1;
                *overtakers > OVERTAKERS
            });
            if let Some((_, datagram)) = overtaken {
                std::thread::sleep(LATENESS);
                let _ = self.far.send_to(&datagram, self.server);
            }
        }
    }
}

/// Runs the reverse path.
fn run_back(
    near: &UdpSocket,
    far: &UdpSocket,
    size: usize,
    client: &Mutex<Option<SocketAddr>>,
    stop: &AtomicBool,
) {
    let (mut buf, mut batch) = ([0; 2048], Vec::new());
    while !stop.load(Ordering::Relaxed) {
        let is_complete = match far.recv_from(&mut buf) {
            Ok((len, _)) => {
                batch.push(buf[..len].to_vec());
                batch.len() >= size
            }
            Err(_) => true,
        };
        let Some(client) = client.lock().unwrap().filter(|_| is_complete) else { continue };
        batch.drain(..).for_each(|datagram| _ = near.send_to(&datagram, client));
    }
}
