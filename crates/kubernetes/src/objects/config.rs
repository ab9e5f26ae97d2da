//! `Secret`, `ConfigMap` and `Service`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::meta::{LabelMap, Meta};

/// `v1 Secret`. It has no `Debug`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretManifest {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) metadata: Meta,
    #[serde(rename = "type")]
    pub(crate) secret_type: &'static str,
    pub(crate) immutable: bool,
    pub(crate) string_data: BTreeMap<&'static str, String>,
}

/// `v1 ConfigMap`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfigMapManifest {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) metadata: Meta,
    pub(crate) immutable: bool,
    pub(crate) data: BTreeMap<&'static str, String>,
}

/// `v1 Service`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Service {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) metadata: Meta,
    pub(crate) spec: ServiceSpec,
}

#[derive(Debug, Serialize)]
pub(crate) struct ServiceSpec {
    /// `None` makes it headless: its name resolves to the pod itself.
    #[serde(rename = "clusterIP")]
    pub(crate) cluster_ip: &'static str,
    #[serde(rename = "publishNotReadyAddresses")]
    pub(crate) publish_not_ready_addresses: bool,
    pub(crate) selector: LabelMap,
    pub(crate) ports: Vec<ServicePort>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ServicePort {
    pub(crate) name: &'static str,
    pub(crate) port: u16,
}
