//! The cluster that a trial must have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::keys::target::MirrorNeeds;

/// The cluster that a trial needs. Trials with equal needs can share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterNeeds {
    /// How many brokers.
    pub brokers: BrokerCount,
    /// How many dedicated controllers; `None` leaves it to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controllers: Option<u16>,
    /// The release of Apache Kafka; `None` leaves it to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<String>,
    /// Broker settings, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    /// The memory limit of each broker process in bytes, page cache included; `None`: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Security of client connections, as in `--target`; `None` leaves it to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<String>,
    /// The second cluster, and what copies to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorNeeds>,
}

/// How many brokers a trial needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerCount {
    /// This number or more: the target decides.
    AtLeast(u32),
    /// Exactly this number: it is varied.
    Exactly(u32),
}

impl Default for BrokerCount {
    fn default() -> Self {
        BrokerCount::AtLeast(1)
    }
}

impl ClusterNeeds {
    /// The number of brokers that a shared cluster must have; 1 if the trial gets a separate cluster.
    pub fn brokers_min(&self) -> u32 {
        match self.brokers {
            BrokerCount::AtLeast(count) => count,
            BrokerCount::Exactly(_) => 1,
        }
    }

    /// The exact number, if it is varied.
    pub fn brokers_exactly(&self) -> Option<u32> {
        match self.brokers {
            BrokerCount::AtLeast(_) => None,
            BrokerCount::Exactly(count) => Some(count),
        }
    }

    /// Whether one cluster can serve both.
    pub fn shares_with(&self, other: &ClusterNeeds) -> bool {
        // A replicator that runs for one trial would take resources from the other.
        self.config == other.config
            && self.controllers == other.controllers
            && self.release == other.release
            && self.memory_bytes == other.memory_bytes
            && self.security == other.security
            && self.mirror == other.mirror
            && self.brokers_exactly() == other.brokers_exactly()
    }
}
