//! A target that is ready to be measured.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kgauge_client::admin::LogDirsError;
use kgauge_client::{ClientConfig, Cluster, ClusterError, Interrupt};
use kgauge_scenario::TargetKind;

use crate::disk_space::{self, DiskSpace};
use crate::embedded::EmbeddedTarget;
use crate::embedded_error::EmbeddedError;
use crate::embedded_spec::EmbeddedSetup;
use crate::facts::{TargetFacts, is_listed};
use crate::instrument::{self, Done, InstructError, Instruction, NodeReport};
use crate::kafka::{KafkaError, KafkaSetup, KafkaTarget};
use crate::spec::TargetSpec;
use crate::target_process::{TargetProcess, TargetRole};

/// The cluster under test.
#[derive(Debug)]
pub enum Target {
    /// kgauge's own cluster, as a child process.
    Embedded(Box<EmbeddedTarget>),
    /// Apache Kafka, as child processes.
    Kafka(Box<KafkaTarget>),
    /// An existing cluster.
    Existing(Box<ClientConfig>),
}

/// Why a target cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The embedded cluster.
    #[error(transparent)]
    Embedded(#[from] EmbeddedError),
    /// Apache Kafka.
    #[error(transparent)]
    Kafka(#[from] KafkaError),
    /// Any cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// Its disks.
    #[error(transparent)]
    LogDirs(#[from] LogDirsError),
    /// This machine's disk.
    #[error("cannot determine the free space in {}: {error}", path.display())]
    FreeSpace {
        /// The directory.
        path: std::path::PathBuf,
        /// The operating system's message.
        error: std::io::Error,
    },
}

impl TargetError {
    /// The fix for the user.
    pub fn fix(&self) -> &'static str {
        match self {
            TargetError::Embedded(error) => error.fix(),
            TargetError::Kafka(error) => error.fix(),
            TargetError::Cluster(error) => error.fix(),
            TargetError::LogDirs(error) => error.error.fix(),
            TargetError::FreeSpace { .. } => "check the directory",
        }
    }

    /// The log file that the message names, for a caller that moves it.
    pub fn log_file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            TargetError::Kafka(
                KafkaError::Ended { log_file, .. } | KafkaError::TimedOut { log_file, .. },
            ) => Some(log_file),
            TargetError::Kafka(_)
            | TargetError::Embedded(_)
            | TargetError::Cluster(_)
            | TargetError::LogDirs(_)
            | TargetError::FreeSpace { .. } => None,
        }
    }
}

/// Facts from Kafka itself, besides those of its start.
fn kafka_facts(kafka: &KafkaTarget, cluster: &mut Cluster) -> Result<TargetFacts, TargetError> {
    let asked = kafka.settings_asked();
    let mut facts = TargetFacts::gather(TargetKind::Kafka, cluster, &asked)?;
    facts.version = Some(kafka.release().version.to_string());
    for broker in &mut facts.brokers {
        let is_relevant = |key: &str| is_listed(key) || asked.iter().any(|one| one == key);
        let written = kafka.settings_written(broker.id, is_relevant);
        if broker.settings.is_empty() {
            // Before 0.11 brokers do not report settings; their file has them.
            broker.settings = written;
            continue;
        }
        // A broker reports every setting that it has: others are unknown to it.
        if let Some(key) = asked.iter().find(|key| !broker.settings.contains_key(*key)) {
            return Err(kafka.unknown_setting(key, &facts.settings_known).into());
        }
    }
    Ok(facts)
}

/// Where a target's brokers provide their metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricsPlace {
    /// Jolokia agents at these addresses, by broker id.
    Agents(Vec<(i32, String)>),
    /// The cluster itself, with [`Target::counts`].
    Cluster,
}

/// Parameters of a start, for any kind of target.
#[derive(Debug, Clone)]
pub struct StartSetup {
    /// For the embedded cluster.
    pub embedded: EmbeddedSetup,
    /// For Apache Kafka.
    pub kafka: KafkaSetup,
}

fn own_disk(broker_id: Option<i32>, path: &Path) -> Result<DiskSpace, TargetError> {
    let free_bytes = disk_space::free_bytes(path).map_err(|error| TargetError::FreeSpace {
        path: path.to_owned(),
        error,
    })?;
    Ok(DiskSpace {
        broker_id,
        path: path.display().to_string(),
        free_bytes: Some(free_bytes),
    })
}

impl Target {
    /// Carries out an instruction. Stopping and starting brokers of Apache Kafka only begins here;
    /// [`Instruction::Sample`] shows when it is done.
    pub fn instruct(&mut self, instruction: &Instruction) -> Result<Done, InstructError> {
        match self {
            Target::Embedded(embedded) => embedded.instruct(instruction),
            Target::Kafka(target) => instrument::kafka::instruct(target, instruction),
            Target::Existing(_) => {
                let words = "kgauge injects faults only into clusters that it started";
                Err(InstructError::Refused(words.to_owned()))
            }
        }
    }

    /// Starts the target, unless it exists already.
    pub fn start(
        spec: &TargetSpec,
        setup: &StartSetup,
        interrupt: &Interrupt,
    ) -> Result<Target, TargetError> {
        match spec {
            TargetSpec::Embedded(spec) => {
                let started = EmbeddedTarget::start(spec, &setup.embedded, interrupt)?;
                Ok(Target::Embedded(Box::new(started)))
            }
            TargetSpec::Kafka(spec) => {
                let started = KafkaTarget::start(spec, &setup.kafka, interrupt)?;
                Ok(Target::Kafka(Box::new(started)))
            }
            TargetSpec::Existing(config) => Ok(Target::Existing(config.clone())),
        }
    }

    /// How to connect to it.
    pub fn config(&self) -> &ClientConfig {
        match self {
            Target::Embedded(embedded) => embedded.config(),
            Target::Kafka(kafka) => kafka.config(),
            Target::Existing(config) => config,
        }
    }

    /// A file for other clients, if kgauge started the cluster and they need more than the addresses. It is removed
    /// with the cluster.
    pub fn client_properties(&self) -> Option<&Path> {
        match self {
            Target::Embedded(embedded) => embedded.client_properties(),
            Target::Kafka(kafka) => kafka.client_properties(),
            Target::Existing(_) => None,
        }
    }

    /// Its kind.
    pub fn kind(&self) -> TargetKind {
        match self {
            Target::Embedded(_) => TargetKind::Embedded,
            Target::Kafka(_) => TargetKind::Kafka,
            Target::Existing(_) => TargetKind::Existing,
        }
    }

    /// Connects to it.
    pub fn connect(&self, interrupt: Interrupt) -> Result<Cluster, TargetError> {
        Ok(Cluster::bootstrap_until(self.config().clone(), interrupt)?)
    }

    /// Facts about it.
    pub fn facts(&self, cluster: &mut Cluster) -> Result<TargetFacts, TargetError> {
        match self {
            Target::Kafka(kafka) => Ok(kafka_facts(kafka, cluster)?),
            Target::Embedded(embedded) => {
                let asked = embedded.spec().settings_asked();
                Ok(TargetFacts::gather(self.kind(), cluster, &asked)?)
            }
            Target::Existing(_) => Ok(TargetFacts::gather(self.kind(), cluster, &[])?),
        }
    }

    /// Processes on this machine that belong only to the target.
    pub fn pids(&self) -> Vec<u32> {
        match self {
            Target::Embedded(embedded) => vec![embedded.pid()],
            Target::Kafka(kafka) => kafka.pids(),
            Target::Existing(_) => Vec::new(),
        }
    }

    /// Where its brokers provide their metrics.
    ///
    /// # Errors
    /// The reason why they do not, or not to this program.
    pub fn metrics(&self) -> Result<MetricsPlace, String> {
        match self {
            Target::Embedded(embedded) => {
                if embedded.spec().metrics {
                    Ok(MetricsPlace::Cluster)
                } else {
                    Err("the target sets metrics=off".to_owned())
                }
            }
            Target::Kafka(kafka) => match kafka.metrics() {
                Ok(agents) => Ok(MetricsPlace::Agents(agents)),
                Err(why) => Err(why.to_owned()),
            },
            Target::Existing(_) => Err("no metrics endpoint is set (use --metrics)".to_owned()),
        }
    }

    /// The counters of an embedded cluster's nodes, if it answers within `limit`.
    ///
    /// # Errors
    /// The reason, as text.
    pub fn counts(&mut self, limit: Duration) -> Result<Vec<NodeReport>, String> {
        match self {
            Target::Embedded(embedded) => embedded.counts(limit),
            Target::Kafka(_) | Target::Existing(_) => {
                Err("only nodes of the embedded cluster keep counts".to_owned())
            }
        }
    }

    /// The folders on this machine with the data of brokers that kgauge started.
    pub fn data_dirs(&self) -> Vec<PathBuf> {
        match self {
            Target::Embedded(embedded) => vec![embedded.data_dir().to_owned()],
            Target::Kafka(kafka) => kafka.data_dirs(),
            Target::Existing(_) => Vec::new(),
        }
    }

    /// The data folders of each broker of Apache Kafka that kgauge started.
    pub fn broker_dirs(&self) -> Vec<(i32, Vec<PathBuf>)> {
        match self {
            Target::Kafka(kafka) => kafka.broker_dirs(),
            Target::Embedded(_) | Target::Existing(_) => Vec::new(),
        }
    }

    /// Processes on this machine that belong only to the target, each with its broker.
    pub fn processes(&self) -> Vec<TargetProcess> {
        match self {
            Target::Embedded(embedded) => vec![TargetProcess {
                pid: embedded.pid(),
                role: TargetRole::WholeCluster,
            }],
            Target::Kafka(kafka) => kafka.processes(),
            Target::Existing(_) => Vec::new(),
        }
    }

    /// Free space on its disks.
    pub fn disks(&self, cluster: &mut Cluster) -> Result<Vec<DiskSpace>, TargetError> {
        match self {
            Target::Embedded(embedded) => Ok(vec![own_disk(None, embedded.data_dir())?]),
            Target::Kafka(kafka) => {
                let mut disks = Vec::new();
                for dir in kafka.data_dirs() {
                    disks.push(own_disk(None, &dir)?);
                }
                Ok(disks)
            }
            Target::Existing(_) => Ok(disk_space::of_cluster(cluster)?),
        }
    }

    /// Checks that it still exists, without contacting it: an embedded cluster whose process ended is an error with the
    /// last lines of its log.
    pub fn check(&mut self) -> Result<(), TargetError> {
        match self {
            Target::Embedded(embedded) => Ok(embedded.check()?),
            Target::Kafka(kafka) => Ok(kafka.check()?),
            Target::Existing(_) => Ok(()),
        }
    }

    /// Ends what was started. An existing cluster is left alone.
    pub fn stop(self) -> Result<(), TargetError> {
        match self {
            Target::Embedded(embedded) => Ok(embedded.stop()?),
            Target::Kafka(kafka) => Ok(kafka.stop()?),
            Target::Existing(_) => Ok(()),
        }
    }
}
