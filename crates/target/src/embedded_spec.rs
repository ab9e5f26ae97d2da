//! The text after `embedded`, and the other parameters of a start.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_broker::settings::{
    NODE_DEFINITIONS, check_node_config, is_ignored_node_config, node_definition,
};
use kgauge_client::Settings;
use kgauge_scenario::nearest;
use serde::{Deserialize, Serialize};

use crate::kafka::{SecurityKind, check_setting, number, of_one, on_or_off, pairs};
use crate::listening::ListenOptions;

/// Maximum number of nodes of an embedded cluster.
pub(crate) const NODES_MAX: u16 = 64;

const LISTENERS: &str = "listeners";
const ADVERTISED: &str = "advertised.listeners";

/// An embedded cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedSpec {
    /// At least 1.
    pub nodes: u16,
    /// The user has set the number; otherwise the scenarios determine it.
    pub is_count_written: bool,
    /// Security of client connections.
    pub security: SecurityKind,
    /// Whether its nodes have counters.
    pub metrics: bool,
    /// Broker settings, by Kafka's names.
    pub settings: BTreeMap<String, String>,
    /// Settings of single nodes, by node number from 1.
    pub node_settings: BTreeMap<u16, BTreeMap<String, String>>,
    /// Bind and advertised addresses.
    pub listening: ListenOptions,
    /// Requested broker settings of Kafka that have no effect here.
    pub ignored: BTreeSet<String>,
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
            listening: ListenOptions::default(),
            ignored: BTreeSet::new(),
        }
    }
}

impl EmbeddedSpec {
    /// Parses `KEY=VALUE[,KEY=VALUE...]`, as after `kafka:`. The error is a message for the user.
    pub(crate) fn read(&mut self, text: &str) -> Result<(), String> {
        let mut listeners = BTreeMap::new();
        for (key, value) in pairs(text)? {
            match key.as_str() {
                LISTENERS | ADVERTISED => _ = listeners.insert(key, value),
                _ => self.set(&key, &value)?,
            }
        }
        self.listen(&listeners)?;
        match self.node_settings.keys().find(|id| **id > self.nodes) {
            Some(id) => Err(format!(
                "there is no node {id}: nodes are 1 to {}; write embedded:{id}",
                self.nodes
            )),
            None => Ok(()),
        }
    }

    /// Applies a server.properties of Kafka. The target's own text takes precedence. The error is a message for the
    /// user.
    pub fn read_server_properties(&mut self, path: &Path) -> Result<(), String> {
        let mut file = Settings::default();
        file.add_file(path).map_err(|error| error.to_string())?;
        let mut of_file = EmbeddedSpec {
            nodes: self.nodes,
            security: self.security,
            ..EmbeddedSpec::default()
        };
        let mut listeners = BTreeMap::new();
        for entry in file.into_entries() {
            let (key, value) = (entry.key, entry.value.expose().trim().to_owned());
            let set = match key.as_str() {
                LISTENERS | ADVERTISED => {
                    listeners.insert(key, value);
                    Ok(())
                }
                _ => of_file.set_node(&key, &value),
            };
            set.map_err(|words| format!("{}: {words}", entry.place))?;
        }
        if self.listening.is_default() {
            of_file.listen(&listeners)?;
            self.listening = of_file.listening;
        }
        for (key, value) in of_file.settings {
            self.settings.entry(key).or_insert(value);
        }
        self.ignored.extend(of_file.ignored);
        Ok(())
    }

    /// Settings that a run refuses, because they have no effect.
    pub(crate) fn check_for_run(&self) -> Result<(), String> {
        if !self.listening.is_default() {
            return Err(format!(
                "{LISTENERS} and {ADVERTISED} only work with `kgauge cluster up`; a run's own \
                 cluster listens on free loopback ports"
            ));
        }
        match self.ignored.first() {
            Some(key) => Err(format!(
                "{key} has no effect on the embedded cluster; remove it"
            )),
            None => Ok(()),
        }
    }

    fn listen(&mut self, listeners: &BTreeMap<String, String>) -> Result<(), String> {
        if self.nodes > 1 && !listeners.is_empty() {
            return Err(format!(
                "{LISTENERS} and {ADVERTISED} apply to one node; for several use `kgauge cluster \
                 up --listen ADDRESS --port PORT --advertise HOST`"
            ));
        }
        let protocol = self.security.protocol();
        if let Some(value) = listeners.get(LISTENERS) {
            self.listening.set_listeners(value, protocol)?;
        }
        match listeners.get(ADVERTISED) {
            Some(value) => self.listening.set_advertised(value, protocol),
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
                    "{key} only works with kafka:VERSION; an embedded cluster is one process \
                     without Java, and includes its controller"
                ));
            }
            "log.dirs" => {
                return Err(
                    "log.dirs only works with kafka:VERSION; an embedded cluster has one folder, \
                     set with `kgauge cluster up --data DIR`"
                        .to_owned(),
                );
            }
            _ => self.set_node(key, value)?,
        }
        Ok(())
    }

    fn set_node(&mut self, key: &str, value: &str) -> Result<(), String> {
        let (id, key) = of_one(key)?;
        if is_ignored_node_config(key) {
            self.ignored.insert(key.to_owned());
            return Ok(());
        }
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

    /// The names of all requested settings.
    pub(crate) fn settings_asked(&self) -> Vec<String> {
        let own = self.node_settings.values().flat_map(BTreeMap::keys);
        let mut asked: Vec<String> = own.chain(self.settings.keys()).cloned().collect();
        asked.sort();
        asked.dedup();
        asked
    }
}

/// How to start a child.
#[derive(Debug, Clone)]
pub struct EmbeddedCommand {
    /// The program, usually the current one.
    pub program: PathBuf,
    /// The arguments that make it call [`crate::embedded_main`].
    pub arguments: Vec<OsString>,
}

impl EmbeddedCommand {
    /// The current program with these arguments.
    pub fn this_program<A: Into<OsString>>(
        arguments: impl IntoIterator<Item = A>,
    ) -> io::Result<EmbeddedCommand> {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Ok(EmbeddedCommand {
            program: std::env::current_exe()?,
            arguments,
        })
    }
}

/// How nodes use the files of removed logs again ([`ClusterDisk::Reusing`](kgauge_broker::cluster::ClusterDisk)): the
/// speed of writes stays steady where free memory goes back to a hypervisor. Segments are smaller than Kafka's then,
/// unless a setting says otherwise, so that logs of all sizes can use each other's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileReuse {
    /// Bytes of files that are made at the start, so that the first logs find some. At most half of what may be spare.
    pub prepared_bytes: u64,
}

/// Parameters of a start besides the spec.
#[derive(Debug, Clone)]
pub struct EmbeddedSetup {
    /// How to start the child.
    pub command: EmbeddedCommand,
    /// Data folder. Without `keep_data` it must not exist: it is created, and removed at the end.
    pub data_dir: PathBuf,
    /// Whether the data is kept.
    pub keep_data: bool,
    /// Whether nodes use the files of removed logs again. Only for clusters without `keep_data` and without other
    /// clients than kgauge's.
    pub file_reuse: Option<FileReuse>,
    /// The file for the child's output.
    pub log_file: PathBuf,
    /// A folder for the client settings of a secured cluster. It is created if needed, readable only by this user, and
    /// removed at the end.
    pub private_dir: PathBuf,
    /// Seed of all randomness in the cluster.
    pub seed: u64,
    /// Time limits of start and stop.
    pub time_limit: Duration,
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
    fn the_settings_are_written_as_for_kafka_targets() {
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
    fn settings_that_change_nothing_are_kept_apart_and_no_run_takes_them() {
        let spec = read("num.io.threads=4,transaction.state.log.min.isr=1").unwrap();
        assert!(spec.settings.is_empty());
        let ignored: Vec<&str> = spec.ignored.iter().map(String::as_str).collect();
        assert_eq!(ignored, ["num.io.threads", "transaction.state.log.min.isr"]);
        let refused = spec.check_for_run().unwrap_err();
        assert!(
            refused.contains("num.io.threads has no effect"),
            "{refused}"
        );
        let mut alone = EmbeddedSpec::default();
        alone.read("listeners=PLAINTEXT://127.0.0.2:0").unwrap();
        assert!(alone.check_for_run().is_err());
        assert!(wrong("listeners=PLAINTEXT://:9092").contains("--listen ADDRESS"));
    }

    #[test]
    fn the_targets_own_text_overrides_a_server_properties() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("server.properties");
        let file = "num.partitions=4\nmin.insync.replicas=2\nnum.io.threads=8\n\
                    listeners=PLAINTEXT://127.0.0.2:9092\n";
        std::fs::write(&path, file).unwrap();
        let mut spec = EmbeddedSpec::default();
        spec.read("num.partitions=7").unwrap();
        spec.read_server_properties(&path).unwrap();
        assert_eq!(spec.settings["num.partitions"], "7");
        assert_eq!(spec.settings["min.insync.replicas"], "2");
        assert_eq!(spec.listening.port, Some(9092));
        std::fs::write(&path, "num.partitions=4\nauthorizer.class.name=x\n").unwrap();
        let refused = spec.read_server_properties(&path).unwrap_err();
        assert!(
            refused.contains("server.properties:2") && refused.contains("authorizer"),
            "{refused}"
        );
    }

    #[test]
    fn every_mistake_has_a_fix() {
        assert!(wrong("3").contains("write key=value"));
        assert!(wrong("brokers=2").contains("contradicts embedded:3"));
        assert!(wrong("brokers=65").contains("from 1 to 64"));
        assert!(wrong("security=ssl").contains("use one of plaintext, tls"));
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
        ] {
            assert!(
                wrong(owned).contains("cannot be set") || wrong(owned).contains("does not support"),
                "{}",
                wrong(owned)
            );
        }
    }
}
