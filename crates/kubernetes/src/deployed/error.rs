//! Why a run in Kubernetes failed.

use std::io;

use super::archive::ArchiveError;
use super::rights::KubernetesRight;
use crate::agents::ManifestError;
use crate::kubectl_error::KubectlError;

/// Why there are no results.
#[derive(Debug, thiserror::Error)]
pub enum DeployError {
    /// `kubectl`.
    #[error(transparent)]
    Kubectl(KubectlError),
    /// The user lacks rights; nothing was created.
    #[error(
        "rights are missing in namespace {namespace}: {}",
        listed(missing, ", ")
    )]
    Rights {
        /// Of the run.
        namespace: String,
        /// All of them.
        missing: Vec<KubernetesRight>,
    },
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
    #[error("{count} {} pending for {minutes} minutes: {message}", were(*count))]
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
    /// The objects.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The results did not arrive.
    #[error("cannot fetch the results: {0}")]
    Archive(#[from] ArchiveError),
    /// A process of this machine.
    #[error("cannot run kubectl: {0}")]
    Io(#[from] io::Error),
    /// The user stopped kgauge.
    #[error("interrupted")]
    Interrupted,
}

impl From<KubectlError> for DeployError {
    fn from(error: KubectlError) -> DeployError {
        match error {
            KubectlError::Interrupted => DeployError::Interrupted,
            error => DeployError::Kubectl(error),
        }
    }
}

fn were(count: usize) -> &'static str {
    match count {
        1 => "pod was",
        _ => "pods were",
    }
}

fn listed(rights: &[KubernetesRight], separator: &str) -> String {
    let rights: Vec<String> = rights.iter().map(ToString::to_string).collect();
    rights.join(separator)
}

impl DeployError {
    /// Whether the same step may work a moment later.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            DeployError::Kubectl(error) => error.may_pass(),
            DeployError::Archive(_) => true,
            _ => false,
        }
    }

    /// The fix for the user.
    pub fn fix(&self) -> String {
        let fix = match self {
            DeployError::Kubectl(error) => return error.fix(),
            DeployError::Rights { namespace, missing } => {
                let one = missing.first().map(ToString::to_string);
                return format!(
                    "ask an administrator for the Role in deploy/role.yaml, and check it: kubectl auth can-i {} -n \
                     {namespace}",
                    one.unwrap_or_default()
                );
            }
            DeployError::Image { .. } => {
                "check image=REGISTRY/NAME:TAG; a private registry also needs pull-secret=NAME"
            }
            DeployError::Container { .. } => "check the message; kubectl describe pod shows more",
            DeployError::Pending { .. } => {
                "use fewer or smaller pods (replicas=, cpu=, memory=), or other nodes (node-selector=)"
            }
            DeployError::NotCreated(message) if message.contains("exceeded quota") => {
                "use fewer or smaller pods (replicas=, cpu=, memory=), or ask for a larger quota"
            }
            DeployError::NotCreated(_) => {
                "ask the namespace's administrator; `kgauge agents manifest` prints the pods"
            }
            DeployError::Ended { why, .. } if why.contains("OOMKilled") => {
                "give the pods more memory (memory=)"
            }
            DeployError::Ended { .. } => {
                "check that all pods have the same image, and run it again"
            }
            DeployError::Manifest(_) => "use another name, or fewer scenarios at a time (--only)",
            DeployError::Archive(_) => "check the space on this machine's disk, and run it again",
            DeployError::Io(_) => "check the limits of this machine",
            DeployError::Interrupted => "run it again",
        };
        fix.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_that_never_ran_are_counted_with_the_schedulers_message() {
        let error = |count| DeployError::Pending {
            count,
            minutes: 10,
            message: "0/5 nodes are available: 5 Insufficient cpu.".to_owned(),
        };
        let words = "pending for 10 minutes: 0/5 nodes are available: 5 Insufficient cpu.";
        assert_eq!(error(3).to_string(), format!("3 pods were {words}"));
        assert_eq!(error(1).to_string(), format!("1 pod was {words}"));
        assert!(error(3).fix().contains("node-selector="));
    }
}
