//! TLS 1.3 between two processes of kgauge. Certificates prove nothing here: both sides have to prove in another way,
//! over a value that only their session has, that they belong together.

use std::sync::Arc;

use rustls::crypto::ring as provider;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, Error, ServerConfig};

use super::tls::any_certificate;

/// The side that connects. It accepts every certificate whose key the other side has.
///
/// # Errors
/// The TLS library refuses its own defaults.
pub fn peer_client_config() -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(provider::default_provider());
    let verifier = any_certificate(&provider);
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// The side that listens, with a certificate of its own making.
///
/// # Errors
/// The key does not belong to the certificate.
pub fn peer_server_config(
    certificate: CertificateDer<'static>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, Error> {
    let config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)?;
    Ok(Arc::new(config))
}
