//! Kinds of requests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of request, as Kafka's request metrics name it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// Records that clients write.
    Produce,
    /// Fetches of consumers.
    FetchConsumer,
    /// Fetches of followers.
    FetchFollower,
    /// Something that a newer kgauge knows.
    #[default]
    #[serde(other)]
    Unknown,
}

impl RequestKind {
    /// Those that kgauge samples.
    pub const SAMPLED: [RequestKind; 3] = [
        RequestKind::Produce,
        RequestKind::FetchConsumer,
        RequestKind::FetchFollower,
    ];
}
