//! Our uTP.

use super::work::{self, Work};
use afteryou_base::Span;
use afteryou_utp::packet::HEADER_LEN;
use afteryou_utp::{Endpoint, EndpointConfig};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

/// The receive buffer, bytes, that Linux gives a socket that asks for none: it doubles what is asked for.
const DEFAULT_BUFFER: usize = 106_496;

fn config_of(peer: &str) -> EndpointConfig {
    let mut config = match peer.contains("cubic") {
        true => EndpointConfig::foreground(),
        false => EndpointConfig::background(),
    };
    if peer.ends_with("(default buffers)") {
        config.receive_buffer = DEFAULT_BUFFER;
    }
    config.connection.recv_buffer = work::window().unwrap_or(config.connection.recv_buffer);
    config.connection.payload = u32::from(work::DATAGRAM) - HEADER_LEN as u32;
    // How long a process stays after its transfer.
    config.connection.linger = Span::from_millis(300);
    config
}

pub fn receive(peer: &str) -> anyhow::Result<(u64, Duration)> {
    let config = config_of(peer);
    work::run(async move {
        let endpoint = Endpoint::bind(work::here(), config)?;
        work::announce(endpoint.local_addr()?);
        let mut stream = endpoint.accept().await?;
        let result = work::read(&mut stream).await?;
        drop(stream);
        endpoint.close().await;
        Ok(result)
    })
}

pub fn send(peer: &str, work: Work) -> anyhow::Result<()> {
    let config = config_of(peer);
    work::run(async move {
        let endpoint = Endpoint::bind(work::here(), config)?;
        let mut stream = endpoint.connect(work.to).await?;
        work::write(&mut stream, &work).await?;
        stream.shutdown().await?;
        drop(stream);
        endpoint.close().await;
        Ok(())
    })
}
