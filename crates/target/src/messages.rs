//! What parent and child of an embedded cluster say to each other, in lines of JSON: an order and its
//! answer, then asks and theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::instrument::{Done, Instruction};
use crate::listening::ListenOptions;
use crate::security::Listeners;

/// The longest line that either side takes.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;

/// The parent's first line: what cluster to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterOrder {
    /// Number of nodes.
    pub(crate) nodes: u16,
    /// Broker settings under Kafka's names.
    pub(crate) settings: BTreeMap<String, String>,
    /// Where the data lies.
    pub(crate) data_dir: PathBuf,
    /// What becomes of it at the end.
    pub(crate) data: DataAtEnd,
    /// Where the nodes listen, and what clients are told.
    #[serde(default, skip_serializing_if = "ListenOptions::is_default")]
    pub(crate) listening: ListenOptions,
    /// Start of all randomness in the cluster.
    pub(crate) seed: u64,
    /// Broker settings of single nodes, which are numbered from 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) node_settings: BTreeMap<u16, BTreeMap<String, String>>,
    /// How the listeners are protected; not at all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) listeners: Option<Listeners>,
    /// Its nodes count nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_counts: bool,
    /// A folder with clients' secrets, which the child removes when it ends: its parent may have
    /// been killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) private_dir: Option<PathBuf>,
    /// The record of the cluster, which the child removes once nothing of it is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<PathBuf>,
    /// The file that its stderr goes to. The child removes it if it is empty and alone in its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log_file: Option<PathBuf>,
}

/// What becomes of an embedded cluster's data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataAtEnd {
    /// The parent has made the directory, and the child removes it.
    Remove,
    /// It stays; it may have been there before.
    Keep,
}

/// The parent's further lines: what to do to the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterRequest {
    /// The answer repeats it.
    pub(crate) number: u64,
    /// What.
    pub(crate) instruction: Instruction,
}

/// The child's lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClusterReply {
    /// All nodes serve.
    Ready {
        /// As clients take them.
        bootstrap_servers: String,
    },
    /// Nothing was started.
    Failed {
        /// Why.
        words: String,
    },
    /// What was asked for is done.
    Done {
        /// Of the ask.
        number: u64,
        /// What came of it.
        done: Done,
    },
    /// What was asked for is not done.
    Refused {
        /// Of the ask; `None` when it could not be read.
        number: Option<u64>,
        /// Why.
        words: String,
    },
}
