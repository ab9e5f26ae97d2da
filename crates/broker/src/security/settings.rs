//! Security under Kafka's names, for those who have a broker's properties at hand.

use kgauge_wire::Secret;

use super::{ClientAuth, ClusterSecurity, Sasl, SaslMechanism, ServerTls};
use crate::settings::ConfigMap;

const CLIENT_AUTH: &str = "ssl.client.auth";
const CHAIN: &str = "ssl.keystore.certificate.chain";
const KEY: &str = "ssl.keystore.key";
const KEY_STORE_TYPE: &str = "ssl.keystore.type";
const TRUSTED: &str = "ssl.truststore.certificates";
const TRUST_STORE_TYPE: &str = "ssl.truststore.type";
const MECHANISMS: &str = "sasl.enabled.mechanisms";

const ABOUT_TLS: &[&str] = &[
    CLIENT_AUTH,
    CHAIN,
    KEY,
    KEY_STORE_TYPE,
    TRUSTED,
    TRUST_STORE_TYPE,
];

/// Whether a setting is about security, and so none of the node's core.
pub(crate) fn is_security_setting(name: &str) -> bool {
    name == MECHANISMS || ABOUT_TLS.contains(&name)
}

/// Whether a setting's value may never be shown.
pub(crate) fn is_secret(name: &str) -> bool {
    name == KEY
}

/// The given security, completed by settings; or one message per mistake.
pub(crate) fn read_settings(
    given: &ClusterSecurity,
    settings: &ConfigMap,
) -> Result<ClusterSecurity, Vec<String>> {
    let mut security = given.clone();
    let mut wrong = Vec::new();
    let protocol = security.protocol;
    let mut about_tls = settings
        .iter()
        .filter(|(name, _)| ABOUT_TLS.contains(&name.as_str()))
        .peekable();
    if !protocol.has_tls() {
        wrong.extend(about_tls.map(|(name, _)| unused(name, protocol.name(), "TLS")));
    } else if about_tls.peek().is_some() {
        let tls = security.tls.get_or_insert_with(|| ServerTls::new("", ""));
        about_tls.for_each(|(name, value)| wrong.extend(put(tls, name, value)));
    }
    if let Some(value) = settings.get(MECHANISMS) {
        if protocol.has_sasl() {
            let sasl = security.sasl.get_or_insert_with(Sasl::default);
            sasl.mechanisms.clear();
            for name in value.split(',').map(str::trim) {
                match SaslMechanism::parse(name) {
                    Some(mechanism) => sasl.mechanisms.push(mechanism),
                    None => wrong.push(format!(
                        "{MECHANISMS}: the embedded cluster supports PLAIN, SCRAM-SHA-256 and \
                         SCRAM-SHA-512, not {name}"
                    )),
                }
            }
        } else {
            wrong.push(unused(MECHANISMS, protocol.name(), "SASL"));
        }
    }
    if wrong.is_empty() {
        Ok(security)
    } else {
        Err(wrong)
    }
}

fn unused(name: &str, protocol: &str, what: &str) -> String {
    format!("{name} is set, but the listeners' protocol {protocol} has no {what}")
}

/// Sets one setting, or returns what is wrong with it.
fn put(tls: &mut ServerTls, name: &str, value: &str) -> Option<String> {
    match name {
        CHAIN => value.clone_into(&mut tls.certificate_chain_pem),
        KEY => tls.key_pem = Secret::new(value),
        TRUSTED => tls.client_ca_pem = Some(value.to_owned()),
        CLIENT_AUTH => match ClientAuth::parse(value) {
            Some(auth) => tls.client_auth = auth,
            None => {
                return Some(format!(
                    "{name}={value}: expected none, requested or required"
                ));
            }
        },
        _ if value != "PEM" => {
            return Some(format!("{name}: the embedded cluster only supports PEM"));
        }
        _ => {}
    }
    None
}
