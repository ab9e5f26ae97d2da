//! `core/v1 PodSpec`.

use serde::Serialize;

use super::meta::LabelMap;
use super::security::{ContainerSecurity, PodSecurity};
use super::volume::{PodVolume, VolumeMount};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PodSpec {
    pub(crate) restart_policy: &'static str,
    pub(crate) automount_service_account_token: bool,
    pub(crate) enable_service_links: bool,
    pub(crate) termination_grace_period_seconds: u64,
    pub(crate) security_context: PodSecurity,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) image_pull_secrets: Vec<LocalReference>,
    #[serde(skip_serializing_if = "LabelMap::is_empty")]
    pub(crate) node_selector: LabelMap,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) topology_spread_constraints: Vec<SpreadConstraint>,
    pub(crate) containers: Vec<Container>,
    pub(crate) volumes: Vec<PodVolume>,
}

#[derive(Debug, Serialize)]
pub(crate) struct LocalReference {
    pub(crate) name: String,
}

/// `TopologySpreadConstraint`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpreadConstraint {
    pub(crate) max_skew: u32,
    pub(crate) topology_key: &'static str,
    pub(crate) when_unsatisfiable: &'static str,
    pub(crate) label_selector: LabelSelector,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LabelSelector {
    pub(crate) match_labels: LabelMap,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Container {
    pub(crate) name: &'static str,
    pub(crate) image: String,
    pub(crate) command: Vec<&'static str>,
    pub(crate) args: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) ports: Vec<ContainerPort>,
    pub(crate) resources: Resources,
    pub(crate) security_context: ContainerSecurity,
    /// The last line of a failed program becomes the pod's message.
    pub(crate) termination_message_policy: &'static str,
    pub(crate) volume_mounts: Vec<VolumeMount>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContainerPort {
    pub(crate) name: &'static str,
    pub(crate) container_port: u16,
}

/// Equal requests and limits: the pod has the quality of service class Guaranteed.
#[derive(Debug, Serialize)]
pub(crate) struct Resources {
    pub(crate) requests: LabelMap,
    pub(crate) limits: LabelMap,
}

impl Resources {
    /// Quantities as Kubernetes writes them.
    pub(crate) fn guaranteed(cpu: &str, memory: &str) -> Resources {
        let quantities: LabelMap = [("cpu", cpu), ("memory", memory)]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into();
        Resources {
            requests: quantities.clone(),
            limits: quantities,
        }
    }
}
