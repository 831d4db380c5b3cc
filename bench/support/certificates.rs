//! Settings of two ends of plain quinn in one process.

use super::Result;
use quinn::rustls::pki_types::PrivatePkcs8KeyDer;
use quinn::rustls::RootCertStore;
use quinn::{ClientConfig, ServerConfig, TransportConfig};
use std::sync::Arc;

/// Returns the settings of a server with a certificate of its own making and of a client that trusts it, both with `transport`.
///
/// # Errors
/// If no certificate can be made.
pub fn configurations(transport: &Arc<TransportConfig>) -> Result<(ServerConfig, ClientConfig)> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = made.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    server.transport_config(Arc::clone(transport));
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    client.transport_config(Arc::clone(transport));
    Ok((server, client))
}
