//! The JSON lines between parent and child of an embedded cluster: an order and its answer, then requests and theirs.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::embedded_spec::FileReuse;
use crate::instrument::{Done, Instruction};
use crate::listening::ListenOptions;
use crate::security::Listeners;

/// The longest line that either side accepts.
pub(crate) const LINE_BYTES_MAX: usize = 1 << 20;

/// The parent's first line: the cluster to start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterOrder {
    /// Number of nodes.
    pub(crate) nodes: u16,
    /// Broker settings under Kafka's names.
    pub(crate) settings: BTreeMap<String, String>,
    /// Data folder.
    pub(crate) data_dir: PathBuf,
    /// Whether it is kept at the end.
    pub(crate) data: DataAtEnd,
    /// How the files of removed logs are used again; they are not without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file_reuse: Option<FileReuse>,
    /// Bind and advertised addresses of the nodes.
    #[serde(default, skip_serializing_if = "ListenOptions::is_default")]
    pub(crate) listening: ListenOptions,
    /// Seed of all randomness in the cluster.
    pub(crate) seed: u64,
    /// Broker settings of single nodes, which are numbered from 1.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) node_settings: BTreeMap<u16, BTreeMap<String, String>>,
    /// Security of the listeners; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) listeners: Option<Listeners>,
    /// Turns off the nodes' counters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) without_counts: bool,
    /// A folder with clients' secrets, which the child removes when it ends, because its parent may have been killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) private_dir: Option<PathBuf>,
    /// The record of the cluster, which the child removes last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) record: Option<PathBuf>,
    /// The file that receives its stderr. The child removes it if it is empty and alone in its folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log_file: Option<PathBuf>,
}

/// What happens to an embedded cluster's data at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DataAtEnd {
    /// The parent has made the directory, and the child removes it.
    Remove,
    /// It is kept; it may have existed before.
    Keep,
}

/// The parent's further lines: requests to the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterRequest {
    /// The answer contains it.
    pub(crate) number: u64,
    /// The instruction.
    pub(crate) instruction: Instruction,
}

/// The child's lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClusterReply {
    /// All nodes are ready.
    Ready {
        /// Bootstrap addresses.
        bootstrap_servers: String,
    },
    /// The cluster did not start.
    Failed {
        /// Why.
        words: String,
    },
    /// A request was carried out.
    Done {
        /// The request's number.
        number: u64,
        /// Its outcome.
        done: Done,
    },
    /// A request was not carried out.
    Refused {
        /// The request's number; `None` if it could not be parsed.
        number: Option<u64>,
        /// Why.
        words: String,
    },
}
