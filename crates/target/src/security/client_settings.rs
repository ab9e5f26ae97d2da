//! Settings for clients of a secured cluster: a client.properties for Java and kgauge, and the same for librdkafka.

use std::path::Path;

use kgauge_client::security::SaslMechanism;

use super::USER;
use crate::kafka::SecurityKind;

/// The authority that signed the brokers' certificates.
pub(crate) const AUTHORITY: &str = "ca.pem";

/// The client's key and certificate.
pub(crate) const CLIENT: &str = "client.pem";

/// The same settings with two sets of names, without bootstrap servers; empty without security. They are never printed.
#[derive(Clone, Default)]
pub(crate) struct ClientSecurity {
    /// Java's names, which kgauge uses too.
    pub(crate) java: String,
    /// The names of librdkafka, and so of kcat and many libraries.
    pub(crate) librdkafka: String,
}

impl std::fmt::Debug for ClientSecurity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSecurity").finish_non_exhaustive()
    }
}

impl ClientSecurity {
    /// For files in `dir`, and with this password if the kind needs one.
    pub(crate) fn of(kind: SecurityKind, dir: &Path, password: &str) -> ClientSecurity {
        let mut settings = ClientSecurity::default();
        if kind == SecurityKind::Plaintext {
            return settings;
        }
        let path = |name: &str| dir.join(name).display().to_string();
        let protocol = format!("security.protocol={}\n", kind.protocol());
        settings.java.push_str(&protocol);
        settings.librdkafka.push_str(&protocol);
        if kind.has_tls() {
            let authority = path(AUTHORITY);
            settings.java.push_str(&format!(
                "ssl.truststore.type=PEM\nssl.truststore.location={authority}\n"
            ));
            settings
                .librdkafka
                .push_str(&format!("ssl.ca.location={authority}\n"));
        }
        if kind == SecurityKind::Mtls {
            let own = path(CLIENT);
            settings.java.push_str(&format!(
                "ssl.keystore.type=PEM\nssl.keystore.location={own}\n"
            ));
            settings.librdkafka.push_str(&format!(
                "ssl.certificate.location={own}\nssl.key.location={own}\n"
            ));
        }
        if let Some(mechanism) = kind.mechanism() {
            let (name, module) = (mechanism.name(), login_module(mechanism));
            settings.java.push_str(&format!(
                "sasl.mechanism={name}\nsasl.jaas.config={module} required username=\"{USER}\" \
                 password=\"{password}\";\n"
            ));
            settings.librdkafka.push_str(&format!(
                "sasl.mechanism={name}\nsasl.username={USER}\nsasl.password={password}\n"
            ));
        }
        settings
    }
}

/// Java's class for a mechanism.
pub(crate) fn login_module(mechanism: SaslMechanism) -> &'static str {
    match mechanism {
        SaslMechanism::Plain => "org.apache.kafka.common.security.plain.PlainLoginModule",
        SaslMechanism::Scram(_) => "org.apache.kafka.common.security.scram.ScramLoginModule",
    }
}

/// Writes both files for a cluster at these addresses into its private folder. Returns the path of the one for Java and
/// kgauge.
pub(crate) fn write(
    dir: &Path,
    servers: &str,
    settings: &ClientSecurity,
) -> std::io::Result<std::path::PathBuf> {
    let with_servers = |text: &str| format!("bootstrap.servers={servers}\n{text}");
    super::private::write(
        dir,
        "librdkafka.properties",
        with_servers(&settings.librdkafka).as_bytes(),
    )?;
    super::private::write(
        dir,
        "client.properties",
        with_servers(&settings.java).as_bytes(),
    )
}
