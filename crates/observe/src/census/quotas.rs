//! Which of a cluster's quotas apply to kgauge's clients.

use kgauge_client::ClientConfig;
use kgauge_client::admin::{ClientQuota, QuotaHolder, QuotaName};
use kgauge_client::security::{SaslSettings, SecurityProtocol};
use kgauge_results::run::{AppliedQuota, QuotaLevel, UnreadFact};

/// The user of clients without authentication (`KafkaPrincipal.ANONYMOUS`).
const ANONYMOUS: &str = "ANONYMOUS";

/// The quotas that apply, one for each key: the one at the level that Kafka prefers (documentation, "Enforcing Client
/// Quotas"). Quotas of addresses are left out: they limit new connections.
pub(super) fn applied(
    quotas: &[ClientQuota],
    config: &ClientConfig,
) -> (Vec<AppliedQuota>, Option<UnreadFact>) {
    let user = user(config);
    let mut applied: Vec<AppliedQuota> = Vec::new();
    for quota in quotas {
        let Some(level) = level(&quota.subject, user.as_deref(), &config.client_id) else {
            continue;
        };
        for (key, value) in &quota.limits {
            let found = AppliedQuota {
                key: key.clone(),
                value: *value,
                level,
            };
            match applied.iter_mut().find(|known| known.key == *key) {
                Some(known) if known.level <= level => {}
                Some(known) => *known = found,
                None => applied.push(found),
            }
        }
    }
    applied.sort_by(|one, other| one.key.cmp(&other.key));
    let is_of_user =
        |quota: &ClientQuota| matches!(quota.subject.user, Some(QuotaName::Exactly(_)));
    let missing = (user.is_none() && quotas.iter().any(is_of_user)).then(|| UnreadFact {
        what: UnreadFact::USER_QUOTAS.to_owned(),
        why: "the client does not know its user name on the brokers".to_owned(),
    });
    (applied, missing)
}

/// The name of the client's user on the brokers; `None` if only the brokers know it.
fn user(config: &ClientConfig) -> Option<String> {
    match config.security.protocol {
        SecurityProtocol::Plaintext => Some(ANONYMOUS.to_owned()),
        // The certificate names the user, through rules of the broker.
        SecurityProtocol::Ssl => None,
        SecurityProtocol::SaslPlaintext | SecurityProtocol::SaslSsl => {
            match config.security.sasl.as_ref()? {
                SaslSettings::Plain(login) => Some(login.username.expose().to_owned()),
                SaslSettings::Scram(_, login) if !login.is_delegation_token => {
                    Some(login.username.expose().to_owned())
                }
                SaslSettings::Scram(..) | SaslSettings::OauthBearer(_) => None,
            }
        }
    }
}

/// The level of a quota, if its subject covers this user and client id.
fn level(subject: &QuotaHolder, user: Option<&str>, client_id: &str) -> Option<QuotaLevel> {
    if subject.has_other {
        return None;
    }
    let is_user = |name: &str| user == Some(name);
    let is_client = |name: &str| client_id == name;
    match (&subject.user, &subject.client_id) {
        (Some(QuotaName::Exactly(name)), _) if !is_user(name) => None,
        (_, Some(QuotaName::Exactly(name))) if !is_client(name) => None,
        (Some(QuotaName::Exactly(_)), Some(QuotaName::Exactly(_))) => {
            Some(QuotaLevel::UserAndClient)
        }
        (Some(QuotaName::Exactly(_)), Some(QuotaName::Default)) => {
            Some(QuotaLevel::UserAndDefaultClient)
        }
        (Some(QuotaName::Exactly(_)), None) => Some(QuotaLevel::User),
        (Some(QuotaName::Default), Some(QuotaName::Exactly(_))) => {
            Some(QuotaLevel::DefaultUserAndClient)
        }
        (Some(QuotaName::Default), Some(QuotaName::Default)) => {
            Some(QuotaLevel::DefaultUserAndDefaultClient)
        }
        (Some(QuotaName::Default), None) => Some(QuotaLevel::DefaultUser),
        (None, Some(QuotaName::Exactly(_))) => Some(QuotaLevel::Client),
        (None, Some(QuotaName::Default)) => Some(QuotaLevel::DefaultClient),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: &str = "producer_byte_rate";

    fn quota(user: Option<QuotaName>, client_id: Option<QuotaName>, value: f64) -> ClientQuota {
        ClientQuota {
            subject: QuotaHolder {
                user,
                client_id,
                has_other: false,
            },
            limits: vec![(RATE.to_owned(), value)],
        }
    }

    fn named(name: &str) -> Option<QuotaName> {
        Some(QuotaName::Exactly(name.to_owned()))
    }

    #[test]
    fn the_level_that_kafka_prefers_decides() {
        let quotas = [
            quota(None, Some(QuotaName::Default), 1.0),
            quota(Some(QuotaName::Default), None, 2.0),
            quota(named("ANONYMOUS"), named("kgauge"), 3.0),
            quota(named("ANONYMOUS"), None, 4.0),
            quota(named("other"), None, 5.0),
            quota(None, named("other"), 6.0),
        ];
        let config = ClientConfig::new(Vec::new());
        let (found, missing) = applied(&quotas, &config);
        assert_eq!(missing, None);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].value, found[0].level),
            (3.0, QuotaLevel::UserAndClient)
        );
        let (found, _) = applied(&quotas[..2], &config);
        assert_eq!(
            (found[0].value, found[0].level),
            (2.0, QuotaLevel::DefaultUser)
        );
        let (found, _) = applied(&quotas[4..], &config);
        assert_eq!(found, []);
    }

    #[test]
    fn a_user_that_only_brokers_know_is_reported() {
        let mut config = ClientConfig::new(Vec::new());
        config.security.protocol = SecurityProtocol::Ssl;
        let quotas = [quota(named("CN=kgauge"), None, 1.0)];
        let (found, missing) = applied(&quotas, &config);
        assert_eq!(found, []);
        assert_eq!(
            missing.map(|fact| fact.what).as_deref(),
            Some("quotas of this user")
        );
    }
}
