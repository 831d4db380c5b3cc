//! Bytes from here to there in the background, in ten lines. Here both ends are in one program.
//!
//! `cargo run --example transfer`

use afteryou_utp::{Endpoint, EndpointConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The peer: any connection that comes in, read to its end.
    let far = Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::background())?;
    let address = far.local_addr()?;
    let receiver = tokio::spawn(async move {
        let mut received = Vec::new();
        far.accept().await?.read_to_end(&mut received).await?;
        Ok::<_, std::io::Error>(received.len())
    });

    // The near end: LEDBAT++, marked lower effort. `shutdown` returns when everything has been acknowledged.
    let near = Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::background())?;
    let mut stream = near.connect(address).await?;
    stream.write_all(&vec![7; 10_000_000]).await?;
    stream.shutdown().await?;

    println!(
        "{} bytes arrived; the queue on the way: {:?}",
        receiver.await??,
        stream.statistics().controller.queuing_delay
    );
    Ok(())
}
