//! Right and wrong tickets.

use super::support::*;
use afteryou_transfer::dial::{DialError, Failure};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::ticket::{Fingerprint, Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use afteryou_transfer::wire::ALPN;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::Endpoint;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{DigitallySignedStruct, DistinguishedName, SignatureScheme};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};

#[tokio::test]
async fn the_owner_of_a_ticket_gets_in_and_is_understood() {
    let listening = new_listening();
    let connection = dialer(&listening.ticket()).dial().await.unwrap();
    assert_eq!(say(&connection, b"hello").await.unwrap(), b"hello");
    assert_eq!((listening.sessions(), listening.said()), (1, vec![b"hello".to_vec()]));
}

#[tokio::test]
async fn a_wrong_secret_is_refused_with_a_clear_sentence() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    let mut bytes = SECRET;
    bytes[15] ^= 1;
    ticket.secret = Secret::new(bytes);
    let error = dialer(&ticket).dial().await.unwrap_err();
    assert!(matches!(error, DialError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("the peer refused this ticket: "), "{error}");
    assert_eq!(listening.sessions(), 0);
}

#[tokio::test]
async fn a_wrong_secret_gets_no_byte_of_application_data_through() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    ticket.secret = Secret::new([0; 16]);
    // Not the dialer, which would wait: a client that talks at once.
    let endpoint = client_endpoint();
    let connecting =
        endpoint.connect_with(tls::client(&ticket).unwrap(), listening.address, "afteryou").unwrap();
    // In TLS 1.3 this succeeds: the refusal is still on its way.
    let connection = connecting.await.unwrap();
    let answer = say(&connection, b"let me in").await;
    assert!(answer.is_err(), "{answer:?}");
    let close = connection.closed().await.to_string();
    assert!(!close.contains("receive") && !close.contains(ticket.role.to_string().as_str()), "{close}");
    assert_eq!((listening.sessions(), listening.said().len()), (0, 0));
}

#[tokio::test]
async fn a_ticket_with_its_role_changed_is_a_wrong_ticket() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    ticket.role = Role::Serve;
    assert!(matches!(dialer(&ticket).dial().await, Err(DialError::Refused { .. })));
    assert_eq!(listening.sessions(), 0);
}

#[tokio::test]
async fn a_far_end_with_another_certificate_is_not_talked_to() {
    let listening = new_listening();
    let mut ticket = listening.ticket();
    ticket.fingerprint.0[0] ^= 1;
    let error = dialer(&ticket).dial().await.unwrap_err();
    assert!(
        matches!(&error, DialError::Unreachable(tried) if matches!(tried[0].failure, Failure::Stranger(_))),
        "{error}"
    );
    assert!(error.to_string().contains("not the one of this ticket"), "{error}");
    assert_eq!(listening.sessions(), 0);
}

#[tokio::test]
async fn a_client_without_a_certificate_is_refused() {
    let listening = new_listening();
    let endpoint = client_endpoint();
    let connecting = endpoint
        .connect_with(without_certificate(Scanner::default()), listening.address, "afteryou")
        .unwrap();
    let closed = match connecting.await {
        Ok(connection) => timeout(Duration::from_secs(5), connection.closed()).await.unwrap(),
        Err(error) => error,
    };
    assert!(matches!(closed, quinn::ConnectionError::ConnectionClosed(_)), "{closed}");
    assert_eq!(listening.sessions(), 0);
}

#[tokio::test]
async fn services_of_one_identity_are_told_apart_by_their_clients() {
    let identity = Identity::ephemeral().unwrap();
    let admissions: Vec<Admission> = [(Role::Receive, 1), (Role::Serve, 1), (Role::Serve, 2)]
        .map(|(role, byte)| Admission { role, secret: Secret::new([byte; 16]) })
        .into();
    let config = tls::server(&identity, &admissions).unwrap();
    let endpoint = Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = endpoint.local_addr().unwrap();
    for (index, admission) in admissions.iter().enumerate() {
        let ticket = Ticket {
            role: admission.role,
            fingerprint: identity.fingerprint(),
            secret: admission.secret.clone(),
            addresses: vec![address.into()],
        };
        let dialer = dialer(&ticket);
        let (dialled, accepted) =
            tokio::join!(dialer.dial(), async { endpoint.accept().await.unwrap().await.unwrap() });
        dialled.unwrap();
        assert_eq!(tls::admitted(&accepted, &admissions), Some(index));
        assert_eq!(tls::admitted(&accepted, &admissions[..index]), None);
    }
}

#[tokio::test]
async fn a_stranger_at_the_address_is_not_shown_the_clients_certificate() {
    let right = Identity::ephemeral().unwrap();
    let shown = Arc::new(AtomicUsize::new(0));
    let stranger = stranger(shown.clone());
    let ticket = Ticket {
        role: Role::Receive,
        fingerprint: right.fingerprint(),
        secret: Secret::new(SECRET),
        addresses: vec![stranger.local_addr().unwrap().into()],
    };
    let door = stranger.clone();
    let accepting = tokio::spawn(async move { door.accept().await.unwrap().await });
    assert!(dialer(&ticket).dial().await.is_err());
    assert!(accepting.await.unwrap().is_err());
    sleep(Duration::from_millis(50)).await;
    assert_eq!(shown.load(Ordering::SeqCst), 0);

    // The same stranger does see the certificate of somebody who trusts it: the count above can fail.
    let trusting = Ticket { fingerprint: fingerprint_of(&stranger).await, ..ticket };
    let door = stranger.clone();
    let accepting = tokio::spawn(async move { door.accept().await.unwrap().await });
    dialer(&trusting).dial().await.unwrap();
    let _accepted = accepting.await.unwrap().unwrap();
    assert_eq!(shown.load(Ordering::SeqCst), 1);
}

/// Opens an endpoint that takes anybody's certificate and counts them.
fn stranger(shown: Arc<AtomicUsize>) -> Endpoint {
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    let certificate = rcgen::CertificateParams::default().self_signed(&key).unwrap().der().clone();
    let mut config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_client_cert_verifier(Arc::new(Counting(shown)))
            .with_single_cert(vec![certificate], PrivatePkcs8KeyDer::from(key.serialize_der()).into())
            .unwrap();
    config.alpn_protocols = vec![ALPN.to_vec()];
    let config = quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config).unwrap()));
    Endpoint::server(config, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap()
}

fn without_certificate(scanner: Scanner) -> quinn::ClientConfig {
    let mut config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(scanner))
            .with_no_client_auth();
    config.alpn_protocols = vec![ALPN.to_vec()];
    quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(config).unwrap()))
}

/// Returns the fingerprint as a port scanner would learn it.
async fn fingerprint_of(server: &Endpoint) -> Fingerprint {
    let scanner = Scanner::default();
    let seen = scanner.0.clone();
    let endpoint = client_endpoint();
    let connecting = endpoint
        .connect_with(without_certificate(scanner), server.local_addr().unwrap(), "afteryou")
        .unwrap();
    let (_, _) = tokio::join!(connecting, async { server.accept().await.unwrap().await });
    let certificate = seen.lock().unwrap().clone();
    Fingerprint::of(&certificate)
}

/// The rest of a verifier that looks at certificates alone.
macro_rules! every_signature_is_valid {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }
        fn verify_tls13_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Ok(HandshakeSignatureValid::assertion())
        }
        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }
    };
}

#[derive(Debug)]
struct Counting(Arc<AtomicUsize>);

impl ClientCertVerifier for Counting {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }
    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(ClientCertVerified::assertion())
    }
    every_signature_is_valid!();
}

/// Believes every server and keeps its certificate.
#[derive(Debug, Default)]
struct Scanner(Arc<Mutex<Vec<u8>>>);

impl ServerCertVerifier for Scanner {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        *self.0.lock().unwrap() = certificate.to_vec();
        Ok(ServerCertVerified::assertion())
    }
    every_signature_is_valid!();
}
