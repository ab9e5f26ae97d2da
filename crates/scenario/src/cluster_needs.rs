//! The cluster that a trial must have.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::keys::target::MirrorNeeds;

/// What a trial wants of its cluster. Trials that want the same can share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClusterNeeds {
    /// How many brokers.
    pub brokers: BrokerCount,
    /// Broker settings, as text.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub config: BTreeMap<String, String>,
    /// The most memory that each broker's process may use, its page cache included, bytes; `None`: no bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How clients reach it, as it is written in a target; `None` where the target alone says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<String>,
    /// The second cluster, and what copies to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorNeeds>,
}

/// How many brokers a trial wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BrokerCount {
    /// So many or more: what the target has is not the question.
    AtLeast(u32),
    /// So many, neither more nor less: their number is varied.
    Exactly(u32),
}

impl Default for BrokerCount {
    fn default() -> Self {
        BrokerCount::AtLeast(1)
    }
}

impl ClusterNeeds {
    /// How many brokers a cluster must have that is to serve other trials too; 1 when the trial gets one of its own.
    pub fn brokers_min(&self) -> u32 {
        match self.brokers {
            BrokerCount::AtLeast(count) => count,
            BrokerCount::Exactly(_) => 1,
        }
    }

    /// How many it must have, if that is varied.
    pub fn brokers_exactly(&self) -> Option<u32> {
        match self.brokers {
            BrokerCount::AtLeast(_) => None,
            BrokerCount::Exactly(count) => Some(count),
        }
    }

    /// Whether one cluster can serve both.
    pub fn shares_with(&self, other: &ClusterNeeds) -> bool {
        // A replicator that runs for one trial would take its part of the machine from the other.
        self.config == other.config
            && self.memory_bytes == other.memory_bytes
            && self.security == other.security
            && self.mirror == other.mirror
            && self.brokers_exactly() == other.brokers_exactly()
    }
}
