//! How the clients' listeners are protected, as the cluster's owner configures it.

use kgauge_wire::Secret;

use super::{SaslMechanism, SecurityProtocol};

/// `ssl.client.auth`: whether clients show certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// They are not asked.
    #[default]
    None,
    /// They are asked, and need not. A certificate that is shown must be good.
    Requested,
    /// They must.
    Required,
}

impl ClientAuth {
    const ALL: [Self; 3] = [Self::None, Self::Requested, Self::Required];

    /// From the value of `ssl.client.auth`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|auth| auth.name() == name)
    }

    /// The value of `ssl.client.auth`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Requested => "requested",
            Self::Required => "required",
        }
    }
}

/// How the clients' listeners of all nodes are protected; by default not at all.
///
/// ```
/// use kgauge_broker::security::{Sasl, SaslMechanism, ClusterSecurity};
///
/// let sasl = Sasl::new([SaslMechanism::SCRAM_SHA_256]).with_user("alice", "a long password");
/// let security = ClusterSecurity::sasl_plaintext(sasl);
/// assert_eq!(security.protocol.name(), "SASL_PLAINTEXT");
/// ```
#[derive(Debug, Clone, Default)]
pub struct ClusterSecurity {
    /// What the listeners speak.
    pub protocol: SecurityProtocol,
    /// Wanted exactly by protocols with TLS.
    pub tls: Option<ServerTls>,
    /// Wanted exactly by protocols with SASL.
    pub sasl: Option<Sasl>,
}

impl ClusterSecurity {
    /// TLS alone.
    #[must_use]
    pub fn ssl(tls: ServerTls) -> Self {
        Self {
            protocol: SecurityProtocol::Ssl,
            tls: Some(tls),
            sasl: None,
        }
    }

    /// SASL without encryption.
    #[must_use]
    pub fn sasl_plaintext(sasl: Sasl) -> Self {
        Self {
            protocol: SecurityProtocol::SaslPlaintext,
            tls: None,
            sasl: Some(sasl),
        }
    }

    /// SASL over TLS.
    #[must_use]
    pub fn sasl_ssl(sasl: Sasl, tls: ServerTls) -> Self {
        Self {
            protocol: SecurityProtocol::SaslSsl,
            tls: Some(tls),
            sasl: Some(sasl),
        }
    }
}

/// A node's certificate, and whose certificates it believes. All texts are PEM.
#[derive(Debug, Clone)]
pub struct ServerTls {
    /// The certificate and those that lead to its authority (`ssl.keystore.certificate.chain`).
    pub certificate_chain_pem: String,
    /// Its private key, not encrypted (`ssl.keystore.key`).
    pub key_pem: Secret<Vec<u8>>,
    /// The authorities of clients' certificates (`ssl.truststore.certificates`).
    pub client_ca_pem: Option<String>,
    /// Whether clients show certificates.
    pub client_auth: ClientAuth,
}

impl ServerTls {
    /// TLS in which only the nodes show a certificate.
    #[must_use]
    pub fn new(certificate_chain_pem: impl Into<String>, key_pem: impl Into<Vec<u8>>) -> Self {
        Self {
            certificate_chain_pem: certificate_chain_pem.into(),
            key_pem: Secret::new(key_pem),
            client_ca_pem: None,
            client_auth: ClientAuth::None,
        }
    }

    /// The same with certificates of clients, signed by one of these authorities.
    #[must_use]
    pub fn with_clients(mut self, ca_pem: impl Into<String>, auth: ClientAuth) -> Self {
        self.client_ca_pem = Some(ca_pem.into());
        self.client_auth = auth;
        self
    }
}

/// How clients say who they are.
#[derive(Debug, Clone, Default)]
pub struct Sasl {
    /// What is offered (`sasl.enabled.mechanisms`).
    pub mechanisms: Vec<SaslMechanism>,
    /// Who may come in, by every mechanism that is offered. For SCRAM their passwords become
    /// credentials in the metadata when the cluster starts, as `AlterUserScramCredentials` would
    /// make them; users whom that API made stay when the cluster starts again without their names.
    pub users: Vec<User>,
}

impl Sasl {
    /// These mechanisms, and nobody yet.
    #[must_use]
    pub fn new(mechanisms: impl IntoIterator<Item = SaslMechanism>) -> Self {
        Self {
            mechanisms: mechanisms.into_iter().collect(),
            users: Vec::new(),
        }
    }

    /// The same with one more user.
    #[must_use]
    pub fn with_user(mut self, name: impl Into<String>, password: impl Into<Vec<u8>>) -> Self {
        self.users.push(User {
            name: name.into(),
            password: Secret::new(password),
        });
        self
    }
}

/// Somebody who may come in.
#[derive(Debug, Clone)]
pub struct User {
    /// The name.
    pub name: String,
    /// The password.
    pub password: Secret<Vec<u8>>,
}
