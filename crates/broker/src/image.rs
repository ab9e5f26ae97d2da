//! What the cluster is at one moment: nodes, topics, partitions, leaders and configurations.
//!
//! The controller publishes images; nodes hold one and never change it. A later image has a larger
//! version.

use std::collections::BTreeMap;
use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use serde::{Deserialize, Serialize};

use crate::ids::{NodeId, OFFSETS_TOPIC, TopicName};
use crate::quota::ClientQuotas;
use crate::security::{ScramCredential, ScramMechanism, ScramUsers};
use crate::settings::ConfigMap;

/// The cluster at one moment.
#[derive(Debug, Clone, Default)]
pub struct ClusterImage {
    /// Grows with every change.
    pub version: u64,
    /// The cluster's id, as clients see it.
    pub cluster_id: Arc<str>,
    /// The nodes that are up.
    pub nodes: BTreeMap<NodeId, NodeImage>,
    /// All topics by name.
    pub topics: BTreeMap<TopicName, Arc<TopicImage>>,
    /// The names behind the ids.
    pub names: BTreeMap<Uuid, TopicName>,
    /// Configurations set while running: of one node, or of all (`None`).
    pub node_configs: BTreeMap<Option<NodeId>, Arc<ConfigMap>>,
    /// Who may log in by SCRAM.
    pub(crate) scram_users: Arc<ScramUsers>,
    /// How much clients may send and fetch.
    pub client_quotas: Arc<ClientQuotas>,
}

/// One node that is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeImage {
    /// Host name or address that clients connect to.
    pub host: String,
    /// Port that clients connect to.
    pub port: u16,
    /// `broker.rack`: its location.
    pub rack: Option<String>,
    /// Which life of the node this is; grows with every registration. The controller gives it.
    pub epoch: u64,
    /// The same as the node itself counts it, so that it knows which images are of this life.
    pub life: u64,
}

/// One topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicImage {
    /// Its name.
    pub name: TopicName,
    /// Its id.
    pub id: Uuid,
    /// Its partitions; the place in the list is the index.
    pub partitions: Vec<PartitionImage>,
    /// What was set on the topic itself.
    pub configs: ConfigMap,
}

/// One partition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionImage {
    /// The node that takes writes, unless none can.
    pub leader: Option<NodeId>,
    /// Grows with every change of leader.
    pub leader_epoch: i32,
    /// Grows with every change.
    pub partition_epoch: i32,
    /// The nodes that keep the partition, the preferred leader first.
    pub replicas: Vec<NodeId>,
    /// Those of them that have all acknowledged records.
    pub isr: Vec<NodeId>,
    /// Replicas outside of the ISR that have all acknowledged records too: they left it while it
    /// was smaller than `min.insync.replicas`, and nothing was acknowledged since (KIP-966).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elr: Vec<NodeId>,
    /// Who led last, while nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_leader: Option<NodeId>,
    /// Replicas on their way in, during a reassignment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub adding: Vec<NodeId>,
    /// Replicas on their way out, during a reassignment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removing: Vec<NodeId>,
}

impl ClusterImage {
    /// The topic of this name.
    #[must_use]
    pub fn topic(&self, name: &str) -> Option<&Arc<TopicImage>> {
        self.topics.get(name)
    }

    /// The topic with this id.
    #[must_use]
    pub fn topic_by_id(&self, id: Uuid) -> Option<&Arc<TopicImage>> {
        self.topic(self.names.get(&id)?)
    }

    /// The node that metadata answers name as the controller: admin requests may go to any.
    #[must_use]
    pub fn controller(&self) -> Option<NodeId> {
        self.nodes.keys().next().copied()
    }

    /// What was set on one node while running (`None`: on all).
    #[must_use]
    pub fn configs_of(&self, node: Option<NodeId>) -> Arc<ConfigMap> {
        self.node_configs.get(&node).cloned().unwrap_or_default()
    }

    /// Adds or replaces a topic.
    pub(crate) fn put_topic(&mut self, topic: TopicImage) {
        self.names.insert(topic.id, Arc::clone(&topic.name));
        self.topics.insert(Arc::clone(&topic.name), Arc::new(topic));
    }

    /// Adds or replaces what is kept of a user's password.
    pub(crate) fn put_scram(
        &mut self,
        user: &str,
        mechanism: ScramMechanism,
        credential: ScramCredential,
    ) {
        let users = Arc::make_mut(&mut self.scram_users);
        let credentials = users.entry(user.to_owned()).or_default();
        credentials.insert(mechanism, Arc::new(credential));
    }

    /// Takes one credential of a user out.
    pub(crate) fn remove_scram(&mut self, user: &str, mechanism: ScramMechanism) {
        let users = Arc::make_mut(&mut self.scram_users);
        if let Some(credentials) = users.get_mut(user) {
            credentials.remove(&mechanism);
            if credentials.is_empty() {
                users.remove(user);
            }
        }
    }

    /// Takes a topic out.
    pub(crate) fn remove_topic(&mut self, id: Uuid) {
        if let Some(name) = self.names.remove(&id) {
            self.topics.remove(&name);
        }
    }
}

impl TopicImage {
    /// The partition of this index.
    #[must_use]
    pub fn partition(&self, index: i32) -> Option<&PartitionImage> {
        self.partitions.get(usize::try_from(index).ok()?)
    }

    /// Whether the cluster keeps its own state in the topic.
    #[must_use]
    pub fn is_internal(&self) -> bool {
        &*self.name == OFFSETS_TOPIC
    }

    /// The partitions with their indexes.
    pub fn indexed(&self) -> impl Iterator<Item = (i32, &PartitionImage)> {
        (0..).zip(&self.partitions)
    }
}

impl PartitionImage {
    /// A new partition, led by the first replica.
    #[must_use]
    pub fn new(replicas: Vec<NodeId>) -> Self {
        Self {
            leader: replicas.first().copied(),
            leader_epoch: 0,
            partition_epoch: 0,
            isr: replicas.clone(),
            replicas,
            elr: Vec::new(),
            last_leader: None,
            adding: Vec::new(),
            removing: Vec::new(),
        }
    }

    /// The replicas whose nodes are down.
    pub fn offline<'i>(&'i self, image: &'i ClusterImage) -> impl Iterator<Item = NodeId> + 'i {
        let down = |node: &NodeId| !image.nodes.contains_key(node);
        self.replicas.iter().copied().filter(down)
    }

    /// Whether replicas are being exchanged.
    #[must_use]
    pub fn is_reassigning(&self) -> bool {
        !self.adding.is_empty() || !self.removing.is_empty()
    }

    /// The leader's number for a response; -1 for none.
    #[must_use]
    pub fn leader_number(&self) -> i32 {
        self.leader.map_or(-1, |node| node.0)
    }
}
