//! All objects of one run as YAML.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kafka_user::{KafkaUserRequest, kafka_user};
use super::options::is_label;
use super::pod_run::{AgentsManifest, PORT, SECRET_KEY_CLIENT, SECRET_KEY_TOKEN};
use super::pods;
use crate::objects::{
    ConfigMapManifest, Meta, OwnerReference, SecretManifest, Service, ServicePort, ServiceSpec,
};

/// Kubernetes refuses larger ConfigMaps and Secrets.
const OBJECT_BYTES_MAX: usize = 1024 * 1024;

/// Names of pods are `INSTANCE-agent-INDEX-SUFFIX`, and their host names have at most 63 characters.
const INSTANCE_CHARS_MAX: usize = 48;

/// Why there is no manifest.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// The name cannot be one of Kubernetes.
    #[error(
        "{0:?} cannot be the name of objects in Kubernetes; use at most {INSTANCE_CHARS_MAX} lower-case letters, digits \
         and dashes"
    )]
    Name(String),
    /// The plan does not fit into a ConfigMap.
    #[error(
        "the plan has {bytes} bytes, and a ConfigMap holds {OBJECT_BYTES_MAX}; run fewer scenarios at a time (--only)"
    )]
    PlanTooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The YAML writer.
    #[error("cannot write YAML: {0}")]
    Yaml(String),
}

impl KafkaUserRequest {
    /// The user alone as YAML.
    ///
    /// # Errors
    /// As [`AgentsManifest::yaml`].
    pub fn yaml(&self) -> Result<String, ManifestError> {
        let mut document = String::new();
        append(&mut document, &kafka_user(self))?;
        Ok(document)
    }
}

impl AgentsManifest {
    /// The objects as YAML documents, for people who apply them. None has an owner: only the cluster knows the ids of
    /// its objects.
    ///
    /// # Errors
    /// A wrong name, or a plan that is too large.
    pub fn yaml(&self) -> Result<String, ManifestError> {
        self.check()?;
        let mut documents = String::new();
        if let Some(request) = &self.kafka_user {
            append(&mut documents, &kafka_user(request))?;
        }
        append(&mut documents, &self.secret())?;
        append(&mut documents, &self.config_map())?;
        append(&mut documents, &self.service())?;
        append(&mut documents, &pods::lead(self))?;
        append(&mut documents, &pods::agents(self))?;
        Ok(documents)
    }

    /// The lead's Job alone as YAML. Its pod waits for its Secret and its ConfigMap.
    ///
    /// # Errors
    /// As [`AgentsManifest::yaml`].
    pub fn lead_yaml(&self) -> Result<String, ManifestError> {
        self.check()?;
        let mut document = String::new();
        append(&mut document, &pods::lead(self))?;
        Ok(document)
    }

    /// All other objects of the run as YAML documents, owned by the lead's Job. `lead_uid` is the id that Kubernetes
    /// gave it.
    ///
    /// # Errors
    /// As [`AgentsManifest::yaml`].
    pub fn owned_yaml(&self, lead_uid: &str) -> Result<String, ManifestError> {
        self.check()?;
        let lead = OwnerReference {
            api_version: "batch/v1",
            kind: "Job",
            name: self.meta("lead").name,
            uid: lead_uid.to_owned(),
        };
        let (mut secret, mut config_map) = (self.secret(), self.config_map());
        let (mut service, mut agents) = (self.service(), pods::agents(self));
        for metadata in [
            &mut secret.metadata,
            &mut config_map.metadata,
            &mut service.metadata,
            &mut agents.metadata,
        ] {
            metadata.owner_references = vec![lead.clone()];
        }
        let mut documents = String::new();
        append(&mut documents, &secret)?;
        append(&mut documents, &config_map)?;
        append(&mut documents, &service)?;
        append(&mut documents, &agents)?;
        Ok(documents)
    }

    /// Checks what Kubernetes would refuse.
    ///
    /// # Errors
    /// A wrong name, or a plan that is too large.
    pub fn check(&self) -> Result<(), ManifestError> {
        if !is_label(&self.instance) || self.instance.len() > INSTANCE_CHARS_MAX {
            return Err(ManifestError::Name(self.instance.clone()));
        }
        let bytes = self.plan_json.len();
        if bytes > OBJECT_BYTES_MAX {
            return Err(ManifestError::PlanTooLarge { bytes });
        }
        Ok(())
    }

    /// Of objects that both Jobs read.
    fn shared_meta(&self) -> Meta {
        Meta {
            name: self.instance.clone(),
            ..self.meta("lead")
        }
    }

    fn secret(&self) -> SecretManifest {
        let data = [
            (SECRET_KEY_CLIENT, &self.client_properties),
            (SECRET_KEY_TOKEN, &self.token),
        ];
        SecretManifest {
            api_version: "v1",
            kind: "Secret",
            metadata: self.shared_meta(),
            secret_type: "Opaque",
            immutable: true,
            string_data: data
                .map(|(key, value)| (key, value.expose().clone()))
                .into(),
        }
    }

    fn config_map(&self) -> ConfigMapManifest {
        ConfigMapManifest {
            api_version: "v1",
            kind: "ConfigMap",
            metadata: self.shared_meta(),
            immutable: true,
            data: BTreeMap::from([("plan.json", self.plan_json.clone())]),
        }
    }

    fn service(&self) -> Service {
        Service {
            api_version: "v1",
            kind: "Service",
            metadata: self.meta("lead"),
            spec: ServiceSpec {
                cluster_ip: "None",
                publish_not_ready_addresses: true,
                selector: self.selector("lead"),
                ports: vec![ServicePort {
                    name: "agents",
                    port: PORT,
                }],
            },
        }
    }
}

fn append(documents: &mut String, object: &impl Serialize) -> Result<(), ManifestError> {
    let yaml = serde_saphyr::to_string(object);
    let yaml = yaml.map_err(|error| ManifestError::Yaml(error.to_string()))?;
    documents.push_str("---\n");
    documents.push_str(yaml.trim_start_matches("---\n"));
    if !documents.ends_with('\n') {
        documents.push('\n');
    }
    Ok(())
}
