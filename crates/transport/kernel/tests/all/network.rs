//! Three network namespaces: a sender, a router with a bottleneck, and a receiver.
//!
//! The bottleneck is not in the sender's namespace, where TCP small queues would keep it short.

use nix::sched::{unshare, CloneFlags};
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Rate of the bottleneck, bits per second.
pub const RATE: f64 = 20e6;
/// Size of its queue in time.
pub const QUEUE: Duration = Duration::from_millis(500);

type Task = Box<dyn FnOnce() + Send>;

/// A namespace, which lasts as long as its thread.
struct Namespace {
    tasks: mpsc::Sender<Task>,
    thread: i32,
}

impl Namespace {
    fn new() -> Result<Namespace, String> {
        let (tasks, given) = mpsc::channel::<Task>();
        let (tell, entered) = mpsc::channel();
        std::thread::spawn(move || {
            let outcome = unshare(CloneFlags::CLONE_NEWNET).map(|()| nix::unistd::gettid().as_raw());
            _ = tell.send(outcome);
            given.into_iter().for_each(|task| task());
        });
        let outcome = entered.recv().expect("the thread answers");
        let thread = outcome.map_err(|error| format!("a network namespace: {error}"))?;
        Ok(Namespace { tasks, thread })
    }

    /// Runs `task` inside.
    fn run<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> T {
        let (tell, done) = mpsc::channel();
        self.tasks.send(Box::new(move || _ = tell.send(task()))).expect("the thread runs");
        done.recv().expect("the task ends")
    }

    /// Runs commands inside, one a line.
    fn commands(&self, lines: String) -> Result<(), String> {
        self.run(move || lines.lines().try_for_each(|line| command(line.trim()).map(drop)))
    }
}

/// Runs a command and returns what it prints.
fn command(line: &str) -> Result<String, String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().expect("a program")).args(words).output();
    let output = output.map_err(|error| format!("{line}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim_end())),
    }
}

/// The three namespaces.
pub struct Network {
    sender: Namespace,
    receiver: Namespace,
    router: Namespace,
}

impl Network {
    /// Makes the namespaces, or returns why that cannot be done.
    pub fn new() -> Result<Network, String> {
        let [sender, router, receiver] = [Namespace::new()?, Namespace::new()?, Namespace::new()?];
        let bytes = RATE / 8.0 * QUEUE.as_secs_f64();
        router.commands(format!(
            "ip link add left type veth peer name uplink netns {}
             ip link add right type veth peer name uplink netns {}
             ip addr add 10.0.1.1/24 dev left
             ip addr add 10.0.2.1/24 dev right
             ip link set left up
             ip link set right up
             tc qdisc add dev right root tbf rate {RATE}bit burst 5kb limit {bytes}",
            sender.thread, receiver.thread
        ))?;
        router
            .run(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1"))
            .map_err(|error| format!("forwarding: {error}"))?;
        for (host, net) in [(&sender, 1), (&receiver, 2)] {
            host.commands(format!(
                "ip addr add 10.0.{net}.2/24 dev uplink
                 ip link set uplink up
                 ip route add default via 10.0.{net}.1"
            ))?;
        }
        Ok(Network { sender, receiver, router })
    }

    /// Connects with this congestion controller. Returns the socket and its peer.
    pub fn connect(&self, controller: impl Into<String>) -> std::io::Result<(Socket, TcpStream)> {
        let controller: String = controller.into();
        let listener = self.receiver.run(|| TcpListener::bind("10.0.2.2:0"))?;
        let address: SocketAddr = listener.local_addr()?;
        let socket = self.sender.run(move || {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
            socket.set_tcp_congestion(controller.as_bytes())?;
            socket.connect(&address.into())?;
            Ok::<Socket, std::io::Error>(socket)
        })?;
        Ok((socket, listener.accept()?.0))
    }

    /// Returns the kernel's figures of the connection from `port`.
    pub fn report(&self, port: u16) -> Option<Report> {
        self.sender.run(move || report(port))
    }

    /// Changes the bottleneck: bits per second, and bytes of its queue.
    pub fn change(&self, rate: f64, queue: u32) -> Result<(), String> {
        self.router
            .commands(format!("tc qdisc change dev right root tbf rate {rate}bit burst 5kb limit {queue}"))
    }

    /// Interrupts the path for this long.
    pub fn interrupt(&self, span: Duration) {
        self.router.commands("ip link set right down".to_owned()).unwrap();
        std::thread::sleep(span);
        self.router.commands("ip link set right up".to_owned()).unwrap();
    }

    /// Sends for `settling`, then measures for `measured`.
    pub fn measure(
        &self,
        controller: &'static str,
        settling: Duration,
        measured: Duration,
    ) -> std::io::Result<Transfer> {
        let (mut socket, mut peer) = self.connect(controller)?;
        let (start, end) = (Instant::now() + settling, Instant::now() + settling + measured);
        let port = socket.local_addr()?.as_socket().expect("an address of IP").port();
        std::thread::spawn(move || while Instant::now() < end && socket.write_all(&[0; 16_384]).is_ok() {});
        let reader = std::thread::spawn(move || {
            let (mut block, mut received) = (vec![0; 65_536], 0);
            while Instant::now() < end {
                let read = peer.read(&mut block)?;
                received += if Instant::now() >= start { read } else { 0 };
            }
            Ok::<usize, std::io::Error>(received)
        });
        let mut reports = Vec::new();
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
            if Instant::now() >= start {
                reports.extend(self.report(port));
            }
        }
        let received = reader.join().expect("the reader does not panic")? as f64;
        Ok(Transfer { reports, utilisation: received * 8.0 / RATE / measured.as_secs_f64() })
    }
}

/// The outcome of a transfer.
#[derive(Debug)]
pub struct Transfer {
    /// The kernel's figures, in their order.
    pub reports: Vec<Report>,
    /// Received while they were measured, part of the link.
    pub utilisation: f64,
}

impl Transfer {
    /// Returns the round-trip time that this part of the measurements does not exceed.
    pub fn rtt_ms(&self, part: f64) -> f64 {
        let mut sorted: Vec<f64> = self.reports.iter().filter_map(|report| report.rtt_ms).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[((sorted.len() - 1) as f64 * part) as usize]
    }
}

/// Sends `bytes` bytes over a connection, while the peer reads them.
pub fn send(socket: &mut Socket, peer: &mut TcpStream, bytes: usize) -> std::io::Result<()> {
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| peer.read_exact(&mut vec![0; bytes]));
        socket.write_all(&vec![0; bytes])?;
        reader.join().expect("the reader does not panic")
    })
}

/// The kernel's figures of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub at: Instant,
    /// Bytes acknowledged so far.
    pub acked: u64,
    /// Smoothed round-trip time, ms.
    pub rtt_ms: Option<f64>,
    /// Window, packets.
    pub cwnd: f64,
    /// Slow-start threshold, packets; `None`: there is none.
    pub ssthresh: Option<f64>,
}

/// Returns the figures of the connection from `port`, as `ss` prints them.
fn report(port: u16) -> Option<Report> {
    let text = command(&format!("ss -tinH sport = :{port}")).ok()?;
    let number = |name: &str| {
        let (_, rest) = text.split_once(&format!(" {name}:"))?;
        rest.split(['/', ' ', '\n']).next()?.parse().ok()
    };
    Some(Report {
        at: Instant::now(),
        acked: number("bytes_acked").unwrap_or(0.0) as u64,
        rtt_ms: number("rtt"),
        cwnd: number("cwnd")?,
        ssthresh: number("ssthresh"),
    })
}
