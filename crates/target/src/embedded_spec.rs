//! What a user writes behind `embedded`.

use std::collections::BTreeMap;

use kgauge_broker::settings::{NODE_DEFINITIONS, check_node_config, node_definition};

use crate::kafka::{SecurityKind, check_setting, nearest, number, of_one, on_or_off, pairs};

/// Nodes that the embedded cluster may have.
pub(crate) const NODES_MAX: u16 = 64;

/// An embedded cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedSpec {
    /// At least 1.
    pub nodes: u16,
    /// The user has said how many; else the scenarios decide.
    pub is_count_written: bool,
    /// How clients connect.
    pub security: SecurityKind,
    /// Whether its nodes count what they do, and tell it.
    pub metrics: bool,
    /// Broker settings under Kafka's names.
    pub settings: BTreeMap<String, String>,
    /// Settings of single nodes, which are numbered from 1.
    pub node_settings: BTreeMap<u16, BTreeMap<String, String>>,
}

impl Default for EmbeddedSpec {
    fn default() -> EmbeddedSpec {
        EmbeddedSpec {
            nodes: 1,
            is_count_written: false,
            security: SecurityKind::default(),
            metrics: true,
            settings: BTreeMap::new(),
            node_settings: BTreeMap::new(),
        }
    }
}

impl EmbeddedSpec {
    /// Takes in `KEY=VALUE[,KEY=VALUE...]`, the same words as behind `kafka:`. The error is the
    /// words for the user.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), String> {
        for (key, value) in pairs(text)? {
            self.set(&key, &value)?;
        }
        match self.node_settings.keys().find(|id| **id > self.nodes) {
            Some(id) => Err(format!(
                "there is no node {id}: nodes are 1 to {}; write embedded:{id}",
                self.nodes
            )),
            None => Ok(()),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "brokers" => {
                let count = number(key, value, 1, NODES_MAX)?;
                if self.is_count_written && count != self.nodes {
                    return Err(format!(
                        "brokers={count} contradicts embedded:{}; write one of them",
                        self.nodes
                    ));
                }
                (self.nodes, self.is_count_written) = (count, true);
            }
            "security" => self.security = SecurityKind::of_value(value)?,
            "metrics" => self.metrics = on_or_off(key, value)?,
            "controllers" | "cpu" | "heap" | "jvm" | "kafka-home" | "memory" => {
                return Err(format!(
                    "{key} belongs to kafka:VERSION; an embedded cluster is one process without \
                     Java, and its controller is in it"
                ));
            }
            "log.dirs" => {
                return Err(
                    "log.dirs belongs to kafka:VERSION; an embedded cluster has one folder, which \
                     `kgauge cluster up --data DIR` names"
                        .to_owned(),
                );
            }
            _ => self.set_node(key, value)?,
        }
        Ok(())
    }

    fn set_node(&mut self, key: &str, value: &str) -> Result<(), String> {
        let (id, key) = of_one(key)?;
        check_setting(key, value)?;
        check_node_config(key, value).map_err(|error| match node_definition(key) {
            Some(_) => error.0,
            None => {
                let known = NODE_DEFINITIONS.iter().map(|known| known.name);
                let near = nearest(key, known);
                let near = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
                format!("{}{near}", error.0)
            }
        })?;
        let settings = match id {
            Some(id) => self.node_settings.entry(id).or_default(),
            None => &mut self.settings,
        };
        settings.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// The names of all settings that were asked for.
    pub(crate) fn settings_asked(&self) -> Vec<String> {
        let own = self.node_settings.values().flat_map(BTreeMap::keys);
        let mut asked: Vec<String> = own.chain(self.settings.keys()).cloned().collect();
        asked.sort();
        asked.dedup();
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<EmbeddedSpec, String> {
        let mut spec = EmbeddedSpec {
            nodes: 3,
            is_count_written: true,
            ..EmbeddedSpec::default()
        };
        spec.read(text).map(|()| spec)
    }

    #[track_caller]
    fn wrong(text: &str) -> String {
        read(text).unwrap_err()
    }

    #[test]
    fn the_words_are_those_of_kafka_targets() {
        let spec = read(
            "security=scram-sha-512+tls,log.flush.interval.messages=1,2.broker.rack=b,\
             2.log.flush.interval.ms=50,brokers=3",
        )
        .unwrap();
        assert_eq!(spec.security.to_string(), "SASL_SSL, SCRAM-SHA-512");
        assert_eq!(spec.settings["log.flush.interval.messages"], "1");
        assert_eq!(spec.node_settings[&2]["broker.rack"], "b");
        assert_eq!(
            spec.settings_asked(),
            [
                "broker.rack",
                "log.flush.interval.messages",
                "log.flush.interval.ms"
            ]
        );
        let mut spec = EmbeddedSpec::default();
        spec.read("brokers=4").unwrap();
        assert_eq!((spec.nodes, spec.is_count_written), (4, true));
        assert!(spec.metrics && !read("metrics=off").unwrap().metrics);
    }

    #[test]
    fn every_mistake_says_what_to_write() {
        assert!(wrong("3").contains("write key=value"));
        assert!(wrong("brokers=2").contains("contradicts embedded:3"));
        assert!(wrong("brokers=65").contains("from 1 to 64"));
        assert!(wrong("security=ssl").contains("there are plaintext, tls"));
        assert!(wrong("heap=1G").contains("without Java"));
        assert!(wrong("metrics=no").contains("write on or off"));
        assert!(wrong("log.dirs=/a").contains("--data DIR"));
        assert!(wrong("4.broker.rack=a").contains("write embedded:4"));
        assert!(wrong("0.broker.rack=a").contains("from 1"));
        assert!(wrong("num.partition=4").contains("did you mean num.partitions?"));
        assert!(wrong("num.partitions=few").contains("Not a number of type INT"));
        assert!(wrong("2.num.partitions=few").contains("Not a number of type INT"));
        for owned in [
            "listeners.x=a",
            "ssl.keystore.key=x",
            "sasl.enabled.mechanisms=PLAIN",
            "node.id=4",
        ] {
            assert!(
                wrong(owned).contains("cannot be set") || wrong(owned).contains("does not know"),
                "{}",
                wrong(owned)
            );
        }
    }
}
