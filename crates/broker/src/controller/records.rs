//! The changes that make up a cluster's metadata, and what each does to the image.

use std::sync::Arc;

use kgauge_wire::codec::Uuid;
use serde::{Deserialize, Serialize};

use crate::ids::NodeId;
use crate::image::{ClusterImage, PartitionImage, TopicImage};
use crate::quota::{QuotaEntity, QuotaValues};
use crate::security::{ScramCredential, ScramMechanism};
use crate::settings::ConfigMap;

/// One change of the metadata that survives a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub(super) enum MetadataRecord {
    /// Always first: which cluster this is, and the version to count on from.
    Cluster { cluster_id: String, version: u64 },
    /// A topic exists with all of this.
    Topic {
        name: String,
        #[serde(with = "uuid_text")]
        id: Uuid,
        partitions: Vec<PartitionImage>,
        configs: ConfigMap,
    },
    /// A topic is gone.
    TopicDeleted {
        #[serde(with = "uuid_text")]
        id: Uuid,
    },
    /// A topic's partitions from `first` on are these.
    Partitions {
        #[serde(with = "uuid_text")]
        id: Uuid,
        first: usize,
        partitions: Vec<PartitionImage>,
    },
    /// What is set on a topic is now this.
    TopicConfigs {
        #[serde(with = "uuid_text")]
        id: Uuid,
        configs: ConfigMap,
    },
    /// What is set on a node (`None`: on all) is now this.
    NodeConfigs {
        node: Option<NodeId>,
        configs: ConfigMap,
    },
    /// The quotas of an entity are now these; none take them back.
    ClientQuotas {
        entity: QuotaEntity,
        values: QuotaValues,
    },
    /// Producer ids below this one are given out.
    ProducerIds { next: i64 },
    /// What is kept of a user's password is now this.
    ScramUser {
        user: String,
        mechanism: ScramMechanism,
        credential: ScramCredential,
    },
    /// A user may no longer log in by this mechanism.
    ScramUserDeleted {
        user: String,
        mechanism: ScramMechanism,
    },
}

/// The metadata that records make: the image and what only the controller needs.
#[derive(Debug, Clone, Default)]
pub(super) struct ClusterMetadata {
    pub(super) image: Arc<ClusterImage>,
    pub(super) producer_id_next: i64,
}

impl ClusterMetadata {
    /// Carries out one change.
    pub(super) fn apply(&mut self, record: &MetadataRecord) {
        let image = Arc::make_mut(&mut self.image);
        image.version += 1;
        match record {
            MetadataRecord::Cluster {
                cluster_id,
                version,
            } => {
                image.cluster_id = cluster_id.as_str().into();
                image.version = *version;
            }
            MetadataRecord::Topic {
                name,
                id,
                partitions,
                configs,
            } => {
                image.put_topic(TopicImage {
                    name: name.as_str().into(),
                    id: *id,
                    partitions: partitions.clone(),
                    configs: configs.clone(),
                });
            }
            MetadataRecord::TopicDeleted { id } => image.remove_topic(*id),
            MetadataRecord::Partitions {
                id,
                first,
                partitions,
            } => {
                change_topic(image, *id, |topic| {
                    let end = (*first + partitions.len()).min(topic.partitions.len());
                    let start = (*first).min(end);
                    topic
                        .partitions
                        .splice(start..end, partitions.iter().cloned());
                });
            }
            MetadataRecord::TopicConfigs { id, configs } => {
                change_topic(image, *id, |topic| topic.configs.clone_from(configs));
            }
            MetadataRecord::NodeConfigs { node, configs } => {
                image.node_configs.insert(*node, Arc::new(configs.clone()));
            }
            MetadataRecord::ProducerIds { next } => self.producer_id_next = *next,
            MetadataRecord::ScramUser {
                user,
                mechanism,
                credential,
            } => image.put_scram(user, *mechanism, credential.clone()),
            MetadataRecord::ScramUserDeleted { user, mechanism } => {
                image.remove_scram(user, *mechanism);
            }
            MetadataRecord::ClientQuotas { entity, values } => {
                Arc::make_mut(&mut image.client_quotas).set(entity, values);
            }
        }
    }

    /// The shortest list of records that makes this metadata.
    pub(super) fn snapshot(&self) -> Vec<MetadataRecord> {
        let mut records = Vec::with_capacity(self.image.topics.len() + 4);
        for topic in self.image.topics.values() {
            records.push(MetadataRecord::Topic {
                name: topic.name.to_string(),
                id: topic.id,
                partitions: topic.partitions.clone(),
                configs: topic.configs.clone(),
            });
        }
        for (node, configs) in &self.image.node_configs {
            let configs = ConfigMap::clone(configs);
            records.push(MetadataRecord::NodeConfigs {
                node: *node,
                configs,
            });
        }
        for (user, credentials) in &*self.image.scram_users {
            records.extend(credentials.iter().map(|(mechanism, credential)| {
                MetadataRecord::ScramUser {
                    user: user.clone(),
                    mechanism: *mechanism,
                    credential: ScramCredential::clone(credential),
                }
            }));
        }
        for (entity, values) in &self.image.client_quotas.entities {
            records.push(MetadataRecord::ClientQuotas {
                entity: entity.clone(),
                values: values.clone(),
            });
        }
        records.push(MetadataRecord::ProducerIds {
            next: self.producer_id_next,
        });
        // The version counts on: applying the records above makes it grow by their number.
        let version = self.image.version.saturating_sub(records.len() as u64);
        let cluster_id = self.image.cluster_id.to_string();
        records.insert(
            0,
            MetadataRecord::Cluster {
                cluster_id,
                version,
            },
        );
        records
    }
}

fn change_topic(image: &mut ClusterImage, id: Uuid, change: impl FnOnce(&mut TopicImage)) {
    let Some(name) = image.names.get(&id) else {
        return;
    };
    if let Some(topic) = image.topics.get_mut(name) {
        change(Arc::make_mut(topic));
    }
}

/// Ids in Kafka's text form.
mod uuid_text {
    use kgauge_wire::codec::Uuid;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(id: &Uuid, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Uuid, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topic(name: &str, id: u8, partitions: usize) -> MetadataRecord {
        MetadataRecord::Topic {
            name: name.to_owned(),
            id: Uuid([id; 16]),
            partitions: vec![PartitionImage::new(vec![NodeId(1)]); partitions],
            configs: ConfigMap::new(),
        }
    }

    #[test]
    fn a_snapshot_makes_the_same_metadata_and_version() {
        let mut metadata = ClusterMetadata::default();
        let more = vec![PartitionImage::new(vec![NodeId(2)])];
        let configs: ConfigMap = [("retention.ms".to_owned(), "5".to_owned())].into();
        for record in [
            MetadataRecord::Cluster {
                cluster_id: "c".to_owned(),
                version: 3,
            },
            topic("a", 1, 2),
            topic("b", 2, 1),
            MetadataRecord::Partitions {
                id: Uuid([1; 16]),
                first: 2,
                partitions: more,
            },
            MetadataRecord::TopicConfigs {
                id: Uuid([1; 16]),
                configs: configs.clone(),
            },
            MetadataRecord::TopicDeleted { id: Uuid([2; 16]) },
            MetadataRecord::NodeConfigs {
                node: Some(NodeId(1)),
                configs,
            },
            MetadataRecord::ProducerIds { next: 2000 },
            scram_user("alice", ScramMechanism::Sha256),
            scram_user("alice", ScramMechanism::Sha512),
            scram_user("bob", ScramMechanism::Sha256),
            MetadataRecord::ScramUserDeleted {
                user: "bob".to_owned(),
                mechanism: ScramMechanism::Sha256,
            },
        ] {
            metadata.apply(&record);
        }
        let mut again = ClusterMetadata::default();
        metadata
            .snapshot()
            .iter()
            .for_each(|record| again.apply(record));
        assert_eq!(again.image.version, metadata.image.version);
        assert_eq!(again.image.topics, metadata.image.topics);
        assert_eq!(again.image.names, metadata.image.names);
        assert_eq!(again.image.node_configs, metadata.image.node_configs);
        assert_eq!(again.producer_id_next, 2000);
        assert_eq!(again.image.scram_users, metadata.image.scram_users);
        assert_eq!(again.image.scram_users["alice"].len(), 2);
        assert!(!again.image.scram_users.contains_key("bob"));
        let a = again.image.topic("a").unwrap();
        assert_eq!(a.partitions.len(), 3);
        assert_eq!(a.partition(2).unwrap().leader, Some(NodeId(2)));
        assert_eq!(again.image.topic("b"), None);
    }

    fn scram_user(user: &str, mechanism: ScramMechanism) -> MetadataRecord {
        MetadataRecord::ScramUser {
            user: user.to_owned(),
            mechanism,
            credential: ScramCredential::of_password(mechanism, b"hunter2", b"salt"),
        }
    }

    #[test]
    fn a_credential_survives_its_text_form_which_has_no_password_in_it() {
        let record = scram_user("alice", ScramMechanism::Sha512);
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.contains(r#""mechanism":"SCRAM-SHA-512""#), "{text}");
        assert!(text.contains(r#""iterations":4096"#), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
        let again: MetadataRecord = serde_json::from_str(&text).unwrap();
        assert_eq!(again, record);
        assert!(!format!("{record:?}").contains("stored_key"));
    }

    #[test]
    fn records_survive_their_text_form() {
        let record = topic("a", 9, 1);
        let text = serde_json::to_string(&record).unwrap();
        assert!(text.contains(r#""change":"topic""#), "{text}");
        assert!(text.contains(&Uuid([9; 16]).to_string()), "{text}");
        assert_eq!(
            serde_json::from_str::<MetadataRecord>(&text).unwrap(),
            record
        );
    }
}
