//! Settings of Kafka clients as one text that works in a pod: files are written into it.

use std::fmt::Write as _;

use kgauge_client::{ClientConfig, Secret};

/// Sources of OAUTHBEARER tokens.
const TOKEN_KEYS: [&str; 3] = [
    "kgauge.oauthbearer.token.command",
    "kgauge.oauthbearer.token.file",
    "sasl.oauthbearer.token.endpoint.url",
];

/// Why settings do not work in a pod.
#[derive(Debug, thiserror::Error)]
pub enum PodPropertiesError {
    /// A file cannot be read.
    #[error("{key}={path}: {error}")]
    Unreadable {
        /// The setting.
        key: String,
        /// The file.
        path: String,
        /// The system's message.
        error: std::io::Error,
    },
    /// A binary store.
    #[error("{key}={path}: pods only get PEM files; convert it, and set the type to PEM")]
    NotPem {
        /// The setting.
        key: String,
        /// The file.
        path: String,
    },
    /// A token that only this machine can get.
    #[error(
        "{key}: pods have neither this file nor a shell, and tokens expire; use another login, such as SCRAM or a \
         client certificate"
    )]
    Token {
        /// The setting.
        key: String,
    },
}

/// The text of a client.properties file for these settings.
///
/// # Errors
/// A file that cannot be part of it.
pub fn pod_properties(config: &ClientConfig) -> Result<Secret, PodPropertiesError> {
    let mut text = String::new();
    for setting in &config.given {
        let value = setting.value.expose();
        match setting.key.as_str() {
            "ssl.truststore.location" => {
                let pem = read_pem(&setting.key, value.trim())?;
                append(&mut text, "ssl.truststore.certificates", &pem);
            }
            "ssl.keystore.location" => {
                // Each setting uses its part of the file.
                let pem = read_pem(&setting.key, value.trim())?;
                append(&mut text, "ssl.keystore.certificate.chain", &pem);
                append(&mut text, "ssl.keystore.key", &pem);
            }
            key if TOKEN_KEYS.contains(&key) => {
                let key = key.to_owned();
                return Err(PodPropertiesError::Token { key });
            }
            key => append(&mut text, key, value),
        }
    }
    Ok(Secret::new(text))
}

fn read_pem(key: &str, path: &str) -> Result<String, PodPropertiesError> {
    let (key, path) = (key.to_owned(), path.to_owned());
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(PodPropertiesError::Unreadable { key, path, error }),
    };
    match String::from_utf8(bytes) {
        Ok(text) if text.contains("-----BEGIN ") => Ok(text),
        _ => Err(PodPropertiesError::NotPem { key, path }),
    }
}

/// As `java.util.Properties.store` escapes values.
fn append(text: &mut String, key: &str, value: &str) {
    let mut escaped = String::new();
    for (index, letter) in value.chars().enumerate() {
        match letter {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            ' ' if index == 0 => escaped.push_str("\\ "),
            _ => escaped.push(letter),
        }
    }
    let _ = writeln!(text, "{key}={escaped}");
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const CA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../client/tests/stores/ca.pem");
    const JKS: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../client/tests/stores/trust.jks"
    );

    fn read(text: &str) -> ClientConfig {
        ClientConfig::from_properties_text(text, "test").unwrap()
    }

    #[test]
    fn files_become_part_of_the_text_which_means_the_same() {
        let text = format!(
            "bootstrap.servers=a:9093\nsecurity.protocol=SASL_SSL\nssl.truststore.type=PEM\n\
             ssl.truststore.location={CA}\nsasl.mechanism=PLAIN\nsasl.jaas.config=\
             org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"a\\\\\\\\b\";\n"
        );
        let before = read(&text);
        let properties = pod_properties(&before).unwrap();
        assert!(!properties.expose().contains(CA));
        let after = read(properties.expose());
        let value = |config: &ClientConfig, key: &str| {
            let mut settings = config.given.iter();
            settings
                .find(|one| one.key == key)
                .map(|one| one.value.expose().clone())
        };
        let trusted = value(&after, "ssl.truststore.certificates").unwrap();
        assert_eq!(trusted, std::fs::read_to_string(CA).unwrap());
        assert_eq!(
            value(&before, "sasl.jaas.config"),
            value(&after, "sasl.jaas.config")
        );
        assert_eq!(before.servers(), after.servers());
    }

    #[test]
    fn binary_stores_are_refused_with_their_name() {
        let config = ClientConfig {
            given: read(&format!(
                "bootstrap.servers=a:1\nssl.truststore.location={JKS}\n"
            ))
            .given,
            ..ClientConfig::new(Vec::new())
        };
        let error = pod_properties(&config).unwrap_err().to_string();
        assert!(
            error.contains("trust.jks: pods only get PEM files"),
            "{error}"
        );
    }

    #[test]
    fn tokens_of_this_machine_are_refused_before_any_pod_is_created() {
        let config = read(
            "bootstrap.servers=a:1\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=OAUTHBEARER\n\
             kgauge.oauthbearer.token.command=print-token\n",
        );
        let error = pod_properties(&config).unwrap_err().to_string();
        assert!(
            error.starts_with("kgauge.oauthbearer.token.command: pods have"),
            "{error}"
        );
    }
}
