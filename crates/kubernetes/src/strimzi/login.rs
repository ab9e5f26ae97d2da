//! The settings of a client for one listener: trust and login, from Secrets.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kgauge_client::config::Settings;
use kgauge_wire::Secret;

use super::error::StrimziError;
use super::objects::{ListenerSpec, ListenerStatus, SecretObject};
use super::spec::StrimziSpec;
use crate::agents::KafkaUserRequest;
use crate::kubectl::Kubectl;
use crate::kubectl_error::KubectlError;

/// A user, and the Secret with its login.
pub(super) struct UserLogin {
    pub(super) request: KafkaUserRequest,
    pub(super) secret: String,
}

/// Adds everything that a client needs besides addresses. Certificates and keys are in the settings themselves, as
/// KIP-651 defines: they are never written to a file.
pub(super) fn add_security(
    settings: &mut Settings,
    spec: &StrimziSpec,
    (listener, status): (&ListenerSpec, &ListenerStatus),
    user: Option<&UserLogin>,
    kubectl: &Kubectl,
) -> Result<(), StrimziError> {
    let login = listener
        .authentication
        .as_ref()
        .map(|login| login.kind.as_str());
    let protocol = match (listener.tls, login) {
        (true, Some("scram-sha-512")) => "SASL_SSL",
        (false, Some("scram-sha-512")) => "SASL_PLAINTEXT",
        (true, _) => "SSL",
        (false, _) => "PLAINTEXT",
    };
    settings.add_pair("security.protocol", protocol);
    if listener.tls {
        let trusted = authorities(spec, status, kubectl)?;
        settings.add_pair("ssl.truststore.type", "PEM");
        settings.add_pair("ssl.truststore.certificates", trusted.expose());
    }
    let Some(kind) = login else {
        return Ok(());
    };
    if !["tls", "scram-sha-512"].contains(&kind) {
        return Err(StrimziError::LoginKind {
            listener: listener.name.clone(),
            kind: kind.to_owned(),
        });
    }
    let user = user.ok_or_else(|| StrimziError::NoUser {
        listener: listener.name.clone(),
        kind: kind.to_owned(),
    })?;
    let secret = UserSecret::read(&user.request.namespace, &user.secret, kubectl);
    let secret = secret.map_err(|error| match error {
        StrimziError::NoSecret { namespace, name } => StrimziError::NoUserSecret {
            namespace,
            name,
            user: Box::new(user.request.clone()),
        },
        other => other,
    })?;
    if kind == "tls" {
        settings.add_pair("ssl.keystore.type", "PEM");
        settings.add_pair(
            "ssl.keystore.certificate.chain",
            secret.text("user.crt")?.expose(),
        );
        settings.add_pair("ssl.keystore.key", secret.text("user.key")?.expose());
    } else {
        settings.add_pair("sasl.mechanism", "SCRAM-SHA-512");
        let login = secret.text("sasl.jaas.config")?;
        settings.add_pair("sasl.jaas.config", login.expose());
    }
    Ok(())
}

/// The listener's certificates as Strimzi publishes them, which includes those that the user brings; or else the Secret
/// of the cluster's own authority.
fn authorities(
    spec: &StrimziSpec,
    status: &ListenerStatus,
    kubectl: &Kubectl,
) -> Result<Secret, StrimziError> {
    if !status.certificates.is_empty() {
        return Ok(Secret::new(status.certificates.join("\n")));
    }
    let name = format!("{}-cluster-ca-cert", spec.cluster);
    UserSecret::read(&spec.namespace, &name, kubectl)?.text("ca.crt")
}

/// A Secret.
struct UserSecret<'a> {
    namespace: &'a str,
    name: &'a str,
    object: SecretObject,
}

impl<'a> UserSecret<'a> {
    fn read(namespace: &'a str, name: &'a str, kubectl: &Kubectl) -> Result<Self, StrimziError> {
        let read = kubectl.json(&["get", "secret", name, "-n", namespace]);
        let object = read.map_err(|error| match error {
            KubectlError::NotFound { .. } => StrimziError::NoSecret {
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            },
            other => StrimziError::Kubectl(other),
        })?;
        Ok(UserSecret {
            namespace,
            name,
            object,
        })
    }

    fn text(&self, key: &str) -> Result<Secret, StrimziError> {
        let value = self.object.data.get(key).and_then(|value| {
            let bytes = STANDARD.decode(value.0.expose().trim()).ok()?;
            String::from_utf8(bytes).ok()
        });
        match value.filter(|text| !text.trim().is_empty()) {
            Some(text) => Ok(Secret::new(text)),
            None => Err(StrimziError::SecretKey {
                namespace: self.namespace.to_owned(),
                name: self.name.to_owned(),
                key: key.to_owned(),
            }),
        }
    }
}
