//! Load agents as pods: what the user asks for, and the objects for it.

mod client_properties;
mod kafka_user;
mod manifest;
mod options;
mod pod_run;
mod pods;

pub use client_properties::{PodPropertiesError, pod_properties};
pub use kafka_user::KafkaUserRequest;
pub use manifest::ManifestError;
pub use options::{PodOptions, PodOptionsError};
pub use pod_run::AgentsManifest;
