//! Broker settings that are not part of the target's own text.

use std::collections::BTreeMap;
use std::path::Path;

use kgauge_broker::settings::check_node_config;

use crate::kafka::{Coordination, KafkaDistribution, SecurityKind, Version, check_setting};
use crate::spec::TargetSpec;

/// A broker setting that a target does not support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub struct ConfigureError {
    /// The setting.
    pub key: String,
    /// What is wrong.
    pub words: String,
}

impl TargetSpec {
    /// Adds broker settings, for example those of scenarios. The target's own text takes precedence. An existing
    /// cluster accepts none: the caller must check that it has them.
    pub fn configure(
        &mut self,
        requested: &BTreeMap<String, String>,
    ) -> Result<(), ConfigureError> {
        let settings = match self {
            TargetSpec::Embedded(spec) => {
                for (key, value) in requested {
                    check_node_config(key, value).map_err(|error| ConfigureError {
                        key: key.clone(),
                        words: error.0,
                    })?;
                }
                &mut spec.settings
            }
            TargetSpec::Kafka(spec) => {
                for (key, value) in requested {
                    check_setting(key, value).map_err(|words| ConfigureError {
                        key: key.clone(),
                        words,
                    })?;
                }
                &mut spec.settings
            }
            TargetSpec::Existing(_) => return Ok(()),
        };
        for (key, value) in requested {
            let entry = settings.entry(key.clone());
            entry.or_insert_with(|| value.clone());
        }
        Ok(())
    }

    /// Sets the security of client connections, as written after `security=`. The error is a message for the user: the
    /// target's own text differs, or the cluster exists already.
    pub fn secure(&mut self, requested: &str) -> Result<(), String> {
        let kind = SecurityKind::of_value(requested)?;
        let own = match self {
            TargetSpec::Embedded(spec) => &mut spec.security,
            TargetSpec::Kafka(spec) => &mut spec.security,
            TargetSpec::Existing(config) if config.security.protocol.name() == kind.protocol() => {
                return Ok(());
            }
            TargetSpec::Existing(config) => {
                return Err(format!(
                    "the scenario wants security={requested}, but this cluster uses {}",
                    config.security.protocol.name()
                ));
            }
        };
        if *own != SecurityKind::default() && *own != kind {
            return Err(format!(
                "it sets security, but the scenario wants security={requested}"
            ));
        }
        *own = kind;
        Ok(())
    }

    /// Uses a release of Apache Kafka in place of its own. The error is a message for the user.
    pub fn use_release(&mut self, release: &str) -> Result<(), String> {
        let version = release.parse::<Version>();
        let version = version.map_err(|error| error.to_string())?;
        match self {
            TargetSpec::Kafka(spec) if spec.home.is_none() => {
                spec.version = Some(version);
                Ok(())
            }
            TargetSpec::Kafka(_) => Err(format!(
                "the scenario is about Apache Kafka {release}, but --kafka-home names an unpacked \
                 release"
            )),
            TargetSpec::Embedded(_) | TargetSpec::Existing(_) => Err(format!(
                "the scenario is about Apache Kafka {release}, which kgauge starts; use --target \
                 kafka:{release}"
            )),
        }
    }

    /// Uses this many dedicated controllers, if it is Apache Kafka that kgauge starts, of a release that has them.
    pub fn use_controllers(&mut self, controllers: u16) {
        if let TargetSpec::Kafka(spec) = self {
            let release = spec.version.as_ref().map(KafkaDistribution::of);
            let coordination = release.map(|release| release.coordination);
            if coordination != Some(Coordination::ZooKeeper) {
                spec.controllers = controllers;
            }
        }
    }

    /// Limits the memory of each broker's process. The error is a message for the user.
    pub fn limit_memory(&mut self, bytes: u64) -> Result<(), String> {
        let TargetSpec::Kafka(spec) = self else {
            return Err(
                "target.memory needs Apache Kafka that kgauge starts; use --target kafka:VERSION"
                    .to_owned(),
            );
        };
        if spec.memory_bytes.is_some_and(|own| own != bytes) {
            return Err("it sets memory, and so does the scenario".to_owned());
        }
        spec.memory_bytes = Some(bytes);
        spec.check_memory()
    }

    /// Uses an unpacked release of Apache Kafka. False if the target is not one that kgauge starts from a release.
    pub fn set_kafka_home(&mut self, home: &Path) -> bool {
        match self {
            TargetSpec::Kafka(spec) => {
                spec.home = Some(home.to_owned());
                true
            }
            TargetSpec::Embedded(_) | TargetSpec::Existing(_) => false,
        }
    }
}
