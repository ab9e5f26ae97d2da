//! Who decides a value: the topic, one node, all nodes while running, the start, or the default.

use super::ConfigMap;
use super::definitions::{NodeDefinition, TopicDefinition, node_definition};

/// Where a value comes from, with the numbers of the DescribeConfigs response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum SettingSource {
    /// Set on the topic.
    Topic = 1,
    /// Set on this node while it runs.
    DynamicNode = 2,
    /// Set on all nodes while they run.
    DynamicDefault = 3,
    /// Given at the start.
    Static = 4,
    /// Nobody set it.
    Default = 5,
}

/// One place that gives a value for a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonym {
    /// The name under which the place knows it.
    pub name: &'static str,
    /// The value as written there.
    pub value: String,
    /// The place.
    pub source: SettingSource,
}

/// The three maps that can decide a node's configuration, before the defaults.
#[derive(Debug, Clone, Copy)]
pub struct Layers<'a> {
    /// Set on this node while it runs.
    pub dynamic_node: &'a ConfigMap,
    /// Set on all nodes while they run.
    pub dynamic_default: &'a ConfigMap,
    /// Given at the start.
    pub fixed: &'a ConfigMap,
}

impl Layers<'_> {
    fn places(&self) -> [(&ConfigMap, SettingSource); 3] {
        [
            (self.dynamic_node, SettingSource::DynamicNode),
            (self.dynamic_default, SettingSource::DynamicDefault),
            (self.fixed, SettingSource::Static),
        ]
    }

    /// Every place that gives a value for one of `names`, the deciding one first.
    fn chain(&self, names: impl Iterator<Item = &'static str> + Clone) -> Vec<Synonym> {
        let mut found = Vec::new();
        for (map, source) in self.places() {
            for name in names.clone() {
                if let Some(value) = map.get(name) {
                    found.push(Synonym {
                        name,
                        value: value.clone(),
                        source,
                    });
                }
            }
        }
        for name in names {
            if let Some(value) = node_definition(name).and_then(|definition| definition.default) {
                found.push(Synonym {
                    name,
                    value: value.to_owned(),
                    source: SettingSource::Default,
                });
            }
        }
        found
    }

    /// Every place that gives a value for a node configuration, the deciding one first.
    #[must_use]
    pub fn node_chain(&self, definition: &NodeDefinition) -> Vec<Synonym> {
        self.chain(std::iter::once(definition.name))
    }

    /// Every place that gives a value for a topic configuration, the deciding one first.
    #[must_use]
    pub fn topic_chain(&self, topic: &ConfigMap, definition: &TopicDefinition) -> Vec<Synonym> {
        let mut found = Vec::new();
        if let Some(value) = topic.get(definition.name) {
            let (name, source) = (definition.name, SettingSource::Topic);
            found.push(Synonym {
                name,
                value: value.clone(),
                source,
            });
        }
        found.extend(self.chain(definition.synonyms.iter().map(|(name, _)| *name)));
        found
    }

    /// The value that holds for a node configuration.
    #[must_use]
    pub fn node_value(&self, definition: &NodeDefinition) -> Option<(String, SettingSource)> {
        let first = self.node_chain(definition).into_iter().next()?;
        Some((first.value, first.source))
    }

    /// The value that holds for a topic configuration, in the topic's unit.
    #[must_use]
    pub fn topic_value(
        &self,
        topic: &ConfigMap,
        definition: &TopicDefinition,
    ) -> Option<(String, SettingSource)> {
        let Some(first) = self.topic_chain(topic, definition).into_iter().next() else {
            return Some((definition.default?.to_owned(), SettingSource::Default));
        };
        let factor = definition
            .synonyms
            .iter()
            .find(|(name, _)| *name == first.name && first.source != SettingSource::Topic)
            .map_or(1, |(_, factor)| *factor);
        Some((scaled(first.value, factor), first.source))
    }
}

/// Turns hours into milliseconds and the like; -1 ("without end") stays what it is.
fn scaled(value: String, factor: i64) -> String {
    match value.trim().parse::<i64>() {
        Ok(number) if factor != 1 && number > 0 => number.saturating_mul(factor).to_string(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigMap, Layers, SettingSource};
    use crate::settings::topic_definition;

    fn map(entries: &[(&str, &str)]) -> ConfigMap {
        entries
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect()
    }

    #[test]
    fn retention_defaults_to_seven_days_in_milliseconds() {
        let none = ConfigMap::new();
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &none,
        };
        let definition = topic_definition("retention.ms").unwrap();
        let value = layers.topic_value(&none, definition);
        assert_eq!(
            value,
            Some(("604800000".to_owned(), SettingSource::Default))
        );
    }

    #[test]
    fn the_topic_decides_before_the_node_before_all_nodes_before_the_start() {
        let (node, all) = (
            map(&[("log.retention.ms", "2")]),
            map(&[("log.retention.ms", "3")]),
        );
        let fixed = map(&[("log.retention.minutes", "4")]);
        let none = ConfigMap::new();
        let definition = topic_definition("retention.ms").unwrap();
        let value = |topic: &ConfigMap, node, all| {
            let layers = Layers {
                dynamic_node: node,
                dynamic_default: all,
                fixed: &fixed,
            };
            layers.topic_value(topic, definition).unwrap()
        };
        let topic = map(&[("retention.ms", "1")]);
        assert_eq!(
            value(&topic, &node, &all),
            ("1".to_owned(), SettingSource::Topic)
        );
        assert_eq!(
            value(&none, &node, &all),
            ("2".to_owned(), SettingSource::DynamicNode)
        );
        assert_eq!(
            value(&none, &none, &all),
            ("3".to_owned(), SettingSource::DynamicDefault)
        );
        assert_eq!(
            value(&none, &none, &none),
            ("240000".to_owned(), SettingSource::Static)
        );
    }

    #[test]
    fn the_chain_names_every_place_in_order() {
        let (none, topic) = (ConfigMap::new(), map(&[("segment.bytes", "1000")]));
        let fixed = map(&[("log.segment.bytes", "2000")]);
        let layers = Layers {
            dynamic_node: &none,
            dynamic_default: &none,
            fixed: &fixed,
        };
        let chain = layers.topic_chain(&topic, topic_definition("segment.bytes").unwrap());
        let entries: Vec<_> = chain
            .iter()
            .map(|s| (s.name, s.value.as_str(), s.source))
            .collect();
        assert_eq!(
            entries,
            [
                ("segment.bytes", "1000", SettingSource::Topic),
                ("log.segment.bytes", "2000", SettingSource::Static),
                ("log.segment.bytes", "1073741824", SettingSource::Default),
            ]
        );
    }
}
