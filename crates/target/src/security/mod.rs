//! Certificates, users and settings for a cluster that kgauge starts with TLS or SASL. They are created for the run and
//! removed with it.
//!
//! Secrets are only in memory and in files that only this user can read, in the cluster's own configuration folder.
//! They are never arguments of a process.

mod certificates;
pub(crate) mod client_settings;
mod listeners;
pub(crate) mod private;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kgauge_client::security::{SaslMechanism, ScramMechanism};
use ring::rand::{SecureRandom, SystemRandom};

use crate::kafka::{Coordination, KafkaDistribution, KafkaError, SecurityKind};
use certificates::Certificates;
use client_settings::{AUTHORITY, CLIENT, ClientSecurity, login_module};
pub(crate) use listeners::{EmbeddedSecurity, Listeners};

/// The user who logs in by SASL.
pub(crate) const USER: &str = "kgauge";

/// A file to be written, for this user's eyes only: name and content.
type SecretFile = (&'static str, Vec<u8>);

/// Everything that a secured cluster and its clients need.
#[derive(Clone, Default)]
pub(crate) struct SecurityFiles {
    /// Settings of every broker.
    pub(crate) broker: BTreeMap<String, String>,
    /// The files to which settings and properties refer.
    pub(crate) files: Vec<SecretFile>,
    /// The brokers' JAAS configuration, one of the files.
    pub(crate) jaas: Option<PathBuf>,
    /// The clients' settings; empty without security.
    pub(crate) client_settings: ClientSecurity,
    /// The SCRAM user to create once the cluster runs: mechanism and password.
    pub(crate) scram: Option<(ScramMechanism, String)>,
}

/// Never prints a secret.
impl std::fmt::Debug for SecurityFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecurityFiles").finish_non_exhaustive()
    }
}

/// Creates what a cluster of this release and this kind of security needs. `dir` is the folder for its files.
///
/// # Errors
/// A message, if the release does not support this kind.
pub(crate) fn make(
    kind: SecurityKind,
    release: &KafkaDistribution,
    dir: &Path,
) -> Result<SecurityFiles, KafkaError> {
    check(kind, release)?;
    let mut secured = SecurityFiles::default();
    if kind == SecurityKind::Plaintext {
        return Ok(secured);
    }
    if kind.has_tls() {
        let password = new_password()?;
        let certificates = Certificates::make().map_err(|words| trouble(release, words))?;
        add_tls(&mut secured, kind, &certificates, &password, dir)
            .map_err(|words| trouble(release, words))?;
    }
    let password = new_password()?;
    secured.client_settings = ClientSecurity::of(kind, dir, &password);
    if let Some(mechanism) = kind.mechanism() {
        add_sasl(&mut secured, mechanism, password, dir);
    }
    Ok(secured)
}

fn trouble(release: &KafkaDistribution, words: String) -> KafkaError {
    KafkaError::Unsupported {
        release: release.version.clone(),
        what: format!("cannot create certificates: {words}"),
    }
}

/// TLS came with 0.9 (KAFKA-1690), PLAIN with 0.10.0 (KIP-43), SCRAM with 0.10.2 (KIP-84); controllers store the users
/// since 3.5 (KIP-900).
fn check(kind: SecurityKind, release: &KafkaDistribution) -> Result<(), KafkaError> {
    let since = |parts: &[u16], what: &str, number: &str| {
        if release.version.is_at_least(parts) {
            Ok(())
        } else {
            Err(KafkaError::Unsupported {
                release: release.version.clone(),
                what: format!("{what} needs Kafka {number} or newer"),
            })
        }
    };
    if kind.has_tls() {
        since(&[0, 9], "TLS", "0.9")?;
    }
    match kind.mechanism() {
        None => Ok(()),
        Some(SaslMechanism::Plain) => since(&[0, 10], "SASL PLAIN", "0.10.0"),
        Some(_) if release.coordination == Coordination::KRaft => {
            since(&[3, 5], "SASL SCRAM without ZooKeeper", "3.5")
        }
        Some(_) => since(&[0, 10, 2], "SASL SCRAM", "0.10.2"),
    }
}

fn new_password() -> Result<String, KafkaError> {
    random_password().map_err(|error| KafkaError::Spawn {
        role: "the random number generator".to_owned(),
        error,
    })
}

/// 32 random bytes, in characters that need no quoting anywhere.
fn random_password() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| std::io::Error::from(std::io::ErrorKind::Unsupported))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

fn add_tls(
    secured: &mut SecurityFiles,
    kind: SecurityKind,
    certificates: &Certificates,
    password: &str,
    dir: &Path,
) -> Result<(), String> {
    let path = |name: &str| dir.join(name).display().to_string();
    let mut set = |key: &str, value: String| {
        secured.broker.insert(key.to_owned(), value);
    };
    set("ssl.keystore.location", path("broker.jks"));
    set("ssl.keystore.type", "JKS".to_owned());
    set("ssl.keystore.password", password.to_owned());
    set("ssl.key.password", password.to_owned());
    secured
        .files
        .push(("broker.jks", certificates.broker.key_store(password)?));
    secured
        .files
        .push((AUTHORITY, certificates.authority_pem.clone().into_bytes()));
    if kind == SecurityKind::Mtls {
        set("ssl.client.auth", "required".to_owned());
        set("ssl.truststore.location", path("clients.jks"));
        set("ssl.truststore.type", "JKS".to_owned());
        set("ssl.truststore.password", password.to_owned());
        secured
            .files
            .push(("clients.jks", certificates.trust_store(password)));
        secured
            .files
            .push((CLIENT, certificates.client.pem().into_bytes()));
    }
    Ok(())
}

fn add_sasl(secured: &mut SecurityFiles, mechanism: SaslMechanism, password: String, dir: &Path) {
    let name = mechanism.name();
    secured
        .broker
        .insert("sasl.enabled.mechanisms".to_owned(), name.to_owned());
    let module = login_module(mechanism);
    let server = match mechanism {
        SaslMechanism::Plain => format!(" user_{USER}=\"{password}\""),
        SaslMechanism::Scram(_) => String::new(),
    };
    let jaas = format!("KafkaServer {{\n  {module} required{server};\n}};\n");
    secured.files.push(("jaas.conf", jaas.into_bytes()));
    secured.jaas = Some(dir.join("jaas.conf"));
    secured.scram = mechanism.scram().map(|mechanism| (mechanism, password));
}

#[cfg(test)]
mod tests {
    use kgauge_client::ClientConfig;

    use super::*;

    fn secured(written: &str, version: &str) -> Result<SecurityFiles, KafkaError> {
        let kind = SecurityKind::parse(written).unwrap();
        let release = KafkaDistribution::of(&version.parse().unwrap());
        make(kind, &release, Path::new("/conf"))
    }

    #[test]
    fn each_security_kind_has_its_files_and_its_debug_output_has_no_secrets() {
        let names = |secured: &SecurityFiles| -> Vec<&str> {
            secured.files.iter().map(|(name, _)| *name).collect()
        };
        assert!(
            secured("plaintext", "0.8.2.2")
                .unwrap()
                .client_settings
                .java
                .is_empty()
        );
        assert_eq!(
            names(&secured("tls", "4.3.1").unwrap()),
            ["broker.jks", "ca.pem"]
        );
        let mtls = secured("mtls", "4.3.1").unwrap();
        assert_eq!(
            names(&mtls),
            ["broker.jks", "ca.pem", "clients.jks", "client.pem"]
        );
        assert_eq!(mtls.broker["ssl.client.auth"], "required");
        let scram = secured("scram-sha-512+tls", "4.3.1").unwrap();
        assert_eq!(names(&scram), ["broker.jks", "ca.pem", "jaas.conf"]);
        assert_eq!(scram.broker["sasl.enabled.mechanisms"], "SCRAM-SHA-512");
        let (_, password) = scram.scram.clone().unwrap();
        assert_eq!(password.len(), 64);
        assert!(scram.client_settings.java.contains(&password));
        assert_eq!(format!("{scram:?}"), "SecurityFiles { .. }");
    }

    #[test]
    fn passwords_differ_each_time() {
        let one = secured("scram-sha-256", "4.3.1").unwrap().scram;
        let two = secured("scram-sha-256", "4.3.1").unwrap().scram;
        assert_ne!(one, two);
    }

    #[test]
    fn our_own_client_reads_what_is_made() {
        let dir = tempfile::tempdir().unwrap();
        for (written, kind) in SecurityKind::WRITTEN {
            let release = KafkaDistribution::of(&"4.3.1".parse().unwrap());
            let secured = make(*kind, &release, dir.path()).unwrap();
            for (name, content) in &secured.files {
                std::fs::write(dir.path().join(name), content).unwrap();
            }
            let text = format!(
                "bootstrap.servers=127.0.0.1:1\n{}",
                secured.client_settings.java
            );
            let config = ClientConfig::from_properties_text(&text, "made");
            assert!(config.is_ok(), "{written}: {:?}", config.err());
        }
    }

    #[test]
    fn an_unsupported_kind_of_security_names_the_release_it_needs() {
        let words =
            |written: &str, version: &str| secured(written, version).unwrap_err().to_string();
        assert!(words("tls", "0.8.2.2").contains("TLS needs Kafka 0.9"));
        assert!(words("sasl-plain", "0.9.0.1").contains("0.10.0 or newer"));
        assert!(words("scram-sha-256", "0.10.1.0").contains("0.10.2 or newer"));
        assert!(words("scram-sha-256", "3.4.1").contains("3.5 or newer"));
        assert!(secured("scram-sha-256", "2.8.2").is_ok());
        assert!(secured("sasl-plain", "0.10.1.0").is_ok());
    }
}
