//! A client's settings, under the names and with the defaults of Kafka's own clients.

mod address;
mod keys;
mod mistake;
mod properties;
mod setting;
mod settings;
#[cfg(test)]
mod tests;
mod value;

use std::path::Path;
use std::time::Duration;

pub use address::{Address, AddressMistake};
pub use keys::{KeyRole, role as key_role};
pub use mistake::{ClientConfigError, ConfigMistake, ConfigNote, SettingLocation};
pub use setting::Setting;
pub use settings::Settings;

use crate::connection::OldBrokers;
use crate::security::Security;

/// Kafka's own limit for requests (`socket.request.max.bytes`), used here for responses.
const RESPONSE_BYTES_MAX: usize = 100 * 1024 * 1024;

/// How to reach a cluster. Defaults are those of the Java admin client of Kafka 4.3.1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// `bootstrap.servers`: never empty.
    pub bootstrap_servers: Vec<Address>,
    /// `client.id`, for brokers' logs and quotas.
    pub client_id: String,
    /// `request.timeout.ms`: the time limit for the response to one request.
    pub request_timeout: Duration,
    /// `default.api.timeout.ms`: the time limit for one operation with all its retries.
    pub api_timeout: Duration,
    /// `socket.connection.setup.timeout.ms`: the time limit for the first attempt to connect.
    pub connection_setup_timeout: Duration,
    /// `socket.connection.setup.timeout.max.ms`: the maximum after doublings.
    pub connection_setup_timeout_max: Duration,
    /// `reconnect.backoff.ms`: the pause before the first new attempt to connect.
    pub reconnect_backoff: Duration,
    /// `reconnect.backoff.max.ms`: the maximum after doublings.
    pub reconnect_backoff_max: Duration,
    /// `retry.backoff.ms`: the pause before the first retry of a request.
    pub retry_backoff: Duration,
    /// `retry.backoff.max.ms`: the maximum after doublings.
    pub retry_backoff_max: Duration,
    /// `retries`: how often an operation is retried within its time limit.
    pub retries: u32,
    /// `metadata.max.age.ms`: the age at which metadata are refreshed although nothing failed.
    pub metadata_age_max: Duration,
    /// `connections.max.idle.ms`: a connection that was unused for this long is replaced; `None` (-1) keeps it forever.
    pub connection_idle_max: Option<Duration>,
    /// `send.buffer.bytes` (`SO_SNDBUF`); `None` (-1) leaves it to the operating system.
    pub send_buffer_bytes: Option<u32>,
    /// `receive.buffer.bytes` (`SO_RCVBUF`); `None` (-1) leaves it to the operating system.
    pub receive_buffer_bytes: Option<u32>,
    /// `metadata.recovery.strategy`: what happens if no known broker can be reached any more.
    pub metadata_recovery: MetadataRecovery,
    /// The largest response that is read; not a key of Kafka. A larger length is an error, not an allocation.
    pub response_bytes_max: usize,
    /// TLS and SASL.
    pub security: Security,
    /// The known brokers without ApiVersions; not a key of Kafka.
    pub old_brokers: OldBrokers,
    /// The settings as given, for other clients of the same cluster.
    pub given: Vec<Setting>,
    /// Notes for the report, such as settings without effect.
    pub notes: Vec<ConfigNote>,
}

/// `metadata.recovery.strategy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataRecovery {
    /// Start again with the bootstrap servers.
    Rebootstrap,
    /// Fail.
    None,
}

impl ClientConfig {
    /// Kafka's defaults for these servers.
    ///
    /// `bootstrap_servers` must not be empty; a cluster without an address is never reached.
    pub fn new(bootstrap_servers: Vec<Address>) -> ClientConfig {
        ClientConfig {
            bootstrap_servers,
            client_id: "kgauge".to_owned(),
            request_timeout: Duration::from_millis(30_000),
            api_timeout: Duration::from_millis(60_000),
            connection_setup_timeout: Duration::from_millis(10_000),
            connection_setup_timeout_max: Duration::from_millis(30_000),
            reconnect_backoff: Duration::from_millis(50),
            reconnect_backoff_max: Duration::from_millis(1_000),
            retry_backoff: Duration::from_millis(100),
            retry_backoff_max: Duration::from_millis(1_000),
            retries: i32::MAX.unsigned_abs(),
            metadata_age_max: Duration::from_millis(300_000),
            connection_idle_max: Some(Duration::from_millis(300_000)),
            send_buffer_bytes: Some(131_072),
            receive_buffer_bytes: Some(65_536),
            metadata_recovery: MetadataRecovery::Rebootstrap,
            response_bytes_max: RESPONSE_BYTES_MAX,
            security: Security::default(),
            old_brokers: OldBrokers::default(),
            given: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// From `host:port[,host:port]` alone.
    pub fn from_servers(servers: &str) -> Result<ClientConfig, ClientConfigError> {
        let mut settings = Settings::default();
        settings.add_pair("bootstrap.servers", servers);
        settings.client_config()
    }

    /// The bootstrap servers as `host:port[,host:port]`.
    pub fn servers(&self) -> String {
        let servers = self.bootstrap_servers.iter().map(ToString::to_string);
        servers.collect::<Vec<_>>().join(",")
    }

    /// From the text of a properties file; `origin` is its name in messages.
    pub fn from_properties_text(
        text: &str,
        origin: &str,
    ) -> Result<ClientConfig, ClientConfigError> {
        let mut settings = Settings::default();
        settings.add_properties(origin, text.as_bytes());
        settings.client_config()
    }

    /// From a file that Kafka's own tools accept with `--command-config`.
    pub fn from_properties_file(path: &Path) -> Result<ClientConfig, ClientConfigError> {
        let mut settings = Settings::default();
        settings.add_file(path)?;
        settings.client_config()
    }
}
