//! Client quotas: how much users and client ids may send and fetch a second, with Kafka's order of
//! precedence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `producer_byte_rate`: bytes of produce requests a second.
pub const PRODUCER_BYTE_RATE: &str = "producer_byte_rate";
/// `consumer_byte_rate`: bytes of fetched records a second.
pub const CONSUMER_BYTE_RATE: &str = "consumer_byte_rate";

/// What a quota is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QuotaKind {
    Produce,
    Fetch,
}

impl QuotaKind {
    fn key(self) -> &'static str {
        match self {
            Self::Produce => PRODUCER_BYTE_RATE,
            Self::Fetch => CONSUMER_BYTE_RATE,
        }
    }
}

/// A user or a client id, or the default for all others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuotaSubject {
    /// All others.
    Default,
    /// This one.
    Name(String),
}

impl QuotaSubject {
    /// The name; `None` for the default.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Default => None,
            Self::Name(name) => Some(name),
        }
    }

    /// From the name of the protocol, where null is the default.
    #[must_use]
    pub fn of(name: Option<&str>) -> Self {
        name.map_or(Self::Default, |name| Self::Name(name.to_owned()))
    }
}

/// For whom a quota holds. At least one of the two is there.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuotaEntity {
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<QuotaSubject>,
    /// The client id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<QuotaSubject>,
}

/// A rate in bytes a second: positive and finite.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteRate(pub f64);

// No value is NaN.
impl Eq for ByteRate {}

/// The quotas of one entity, by key.
pub type QuotaValues = BTreeMap<String, ByteRate>;

/// All quotas of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientQuotas {
    /// By entity.
    pub entities: BTreeMap<QuotaEntity, QuotaValues>,
}

/// A limit, and whose traffic counts together against it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limit {
    pub(crate) bytes_per_second: f64,
    pub(crate) user: String,
    pub(crate) client_id: String,
}

impl ClientQuotas {
    /// The limit for a client. Of all that fit, Kafka's order decides: user with client id before
    /// user before client id, and names before defaults.
    pub(crate) fn limit(&self, kind: QuotaKind, user: &str, client_id: &str) -> Option<Limit> {
        if self.entities.is_empty() {
            return None;
        }
        let user_named = Some(QuotaSubject::Name(user.to_owned()));
        let client_named = Some(QuotaSubject::Name(client_id.to_owned()));
        let default = Some(QuotaSubject::Default);
        let candidates = [
            (&user_named, &client_named),
            (&user_named, &default),
            (&user_named, &None),
            (&default, &client_named),
            (&default, &default),
            (&default, &None),
            (&None, &client_named),
            (&None, &default),
        ];
        candidates.into_iter().find_map(|(by_user, by_client)| {
            let entity = QuotaEntity {
                user: by_user.clone(),
                client_id: by_client.clone(),
            };
            let rate = self.entities.get(&entity)?.get(kind.key())?;
            let part = |part: &Option<QuotaSubject>, name: &str| match part {
                Some(_) => name.to_owned(),
                None => String::new(),
            };
            Some(Limit {
                bytes_per_second: rate.0,
                user: part(by_user, user),
                client_id: part(by_client, client_id),
            })
        })
    }

    /// Sets what holds for an entity; nothing takes it out.
    pub(crate) fn set(&mut self, entity: &QuotaEntity, values: &QuotaValues) {
        if values.is_empty() {
            self.entities.remove(entity);
        } else {
            self.entities.insert(entity.clone(), values.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(user: Option<&str>, client_id: Option<&str>) -> QuotaEntity {
        let part = |name: &str| match name {
            "*" => QuotaSubject::Default,
            name => QuotaSubject::Name(name.to_owned()),
        };
        QuotaEntity {
            user: user.map(part),
            client_id: client_id.map(part),
        }
    }

    #[test]
    fn the_closest_quota_holds() {
        let order = [
            entity(None, Some("*")),
            entity(None, Some("c")),
            entity(Some("*"), None),
            entity(Some("*"), Some("*")),
            entity(Some("*"), Some("c")),
            entity(Some("u"), None),
            entity(Some("u"), Some("*")),
            entity(Some("u"), Some("c")),
        ];
        let mut quotas = ClientQuotas::default();
        assert_eq!(quotas.limit(QuotaKind::Produce, "u", "c"), None);
        // Each is closer than all before it.
        for (index, entity) in order.iter().enumerate() {
            let rate = ByteRate(index as f64 + 1.0);
            let values = [(PRODUCER_BYTE_RATE.to_owned(), rate)].into();
            quotas.set(entity, &values);
            let limit = quotas.limit(QuotaKind::Produce, "u", "c").unwrap();
            assert_eq!(limit.bytes_per_second, rate.0, "{entity:?}");
            assert_eq!(limit.user.is_empty(), entity.user.is_none());
            assert_eq!(limit.client_id.is_empty(), entity.client_id.is_none());
        }
        assert_eq!(quotas.limit(QuotaKind::Fetch, "u", "c"), None);
        let other = quotas.limit(QuotaKind::Produce, "v", "d").unwrap();
        assert_eq!((other.bytes_per_second, &*other.client_id), (4.0, "d"));
    }
}
