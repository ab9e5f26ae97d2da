//! Why a run in Kubernetes failed.

use std::io;

use super::archive::ArchiveError;
use crate::kubectl_error::KubectlError;

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// `kubectl`.
    #[error(transparent)]
    Kubectl(#[from] KubectlError),
    /// A node cannot get the image.
    #[error("pod {pod} cannot start: {reason}: {message}")]
    Image {
        /// The pod.
        pod: String,
        /// `ImagePullBackOff` and others.
        reason: String,
        /// Kubernetes' message.
        message: String,
    },
    /// The container cannot be created.
    #[error("pod {pod} cannot start: {reason}: {message}")]
    Container {
        /// The pod.
        pod: String,
        /// `CreateContainerConfigError` and others.
        reason: String,
        /// Kubernetes' message.
        message: String,
    },
    /// Pods found no node.
    #[error("{count} pods were pending for {minutes} minutes: {message}")]
    Pending {
        /// How many.
        count: usize,
        /// How long.
        minutes: u64,
        /// The scheduler's message.
        message: String,
    },
    /// The namespace does not allow the pods.
    #[error("Kubernetes does not create the pods: {0}")]
    NotCreated(String),
    /// A pod ended before its time.
    #[error("pod {pod} ended: {why}")]
    Ended {
        /// The pod.
        pod: String,
        /// Its last message, or Kubernetes' reason.
        why: String,
    },
    /// The results did not arrive.
    #[error("cannot fetch the results: {0}")]
    Archive(#[from] ArchiveError),
    /// A process or file of this machine.
    #[error("cannot run kubectl: {0}")]
    Io(#[from] io::Error),
    /// The user stopped kgauge.
    #[error("interrupted")]
    Interrupted,
}

impl DeployError {
    /// The fix for the user.
    pub fn fix(&self) -> String {
        let fix = match self {
            DeployError::Kubectl(error) => return error.fix(),
            DeployError::Image { .. } => {
                "check image=REGISTRY/NAME:TAG; a private registry also needs pull-secret=NAME"
            }
            DeployError::Container { .. } => "check the message; kubectl describe pod shows more",
            DeployError::Pending { .. } => {
                "use fewer or smaller pods (replicas=, cpu=, memory=), or other nodes (node-selector=)"
            }
            DeployError::NotCreated(_) => {
                "use fewer or smaller pods (replicas=, cpu=, memory=), or ask for a larger quota"
            }
            DeployError::Ended { .. } => {
                "check that all pods have the same image, and run it again"
            }
            DeployError::Archive(_) => "check the space on this machine's disk, and run it again",
            DeployError::Io(_) => "check the limits of this machine",
            DeployError::Interrupted => "run it again",
        };
        fix.to_owned()
    }
}
