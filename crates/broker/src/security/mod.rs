//! Who may speak to a node, and so that nobody else can listen: TLS, and SASL by PLAIN or SCRAM.
//!
//! The owner's configuration is a [`ClusterSecurity`]. From it come a TLS configuration for the server's
//! sockets, and what the core needs to let clients in ([`NodeSecurity`]). Nothing here has a socket
//! or a clock; randomness comes from a [`NonceSource`].
//!
//! Not done: GSSAPI, OAUTHBEARER, delegation tokens, re-authentication, access control lists.

mod config;
mod distinguished_name;
mod nonce;
mod prepared;
mod sasl;
mod settings;
#[cfg(test)]
mod tests;
mod tls;

pub use config::{ClientAuth, ClusterSecurity, Sasl, ServerTls, User};
pub(crate) use distinguished_name::subject;
pub use kgauge_wire::scram::{ScramCredential, ScramMechanism};
pub use kgauge_wire::security::{SaslMechanism, SecurityProtocol};
#[cfg(test)]
pub(crate) use nonce::Sevens;
pub use nonce::{NONCE_BYTES, NoRandomness, NonceSource, SystemNonces};
pub use prepared::NodeSecurity;
pub(crate) use prepared::PreparedSecurity;
pub(crate) use sasl::{Exchange, Logins, SaslStep, ScramUsers};
pub(crate) use settings::{is_secret, is_security_setting, read_settings};

/// The principal of a client that did not say who it is, as Kafka names it.
pub(crate) const ANONYMOUS: &str = "User:ANONYMOUS";

/// How long a client may take until it is let in, TLS and SASL together. Kafka leaves that to
/// `connections.max.idle.ms` (10 minutes); here half-open connections go sooner.
pub(crate) const LET_IN_MS: i64 = 10_000;

/// The largest request of a client that is not let in yet: Kafka's default of
/// `sasl.server.max.receive.size`.
pub(crate) const STRANGER_FRAME_BYTES_MAX: usize = 512 << 10;
