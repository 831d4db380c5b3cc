//! The cost of ten thousand idle connections: memory of each, at either end, and CPU time.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example idle_connections -- --check
//! ```
//! Each end is a process with one endpoint. Every connection carries 4 kB in both directions, and then only keep-alives, 29 s apart.
//! Memory is what the process's resident set has grown by since the first hundred connections. `--check` exits with 1 above 4 kB for a
//! connection, or from 0.5 % of a core on. The defaults are `--connections 10000` and `--seconds 60`.

#[cfg(target_os = "linux")]
fn main() -> linux::Result<std::process::ExitCode> {
    linux::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: memory and CPU time are read from Linux's /proc");
}

#[cfg(target_os = "linux")]
mod linux {
    use afteryou_utp::{Endpoint, EndpointConfig, Stream};
    use nix::sys::resource::{getrusage, UsageWho};
    use nix::sys::time::TimeValLike;
    use std::error::Error;
    use std::io::{BufRead, BufReader};
    use std::net::SocketAddr;
    use std::process::{Child, Command, ExitCode, Stdio};
    use std::sync::Arc;
    use std::time::{Duration, Instant};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::task::JoinSet;

    pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

    /// Most memory of an idle connection, bytes.
    const MOST_BYTES: f64 = 4096.0;
    /// Most CPU time, per cent of a core.
    const MOST_CPU: f64 = 0.5;
    /// Payload of each connection in each direction before it idles, bytes.
    const CARRIED: usize = 4000;
    /// Connections that are open before the memory is read for the first time: what the first ones take is the process's.
    const FIRST: usize = 100;
    /// Connections that are opened at a time.
    const AT_A_TIME: usize = 20;
    /// Until a connection without data has given back its buffers.
    const SETTLED: Duration = Duration::from_secs(5);

    pub fn main() -> Result<ExitCode> {
        let args: Vec<String> = std::env::args().skip(1).collect();
        let number = |name: &str, default: f64| match args.iter().position(|arg| arg == name) {
            Some(at) => {
                args.get(at + 1).and_then(|arg| arg.parse().ok()).ok_or(format!("{name} requires a number"))
            }
            None => Ok(default),
        };
        let connections =
            (number("--connections", 10_000.0)? as usize).next_multiple_of(AT_A_TIME).max(2 * FIRST);
        let idle = Duration::from_secs_f64(number("--seconds", 60.0)?);
        let runtime = tokio::runtime::Runtime::new()?;
        let [accepting, opening] = match args.first().filter(|arg| *arg == "open").and(args.get(1)) {
            Some(to) => runtime.block_on(open(to.parse()?, connections, idle))?,
            None => runtime.block_on(accept(connections, idle))?,
        };
        println!("{connections} idle connections");
        let is_met = accepting.print("accepting") & opening.print("opening");
        Ok(if args.iter().any(|arg| arg == "--check") && !is_met {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// The cost of the connections in the process of one end.
    #[derive(Clone, Copy)]
    struct Cost {
        bytes: f64,
        cpu: f64,
    }

    impl Cost {
        /// Prints it, and returns whether it is within the bounds.
        fn print(&self, end: &str) -> bool {
            println!("{end} end: {:.0} bytes each, {:.2} % of a core", self.bytes, self.cpu);
            self.bytes <= MOST_BYTES && self.cpu < MOST_CPU
        }
    }

    fn endpoint(connections: usize) -> Result<Endpoint> {
        let defaults = EndpointConfig::background();
        // Connections of one address may take half of the places.
        let places = 2 * connections + 1;
        let config =
            EndpointConfig { max_connections: places, backlog: 2 * AT_A_TIME, memory: 1 << 30, ..defaults };
        Ok(Endpoint::bind("127.0.0.1:0".parse()?, config)?)
    }

    /// Runs the process that prints: accepts, and starts the other one.
    async fn accept(connections: usize, idle: Duration) -> Result<[Cost; 2]> {
        let endpoint = endpoint(connections)?;
        let mut other = Opening::start(endpoint.local_addr()?, connections, idle)?;
        let (mut streams, mut before) = (Vec::with_capacity(connections), 0.0);
        while streams.len() < connections {
            if streams.len() == FIRST {
                tokio::time::sleep(SETTLED).await;
                before = memory()?;
            }
            let mut answering = JoinSet::new();
            for _ in 0..AT_A_TIME {
                answering.spawn(answer(endpoint.accept().await?));
            }
            collect(answering, &mut streams).await?;
        }
        let ours = measure(before, &endpoint, connections, idle).await?;
        Ok([ours, tokio::task::spawn_blocking(move || other.cost()).await??])
    }

    /// Runs the other process: opens the connections, reports, and waits for its end.
    async fn open(to: SocketAddr, connections: usize, idle: Duration) -> Result<[Cost; 2]> {
        let endpoint = Arc::new(endpoint(connections)?);
        let (mut streams, mut before) = (Vec::with_capacity(connections), 0.0);
        while streams.len() < connections {
            if streams.len() == FIRST {
                tokio::time::sleep(2 * SETTLED).await;
                before = memory()?;
            }
            let mut asking = JoinSet::new();
            for _ in 0..AT_A_TIME {
                asking.spawn(ask(Arc::clone(&endpoint), to));
            }
            collect(asking, &mut streams).await?;
        }
        let Cost { bytes, cpu } = measure(before, &endpoint, connections, idle).await?;
        println!("{bytes} {cpu}");
        std::future::pending().await
    }

    async fn collect(mut carrying: JoinSet<Result<Stream>>, streams: &mut Vec<Stream>) -> Result<()> {
        while let Some(stream) = carrying.join_next().await {
            streams.push(stream??);
        }
        Ok(())
    }

    /// Opens a connection and carries the data.
    async fn ask(endpoint: Arc<Endpoint>, to: SocketAddr) -> Result<Stream> {
        let mut stream = endpoint.connect(to).await?;
        stream.write_all(&[1; CARRIED]).await?;
        stream.flush().await?;
        stream.read_exact(&mut vec![0; CARRIED]).await?;
        Ok(stream)
    }

    /// Answers [`ask`].
    async fn answer(mut stream: Stream) -> Result<Stream> {
        stream.read_exact(&mut vec![0; CARRIED]).await?;
        stream.write_all(&[2; CARRIED]).await?;
        stream.flush().await?;
        Ok(stream)
    }

    /// Returns the cost of the connections beyond the first ones, which took `before`.
    async fn measure(before: f64, endpoint: &Endpoint, connections: usize, idle: Duration) -> Result<Cost> {
        tokio::time::sleep(SETTLED).await;
        let (began, cpu_before) = (Instant::now(), cpu_time()?);
        tokio::time::sleep(idle).await;
        let cpu = 100.0 * (cpu_time()? - cpu_before) / began.elapsed().as_secs_f64();
        match endpoint.statistics().connections {
            left if left < connections => {
                Err(format!("{} connections have ended", connections - left).into())
            }
            _ => Ok(Cost { bytes: (memory()? - before) / (connections - FIRST) as f64, cpu }),
        }
    }

    /// The process that opens connections; ends with this handle.
    struct Opening(Child);

    impl Opening {
        fn start(to: SocketAddr, connections: usize, idle: Duration) -> Result<Opening> {
            let (connections, idle) = (connections.to_string(), idle.as_secs_f64().to_string());
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["open", &to.to_string(), "--connections", &connections, "--seconds", &idle]);
            Ok(Opening(command.stdout(Stdio::piped()).spawn()?))
        }

        fn cost(&mut self) -> Result<Cost> {
            let mut line = String::new();
            BufReader::new(self.0.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
            let (bytes, cpu) = line.trim().split_once(' ').ok_or("the opening end has failed")?;
            Ok(Cost { bytes: bytes.parse()?, cpu: cpu.parse()? })
        }
    }

    impl Drop for Opening {
        fn drop(&mut self) {
            // One that has ended already needs neither.
            _ = self.0.kill();
            _ = self.0.wait();
        }
    }

    /// Returns the memory of this process, bytes.
    fn memory() -> Result<f64> {
        let status = std::fs::read_to_string("/proc/self/status")?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = resident
            .and_then(|line| line.split_whitespace().next())
            .ok_or("no VmRSS in /proc/self/status")?;
        Ok(kib.parse::<f64>()? * 1024.0)
    }

    /// Returns the CPU time of this process, seconds.
    fn cpu_time() -> Result<f64> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
    }
}
