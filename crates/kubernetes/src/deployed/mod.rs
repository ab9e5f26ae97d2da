//! A run in Kubernetes, seen from the machine of the user: create, follow, fetch, remove; and what its lead's pod does
//! with the results until then.

mod archive;
mod error;
mod follow;
mod lead_results;
mod log_lines;
mod pod_states;
mod refusal;
mod rights;
mod run;

pub use archive::{ArchiveError, pack, unpack};
pub use error::DeployError;
pub use follow::{FollowOptions, READY_LINE, follow};
pub use lead_results::LeadResults;
pub use rights::{KubernetesRight, RUN_RIGHTS};
pub use run::{DeployedRun, RELEASE_FILE, STATUS_FILE, STOP_FILE};
