//! DescribeClientQuotas (KIP-546, Kafka 2.6): the quotas of users and client ids.

use kgauge_wire::api::ApiKey;
use kgauge_wire::error_code::ErrorCode;
use kgauge_wire::messages::DescribeClientQuotasRequest;
use kgauge_wire::messages::describe_client_quotas::{EntityData, EntryData};

use crate::cluster::{Cluster, ClusterError};

/// The quotas of one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientQuota {
    /// Whom they limit.
    pub subject: QuotaHolder,
    /// Quota keys and their values, such as `producer_byte_rate` in bytes per second and broker.
    pub limits: Vec<(String, f64)>,
}

/// Whom a quota limits. A part that is absent does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuotaHolder {
    /// Users.
    pub user: Option<QuotaName>,
    /// Client ids.
    pub client_id: Option<QuotaName>,
    /// It has a part of another kind, such as an address.
    pub has_other: bool,
}

/// A name in a quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuotaName {
    /// All that have no quota of their own.
    Default,
    /// This one.
    Exactly(String),
}

impl Cluster {
    /// All client quotas of the cluster.
    ///
    /// # Errors
    /// Brokers before 2.6 do not support the request, and others may refuse it without the right to describe the
    /// cluster's configs.
    pub fn client_quotas(&mut self) -> Result<Vec<ClientQuota>, ClusterError> {
        // Without components, every subject matches.
        let request = DescribeClientQuotasRequest::default();
        self.retrying("read client quotas", |cluster, _| {
            let broker = cluster.any_broker()?;
            let reply = cluster.call(broker, &request)?;
            let answer = reply.decode().map_err(ClusterError::from)?;
            let code = ErrorCode::from(answer.error_code);
            code.ok().map_err(|code| ClusterError::Refused {
                api: ApiKey::DescribeClientQuotas,
                code,
                message: answer.error_message.as_ref().map(ToString::to_string),
            })?;
            let entries = answer.entries.unwrap_or_default();
            Ok(entries.iter().map(quota).collect())
        })
    }
}

fn quota(entry: &EntryData<'_>) -> ClientQuota {
    let limits = entry.values.iter();
    ClientQuota {
        subject: subject(&entry.entity),
        limits: limits
            .map(|value| (value.key.to_string(), value.value))
            .collect(),
    }
}

fn subject(parts: &[EntityData<'_>]) -> QuotaHolder {
    let mut subject = QuotaHolder::default();
    for part in parts {
        let name = part
            .entity_name
            .as_ref()
            .map_or(QuotaName::Default, |name| {
                QuotaName::Exactly(name.to_string())
            });
        match &*part.entity_type {
            "user" => subject.user = Some(name),
            "client-id" => subject.client_id = Some(name),
            _ => subject.has_other = true,
        }
    }
    subject
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_absent_is_the_default() {
        let part = |kind: &'static str, name: Option<&'static str>| EntityData {
            entity_type: kind.into(),
            entity_name: name.map(Into::into),
        };
        let parts = [part("user", None), part("client-id", Some("kgauge"))];
        assert_eq!(
            subject(&parts),
            QuotaHolder {
                user: Some(QuotaName::Default),
                client_id: Some(QuotaName::Exactly("kgauge".to_owned())),
                has_other: false,
            }
        );
        assert!(subject(&[part("ip", None)]).has_other);
    }
}
