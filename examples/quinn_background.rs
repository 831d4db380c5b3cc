//! A plain quinn program whose transfers are background: a controller that backs off, and packets marked lower effort.
//! Both ends are in one program here.
//!
//! `cargo run --example quinn_background`

use afteryou_base::Dscp;
use afteryou_quic::{background_transport, endpoint, Monitor, Socket};
use quinn::rustls::pki_types::PrivatePkcs8KeyDer;
use quinn::rustls::RootCertStore;
use quinn::{ClientConfig, EndpointConfig, ServerConfig};
use std::sync::Arc;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (mut server, mut client) = configurations()?;

    // All there is to it: the transport's settings for each side, and a socket that marks.
    server.transport_config(Arc::new(background_transport()));
    client.transport_config(Arc::new(background_transport()));
    let far = Socket::bind("127.0.0.1:0".parse()?, Dscp::LE)?;
    let near = Socket::bind("127.0.0.1:0".parse()?, Dscp::LE)?;
    let far = endpoint(far, EndpointConfig::default(), Some(server))?;
    let near = endpoint(near, EndpointConfig::default(), None)?;

    // The rest is quinn.
    let address = far.local_addr()?;
    let receiver = tokio::spawn(async move {
        let connection = far.accept().await.ok_or("closed")?.await?;
        let received = connection.accept_uni().await?.read_to_end(20_000_000).await?;
        connection.close(0u32.into(), b"thank you");
        far.wait_idle().await;
        Ok::<_, Box<dyn std::error::Error + Send + Sync>>(received.len())
    });
    let connection = near.connect_with(client, address, "localhost")?.await?;
    let mut stream = connection.open_uni().await?;
    stream.write_all(&vec![7; 10_000_000]).await?;
    stream.finish()?;
    connection.closed().await;

    let status = Monitor::of(&connection).ok_or("not our controller")?.status();
    println!("{} bytes arrived; the queue on the way: {:?}", receiver.await??, status.snapshot.queuing_delay);
    Ok(())
}

/// Returns quinn's own settings: a server with a certificate of its own making, and a client that trusts it.
fn configurations() -> Result<(ServerConfig, ClientConfig), Box<dyn std::error::Error + Send + Sync>> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let (certificate, key) =
        (made.cert.der().clone(), PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let server = ServerConfig::with_single_cert(vec![certificate], key.into())?;
    Ok((server, ClientConfig::with_root_certificates(Arc::new(roots))?))
}
