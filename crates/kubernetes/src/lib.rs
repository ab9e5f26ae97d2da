//! Kubernetes, through the user's own `kubectl`: load agents as pods, and Strimzi clusters as targets.
//!
//! # Goals
//!
//! * Every login, proxy and context that works for `kubectl` works for kgauge.
//! * A missing right is named with its verb and object, so that an administrator can grant it.
//! * Secrets stay in memory: they are in no argument, no log and no file of kgauge.
//!
//! # Non-goals
//!
//! * A client for the API of Kubernetes.
//!
//! # Where to start
//!
//! [`Kubectl`] runs commands and classifies their errors. [`StrimziSpec`] is what the user writes,
//! [`StrimziCluster`] what `kubectl` finds for it. [`AgentsManifest`] is a run as objects, [`DeployedRun`] one that
//! exists, and [`follow`] brings its results here.

mod agents;
mod child_output;
mod deployed;
mod kubectl;
mod kubectl_error;
mod objects;
mod strimzi;

pub use agents::{
    AgentsManifest, KafkaUserRequest, ManifestError, PodOptions, PodOptionsError,
    PodPropertiesError, pod_properties,
};
pub use deployed::{
    ArchiveError, DeployError, DeployedRun, FollowOptions, KubernetesRight, LeadResults,
    READY_LINE, RELEASE_FILE, RUN_RIGHTS, STATUS_FILE, STOP_FILE, follow, pack, unpack,
};
pub use kubectl::Kubectl;
pub use kubectl_error::KubectlError;
pub use strimzi::{
    BrokerMetrics, StrimziCluster, StrimziError, StrimziSpec, StrimziSpecError, find_strimzi,
};
