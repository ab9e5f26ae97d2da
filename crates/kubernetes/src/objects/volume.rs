//! Volumes of pods.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct PodVolume {
    pub(crate) name: &'static str,
    #[serde(flatten)]
    pub(crate) source: VolumeSource,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum VolumeSource {
    Secret(SecretSource),
    ConfigMap(ConfigMapSource),
    EmptyDir(EmptyDir),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretSource {
    pub(crate) secret_name: String,
    /// In decimal, as JSON has no octal numbers.
    pub(crate) default_mode: u32,
    pub(crate) items: Vec<KeyToPath>,
}

#[derive(Debug, Serialize)]
pub(crate) struct KeyToPath {
    pub(crate) key: &'static str,
    pub(crate) path: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct ConfigMapSource {
    pub(crate) name: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct EmptyDir {}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VolumeMount {
    pub(crate) name: &'static str,
    pub(crate) mount_path: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) read_only: bool,
}
