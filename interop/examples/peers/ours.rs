//! Our uTP.

use super::work::{self, Work};
use afteryou_base::Span;
use afteryou_utp::packet::HEADER_LEN;
use afteryou_utp::{Endpoint, EndpointConfig};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

fn config(peer: &str) -> EndpointConfig {
    let mut config = match peer {
        "ours cubic" => EndpointConfig::foreground(),
        _ => EndpointConfig::background(),
    };
    config.connection.payload = u32::from(work::DATAGRAM) - HEADER_LEN as u32;
    // How long a process stays after its transfer.
    config.connection.linger = Span::from_millis(300);
    config
}

pub fn receive(peer: &str) -> anyhow::Result<(u64, Duration)> {
    work::runtime()?.block_on(async {
        let endpoint = Endpoint::bind(work::here(), config(peer))?;
        work::announce(endpoint.local_addr());
        let mut stream = endpoint.accept().await?;
        let result = work::read(&mut stream).await?;
        drop(stream);
        endpoint.close().await;
        Ok(result)
    })
}

pub fn send(peer: &str, work: &Work) -> anyhow::Result<()> {
    work::runtime()?.block_on(async {
        let endpoint = Endpoint::bind(work::here(), config(peer))?;
        let mut stream = endpoint.connect(work.to).await?;
        work::write(&mut stream, work).await?;
        stream.shutdown().await?;
        drop(stream);
        endpoint.close().await;
        Ok(())
    })
}
