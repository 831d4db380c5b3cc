//! Authentication of both sides: TLS 1.3 with both certificates pinned.
//!
//! # Model
//! The listening side shows the certificate of its identity; the client compares its SHA-256 with the ticket and checks the
//! signature that proves possession of the key. Nothing else about the certificate matters: no authority, name or date.
//!
//! The client shows a certificate whose Ed25519 key is **derived from the ticket's secret and role**. The listening side
//! derives the same public key and accepts only that, again with the signature checked. So the secret never travels, not
//! even encrypted, and a wrong one ends in a failed handshake before a byte of application data. A changed entry of the
//! ticket (a receiver's ticket made into a server's) is a wrong secret, too. In TLS 1.3 the client is second: it shows its
//! certificate only after the listening side has proven to be the right one, so a stranger at the address learns nothing to
//! try secrets against. The handshake's signature covers both sides' fresh random numbers: a recorded one is worth nothing.
//!
//! # Constants
//! TLS 1.3 only, the cipher suites and groups of `ring`. No 0-RTT (it could be replayed) and no resumption: a job makes few
//! connections, and each of them shall prove everything anew.
//!
//! # What the client learns late
//! In TLS 1.3 the client's handshake is complete before the listening side has looked at its certificate. The refusal then comes as a
//! close with the alert. `dial.rs` therefore waits for HANDSHAKE_DONE (RFC 9001 §4.1.2).
//!
//! # Known limits
//! Anyone who can send packets to the port learns the certificate's fingerprint, as with any TLS server. It lets them recognise the
//! service and nothing else.

use crate::identity::{self_signed, Identity};
use crate::ticket::{Fingerprint, Role, Secret, Ticket};
use crate::wire::ALPN;
use quinn::crypto::rustls::{NoInitialCipherSuite, QuicClientConfig, QuicServerConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::Resumption;
use rustls::crypto::{verify_tls13_signature, CryptoProvider};
use rustls::pki_types::{
    CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{NoServerSessionStorage, ParsedCertificate};
use rustls::version::TLS13;
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, SignatureScheme};
use std::sync::Arc;
use thiserror::Error;

/// The context that keeps the derived keys apart from those of other purposes. Never changes.
const CLIENT_KEY_CONTEXT: &str = "afteryou 2026-11 client key from a ticket's secret";

/// PKCS#8 of an Ed25519 key up to its 32 bytes, RFC 8410 §7.
const ED25519_PKCS8: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// TLS alert `access_denied`: what a refusal of a certificate becomes on the wire, RFC 8446 §6.
pub(crate) const ACCESS_DENIED: u8 = 49;

/// The server name that QUIC libraries require. It is not sent.
pub(crate) const SERVER_NAME: &str = "afteryou";

/// Only reachable through a key or certificate that is not one.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// TLS does not take the key or the certificate.
    #[error("the TLS key or certificate cannot be used: {0}")]
    Rustls(#[from] rustls::Error),
    /// A certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The set of ciphers lacks the one that QUIC begins with.
    #[error("cannot set up encryption: {0}")]
    Cipher(#[from] NoInitialCipherSuite),
}

/// The role for which an identity lets clients in. Several on one port are distinguished by their clients' keys.
#[derive(Clone, Debug)]
pub struct Admission {
    /// The listening side's role for them.
    pub role: Role,
    /// The secret that the clients have.
    pub secret: Secret,
}

/// Returns how the listening side answers handshakes.
///
/// # Errors
/// A key or certificate of the identity that cannot be used, and secrets of which no key can be made.
pub fn server(identity: &Identity, admissions: &[Admission]) -> Result<quinn::ServerConfig, TlsError> {
    let verifier = PinnedClients { keys: public_keys(admissions)?, provider: provider() };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(identity.key().to_vec()));
    let certificate = CertificateDer::from(identity.certificate().to_vec());
    let mut config = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .with_client_cert_verifier(Arc::new(verifier))
        .with_single_cert(vec![certificate], key)?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    Ok(quinn::ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(config)?)))
}

/// Returns how the owner of a ticket begins handshakes.
///
/// # Errors
/// A secret of which no key or certificate can be made.
pub fn client(ticket: &Ticket) -> Result<quinn::ClientConfig, TlsError> {
    let verifier = PinnedServer { fingerprint: ticket.fingerprint, provider: provider() };
    let key = client_key(ticket.role, &ticket.secret);
    let certificate = CertificateDer::from(self_signed(&key_pair(&key)?)?);
    let mut config = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_client_auth_cert(vec![certificate], key.into())?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    config.enable_sni = false;
    Ok(quinn::ClientConfig::new(Arc::new(QuicClientConfig::try_from(config)?)))
}

/// Returns which of `admissions` the client of this connection was let in for. `None` only if it was let in by another list.
pub fn admitted(connection: &quinn::Connection, admissions: &[Admission]) -> Option<usize> {
    let certificates = connection.peer_identity()?.downcast::<Vec<CertificateDer<'static>>>().ok()?;
    let shown = public_key(certificates.first()?)?;
    public_keys(admissions).ok()?.iter().position(|known| *known == shown)
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn client_key(role: Role, secret: &Secret) -> PrivatePkcs8KeyDer<'static> {
    let mut hasher = blake3::Hasher::new_derive_key(CLIENT_KEY_CONTEXT);
    hasher.update(&[role.byte()]).update(secret.expose());
    [&ED25519_PKCS8[..], hasher.finalize().as_bytes()].concat().into()
}

fn key_pair(key: &PrivatePkcs8KeyDer<'_>) -> Result<rcgen::KeyPair, rcgen::Error> {
    rcgen::KeyPair::from_pkcs8_der_and_sign_algo(key, &rcgen::PKCS_ED25519)
}

/// Returns the DER of the public keys that clients must show.
fn public_keys(admissions: &[Admission]) -> Result<Vec<Vec<u8>>, rcgen::Error> {
    let of = |admission: &Admission| {
        let pair = key_pair(&client_key(admission.role, &admission.secret))?;
        Ok(rcgen::PublicKeyData::subject_public_key_info(&pair))
    };
    admissions.iter().map(of).collect()
}

fn public_key(certificate: &CertificateDer<'_>) -> Option<Vec<u8>> {
    let parsed = ParsedCertificate::try_from(certificate).ok()?;
    let key: SubjectPublicKeyInfoDer<'static> = parsed.subject_public_key_info();
    Some(key.as_ref().to_vec())
}

fn refused() -> rustls::Error {
    CertificateError::ApplicationVerificationFailure.into()
}

fn no_tls12() -> rustls::Error {
    rustls::Error::General("only TLS 1.3 is spoken here".into())
}

/// The signatures of a verifier: in TLS 1.3 those of the provider, in TLS 1.2 none.
macro_rules! tls13_signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Err(no_tls12())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
        }
    };
}

#[derive(Debug)]
struct PinnedServer {
    fingerprint: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinnedServer {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // Neither side of the comparison is a secret, so its duration reveals nothing.
        match Fingerprint::of(end_entity) == self.fingerprint {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(refused()),
        }
    }

    tls13_signatures!();

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[derive(Debug)]
struct PinnedClients {
    keys: Vec<Vec<u8>>,
    provider: Arc<CryptoProvider>,
}

impl ClientCertVerifier for PinnedClients {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        // A public key: knowing it, even wholly, does not let anybody sign for it.
        match public_key(end_entity).is_some_and(|key| self.keys.contains(&key)) {
            true => Ok(ClientCertVerified::assertion()),
            false => Err(refused()),
        }
    }

    tls13_signatures!();

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        // The only kind of key that is pinned.
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
mod tests;
