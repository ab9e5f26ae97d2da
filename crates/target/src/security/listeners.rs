//! Security of an embedded cluster: created by the parent, and passed to the child on its standard input and to clients
//! in files of a private folder.

use std::fmt;
use std::io;
use std::path::Path;

use kgauge_broker::ClusterSecurity;
use kgauge_broker::security::{ClientAuth, Sasl, SaslMechanism, SecurityProtocol, ServerTls};
use serde::{Deserialize, Serialize};

use super::certificates::Certificates;
use super::client_settings::{AUTHORITY, CLIENT, ClientSecurity};
use super::{USER, random_password};
use crate::kafka::SecurityKind;

/// Security of the listeners, as the parent passes it to the child. It contains secrets.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listeners {
    /// Kafka's name of the protocol.
    protocol: String,
    tls: Option<Tls>,
    sasl: Option<Login>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tls {
    chain_pem: String,
    key_pem: String,
    /// The authority for client certificates, which are required if it is set.
    client_authority_pem: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Login {
    mechanism: String,
    user: String,
    password: String,
}

/// Never prints a secret.
impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Listeners");
        shown.field("protocol", &self.protocol);
        shown.finish_non_exhaustive()
    }
}

/// All credentials for an embedded cluster.
#[derive(Debug)]
pub(crate) struct EmbeddedSecurity {
    /// For the child.
    pub(crate) listeners: Listeners,
    /// For clients.
    pub(crate) client_settings: ClientSecurity,
}

impl EmbeddedSecurity {
    /// Creates certificates and passwords, and writes the clients' files to `dir`. `None` without security. The error
    /// is a message.
    pub(crate) fn make(kind: SecurityKind, dir: &Path) -> Result<EmbeddedSecurity, String> {
        let random = |error: io::Error| format!("no random numbers: {error}");
        let mut tls = None;
        if kind.has_tls() {
            let certificates = Certificates::make()?;
            let is_mutual = kind == SecurityKind::Mtls;
            tls = Some(Tls {
                chain_pem: certificates.broker.certificate_pem().to_owned(),
                key_pem: certificates.broker.key_pem().to_owned(),
                client_authority_pem: is_mutual.then(|| certificates.authority_pem.clone()),
            });
            let file = |name: &str, content: &str| {
                super::private::write(dir, name, content.as_bytes())
                    .map(drop)
                    .map_err(|error| format!("{}: {error}", dir.join(name).display()))
            };
            file(AUTHORITY, &certificates.authority_pem)?;
            if is_mutual {
                file(CLIENT, &certificates.client.pem())?;
            }
        }
        let password = random_password().map_err(random)?;
        let client_settings = ClientSecurity::of(kind, dir, &password);
        let sasl = kind.mechanism().map(|mechanism| Login {
            mechanism: mechanism.name().to_owned(),
            user: USER.to_owned(),
            password,
        });
        let protocol = kind.protocol().to_owned();
        let listeners = Listeners {
            protocol,
            tls,
            sasl,
        };
        Ok(EmbeddedSecurity {
            listeners,
            client_settings,
        })
    }
}

impl Listeners {
    /// Converts it for the broker. The error is a message without secrets.
    pub(crate) fn security(&self) -> Result<ClusterSecurity, String> {
        let protocol = SecurityProtocol::parse(&self.protocol)
            .ok_or_else(|| format!("unknown protocol {}", self.protocol))?;
        let tls = self.tls.as_ref().map(|tls| {
            let server = ServerTls::new(&*tls.chain_pem, &*tls.key_pem);
            match &tls.client_authority_pem {
                Some(authority) => server.with_clients(&**authority, ClientAuth::Required),
                None => server,
            }
        });
        let sasl = match &self.sasl {
            Some(login) => {
                let mechanism = SaslMechanism::parse(&login.mechanism)
                    .ok_or_else(|| format!("unknown mechanism {}", login.mechanism))?;
                Some(Sasl::new([mechanism]).with_user(&*login.user, &*login.password))
            }
            None => None,
        };
        Ok(ClusterSecurity {
            protocol,
            tls,
            sasl,
        })
    }
}

#[cfg(test)]
mod tests {
    use kgauge_client::ClientConfig;

    use super::*;

    fn secured(written: &str, dir: &Path) -> EmbeddedSecurity {
        EmbeddedSecurity::make(SecurityKind::parse(written).unwrap(), dir).unwrap()
    }

    #[test]
    fn every_kind_survives_the_way_to_the_child_and_our_client_reads_its_part() {
        for (written, kind) in SecurityKind::WRITTEN.iter().skip(1) {
            let dir = tempfile::tempdir().unwrap();
            let security = secured(written, dir.path());
            let line = serde_json::to_string(&security.listeners).unwrap();
            assert!(!line.contains('\n'), "{written}: one line");
            let again: Listeners = serde_json::from_str(&line).unwrap();
            assert_eq!(again, security.listeners);
            let cluster = again.security().unwrap();
            assert_eq!(cluster.protocol.name(), kind.protocol());
            assert_eq!(cluster.tls.is_some(), kind.has_tls());
            assert_eq!(cluster.sasl.is_some(), kind.mechanism().is_some());
            let file = super::super::client_settings::write(
                dir.path(),
                "127.0.0.1:1",
                &security.client_settings,
            )
            .unwrap();
            let config = ClientConfig::from_properties_file(&file);
            assert!(config.is_ok(), "{written}: {:?}", config.err());
        }
    }

    #[test]
    fn nothing_secret_is_in_debug_output() {
        let dir = tempfile::tempdir().unwrap();
        let security = secured("scram-sha-512+tls", dir.path());
        let debug_output = format!("{security:?} {:?}", security.listeners.security().unwrap());
        let login = security.listeners.sasl.clone().unwrap();
        assert!(!debug_output.contains(&login.password), "{debug_output}");
        assert!(!debug_output.contains("PRIVATE KEY"), "{debug_output}");
    }

    #[test]
    fn librdkafka_gets_the_same_settings_under_its_own_names() {
        let dir = tempfile::tempdir().unwrap();
        let security = secured("scram-sha-256+tls", dir.path());
        let password = security.listeners.sasl.unwrap().password;
        let authority = dir.path().join("ca.pem");
        assert_eq!(
            security.client_settings.librdkafka,
            format!(
                "security.protocol=SASL_SSL\nssl.ca.location={}\nsasl.mechanism=SCRAM-SHA-256\n\
                 sasl.username=kgauge\nsasl.password={password}\n",
                authority.display()
            )
        );
        assert!(authority.exists());
    }
}
