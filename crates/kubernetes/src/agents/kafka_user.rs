//! A user of a Strimzi cluster that may do what a run needs, and no more.

use crate::objects::{
    Acl, AclResource, Authorization, KafkaUser, KafkaUserSpec, LabelMap, Meta, Quotas, TypeOnly,
};

/// Guard rails that a user raises on purpose: 50 MiB per second and broker, and one request handler's time.
const BYTES_PER_SECOND: u64 = 50 * 1024 * 1024;
const REQUEST_PERCENTAGE: u32 = 100;

/// Names of all topics, groups and transactions of a run start with this.
const PREFIX: &str = "kgauge-";

/// A user of a Strimzi cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KafkaUserRequest {
    /// Its name.
    pub name: String,
    /// Where the cluster's user operator looks for users.
    pub namespace: String,
    /// The name of the Strimzi cluster.
    pub cluster: String,
    /// `tls` or `scram-sha-512`.
    pub authentication: String,
    /// Whether the cluster checks rights: Strimzi refuses a user with ACLs otherwise.
    pub has_acls: bool,
}

/// The object. Its fields are those of Strimzi's `install/cluster-operator/044-Crd-kafkauser.yaml`.
pub(super) fn kafka_user(request: &KafkaUserRequest) -> KafkaUser {
    let own = |kind: &'static str, operations: &[&'static str]| Acl {
        resource: AclResource {
            kind,
            name: Some(PREFIX),
            pattern_type: Some("prefix"),
        },
        operations: operations.to_vec(),
    };
    let topic = [
        "Create",
        "Delete",
        "Describe",
        "DescribeConfigs",
        "AlterConfigs",
        "Read",
        "Write",
    ];
    let acls = vec![
        own("topic", &topic),
        own("group", &["Read", "Describe", "Delete"]),
        own("transactionalId", &["Write", "Describe"]),
        Acl {
            resource: AclResource {
                kind: "cluster",
                name: None,
                pattern_type: None,
            },
            operations: vec!["Describe", "DescribeConfigs"],
        },
    ];
    KafkaUser {
        api_version: "kafka.strimzi.io/v1",
        kind: "KafkaUser",
        metadata: Meta {
            name: request.name.clone(),
            namespace: request.namespace.clone(),
            labels: LabelMap::from([("strimzi.io/cluster".to_owned(), request.cluster.clone())]),
            owner_references: Vec::new(),
        },
        spec: KafkaUserSpec {
            authentication: TypeOnly {
                kind: request.authentication.clone(),
            },
            authorization: request.has_acls.then_some(Authorization {
                kind: "simple",
                acls,
            }),
            quotas: Quotas {
                producer_byte_rate: BYTES_PER_SECOND,
                consumer_byte_rate: BYTES_PER_SECOND,
                request_percentage: REQUEST_PERCENTAGE,
            },
        },
    }
}
