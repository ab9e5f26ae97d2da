//! The fields that kgauge reads of Strimzi's and Kubernetes' objects.
//!
//! `Kafka` is `kafka.strimzi.io/v1` as in Strimzi's `install/cluster-operator/040-Crd-kafka.yaml`; `v1beta2` has the
//! same fields.

use std::collections::BTreeMap;

use kgauge_wire::Secret;
use serde::{Deserialize, Deserializer};

/// `Kafka`.
#[derive(Debug, Deserialize)]
pub(super) struct KafkaObject {
    pub(super) spec: KafkaObjectSpec,
    #[serde(default)]
    pub(super) status: KafkaObjectStatus,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KafkaObjectSpec {
    pub(super) kafka: KafkaSection,
    #[serde(default)]
    pub(super) entity_operator: EntityOperator,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntityOperator {
    #[serde(default)]
    pub(super) user_operator: UserOperator,
}

/// `spec.entityOperator.userOperator`: where users and their Secrets are.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserOperator {
    /// By default the cluster's namespace.
    pub(super) watched_namespace: Option<String>,
    /// By default nothing.
    pub(super) secret_prefix: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KafkaSection {
    #[serde(default)]
    pub(super) listeners: Vec<ListenerSpec>,
    pub(super) metrics_config: Option<MetricsConfig>,
    pub(super) authorization: Option<KafkaAuthorization>,
}

/// `spec.kafka.authorization`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KafkaAuthorization {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) supports_admin_api: bool,
}

impl KafkaAuthorization {
    /// Whether users may have ACLs.
    pub(super) fn has_acls(&self) -> bool {
        self.kind == "simple" || self.supports_admin_api
    }
}

/// `spec.kafka.metricsConfig`; only its presence matters: both types serve the same port.
#[derive(Debug, Deserialize)]
pub(super) struct MetricsConfig {}

/// `spec.kafka.listeners[]`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ListenerSpec {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) tls: bool,
    pub(super) authentication: Option<Authentication>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Authentication {
    #[serde(rename = "type")]
    pub(super) kind: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct KafkaObjectStatus {
    #[serde(default)]
    pub(super) conditions: Vec<Condition>,
    #[serde(default)]
    pub(super) listeners: Vec<ListenerStatus>,
}

/// Of any object.
#[derive(Debug, Deserialize)]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) reason: String,
    #[serde(default)]
    pub(super) message: String,
}

/// `status.listeners[]`. Until Strimzi 0.33 the name is in `type`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListenerStatus {
    pub(super) name: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) bootstrap_servers: Option<String>,
    #[serde(default)]
    pub(super) certificates: Vec<String>,
}

/// `Secret`.
#[derive(Deserialize)]
pub(super) struct SecretObject {
    #[serde(default)]
    pub(super) data: BTreeMap<String, SecretValue>,
}

/// Base64.
pub(super) struct SecretValue(pub(super) Secret);

impl<'de> Deserialize<'de> for SecretValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| SecretValue(Secret::new(text)))
    }
}

/// A list of `Pod`.
#[derive(Debug, Deserialize)]
pub(super) struct PodList {
    pub(super) items: Vec<PodObject>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PodObject {
    pub(super) metadata: PodMetadata,
    #[serde(default)]
    pub(super) status: PodStatus,
}

#[derive(Debug, Deserialize)]
pub(super) struct PodMetadata {
    pub(super) name: String,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PodStatus {
    #[serde(rename = "podIP")]
    pub(super) pod_ip: Option<String>,
}
