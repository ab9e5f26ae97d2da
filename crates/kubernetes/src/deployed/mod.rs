//! A run in Kubernetes, seen from the machine of the user: create, follow, fetch, remove.

mod archive;
mod error;
mod follow;
mod log_lines;
mod pod_states;
mod refusal;
mod rights;
mod run;

pub use archive::{ArchiveError, pack, unpack};
pub use error::DeployError;
pub use follow::{FollowOptions, READY_LINE, follow};
pub use rights::{KubernetesRight, RUN_RIGHTS};
pub use run::{DeployedRun, RELEASE_FILE, STATUS_FILE, STOP_FILE};
