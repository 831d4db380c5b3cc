//! Two endpoints exchange a megabyte each way. One of them writes `utp.pcapng` for Wireshark and a log for qvis into a folder:
//!
//! ```sh
//! cargo run -p afteryou-utp --features dump --example dump -- FOLDER
//! ```

use afteryou_utp::{Dump, Endpoint, EndpointConfig, Stream};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const BYTES: usize = 1_000_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder for the files")?);
    let dump = Dump::default().qlog(&folder)?.pcapng(File::create(folder.join("utp.pcapng"))?);
    let config = EndpointConfig { dump: dump.clone(), ..EndpointConfig::background() };
    let here = Endpoint::bind("127.0.0.1:0".parse()?, config)?;
    let there = Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::background())?;
    let (from, to) = (here.local_addr()?, there.local_addr()?);
    let peer = tokio::spawn(async move {
        let stream = exchange(there.accept().await?).await?;
        let sent = stream.statistics().data_packets_sent;
        drop(stream);
        there.close().await;
        Ok::<_, io::Error>(sent)
    });
    let stream = exchange(here.connect(to).await?).await?;
    let statistics = stream.statistics();
    drop(stream);
    let received = peer.await??;
    here.close().await;
    dump.flush()?;
    let sent = statistics.data_packets_sent;
    println!("port {} sent {sent} data packets and received {received}", from.port());
    Ok(())
}

/// Sends and receives all bytes, and ends both directions.
async fn exchange(stream: Stream) -> io::Result<Stream> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let writing = tokio::spawn(async move {
        writer.write_all(&vec![7; BYTES]).await?;
        writer.shutdown().await?;
        Ok::<_, io::Error>(writer)
    });
    let mut received = Vec::new();
    reader.read_to_end(&mut received).await?;
    let writer = writing.await??;
    match received.len() {
        BYTES => Ok(reader.unsplit(writer)),
        other => Err(io::Error::other(format!("{other} bytes have arrived"))),
    }
}
