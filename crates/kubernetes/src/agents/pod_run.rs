//! A run in pods: what it needs, and the names and labels of its objects.

use kgauge_client::Secret;

use super::kafka_user::KafkaUserRequest;
use super::options::PodOptions;
use crate::objects::{LabelMap, Meta};

/// Where the lead waits for its agents.
pub(super) const PORT: u16 = 7_700;

/// Keys of the Secret, which are names of files in the pods.
pub(super) const SECRET_KEY_TOKEN: &str = "token";
pub(super) const SECRET_KEY_CLIENT: &str = "client.properties";

/// A run in Kubernetes.
#[derive(Debug, Clone)]
pub struct AgentsManifest {
    /// The name of the run's objects.
    pub instance: String,
    /// What the pods should be.
    pub options: PodOptions,
    /// The plan of the run as JSON.
    pub plan_json: String,
    /// The settings of clients, as a properties file.
    pub client_properties: Secret,
    /// What lead and agents prove to each other.
    pub token: Secret,
    /// More arguments of the lead.
    pub lead_arguments: Vec<String>,
    /// A user of a Strimzi cluster to create.
    pub kafka_user: Option<KafkaUserRequest>,
}

impl AgentsManifest {
    pub(super) fn selector(&self, component: &str) -> LabelMap {
        [
            ("app.kubernetes.io/name", "kgauge"),
            ("app.kubernetes.io/instance", &self.instance),
            ("app.kubernetes.io/component", component),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    pub(super) fn labels(&self, component: &str) -> LabelMap {
        let mut labels = self.selector(component);
        labels.insert(
            "app.kubernetes.io/managed-by".to_owned(),
            "kgauge".to_owned(),
        );
        labels
    }

    pub(super) fn meta(&self, component: &str) -> Meta {
        Meta {
            name: format!("{}-{component}", self.instance),
            namespace: self.options.namespace.clone(),
            labels: self.labels(component),
            owner_references: Vec::new(),
        }
    }
}
