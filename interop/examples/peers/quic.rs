//! quinn with CUBIC, its default: encrypted, with GSO and GRO.

use super::work::{self, Work};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::rustls::{
    self,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{ring, verify_tls12_signature, verify_tls13_signature, CryptoProvider},
    pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime},
    DigitallySignedStruct, SignatureScheme,
};
use quinn::{ClientConfig, Endpoint, MtuDiscoveryConfig, ServerConfig, TransportConfig};
use std::sync::Arc;
use std::time::Duration;

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    let mut search = MtuDiscoveryConfig::default();
    search.upper_bound(work::DATAGRAM);
    transport.mtu_discovery_config(Some(search));
    Arc::new(transport)
}

fn socket() -> std::io::Result<std::net::UdpSocket> {
    afteryou_sockets::bind(work::here(), afteryou_sockets::Families::Own)
}

fn endpoint(server: Option<ServerConfig>) -> anyhow::Result<Endpoint> {
    let runtime = Arc::new(quinn::TokioRuntime);
    Ok(Endpoint::new(quinn::EndpointConfig::default(), server, socket()?, runtime)?)
}

pub fn receive() -> anyhow::Result<(u64, Duration)> {
    work::run(async move {
        let certified = rcgen::generate_simple_self_signed(vec!["peer".into()])?;
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let mut server = ServerConfig::with_single_cert(vec![certified.cert.into()], key.into())?;
        server.transport_config(transport());
        let endpoint = endpoint(Some(server))?;
        work::announce(endpoint.local_addr()?);
        let incoming = endpoint.accept().await.ok_or_else(|| anyhow::anyhow!("the endpoint is closed"))?;
        let connection = incoming.await?;
        let mut stream = connection.accept_uni().await?;
        let result = work::read(&mut stream).await?;
        connection.close(0u8.into(), b"");
        endpoint.wait_idle().await;
        Ok(result)
    })
}

pub fn send(work: Work) -> anyhow::Result<()> {
    work::run(async move {
        let provider = Arc::new(ring::default_provider());
        let tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Anyone(provider)))
            .with_no_client_auth();
        let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
        client.transport_config(transport());
        let endpoint = endpoint(None)?;
        let connection = endpoint.connect_with(client, work.to, "peer")?.await?;
        let mut stream = connection.open_uni().await?;
        work::write(&mut stream, &work).await?;
        stream.finish()?;
        connection.closed().await;
        endpoint.wait_idle().await;
        Ok(())
    })
}

/// Takes any certificate: the receiver is the process that was started a moment ago.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
