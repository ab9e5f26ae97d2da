//! Names and labels of objects.

use std::collections::BTreeMap;

use serde::Serialize;

/// Labels or annotations.
pub(crate) type LabelMap = BTreeMap<String, String>;

/// `ObjectMeta`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Meta {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) labels: LabelMap,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) owner_references: Vec<OwnerReference>,
}

/// `OwnerReference`: Kubernetes removes an object when it has removed its owners.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnerReference {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) uid: String,
}
