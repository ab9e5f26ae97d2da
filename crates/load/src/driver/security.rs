//! Translates the target's client properties for other clients: TLS, SASL, connections.

use kgauge_client::ClientConfig;
use kgauge_client::config::{KeyRole, Setting, key_role};
use kgauge_client::security::{Login, SaslSettings};

use super::properties::DriverProperties;

/// Connection keys that the flow's settings determine, or that no producer has.
const SET_BY_FLOW: &[&str] = &[
    "bootstrap.servers",
    "client.id",
    "default.api.timeout.ms",
    "metadata.max.age.ms",
    "receive.buffer.bytes",
    "request.timeout.ms",
    "retries",
    "retry.backoff.max.ms",
    "retry.backoff.ms",
    "send.buffer.bytes",
];

/// The login of a mechanism that both clients support.
fn login(client: &ClientConfig) -> Result<Option<&Login>, String> {
    match &client.security.sasl {
        None => Ok(None),
        Some(SaslSettings::Plain(login) | SaslSettings::Scram(_, login)) => Ok(Some(login)),
        Some(SaslSettings::OauthBearer(_)) => {
            Err("drivers do not support kgauge's OAUTHBEARER login".to_owned())
        }
    }
}

/// Kafka's Java client takes everything unchanged.
pub(super) fn java(client: &ClientConfig, properties: &mut DriverProperties) -> Result<(), String> {
    login(client)?;
    for setting in own_keys(client) {
        properties.set(&setting.key, setting.value.expose());
    }
    Ok(())
}

fn own_keys(client: &ClientConfig) -> impl Iterator<Item = &Setting> {
    let settings = client.given.iter();
    settings.filter(|setting| !SET_BY_FLOW.contains(&setting.key.as_str()))
}

/// librdkafka has other names for many keys.
pub(super) fn librdkafka(
    client: &ClientConfig,
    properties: &mut DriverProperties,
) -> Result<(), String> {
    let login = login(client)?;
    let protocol = client.security.protocol;
    for setting in own_keys(client) {
        let (key, value) = (setting.key.as_str(), setting.value.expose().trim());
        let is_used = match key_role(key) {
            Some(KeyRole::JavaOnly) => false,
            Some(KeyRole::Security) if key.starts_with("ssl.") => protocol.has_tls(),
            Some(KeyRole::Security) => protocol.has_sasl(),
            _ => true,
        };
        if !is_used || value.is_empty() && key != "ssl.endpoint.identification.algorithm" {
            continue;
        }
        let is_pem = |kind: &str| {
            let written = client.given.iter().find(|other| other.key == kind);
            written.is_some_and(|other| other.value.expose().trim().eq_ignore_ascii_case("PEM"))
        };
        match key {
            "security.protocol"
            | "client.dns.lookup"
            | "connections.max.idle.ms"
            | "metadata.recovery.strategy"
            | "reconnect.backoff.max.ms"
            | "reconnect.backoff.ms"
            | "socket.connection.setup.timeout.ms"
            | "sasl.mechanism" => properties.set(key, value),
            // Taken from the login below.
            "sasl.jaas.config" => {}
            "ssl.endpoint.identification.algorithm" => {
                properties.set(key, if value.is_empty() { "none" } else { "https" });
            }
            "ssl.truststore.type" | "ssl.keystore.type" => {}
            "ssl.truststore.location" if is_pem("ssl.truststore.type") => {
                properties.set("ssl.ca.location", value);
            }
            "ssl.truststore.certificates" => properties.set("ssl.ca.pem", value),
            "ssl.keystore.location" if is_pem("ssl.keystore.type") => {
                properties.set("ssl.certificate.location", value);
                properties.set("ssl.key.location", value);
            }
            "ssl.keystore.certificate.chain" => properties.set("ssl.certificate.pem", value),
            "ssl.keystore.key" => properties.set("ssl.key.pem", value),
            "ssl.key.password" => properties.set(key, value),
            "ssl.truststore.location" | "ssl.keystore.location" => {
                return Err(format!(
                    "{key} is only translated for librdkafka from PEM files"
                ));
            }
            _ => {
                return Err(format!(
                    "{key} of the client properties has no librdkafka translation"
                ));
            }
        }
    }
    if let Some(login) = login {
        if login.is_delegation_token {
            return Err("delegation tokens have no librdkafka translation".to_owned());
        }
        properties.set("sasl.username", login.username.expose());
        properties.set("sasl.password", login.password.expose());
    }
    Ok(())
}
