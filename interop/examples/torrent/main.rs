//! One torrent over uTP and nothing else: no tracker, no DHT, no TCP.
//!
//! ```sh
//! cargo run --release -p afteryou-interop --features libutp --example torrent -- fetch FILE.torrent INTO --peer 192.0.2.7:6881
//! cargo run --release -p afteryou-interop --features libutp --example torrent -- seed FILE.torrent FILE --listen 0.0.0.0:6881 [--once]
//! ```
//! `fetch` connects to one peer, checks the hash of each piece and exits with 0 once all are there. `seed` checks the file, serves any
//! number of peers, and with `--once` exits after the first that has asked for everything. Both are marked lower effort and yield
//! to other traffic, by LEDBAT++; `--controller cubic` takes what it can get. Torrents of version 1 with one file.
//!
//! `interop/torrent.py --check` runs both beside libtorrent and transmission.

mod fetch;
mod metainfo;
mod seed;
mod wire;

use afteryou_utp::EndpointConfig;
use anyhow::{bail, Context};
use metainfo::Torrent;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The command line.
#[derive(Default)]
struct Arguments {
    paths: Vec<PathBuf>,
    peer: Option<SocketAddr>,
    listen: Option<SocketAddr>,
    once: bool,
    cubic: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let role = words.next().context("the first argument is fetch or seed")?;
    let arguments = parse(words)?;
    let [torrent, file] = &arguments.paths[..] else {
        bail!("two paths are required: the torrent, and the file")
    };
    let torrent = Torrent::read(torrent)?;
    let config = match arguments.cubic {
        true => EndpointConfig::foreground(),
        false => EndpointConfig::background(),
    };
    let any = SocketAddr::from(([0, 0, 0, 0], 0));
    match role.as_str() {
        "fetch" => {
            let peer = arguments.peer.context("fetch requires --peer ADDRESS")?;
            fetch::run(&torrent, file, peer, arguments.listen.unwrap_or(any), config).await
        }
        "seed" => {
            let listen = arguments.listen.context("seed requires --listen ADDRESS")?;
            seed::run(torrent, file, listen, config, arguments.once).await
        }
        other => bail!("there is no {other}, only fetch and seed"),
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> anyhow::Result<Arguments> {
    let mut arguments = Arguments::default();
    while let Some(word) = words.next() {
        let mut value = || words.next().with_context(|| format!("{word} requires a value"));
        match word.as_str() {
            "--peer" => arguments.peer = Some(value()?.parse()?),
            "--listen" => arguments.listen = Some(value()?.parse()?),
            "--once" => arguments.once = true,
            "--controller" => arguments.cubic = value()? == "cubic",
            option if option.starts_with("--") => bail!("there is no option {option}"),
            path => arguments.paths.push(path.into()),
        }
    }
    Ok(arguments)
}
