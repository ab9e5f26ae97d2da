//! TLS 1.3 between lead and agents. The certificate of the listening side lives as long as its process and proves
//! nothing: `protocol::handshake` does.

use std::sync::Arc;

use kgauge_client::security::{peer_client_config, peer_server_config};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ServerConfig};

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
    Ok(peer_server_config(made.cert.der().clone(), key)?)
}

/// The side that connects.
pub(crate) fn client() -> Result<Arc<ClientConfig>, AgentTlsError> {
    Ok(peer_client_config()?)
}

/// The name to connect to.
pub(crate) fn server_name() -> ServerName<'static> {
    ServerName::try_from(NAME)
        .unwrap_or(ServerName::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()))
}
