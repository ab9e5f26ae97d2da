//! A cluster seen from outside, over blocking sockets.
//!
//! # Goals
//!
//! * Kafka's own `client.properties` are taken as they are: each key is honoured, or named with the
//!   reason why not; all mistakes at once, none with a secret in it.
//! * Whatever listens on a port gets its own words: no host, no listener, silence, HTTP, TLS. Every
//!   error knows a cure.
//! * Brokers of every age since Kafka 0.8.2, also those that know no ApiVersions; what a release does
//!   not tell is absent, and what it cannot do is said.
//! * Every wait is bounded in time and ends within a tenth of a second after an [`Interrupt`].
//!
//! # Non-goals
//!
//! * The load. The engine's threads take their sockets by [`Connection::into_parts`] and go on
//!   alone; nothing here is made for speed.
//! * Producing and consuming; see the room `load`.
//! * Kerberos (GSSAPI), and asking a token server for OAUTHBEARER's tokens.
//!
//! # Where to start
//!
//! [`ClientConfig`] says how to reach a cluster, [`Cluster`] is one, [`admin`] what can be asked
//! of it, [`Connection`] one broker of it, [`group::GroupMember`] a member of a consumer group.

pub mod admin;
mod backoff;
pub mod cluster;
pub mod config;
pub mod connection;
pub mod group;
mod interrupt;
pub mod release;
pub mod security;
mod shown;
pub mod transaction;

pub use cluster::{Cluster, ClusterError};
pub use config::{Address, ClientConfig, ClientConfigError, Settings};
pub use connection::{CallError, ConnectError, Connection};
pub use interrupt::Interrupt;
pub use kgauge_wire::Secret;
pub use security::Security;
pub use security::jks::{jks_with_key, jks_with_trusted};
pub use shown::shown;
