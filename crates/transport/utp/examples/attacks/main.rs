//! Attacks on an endpoint with default settings, over real sockets, and whether it serves others meanwhile.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example attacks -- --check
//! cargo run --release -p afteryou-utp --example attacks -- --check --seconds 2 syn-random
//! ```
//! Each attack prints how many of the honest peers were served, the largest memory by the endpoint's own account and by the system's, and
//! the CPU time of the attacker's thread. `--check` exits with 1 if one misses its bound. `--seconds 10` is how long a flood lasts, `--rate 200000` its
//! SYNs a second. Names of attacks: syn-one, syn-random, silent, spoken, gaps, mutated. Linux only: its loopback lets one socket
//! send from any address of 127.0.0.0/8. The honest peers have addresses of their own there, the endpoint is 127.0.0.1.

#[cfg(target_os = "linux")]
mod attacker;
#[cfg(target_os = "linux")]
mod flood;
#[cfg(target_os = "linux")]
mod gaps;
#[cfg(target_os = "linux")]
mod mutated;
#[cfg(target_os = "linux")]
mod silent;
#[cfg(target_os = "linux")]
mod target;

#[cfg(target_os = "linux")]
fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    run::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("the attacks need Linux, whose loopback has many addresses");
}

#[cfg(target_os = "linux")]
mod run {
    use crate::target::Failure;
    use crate::{flood, gaps, mutated, silent};
    use std::process::ExitCode;
    use std::time::Duration;

    /// The options of the command line.
    pub struct Options {
        pub flood: Duration,
        /// SYNs a second.
        pub rate: u64,
    }

    const NAMES: [&str; 6] = ["syn-one", "syn-random", "silent", "spoken", "gaps", "mutated"];

    pub fn main() -> Result<ExitCode, Failure> {
        let (mut options, mut names) =
            (Options { flood: Duration::from_secs(10), rate: 200_000 }, Vec::new());
        let (mut checks, mut arguments) = (false, std::env::args().skip(1));
        while let Some(argument) = arguments.next() {
            let mut number = || arguments.next().ok_or(format!("{argument} requires a number"));
            match argument.as_str() {
                "--check" => checks = true,
                "--seconds" => options.flood = Duration::from_secs_f64(number()?.parse()?),
                "--rate" => options.rate = number()?.parse()?,
                name if NAMES.contains(&name) => names.push(argument),
                other => {
                    return Err(format!("there is no attack {other}; there are {}", NAMES.join(", ")).into())
                }
            }
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut is_met = true;
        for name in NAMES.into_iter().filter(|name| names.is_empty() || names.iter().any(|one| one == name)) {
            let verdict = match name {
                "syn-one" => runtime.block_on(flood::run(&options, flood::From::OneAddress))?,
                "syn-random" => runtime.block_on(flood::run(&options, flood::From::RandomAddresses))?,
                "silent" => runtime.block_on(silent::run(0, Duration::from_secs(1)))?,
                "spoken" => runtime.block_on(silent::run(14, Duration::from_secs(2)))?,
                "gaps" => runtime.block_on(gaps::run())?,
                _ => runtime.block_on(mutated::run())?,
            };
            println!("{name}: {verdict}\n");
            is_met &= verdict.is_met();
        }
        Ok(if checks && !is_met { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
