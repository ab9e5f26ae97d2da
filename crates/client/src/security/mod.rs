//! TLS and SASL, in the words of Kafka's own `client.properties`.

pub(crate) mod channel;
mod der;
mod ec_key;
mod jaas;
pub(crate) mod jks;
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
pub use tls::TlsSession;

/// How connections are protected.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Security {
    /// `security.protocol`.
    pub protocol: SecurityProtocol,
    /// Set exactly when the protocol has TLS.
    pub tls: Option<TlsSettings>,
    /// Set exactly when the protocol has SASL.
    pub sasl: Option<SaslSettings>,
}

/// What TLS needs; all files were read when the settings were.
#[derive(Clone)]
pub struct TlsSettings {
    /// Whether the name in a broker's certificate must be that under which it was reached.
    pub host_names_checked: bool,
    pub(crate) client: Arc<rustls::ClientConfig>,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What rustls holds has the private key in it.
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

/// `sasl.mechanism` with what it needs.
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
    /// Kafka's name of the mechanism.
    pub fn mechanism(&self) -> &'static str {
        match self {
            SaslSettings::Plain(_) => SaslMechanism::Plain.name(),
            SaslSettings::Scram(mechanism, _) => mechanism.name(),
            SaslSettings::OauthBearer(_) => "OAUTHBEARER",
        }
    }
}

/// A name with its password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// The user; held as a secret because mistakes put passwords there.
    pub username: Secret,
    /// The password.
    pub password: Secret,
    /// Name and password are those of a delegation token (SCRAM only).
    pub is_delegation_token: bool,
}

/// Where each new connection gets its bearer token from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// The whole content of a file.
    File(std::path::PathBuf),
    /// What a shell command prints; it may itself hold a secret.
    Command(Secret),
    /// An unsigned token, as Kafka's own login module makes them for tests.
    Unsecured {
        /// Claims as JSON members, without `iat` and `exp`.
        claims: Vec<(String, Secret)>,
        /// How long it is valid.
        lifetime_s: u64,
    },
}
