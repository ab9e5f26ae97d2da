//! Objects that an administrator creates before kgauge comes.

use serde_json::{Value, json};

use super::control_plane::USER;

/// The image of kgauge's pods.
pub(super) const IMAGE: &str = "kgauge:test";

/// The image of brokers that serve metrics, and nothing else.
pub(super) const BROKER_IMAGE: &str = "broker:test";

/// Where the pods of runs are.
pub(super) const RUNS: &str = "perf";

/// Where the Strimzi cluster is.
pub(super) const KAFKA: &str = "kafka";

/// The namespace of runs: pods must satisfy the standard `restricted`.
pub(super) fn restricted_namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {
            "pod-security.kubernetes.io/enforce": "restricted",
            "pod-security.kubernetes.io/enforce-version": "latest",
        }},
    })
}

/// A namespace without rules.
pub(super) fn plain_namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

/// Gives the user a Role of `deploy/role.yaml`.
pub(super) fn role_binding(namespace: &str, role: &str) -> Value {
    const GROUP: &str = "rbac.authorization.k8s.io";
    json!({
        "apiVersion": format!("{GROUP}/v1"),
        "kind": "RoleBinding",
        "metadata": {"name": USER, "namespace": namespace},
        "roleRef": {"apiGroup": GROUP, "kind": "Role", "name": role},
        "subjects": [{"apiGroup": GROUP, "kind": "User", "name": USER}],
    })
}

/// The name of the quota.
pub(super) const QUOTA: &str = "small";

/// At most three pods in the namespace of runs.
pub(super) fn quota() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": QUOTA, "namespace": RUNS},
        "spec": {"hard": {"pods": "3"}},
    })
}

/// A pod that does not say that it needs no privileges.
pub(super) fn careless_pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "careless", "namespace": RUNS},
        "spec": {"containers": [{"name": "careless", "image": IMAGE, "command": ["/kgauge"]}]},
    })
}
