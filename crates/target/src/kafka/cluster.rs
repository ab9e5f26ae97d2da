//! A running Apache Kafka cluster that kgauge started.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kgauge_client::ClientConfig;

use super::agent::Agent;
use super::control_group;
use super::equipment::FaultEquipment;
use super::error::KafkaError;
use super::fetch::Jars;
use super::java::Java;
use super::process::KafkaProcess;
use super::properties::KafkaNode;
use super::registry::{self, ClusterRecord};
use super::setup::KafkaSetup;
use super::spec::KafkaSpec;
use super::topics::TopicTool;
use crate::target_process::{TargetProcess, TargetRole};

/// Time limit for a broker's end if its data is discarded: enough for Java's output at exit. The last voters cannot
/// shut down cleanly at all.
const END_MAX: Duration = Duration::from_secs(2);

/// The same if its data is kept.
const CLEAN_END_MAX: Duration = Duration::from_secs(60);

/// Apache Kafka, started by kgauge. Dropping it kills its processes and removes its data.
#[derive(Debug)]
pub struct KafkaTarget {
    pub(crate) spec: KafkaSpec,
    pub(crate) setup: KafkaSetup,
    pub(crate) jars: Jars,
    pub(crate) java: Java,
    pub(crate) agent: Agent,
    pub(crate) nodes: Vec<KafkaNode>,
    /// In the order of `nodes`, followed by ZooKeeper.
    pub(crate) processes: Vec<KafkaProcess>,
    pub(crate) equipment: FaultEquipment,
    pub(crate) record: ClusterRecord,
    pub(crate) config: ClientConfig,
    /// For other clients, if they need settings.
    pub(crate) client_properties: Option<PathBuf>,
    pub(crate) topic_tool: Option<TopicTool>,
    pub(crate) started: StartFacts,
    /// The brokers' configuration files, for releases that do not report settings.
    pub(crate) written: BTreeMap<u16, BTreeMap<String, String>>,
    pub(crate) is_over: bool,
}

/// How it was started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartFacts {
    /// Such as `KRaft, 3 brokers vote` or `ZooKeeper`.
    pub coordination: String,
    /// ZooKeeper's address, for tools of old releases; `None` without ZooKeeper.
    pub zookeeper: Option<String>,
    /// Java flags of each broker.
    pub jvm: Vec<String>,
    /// From the start of the first process until all brokers' ports were open.
    pub ports_open: Duration,
    /// From the start of the first process until all brokers knew each other.
    pub serves: Duration,
}

impl KafkaTarget {
    /// How to connect to it.
    pub fn config(&self) -> &ClientConfig {
        &self.config
    }

    /// A file for other clients, if they need more than the addresses. It is removed with the cluster.
    pub fn client_properties(&self) -> Option<&Path> {
        self.client_properties.as_deref()
    }

    /// Its spec.
    pub fn spec(&self) -> &KafkaSpec {
        &self.spec
    }

    /// The release.
    pub fn release(&self) -> &super::release::KafkaDistribution {
        &self.jars.release
    }

    /// The Java that runs it.
    pub fn java(&self) -> &Java {
        &self.java
    }

    /// How it was started.
    pub fn started(&self) -> &StartFacts {
        &self.started
    }

    /// The address of each broker's metrics agent, by broker id.
    ///
    /// # Errors
    /// The reason why there are none.
    pub fn metrics(&self) -> Result<Vec<(i32, String)>, &str> {
        if let Agent::None { why } = &self.agent {
            return Err(why);
        }
        let brokers = self.nodes.iter().filter(|node| node.is_broker);
        let address = |port: u16| format!("http://127.0.0.1:{port}/jolokia/");
        Ok(brokers
            .map(|node| (i32::from(node.id), address(node.metrics_port)))
            .collect())
    }

    /// Folder of the processes' logs.
    pub fn log_dir(&self) -> &Path {
        &self.setup.log_dir
    }

    /// Folders with the brokers' data.
    pub fn data_dirs(&self) -> Vec<PathBuf> {
        self.nodes
            .iter()
            .filter(|node| node.is_broker)
            .flat_map(|node| node.log_dirs.clone())
            .collect()
    }

    /// The same by broker.
    pub fn broker_dirs(&self) -> Vec<(i32, Vec<PathBuf>)> {
        let brokers = self.nodes.iter().filter(|node| node.is_broker);
        brokers
            .map(|node| (i32::from(node.id), node.log_dirs.clone()))
            .collect()
    }

    /// The requested broker settings.
    pub(crate) fn settings_asked(&self) -> Vec<String> {
        let own = self.spec.broker_settings.values();
        let mut asked: Vec<String> = own.flat_map(|own| own.keys().cloned()).collect();
        asked.extend(self.spec.settings.keys().cloned());
        asked.sort();
        asked.dedup();
        asked
    }

    /// The values of these settings in a broker's configuration file.
    pub(crate) fn settings_written(
        &self,
        id: i32,
        filter: impl Fn(&str) -> bool,
    ) -> BTreeMap<String, String> {
        let written = u16::try_from(id).ok().and_then(|id| self.written.get(&id));
        let mut settings = written.cloned().unwrap_or_default();
        settings.retain(|key, _| filter(key));
        settings
    }

    /// The error for a setting that this release does not have.
    pub(crate) fn unknown_setting(&self, key: &str, known: &[String]) -> KafkaError {
        let meant = kgauge_scenario::nearest(
            key,
            // The broker may list a setting that it does not know.
            known.iter().map(String::as_str).filter(|one| *one != key),
        );
        KafkaError::UnknownSetting {
            release: self.jars.release.version.clone(),
            key: key.to_owned(),
            meant: meant.map(str::to_owned),
        }
    }

    /// Its running processes.
    pub fn pids(&self) -> Vec<u32> {
        self.processes().iter().map(|process| process.pid).collect()
    }

    /// The same, with their roles.
    pub fn processes(&self) -> Vec<TargetProcess> {
        // The nodes' processes come first, in order.
        let roles = self
            .nodes
            .iter()
            .map(|node| node.is_broker.then_some(i32::from(node.id)));
        let roles = roles.chain(std::iter::repeat(None));
        let processes = self.processes.iter().zip(roles);
        let running =
            processes
                .filter(|(process, _)| !process.is_stopped)
                .map(|(process, broker)| {
                    let name = || TargetRole::Other(process.start.role.clone());
                    TargetProcess {
                        pid: process.id.pid,
                        role: broker.map_or_else(name, TargetRole::Broker),
                    }
                });
        running.collect()
    }

    /// The tool for creating topics, for releases that cannot do it over the wire.
    pub fn topic_tool(&self) -> Option<TopicTool> {
        self.topic_tool.clone()
    }

    /// An error with the last lines of its log, if a process ended unexpectedly.
    pub fn check(&mut self) -> Result<(), KafkaError> {
        self.processes.iter_mut().try_for_each(KafkaProcess::check)
    }

    /// Kills a broker, as by `kill -9`.
    pub fn kill_broker(&mut self, id: u16) -> Result<(), KafkaError> {
        self.running(id)?.kill();
        Ok(())
    }

    /// A broker's machine fails: it is killed, and loses everything that was not flushed. Returns the number of lost
    /// bytes.
    pub fn crash_broker(&mut self, id: u16) -> Result<u64, KafkaError> {
        self.running(id)?.kill();
        self.equipment.lose_unflushed(id)
    }

    /// Freezes a broker: it keeps its connections and does not respond.
    pub fn pause_broker(&mut self, id: u16) -> Result<(), KafkaError> {
        let process = self.running(id)?;
        process.pause();
        Ok(())
    }

    /// Resumes a paused broker.
    pub fn resume_broker(&mut self, id: u16) -> Result<(), KafkaError> {
        let process = self.running(id)?;
        if !process.is_paused {
            let what = "is not paused";
            return Err(KafkaError::BrokerState { id, what });
        }
        process.resume();
        Ok(())
    }

    pub(crate) fn index(&self, id: u16) -> Result<usize, KafkaError> {
        let found = self
            .nodes
            .iter()
            .position(|node| node.is_broker && node.id == id);
        found.ok_or(KafkaError::NoSuchBroker {
            id,
            brokers: self.spec.brokers,
        })
    }

    pub(crate) fn running(&mut self, id: u16) -> Result<&mut KafkaProcess, KafkaError> {
        let index = self.index(id)?;
        let process = self.processes.get_mut(index);
        let running = process.filter(|process| !process.is_stopped);
        running.ok_or(KafkaError::BrokerState {
            id,
            what: "does not run",
        })
    }

    pub(crate) fn timed_out(&self, index: usize, what: &str, started_at: Instant) -> KafkaError {
        let start = self.processes.get(index).map(|process| &process.start);
        let log_file = start
            .map(|start| start.log_file.clone())
            .unwrap_or_default();
        let role = start.map_or("a process", |start| &start.role);
        KafkaError::TimedOut {
            what: format!("{role} {what}"),
            waited: started_at.elapsed(),
            log: crate::log_tail::log_lines(&log_file),
            log_file,
        }
    }

    /// Whether Metadata version 4 is supported (1.0).
    pub(crate) fn is_modern(&self) -> bool {
        self.jars.release.version.is_at_least(&[1])
    }

    pub(crate) fn keep_record(&mut self) -> Result<(), KafkaError> {
        let processes = self.processes.iter();
        self.record.processes = processes
            .map(|process| (process.start.role.clone(), process.id))
            .collect();
        registry::keep(&self.setup.state_dir, &self.record)
            .map_err(KafkaError::file(&self.setup.state_dir))
    }

    /// Leaves it running until `kgauge cluster down`. Returns the cluster's name.
    pub fn detach(mut self) -> Result<String, KafkaError> {
        self.record.is_detached = true;
        self.keep_record()?;
        for process in &mut self.processes {
            process.detach();
        }
        self.is_over = true;
        Ok(self.record.name.clone())
    }

    /// Ends it: brokers, then controllers, then ZooKeeper. Removes its data unless it is kept.
    pub fn stop(mut self) -> Result<(), KafkaError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), KafkaError> {
        if self.is_over {
            return Ok(());
        }
        self.is_over = true;
        let limit = if self.setup.keep_data {
            CLEAN_END_MAX
        } else {
            END_MAX
        };
        let is_broker = |index: usize| self.nodes.get(index).is_some_and(|node| node.is_broker);
        let (mut brokers, mut others) = (Vec::new(), Vec::new());
        for (index, process) in std::mem::take(&mut self.processes).into_iter().enumerate() {
            if is_broker(index) {
                brokers.push(process);
            } else {
                others.push(process);
            }
        }
        for group in [brokers, others] {
            end_together(group, limit);
        }
        self.clean_up()
    }

    /// Removes configurations and data, and then the record.
    fn clean_up(&self) -> Result<(), KafkaError> {
        let data: &[PathBuf] = if self.setup.keep_data {
            &[]
        } else {
            &self.record.data_dirs
        };
        for dir in data.iter().chain([&self.record.conf_dir]) {
            registry::remove(dir).map_err(KafkaError::file(dir))?;
        }
        for dir in &self.record.control_groups {
            control_group::remove(dir);
        }
        registry::forget(&self.setup.state_dir, &self.record.name)
            .map_err(KafkaError::file(&self.setup.state_dir))
    }
}

/// Asks all processes to end, and kills those that do not in time: the last voters cannot shut down cleanly.
fn end_together(mut processes: Vec<KafkaProcess>, limit: Duration) {
    for process in &mut processes {
        process.ask_to_end();
    }
    let deadline = Instant::now() + limit;
    for process in &mut processes {
        process.wait_or_kill(deadline);
    }
}

impl Drop for KafkaTarget {
    /// A drop must be quick, or follows a failure.
    fn drop(&mut self) {
        if !self.is_over {
            self.is_over = true;
            self.processes.clear();
            let _ = self.clean_up();
        }
    }
}
