//! `batch/v1 Job`.

use serde::Serialize;

use super::meta::{LabelMap, Meta};
use super::pod::PodSpec;

/// `batch/v1 Job`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobManifest {
    pub(crate) api_version: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) metadata: Meta,
    pub(crate) spec: JobSpec,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct JobSpec {
    pub(crate) completion_mode: &'static str,
    pub(crate) completions: u32,
    pub(crate) parallelism: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backoff_limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backoff_limit_per_index: Option<u32>,
    pub(crate) active_deadline_seconds: u64,
    pub(crate) ttl_seconds_after_finished: u64,
    pub(crate) template: PodTemplate,
}

#[derive(Debug, Serialize)]
pub(crate) struct PodTemplate {
    pub(crate) metadata: TemplateMeta,
    pub(crate) spec: PodSpec,
}

#[derive(Debug, Serialize)]
pub(crate) struct TemplateMeta {
    pub(crate) labels: LabelMap,
    pub(crate) annotations: LabelMap,
}
