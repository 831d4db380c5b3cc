//! Our uTP.

use super::work::{self, Work};
use afteryou_base::Span;
use afteryou_utp::packet::HEADER_LEN;
use afteryou_utp::{Endpoint, EndpointConfig};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

fn adapted(mut config: EndpointConfig) -> EndpointConfig {
    config.connection.recv_buffer = work::window().unwrap_or(config.connection.recv_buffer);
    config.receive_buffer = work::receive_buffer().unwrap_or(config.receive_buffer);
    config.connection.payload = u32::from(work::DATAGRAM) - HEADER_LEN as u32;
    // How long a process stays after its transfer.
    config.connection.linger = Span::from_millis(300);
    config
}

pub fn receive(config: EndpointConfig) -> anyhow::Result<(u64, Duration)> {
    work::run(async move {
        let endpoint = Endpoint::bind(work::here(), adapted(config))?;
        work::announce(endpoint.local_addr()?);
        let mut stream = endpoint.accept().await?;
        let result = work::read(&mut stream).await?;
        drop(stream);
        endpoint.close().await;
        Ok(result)
    })
}

pub fn send(config: EndpointConfig, work: Work) -> anyhow::Result<()> {
    work::run(async move {
        let endpoint = Endpoint::bind(work::here(), adapted(config))?;
        let mut stream = endpoint.connect(work.to).await?;
        work::write(&mut stream, &work).await?;
        stream.shutdown().await?;
        drop(stream);
        endpoint.close().await;
        Ok(())
    })
}
