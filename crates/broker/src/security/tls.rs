//! The nodes' side of TLS: their certificate, and whose certificates they believe.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};

use super::{ClientAuth, ServerTls};

/// What every connection's session starts from, or what is wrong.
pub(super) fn server_config(tls: &ServerTls) -> Result<Arc<ServerConfig>, String> {
    let provider = Arc::new(ring::default_provider());
    let chain = certificates(&tls.certificate_chain_pem, "ssl.keystore.certificate.chain")?;
    let key = PrivateKeyDer::from_pem_slice(tls.key_pem.expose())
        .map_err(|_| "ssl.keystore.key has no readable PEM PRIVATE KEY".to_owned())?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let builder = match verifier(tls, provider)? {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let config = builder
        .with_single_cert(chain, key)
        .map_err(|error| format!("ssl.keystore.*: {error}"))?;
    Ok(Arc::new(config))
}

fn verifier(
    tls: &ServerTls,
    provider: Arc<CryptoProvider>,
) -> Result<Option<Arc<dyn ClientCertVerifier>>, String> {
    const TRUSTED: &str = "ssl.truststore.certificates";
    if tls.client_auth == ClientAuth::None {
        return Ok(None);
    }
    let Some(pem) = &tls.client_ca_pem else {
        let auth = tls.client_auth.name();
        return Err(format!(
            "ssl.client.auth is {auth}, but {TRUSTED} is not set"
        ));
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(pem, TRUSTED)? {
        roots
            .add(certificate)
            .map_err(|error| format!("{TRUSTED}: {error}"))?;
    }
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match tls.client_auth {
        ClientAuth::Requested => builder.allow_unauthenticated(),
        _ => builder,
    };
    let built = builder.build();
    Ok(Some(built.map_err(|error| format!("{TRUSTED}: {error}"))?))
}

fn certificates(pem: &str, name: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(format!("{name} has no PEM CERTIFICATE")),
        Err(_) => Err(format!("{name} is malformed PEM")),
    }
}
