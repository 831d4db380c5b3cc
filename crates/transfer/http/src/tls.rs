//! TLS with rustls: the certificate authorities are the system's, the protocols are HTTP/2 and HTTP/1.1.

use crate::error::Error;
use crate::url::Url;
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::sync::Arc;

/// Returns the configuration, with `roots` or, if there are none, the system's certificate authorities.
pub(crate) fn config(roots: &[CertificateDer<'static>]) -> Result<Arc<ClientConfig>, Error> {
    let mut store = RootCertStore::empty();
    match roots.is_empty() {
        true => store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs),
        false => store.add_parsable_certificates(roots.iter().cloned()),
    };
    if store.is_empty() {
        return Err(Error::NoRoots);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let Ok(builder) = builder else { return Err(Error::NoRoots) };
    let mut config = builder.with_root_certificates(store).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Returns the error of a handshake. A certificate stays wrong, however often it is looked at.
pub(crate) fn refused(url: &Url, error: io::Error) -> Error {
    let host = url.authority();
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(reason)) => {
            Error::Certificate { host, reason: reason.to_string() }
        }
        _ => Error::Connect { host, reason: error },
    }
}
