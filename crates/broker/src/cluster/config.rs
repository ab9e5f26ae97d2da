//! What a cluster is made of, as its owner configures it.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ids::NodeId;
use crate::security::{
    ClusterSecurity, PreparedSecurity, is_secret, is_security_setting, read_settings,
};
use crate::settings::{ConfigMap, check_node_config};
use crate::storage::{RealStorage, ReusingStorage, Storage};

/// Nodes that one process may hold.
const NODES_MAX: u16 = 64;

/// What a cluster is made of.
#[derive(Clone)]
pub struct ClusterConfig {
    /// Number of nodes; their ids count from 1.
    pub nodes: u16,
    /// The folder of the cluster's data. What is there is gone on with.
    pub data_dir: PathBuf,
    /// Where the nodes listen.
    pub listen: ListenAddress,
    /// The host that metadata advertises; by default the listener's address.
    pub advertised_host: Option<String>,
    /// The port that metadata advertises for the first node, and the following ones for the others; by
    /// default the listener's.
    pub advertised_port: Option<u16>,
    /// Configuration under Kafka's names, such as `num.partitions`. Those of security complete
    /// what `security` sets: `ssl.client.auth`, `ssl.keystore.certificate.chain`,
    /// `ssl.keystore.key`, `ssl.truststore.certificates` (in PEM), `sasl.enabled.mechanisms`.
    pub settings: ConfigMap,
    /// Configuration of single nodes, which comes before `settings`, such as `broker.rack`.
    pub node_settings: BTreeMap<NodeId, ConfigMap>,
    /// How the clients' listeners of all nodes are protected.
    pub security: ClusterSecurity,
    /// Start of all randomness: ids, placement, jitter. [`ClusterConfig::new`] takes one from the
    /// system; clusters with equal seeds have equal ids.
    pub seed: u64,
    /// The disk.
    pub disk: ClusterDisk,
    /// Whether nodes count what they do, for [`super::ClusterHandle::counts`].
    pub counts: bool,
}

/// Everything but what is secret.
impl fmt::Debug for ClusterConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |(name, value): (&String, &String)| {
            let value = if is_secret(name) {
                "(not shown)"
            } else {
                value.as_str()
            };
            (name.clone(), value.to_owned())
        };
        let settings: ConfigMap = self.settings.iter().map(shown).collect();
        formatter
            .debug_struct("ClusterConfig")
            .field("nodes", &self.nodes)
            .field("data_dir", &self.data_dir)
            .field("listen", &self.listen)
            .field("advertised_host", &self.advertised_host)
            .field("advertised_port", &self.advertised_port)
            .field("settings", &settings)
            .field("security", &self.security)
            .field("seed", &self.seed)
            .field("disk", &self.disk)
            .field("counts", &self.counts)
            .finish()
    }
}

/// Where the nodes listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ListenAddress {
    /// Each on a free port of the loopback address.
    FreeLoopback,
    /// One address a node, in order of their ids. Port 0 means a free one.
    Addresses(Vec<SocketAddr>),
}

/// The disk under a cluster.
#[derive(Debug, Clone)]
pub enum ClusterDisk {
    /// The operating system's. The folder is locked against a second cluster.
    System,
    /// The operating system's, with the files of removed logs used again ([`ReusingStorage`]). The folder must be new.
    Reusing {
        /// Bytes of files that may wait for that.
        spare_bytes_max: u64,
        /// Bytes of files that are there from the start.
        prepared_bytes: u64,
        /// The size of each of these.
        file_bytes: u64,
    },
    /// Another, such as one in memory.
    Given(Arc<dyn Storage>),
}

impl ClusterConfig {
    /// One node on a free loopback port with Kafka's defaults.
    #[must_use]
    pub fn new(data_dir: impl Into<PathBuf>) -> Self {
        Self {
            nodes: 1,
            data_dir: data_dir.into(),
            listen: ListenAddress::FreeLoopback,
            advertised_host: None,
            advertised_port: None,
            settings: ConfigMap::new(),
            node_settings: BTreeMap::new(),
            security: ClusterSecurity::default(),
            seed: RandomState::new().build_hasher().finish(),
            disk: ClusterDisk::System,
            counts: true,
        }
    }

    /// The same with this number of nodes.
    #[must_use]
    pub fn with_nodes(mut self, nodes: u16) -> Self {
        self.nodes = nodes;
        self
    }

    /// The same with one more setting.
    #[must_use]
    pub fn with_setting(mut self, name: &str, value: &str) -> Self {
        self.settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same with one more setting of one node.
    #[must_use]
    pub fn with_node_setting(mut self, node: NodeId, name: &str, value: &str) -> Self {
        let settings = self.node_settings.entry(node).or_default();
        settings.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same with protected listeners.
    #[must_use]
    pub fn with_security(mut self, security: ClusterSecurity) -> Self {
        self.security = security;
        self
    }

    /// The settings of the nodes' core.
    pub(super) fn core_settings(&self) -> ConfigMap {
        let settings = self.settings.clone().into_iter();
        settings
            .filter(|(name, _)| !is_security_setting(name))
            .collect()
    }

    /// What holds for one node's core.
    pub(super) fn settings_of(&self, node: NodeId) -> ConfigMap {
        let mut settings = self.core_settings();
        settings.extend(self.node_settings.get(&node).cloned().unwrap_or_default());
        settings
    }

    /// Security made ready, or everything that is wrong, a sentence each.
    pub(super) fn check(&self) -> Result<PreparedSecurity, Vec<String>> {
        let mut wrong = Vec::new();
        if !(1..=NODES_MAX).contains(&self.nodes) {
            wrong.push(format!(
                "{} nodes are not possible; use 1 to {NODES_MAX}",
                self.nodes
            ));
        }
        if let ListenAddress::Addresses(addresses) = &self.listen
            && addresses.len() != usize::from(self.nodes)
        {
            let count = addresses.len();
            wrong.push(format!("{count} listen addresses for {} nodes", self.nodes));
        }
        for node in self.node_settings.keys() {
            if !(1..=i32::from(self.nodes)).contains(&node.0) {
                let nodes = self.nodes;
                wrong.push(format!("settings for node {node} of {nodes}"));
            }
        }
        for (name, value) in self
            .node_settings
            .values()
            .flatten()
            .chain(&self.core_settings())
        {
            wrong.extend(check_node_config(name, value).err().map(|error| error.0));
        }
        let security = read_settings(&self.security, &self.settings);
        match security.and_then(|security| PreparedSecurity::make(&security)) {
            Ok(prepared) if wrong.is_empty() => Ok(prepared),
            Ok(_) => Err(wrong),
            Err(more) => {
                wrong.extend(more);
                Err(wrong)
            }
        }
    }

    pub(super) fn storage(&self) -> Arc<dyn Storage> {
        match &self.disk {
            ClusterDisk::System => RealStorage::shared(),
            ClusterDisk::Reusing {
                spare_bytes_max,
                prepared_bytes,
                file_bytes,
            } => {
                let storage = ReusingStorage::new(self.data_dir.join("spare"), *spare_bytes_max);
                storage.prepare(*prepared_bytes, *file_bytes);
                Arc::new(storage)
            }
            ClusterDisk::Given(storage) => Arc::clone(storage),
        }
    }

    pub(super) fn node_ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (1..=i32::from(self.nodes)).map(NodeId)
    }

    pub(super) fn node_dir(&self, id: NodeId) -> PathBuf {
        Path::new(&self.data_dir).join(format!("node-{id}"))
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        match &self.listen {
            ListenAddress::FreeLoopback => {
                vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0)); usize::from(self.nodes)]
            }
            ListenAddress::Addresses(addresses) => addresses.clone(),
        }
    }

    /// The advertised host of a listener. One on all addresses is advertised as `localhost`.
    pub(super) fn host(&self, address: SocketAddr) -> String {
        match &self.advertised_host {
            Some(host) => host.clone(),
            None if address.ip().is_unspecified() => "localhost".to_owned(),
            None => address.ip().to_string(),
        }
    }

    /// The advertised port of a listener.
    pub(super) fn port(&self, id: NodeId, address: SocketAddr) -> u16 {
        let index = u16::try_from(id.0 - 1).unwrap_or(0);
        let advertised = self
            .advertised_port
            .map(|first| first.saturating_add(index));
        advertised.unwrap_or(address.port())
    }
}
