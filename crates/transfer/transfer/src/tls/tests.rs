//! Tests that need the derived keys themselves: certificates without their keys.

use super::*;
use quinn::{Connection, ConnectionError, Endpoint};
use rustls::client::ResolvesClientCert;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::net::{Ipv4Addr, SocketAddr};

/// Shows a certificate and signs with another key than the one in it.
#[derive(Debug)]
struct Thief(Arc<CertifiedKey>);

impl Thief {
    fn new(certificate: Vec<u8>) -> Thief {
        let own = PrivatePkcs8KeyDer::from([&ED25519_PKCS8[..], &[7; 32]].concat());
        let key = rustls::crypto::ring::sign::any_eddsa_type(&own).unwrap();
        Thief(Arc::new(CertifiedKey::new(vec![certificate.into()], key)))
    }
}

impl ResolvesClientCert for Thief {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl ResolvesServerCert for Thief {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }
}

fn ticket(identity: &Identity) -> Ticket {
    Ticket {
        role: Role::Serve,
        fingerprint: identity.fingerprint(),
        secret: Secret::new([3; 16]),
        addresses: Vec::new(),
    }
}

fn admissions() -> [Admission; 1] {
    [Admission { role: Role::Serve, secret: Secret::new([3; 16]) }]
}

/// Returns both sides' view of a handshake. The client's connection is kept until the server's side is settled.
async fn meet(
    client: quinn::ClientConfig,
    server: quinn::ServerConfig,
) -> (Result<Connection, ConnectionError>, Result<Connection, ConnectionError>) {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (near, far) = (Endpoint::client(any).unwrap(), Endpoint::server(server, any).unwrap());
    let connecting = near.connect_with(client, far.local_addr().unwrap(), SERVER_NAME).unwrap();
    tokio::join!(connecting, async { far.accept().await.unwrap().await })
}

#[tokio::test]
async fn right_certificates_and_keys_meet() {
    let identity = Identity::ephemeral().unwrap();
    let (near, far) =
        meet(client(&ticket(&identity)).unwrap(), server(&identity, &admissions()).unwrap()).await;
    near.unwrap();
    far.unwrap();
}

#[tokio::test]
async fn the_clients_certificate_without_its_key_does_not_let_in() {
    let identity = Identity::ephemeral().unwrap();
    let right = client_key(Role::Serve, &Secret::new([3; 16]));
    let stolen = self_signed(&key_pair(&right).unwrap()).unwrap();
    let verifier = PinnedServer { fingerprint: identity.fingerprint(), provider: provider() };
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_client_cert_resolver(Arc::new(Thief::new(stolen)));
    config.alpn_protocols = vec![ALPN.to_vec()];
    let thief = quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(config).unwrap()));
    let (_near, far) = meet(thief, server(&identity, &admissions()).unwrap()).await;
    assert!(matches!(far, Err(ConnectionError::TransportError(_))), "{far:?}");
}

#[tokio::test]
async fn the_listening_sides_certificate_without_its_key_is_not_believed() {
    let identity = Identity::ephemeral().unwrap();
    let verifier = PinnedClients { keys: public_keys(&admissions()).unwrap(), provider: provider() };
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_client_cert_verifier(Arc::new(verifier))
        .with_cert_resolver(Arc::new(Thief::new(identity.certificate().to_vec())));
    config.alpn_protocols = vec![ALPN.to_vec()];
    let thief = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config).unwrap()));
    let (near, far) = meet(client(&ticket(&identity)).unwrap(), thief).await;
    assert!(matches!(near, Err(ConnectionError::TransportError(_))), "{near:?}");
    assert!(far.is_err(), "{far:?}");
}

#[test]
fn the_derived_client_key_stays_as_it_is() {
    // Both sides of a ticket may be of different versions.
    let key = |role| client_key(role, &Secret::new([3; 16]));
    let public = key_pair(&key(Role::Receive)).unwrap().public_key_raw().to_vec();
    assert_eq!(
        data_encoding::HEXLOWER.encode(&public),
        "c0d9779563eee64db6b1955274e49dadd2ade0c7e07e8063ddbdf4074c9ba592"
    );
    assert_ne!(key(Role::Receive).secret_pkcs8_der(), key(Role::Serve).secret_pkcs8_der());
}
