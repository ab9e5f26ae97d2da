//! Access to a cluster from outside, over blocking sockets.
//!
//! # Goals
//!
//! * Kafka's own `client.properties` are read unchanged: each key is applied, or refused with a reason. All mistakes
//!   are reported at once, without secrets.
//! * Each kind of peer gets its own message: no host, no listener, silence, HTTP, TLS. Every error has a fix.
//! * Brokers of every release since Kafka 0.8.2, including those without ApiVersions. What a release does not report is
//!   absent, and what it does not support is an error.
//! * Every wait is limited in time and ends within a tenth of a second after an [`Interrupt`].
//!
//! # Non-goals
//!
//! * Load. The engine's threads take their sockets with [`Connection::into_channel`]; this crate is not built for
//!   speed.
//! * Producing and consuming (`load`).
//! * Kerberos (GSSAPI), and requesting OAUTHBEARER tokens from a server.
//!
//! # Where to start
//!
//! [`ClientConfig`] describes how to reach a cluster, [`Cluster`] is a cluster, [`admin`] has its operations,
//! [`Connection`] is one broker, [`group::GroupMember`] a member of a consumer group.

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
