//! Why a Strimzi cluster cannot be used.

use kgauge_client::ClientConfigError;

use crate::agents::KafkaUserRequest;
use crate::kubectl_error::KubectlError;

/// Why there is no usable cluster behind a [`StrimziSpec`](super::StrimziSpec).
#[derive(Debug, thiserror::Error)]
pub enum StrimziError {
    /// `kubectl`.
    #[error(transparent)]
    Kubectl(KubectlError),
    /// The Kubernetes cluster has no Strimzi.
    #[error("Strimzi is not installed in this Kubernetes cluster: it has no resource type {0}")]
    NotInstalled(String),
    /// The `Kafka` object does not exist.
    #[error("namespace {namespace} has no Strimzi cluster {cluster}")]
    NoCluster {
        /// The namespace.
        namespace: String,
        /// The cluster.
        cluster: String,
    },
    /// The `Kafka` object is not ready.
    #[error("Strimzi cluster {cluster} is not ready: {why}")]
    NotReady {
        /// Namespace and name.
        cluster: String,
        /// Strimzi's reason.
        why: String,
    },
    /// No listener has this name, or none fits.
    #[error("Strimzi cluster {cluster} has no {which}; its listeners are {existing}")]
    NoListener {
        /// Namespace and name.
        cluster: String,
        /// What was searched.
        which: String,
        /// Names with their kinds.
        existing: String,
    },
    /// Strimzi has not published an address.
    #[error("Strimzi has not published an address of listener {listener} yet")]
    NoAddress {
        /// The listener.
        listener: String,
    },
    /// The listener demands a login.
    #[error("listener {listener} requires a login ({kind})")]
    NoUser {
        /// The listener.
        listener: String,
        /// `tls`, `scram-sha-512`.
        kind: String,
    },
    /// kgauge does not have such a login.
    #[error(
        "listener {listener} has authentication type {kind}, which --target strimzi: does not support"
    )]
    LoginKind {
        /// The listener.
        listener: String,
        /// `oauth`, `custom`.
        kind: String,
    },
    /// The Secret does not exist.
    #[error("namespace {namespace} has no Secret {name}")]
    NoSecret {
        /// The namespace.
        namespace: String,
        /// The Secret.
        name: String,
    },
    /// The Secret of the user does not exist.
    #[error("namespace {namespace} has no Secret {name} of a KafkaUser")]
    NoUserSecret {
        /// The namespace.
        namespace: String,
        /// The Secret.
        name: String,
        /// The user.
        user: Box<KafkaUserRequest>,
    },
    /// The Secret lacks a key, or its value is not text.
    #[error("Secret {namespace}/{name} has no usable {key}")]
    SecretKey {
        /// The namespace.
        namespace: String,
        /// The Secret.
        name: String,
        /// The key.
        key: String,
    },
    /// Addresses, certificates or keys are not usable.
    #[error("the addresses and certificates of Strimzi cluster {cluster} are not usable:\n{error}")]
    Config {
        /// Namespace and name.
        cluster: String,
        /// All problems.
        error: ClientConfigError,
    },
}

impl StrimziError {
    /// The fix for the user.
    pub fn fix(&self) -> String {
        match self {
            StrimziError::Kubectl(error) => error.fix(),
            StrimziError::NotInstalled(_) => {
                "check the context: kubectl config current-context".to_owned()
            }
            StrimziError::NoCluster { namespace, .. } => {
                format!("list them: kubectl get kafka -n {namespace}")
            }
            StrimziError::NotReady { cluster, .. } => match cluster.split_once('/') {
                Some((namespace, name)) => {
                    format!(
                        "wait for it: kubectl wait kafka/{name} -n {namespace} --for=condition=Ready"
                    )
                }
                None => "wait for it".to_owned(),
            },
            StrimziError::NoListener { .. } => "choose one with listener=NAME".to_owned(),
            StrimziError::NoAddress { .. } => "wait until Strimzi has created it".to_owned(),
            StrimziError::NoUser { .. } => {
                "add user=NAME of a KafkaUser; kgauge agents manifest prints one to apply"
                    .to_owned()
            }
            StrimziError::LoginKind { .. } => {
                "write a client.properties file and pass it with --target".to_owned()
            }
            StrimziError::NoSecret { namespace, .. } => {
                format!("check the name of the cluster: kubectl get secret -n {namespace}")
            }
            StrimziError::NoUserSecret {
                namespace, user, ..
            } => format!(
                "check that KafkaUser {} is ready: kubectl get kafkauser -n {namespace}",
                user.name
            ),
            StrimziError::SecretKey { .. } => {
                "check that the KafkaUser's authentication is of the listener's type".to_owned()
            }
            StrimziError::Config { .. } => "check the Kafka object and the Secrets".to_owned(),
        }
    }

    /// Whether the user asked for something that does not exist; otherwise the cluster refused or failed.
    pub fn is_input(&self) -> bool {
        match self {
            StrimziError::NotReady { .. } | StrimziError::NoAddress { .. } => false,
            StrimziError::Kubectl(error) => !matches!(
                error,
                KubectlError::Unreachable { .. }
                    | KubectlError::TimedOut { .. }
                    | KubectlError::Failed { .. }
            ),
            StrimziError::NotInstalled(_)
            | StrimziError::NoCluster { .. }
            | StrimziError::NoListener { .. }
            | StrimziError::NoUser { .. }
            | StrimziError::LoginKind { .. }
            | StrimziError::NoSecret { .. }
            | StrimziError::NoUserSecret { .. }
            | StrimziError::SecretKey { .. }
            | StrimziError::Config { .. } => true,
        }
    }
}
