//! Load agents as pods: what the user asks for, and the objects for it.

mod kafka_user;
mod manifest;
mod options;
mod pods;

pub use manifest::{AgentsManifest, KafkaUserRequest, ManifestError};
pub use options::{PodOptions, PodOptionsError};
