//! A client's settings on their way to agents and back.

use kgauge_client::ClientConfig;
use kgauge_client::config::{ClientConfigError, Settings};

use crate::protocol::ClientSettings;

/// The key that the lead knows better: it may have started the cluster.
const SERVERS: &str = "bootstrap.servers";

impl ClientSettings {
    /// The settings of a client as the user gave them. Files that they name must exist on the agents' machines.
    pub fn of(config: &ClientConfig) -> Self {
        let given = config.given.iter();
        let mut pairs: Vec<(String, String)> = given
            .filter(|setting| setting.key != SERVERS)
            .map(|setting| (setting.key.clone(), setting.value.expose().clone()))
            .collect();
        pairs.push((SERVERS.to_owned(), config.servers()));
        Self(pairs)
    }

    /// The settings of the agent's client; reads the files that they name.
    pub(crate) fn client_config(&self) -> Result<ClientConfig, ClientConfigError> {
        let mut settings = Settings::default();
        for (key, value) in &self.0 {
            settings.add_pair(key, value);
        }
        settings.client_config()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_agent_reaches_the_same_cluster_in_the_same_way() {
        let text = "bootstrap.servers=old:1\nrequest.timeout.ms=5000\nsecurity.protocol=SASL_PLAINTEXT\n\
                    sasl.mechanism=PLAIN\nsasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule \
                    required username=\"u\" password=\"hunter2\";\n";
        let mut config = ClientConfig::from_properties_text(text, "client.properties").unwrap();
        config.bootstrap_servers = ClientConfig::from_servers("b1:9092,b2:9093")
            .unwrap()
            .bootstrap_servers;
        let sent = ClientSettings::of(&config);
        assert!(!format!("{sent:?}").contains("hunter2"));
        let read = sent.client_config().unwrap();
        assert_eq!(read.servers(), "b1:9092,b2:9093");
        assert_eq!(read.request_timeout, config.request_timeout);
        assert_eq!(read.security, config.security);
    }
}
