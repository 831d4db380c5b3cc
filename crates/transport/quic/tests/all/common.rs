//! What the tests share: endpoints that trust each other, links, and transfers whose bytes are checked.

use afteryou_aqm::droptail::DropTail;
use afteryou_base::Dscp;
use afteryou_bed::relay::{Direction, Link};
use afteryou_quic::{endpoint, path_mtu, Socket};
use afteryou_scenario::{Buffer, Probability, Rate};
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::rustls::RootCertStore;
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

/// Any error: the tests only report it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Identity {
    certificate: CertificateDer<'static>,
    key: Vec<u8>,
}

/// One identity for all servers of a test program: making keys takes time.
static IDENTITY: LazyLock<Identity> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    Identity { certificate: made.cert.into(), key: made.signing_key.serialize_der() }
});

pub fn server_config(transport: TransportConfig) -> ServerConfig {
    let key = PrivatePkcs8KeyDer::from(IDENTITY.key.clone());
    let mut config = ServerConfig::with_single_cert(vec![IDENTITY.certificate.clone()], key.into()).unwrap();
    config.transport_config(Arc::new(transport));
    config
}

pub fn client_config(transport: TransportConfig) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(IDENTITY.certificate.clone()).unwrap();
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    config.transport_config(Arc::new(transport));
    config
}

/// Opens a server on our socket, marked lower effort.
pub fn server(address: &str, transport: TransportConfig) -> (Endpoint, Arc<Socket>) {
    let socket = Socket::bind(address.parse().unwrap(), Dscp::LE).unwrap();
    let config = server_config(transport);
    (endpoint(Arc::clone(&socket), path_mtu::endpoint_config(), Some(config)).unwrap(), socket)
}

/// Opens a client on our socket, marked lower effort.
pub fn client(address: &str) -> (Endpoint, Arc<Socket>) {
    let socket = Socket::bind(address.parse().unwrap(), Dscp::LE).unwrap();
    (endpoint(Arc::clone(&socket), path_mtu::endpoint_config(), None).unwrap(), socket)
}

pub async fn connect(
    client: &Endpoint,
    to: SocketAddr,
    transport: TransportConfig,
) -> Result<Connection, Failure> {
    Ok(client.connect_with(client_config(transport), to, "localhost")?.await?)
}

/// Returns bytes whose every loss, repetition or exchange shows.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

/// Accepts one connection and reads one stream, which must be `bytes` of the pattern; answers with one byte.
pub async fn receive_pattern(server: Endpoint, bytes: usize) -> Result<Connection, Failure> {
    let connection = server.accept().await.ok_or("closed")?.await?;
    let (mut answer, mut stream) = connection.accept_bi().await?;
    let received = stream.read_to_end(bytes + 1).await?;
    if received != pattern(bytes) {
        return Err(format!("{} bytes arrived, or wrong ones", received.len()).into());
    }
    answer.write_all(&[1]).await?;
    answer.finish()?;
    Ok(connection)
}

/// Sends `bytes` of the pattern and waits until the server has checked them.
pub async fn send_pattern(connection: &Connection, bytes: usize) -> Result<(), Failure> {
    let (mut stream, mut answer) = connection.open_bi().await?;
    stream.write_all(&pattern(bytes)).await?;
    stream.finish()?;
    match answer.read_to_end(1).await?.as_slice() {
        [1] => Ok(()),
        _ => Err("the server did not like it".into()),
    }
}

pub fn direction(rate: &str, buffer: &str, loss: &str) -> Direction {
    let rate: Rate = rate.parse().unwrap();
    let limit = buffer.parse::<Buffer>().unwrap().limit(rate);
    let loss: Probability = loss.parse().unwrap();
    Direction { rate, loss, queue: Box::new(DropTail::new(limit)) }
}

/// Returns a link whose loss is towards the server.
pub fn link(name: &str, rate: &str, buffer: &str, loss: &str) -> Link {
    Link {
        name: name.to_owned(),
        forward: direction(rate, buffer, loss),
        reverse: direction(rate, buffer, "0 %"),
    }
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Reads whatever comes on any stream of any connection.
pub async fn sink(server: Endpoint) {
    while let Some(incoming) = server.accept().await {
        tokio::spawn(async move {
            let Ok(connection) = incoming.await else { return };
            let Ok(mut stream) = connection.accept_uni().await else { return };
            while let Ok(Some(_)) = stream.read_chunk(1 << 20, true).await {}
        });
    }
}

/// Writes until the connection ends.
pub async fn pour(connection: Connection) {
    let Ok(mut stream) = connection.open_uni().await else { return };
    while stream.write_all(&[7; 65_536]).await.is_ok() {}
}
