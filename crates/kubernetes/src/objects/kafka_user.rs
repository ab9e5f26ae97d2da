//! Strimzi's `KafkaUser`.

use serde::Serialize;

use super::meta::Meta;

/// `kafka.strimzi.io/v1 KafkaUser`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KafkaUser {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) metadata: Meta,
    pub(crate) spec: KafkaUserSpec,
}

#[derive(Debug, Serialize)]
pub(crate) struct KafkaUserSpec {
    pub(crate) authentication: TypeOnly,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) authorization: Option<Authorization>,
    pub(crate) quotas: Quotas,
}

#[derive(Debug, Serialize)]
pub(crate) struct TypeOnly {
    #[serde(rename = "type")]
    pub(crate) kind: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Authorization {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) acls: Vec<Acl>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Acl {
    pub(crate) resource: AclResource,
    pub(crate) operations: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AclResource {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pattern_type: Option<&'static str>,
}

/// Bytes per second and broker, and CPU time of request handlers in percent of one thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quotas {
    pub(crate) producer_byte_rate: u64,
    pub(crate) consumer_byte_rate: u64,
    pub(crate) request_percentage: u32,
}
