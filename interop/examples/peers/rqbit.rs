//! librqbit-utp, which has CUBIC only.

use super::work::{self, Work};
use librqbit_utp::UtpSocketUdp;
use std::time::Duration;
use tokio::io::AsyncWriteExt;

pub fn receive() -> anyhow::Result<(u64, Duration)> {
    work::run(async move {
        let socket = UtpSocketUdp::new_udp(work::here()).await?;
        work::announce(socket.bind_addr());
        let mut stream = socket.accept().await?;
        let result = work::read(&mut stream).await?;
        // So that the acknowledgement of the end leaves before the process ends.
        stream.shutdown().await?;
        Ok(result)
    })
}

pub fn send(work: Work) -> anyhow::Result<()> {
    work::run(async move {
        let socket = UtpSocketUdp::new_udp(work::here()).await?;
        let mut stream = socket.connect(work.to).await?;
        work::write(&mut stream, &work).await?;
        stream.shutdown().await?;
        Ok(())
    })
}
