//! Apache Kafka of any release: downloads, starts, injects faults, stops.
//!
//! [`KafkaSpec`] is the user's text, [`Release`](release::KafkaDistribution) the requirements of a release,
//! [`KafkaTarget`] the running cluster. `registry` keeps records of clusters that outlive kgauge.

mod agent;
mod cluster;
mod control_group;
mod credentials;
mod equipment;
mod error;
mod fake_clock;
mod faults;
pub(crate) mod fetch;
pub(crate) mod java;
mod launch;
mod mirror_maker;
mod ports;
mod preload;
mod process;
mod process_id;
mod properties;
mod proxy;
mod ready;
pub(crate) mod registry;
mod release;
mod security_kind;
mod setup;
mod spec;
mod start;
mod tools;
mod topics;
mod version;
mod versions;

pub use cluster::{KafkaTarget, StartFacts};
pub use error::KafkaError;
pub use fetch::{MavenRequest, fetch as fetch_jars};
pub use java::Java;
pub(crate) use launch::JVM;
pub use mirror_maker::{MirrorEnd, MirrorMaker, MirrorSetup};
pub use process_id::ProcessId;
pub use registry::{BroughtDown, ClusterRecord, ClusterState, clusters};
pub(crate) use release::Coordination;
pub use release::KafkaDistribution;
pub use security_kind::SecurityKind;
pub use setup::KafkaSetup;
pub use spec::KafkaSpec;
pub(crate) use spec::{BROKERS_MAX, check_setting, number, of_one, on_or_off, pairs};
pub use start::START_MAX;
pub use tools::ReleaseTools;
pub use topics::TopicTool;
pub use version::{Version, VersionError};
pub use versions::{ReleaseFacts, release_table, versions};
