//! TLS 1.3 between lead and agents. The certificate of the listening side lives as long as its process and proves
//! nothing: `protocol::handshake` does.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, ServerConfig, SignatureScheme};

/// The name in every certificate and handshake; it names nothing.
const NAME: &str = "kgauge-agent";

/// Why there is no TLS.
#[derive(Debug, thiserror::Error)]
pub enum AgentTlsError {
    /// A certificate cannot be made.
    #[error("cannot make a certificate for agents: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library refuses its settings.
    #[error("cannot set up TLS for agents: {0}")]
    Settings(#[from] rustls::Error),
    /// The key cannot be used.
    #[error("cannot set up TLS for agents: {0}")]
    Key(&'static str),
}

/// The side that listens.
pub(crate) fn server() -> Result<Arc<ServerConfig>, AgentTlsError> {
    let made = rcgen::generate_simple_self_signed(vec![NAME.to_owned()])?;
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der());
    let key = key.map_err(AgentTlsError::Key)?;
    let config = ServerConfig::builder_with_provider(Arc::new(provider::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)?;
    Ok(Arc::new(config))
}

/// The side that connects.
pub(crate) fn client() -> Result<Arc<ClientConfig>, AgentTlsError> {
    let provider = Arc::new(provider::default_provider());
    let verifier = Arc::new(UnnamedVerifier {
        provider: Arc::clone(&provider),
    });
    let config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// The name to connect to.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from(NAME)
        .unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()))
}

/// Accepts every certificate whose key the other side has: the proof of the token follows.
#[derive(Debug)]
struct UnnamedVerifier {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for UnnamedVerifier {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let known = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let known = &self.provider.signature_verification_algorithms;
        known.supported_schemes()
    }
}
