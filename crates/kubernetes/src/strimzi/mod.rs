//! Kafka clusters that Strimzi runs: their addresses, credentials and metrics endpoints.

mod error;
mod find;
mod login;
mod objects;
mod spec;

pub use error::StrimziError;
pub use find::{BrokerMetrics, StrimziCluster, find_strimzi};
pub use spec::{StrimziSpec, StrimziSpecError};
