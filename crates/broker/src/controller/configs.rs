//! Changing configurations of topics and nodes while the cluster runs.

use std::sync::Arc;

use kgauge_wire::error_code::ErrorCode;

use super::Controller;
use super::messages::{
    ChangeScope, ConfigChange, ConfigOperation, ConfigResource, Mode, QuotaChange, Refusal,
};
use super::records::MetadataRecord;
use crate::ids::NodeId;
use crate::image::TopicImage;
use crate::settings::{
    ChangePolicy, ConfigMap, check_node_config, checked_topic_config, list_append, list_subtract,
    node_definition, node_list_default, topic_list_default,
};

impl Controller {
    pub(super) fn alter_configs(
        &mut self,
        change: ConfigChange,
        mode: Mode,
    ) -> Result<(), Refusal> {
        let record = match &change.resource {
            ConfigResource::Topic(name) => {
                let Some(topic) = self.metadata.image.topic(name).cloned() else {
                    let words = format!("The topic '{name}' does not exist.");
                    return Err(Refusal::new(ErrorCode::UnknownTopicOrPartition, words));
                };
                changed_topic(&topic, &change)?
            }
            ConfigResource::Node(node) => self.changed_node(*node, &change)?,
        };
        if mode == Mode::Apply {
            self.commit(vec![record])?;
        }
        Ok(())
    }

    /// Changes the quotas of one entity.
    pub(super) fn alter_quotas(&mut self, change: QuotaChange, mode: Mode) -> Result<(), Refusal> {
        let present = self
            .metadata
            .image
            .client_quotas
            .entities
            .get(&change.entity);
        let mut values = present.cloned().unwrap_or_default();
        for (key, value) in change.values {
            match value {
                Some(rate) => values.insert(key, rate),
                None => values.remove(&key),
            };
        }
        if mode == Mode::Apply {
            let entity = change.entity;
            self.commit(vec![MetadataRecord::ClientQuotas { entity, values }])?;
        }
        Ok(())
    }

    fn changed_node(
        &self,
        node: Option<NodeId>,
        change: &ConfigChange,
    ) -> Result<MetadataRecord, Refusal> {
        if let Some(unknown) = node.filter(|node| !self.metadata.image.nodes.contains_key(node)) {
            let words = format!("No broker with id {unknown} found.");
            return Err(Refusal::new(ErrorCode::InvalidRequest, words));
        }
        let present = self.metadata.image.configs_of(node);
        let kept = |name: &str, value: String| match check_node_config(name, &value) {
            Ok(()) => Ok(value),
            Err(error) => Err(unfit_for_node(name, error)),
        };
        let configs = changed(&present, change, node_list_default, kept)?;
        for (name, _) in &change.values {
            match node_definition(name) {
                Some(definition) if definition.change == ChangePolicy::Live => {}
                _ => {
                    let words = format!("Cannot update these configs dynamically: [{name}]");
                    return Err(Refusal::new(ErrorCode::InvalidRequest, words));
                }
            }
        }
        Ok(MetadataRecord::NodeConfigs { node, configs })
    }
}

fn changed_topic(
    topic: &Arc<TopicImage>,
    change: &ConfigChange,
) -> Result<MetadataRecord, Refusal> {
    for (name, operation) in &change.values {
        // Taking back what nobody set is fine for a known name only.
        if *operation == ConfigOperation::Reset && !topic.configs.contains_key(name) {
            known_topic_config(name)?;
        }
    }
    let kept = |name: &str, value: String| checked_topic_config(name, &value).map_err(invalid);
    let configs = changed(&topic.configs, change, topic_list_default, kept)?;
    Ok(MetadataRecord::TopicConfigs {
        id: topic.id,
        configs,
    })
}

fn known_topic_config(name: &str) -> Result<(), Refusal> {
    match crate::settings::topic_definition(name) {
        Some(_) => Ok(()),
        None => {
            let words = format!("Unknown topic config name: {name}");
            Err(Refusal::new(ErrorCode::InvalidConfig, words))
        }
    }
}

fn invalid(error: crate::settings::ConfigError) -> Refusal {
    Refusal::new(ErrorCode::InvalidConfig, error.0)
}

/// Kafka checks a broker's values in another place than a topic's, and calls what does not fit a bad
/// request (KAFKA-13609). A name that is Kafka's alone is our refusal.
fn unfit_for_node(name: &str, error: crate::settings::ConfigError) -> Refusal {
    match node_definition(name) {
        Some(_) => Refusal::new(ErrorCode::InvalidRequest, error.0),
        None => invalid(error),
    }
}

/// The configurations after a change. `list_default` gives the default of a list, and `kept` the
/// form in which a value is kept.
fn changed(
    present: &ConfigMap,
    change: &ConfigChange,
    list_default: impl Fn(&str) -> Option<&'static str>,
    kept: impl Fn(&str, String) -> Result<String, Refusal>,
) -> Result<ConfigMap, Refusal> {
    let mut configs = match change.scope {
        ChangeScope::Named => present.clone(),
        ChangeScope::All => ConfigMap::new(),
    };
    let list = |configs: &ConfigMap, name: &str, operation: &str| match list_default(name) {
        Some(default) => Ok(configs.get(name).map_or(default, String::as_str).to_owned()),
        None => {
            let words = format!("Can't {operation} to key {name} because its type is not LIST.");
            Err(Refusal::new(ErrorCode::InvalidConfig, words))
        }
    };
    for (name, operation) in &change.values {
        let value = match operation {
            ConfigOperation::Reset => {
                configs.remove(name);
                continue;
            }
            ConfigOperation::Set(value) => value.clone(),
            ConfigOperation::Append(entries) => {
                list_append(&list(&configs, name, "APPEND")?, entries)
            }
            ConfigOperation::Subtract(entries) => {
                list_subtract(&list(&configs, name, "SUBTRACT")?, entries)
            }
        };
        configs.insert(name.clone(), kept(name, value)?);
    }
    Ok(configs)
}
