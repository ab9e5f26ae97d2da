//! TLS and SASL, with the settings of Kafka's own `client.properties`.

pub(crate) mod channel;
mod der;
mod ec_key;
mod jaas;
pub(crate) mod jks;
mod peers;
mod pem;
mod pkcs12;
mod sealed;
pub(crate) mod settings;
mod store;
pub(crate) mod tls;
pub(crate) mod token;

use std::fmt;
use std::sync::Arc;

pub use channel::Channel;
use kgauge_wire::Secret;
pub use kgauge_wire::scram::ScramMechanism;
pub use kgauge_wire::security::{SaslMechanism, SecurityProtocol};
pub use peers::{peer_client_config, peer_server_config};
pub use tls::TlsSession;

/// How connections are protected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Security {
    /// `security.protocol`.
    pub protocol: SecurityProtocol,
    /// Present if and only if the protocol has TLS.
    pub tls: Option<TlsSettings>,
    /// Present if and only if the protocol has SASL.
    pub sasl: Option<SaslSettings>,
}

/// The TLS settings; all files were read with them.
#[derive(Clone)]
pub struct TlsSettings {
    /// Whether a broker's certificate must contain the name that the client connected to.
    pub host_names_checked: bool,
    pub(crate) client: Arc<rustls::ClientConfig>,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // rustls's configuration contains the private key.
        formatter
            .debug_struct("TlsSettings")
            .field("host_names_checked", &self.host_names_checked)
            .finish_non_exhaustive()
    }
}

impl PartialEq for TlsSettings {
    fn eq(&self, other: &TlsSettings) -> bool {
        Arc::ptr_eq(&self.client, &other.client)
    }
}

impl Eq for TlsSettings {}

/// `sasl.mechanism` and its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SaslSettings {
    /// `PLAIN` (RFC 4616).
    Plain(Login),
    /// SCRAM (RFC 5802, RFC 7677).
    Scram(ScramMechanism, Login),
    /// `OAUTHBEARER` (RFC 7628).
    OauthBearer(TokenSource),
}

impl SaslSettings {
    /// Kafka's name for the mechanism.
    pub fn mechanism(&self) -> &'static str {
        match self {
            SaslSettings::Plain(_) => SaslMechanism::Plain.name(),
            SaslSettings::Scram(mechanism, _) => mechanism.name(),
            SaslSettings::OauthBearer(_) => "OAUTHBEARER",
        }
    }
}

/// A user name and a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The user; treated as a secret, because users put passwords there by mistake.
    pub username: Secret,
    /// The password.
    pub password: Secret,
    /// They are those of a delegation token (SCRAM only).
    pub is_delegation_token: bool,
}

/// The source of a new connection's bearer token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// The content of a file.
    File(std::path::PathBuf),
    /// The output of a shell command; the command itself may contain a secret.
    Command(Secret),
    /// An unsigned token, as Kafka's own login module creates for tests.
    Unsecured {
        /// Claims as JSON members, without `iat` and `exp`.
        claims: Vec<(String, Secret)>,
        /// Its lifetime.
        lifetime_s: u64,
    },
}
